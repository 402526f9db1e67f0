/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan of a benchmark: the cells to measure, their repetitions, the bytes they write, and an
 * estimate of their time. It is pure arithmetic. The MPI program (kernels/elemental.c) measures the
 * cells and prints rows, which campaign_parse_line() parses.
 *
 * A cell of communication is one operation with one size. A cell of storage is one new file per
 * repetition: a first round, full rounds, and, for the largest number of writers, rounds in which
 * only some of them write. Then all rounds are read. A cell of pieces is a sequence of pieces or of
 * windows of data sieving (kernels/elemental_pieces.c).
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_CAMPAIGN_H
#define SLUICE_PREDICT_MODEL_COSTS_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/model/operation.h"
#include "predict/model/stripes.h"
#include "store/elements.h"

struct buf;
struct err;

#define CAMPAIGN_LIST 32
#define CAMPAIGN_ALIGNMENT 4096 /* of writes that bypass the page cache */

enum campaign_cache { CAMPAIGN_BYPASSED, CAMPAIGN_EXCEEDED, CAMPAIGN_WITHIN };
#define CAMPAIGN_CACHE_WORDS "bypassed|exceeded|within"
enum campaign_placement { CAMPAIGN_UNIFORM, CAMPAIGN_TOPOLOGY };
#define CAMPAIGN_PLACEMENT_WORDS "uniform|topology"

struct campaign_numbers {
	uint64_t items[CAMPAIGN_LIST];
	size_t count;
};

struct campaign_request {
	struct campaign_numbers ranks;
	bool comm, storage;
	bool is_dense;	/* sizes are powers of two instead of four */
	uint64_t cores; /* number of cores that the ranks share; 0: one per rank */
	double start_s; /* time to start a job; 0: 1 second */
	/* Storage. */
	struct campaign_numbers buffers;
	struct campaign_numbers writers; /* empty: powers of two, and all ranks */
	struct campaign_numbers pieces;	 /* sizes of pieces; empty: no pieces, no data sieving */
	/* Numbers of stripes and, if there are several, their units; empty: the file system does
	 * not stripe files. */
	struct campaign_numbers stripes, units;
	enum campaign_placement placement;
	enum campaign_cache cache;
	uint64_t cache_bytes;	      /* EXCEEDED: size of all caches together */
	uint64_t rounds, repetitions; /* rounds include the first one */
	bool writes_only;
	double budget_s; /* time limit in seconds; 0: none */
};

struct campaign_cell {
	uint64_t ranks;
	enum operation operation; /* storage: OPERATION_WRITE_FIRST */
	/* rounds of a cell of pieces: number of pieces or windows */
	uint64_t senders, receivers, writers, bytes, rounds, repetitions;
	uint64_t parts[CAMPAIGN_LIST]; /* writers of the partial rounds */
	size_t part_count;
	struct stripes stripes; /* of the file; 0: as the file system does */
	/* Number of its first repetition: rows of files whose stripes are equally loaded differ
	 * only in the repetition. */
	uint64_t first_repetition;
	double seconds;	     /* estimate for all repetitions */
	uint64_t written;    /* bytes in all repetitions */
	uint64_t file_bytes; /* size of the largest file */
	bool is_done;
};

struct campaign {
	struct campaign_cell *cells; /* cells with the same number of ranks are adjacent */
	size_t count, cap;
	enum campaign_placement placement;
	enum campaign_cache cache;
	bool reads;
	double start_s; /* time to start a job */
	bool is_over;	/* even the smallest useful plan exceeds the time limit */
};

/* Fails if there are no ranks, more writers than ranks, or sizes that cannot bypass the page cache.
 */
int campaign_make(struct campaign *campaign, const struct campaign_request *request,
		  struct err *err);
void campaign_release(struct campaign *campaign);

/* The pieces and targets of a round of a storage cell, in which `writers` of all writers write. */
struct stripes_spread campaign_spread(const struct campaign_cell *cell, uint64_t round,
				      uint64_t writers);

/* Parses "2,4,16M" to ascending distinct positive numbers. */
int campaign_numbers(struct campaign_numbers *numbers, const char *option, const char *text,
		     struct err *err);

/* Marks cells as done that have rows of this platform already. Returns their number. */
size_t campaign_mark_measured(struct campaign *campaign, const struct elements *rows);

/* Sums over cells that are not done; ranks 0: with any number of ranks. */
struct campaign_sum {
	size_t cells;
	double seconds;
	uint64_t written, file_bytes;
};
struct campaign_sum campaign_remaining(const struct campaign *campaign, uint64_t ranks);

/* Writes the input of the program: the cells with this number of ranks that are not done. */
void campaign_write_cells(const struct campaign *campaign, uint64_t ranks, struct buf *out);

/* The state of parsing the output of the program. */
struct campaign_intake {
	struct campaign *campaign;
	const char *platform;
	uint64_t ranks;	      /* number of ranks that were started */
	double nodes;	      /* 0: not known yet */
	struct elements rows; /* of the current cell */
	size_t cell;	      /* index of the current cell */
};
enum campaign_line {
	CAMPAIGN_OTHER, /* not a row */
	CAMPAIGN_ROW,	/* a row was added */
	CAMPAIGN_CELL,	/* the cell is complete: the caller saves and clears rows */
};
/* Parses a line. Returns enum campaign_line, or a negative error if the number of ranks differs
 * from the requested one or the line is invalid. */
int campaign_parse_line(struct campaign_intake *intake, const char *line, int64_t now_ns,
			struct err *err);

#endif
