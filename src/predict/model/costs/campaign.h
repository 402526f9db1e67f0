/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan of a benchmark: which cells are measured, how often, how much that writes and about how
 * long it takes. Pure arithmetic; the MPI program (kernels/elemental.c) does the cells and tells
 * rows, line by line, which are taken in here.
 *
 * A cell of communication is one operation of one size. A cell of storage is one fresh file per
 * repetition: a first round, full rounds, and, for the largest number of writers, rounds in which
 * only some of them write; then the same again, read.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_CAMPAIGN_H
#define SLUICE_PREDICT_MODEL_COSTS_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/model/operation.h"
#include "store/elements.h"

struct buf;
struct err;

#define CAMPAIGN_LIST 32
#define CAMPAIGN_ALIGNMENT 4096 /* of writes past the cache */

enum campaign_cache { CAMPAIGN_BYPASSED, CAMPAIGN_EXCEEDED, CAMPAIGN_WITHIN };
#define CAMPAIGN_CACHE_WORDS "bypassed|exceeded|within"
enum campaign_placement { CAMPAIGN_UNIFORM, CAMPAIGN_TOPOLOGY };
#define CAMPAIGN_PLACEMENT_WORDS "uniform|topology"

struct campaign_numbers {
	uint64_t items[CAMPAIGN_LIST];
	size_t count;
};

struct campaign_wish {
	struct campaign_numbers ranks;
	bool comm, storage;
	bool is_dense;	/* sizes by powers of two, not of four */
	uint64_t cores; /* that ranks share; 0: each has its own */
	double start_s; /* to start a job; 0: a second */
	/* Storage. */
	struct campaign_numbers buffers;
	struct campaign_numbers writers; /* none: powers of two, and all ranks */
	enum campaign_placement placement;
	enum campaign_cache cache;
	uint64_t cache_bytes;	      /* EXCEEDED: of all caches together */
	uint64_t rounds, repetitions; /* the first round is one of them */
	bool writes_only;
	double budget_s; /* 0: none */
};

struct campaign_cell {
	uint64_t ranks;
	enum operation operation; /* of storage: OPERATION_WRITE_FIRST */
	uint64_t senders, receivers, writers, bytes, rounds, repetitions;
	uint64_t parts[CAMPAIGN_LIST]; /* writers of rounds after the full ones */
	size_t part_count;
	double seconds;	     /* estimated, of all repetitions */
	uint64_t written;    /* bytes, of all repetitions */
	uint64_t file_bytes; /* of the largest file */
	bool is_done;
};

struct campaign {
	struct campaign_cell *cells; /* those of equal ranks follow one another */
	size_t count, cap;
	enum campaign_placement placement;
	enum campaign_cache cache;
	bool reads;
	double start_s; /* of a job */
	bool is_over;	/* the budget does not suffice even for the least that makes sense */
};

/* What to mend is in err: no ranks, more writers than ranks, sizes that cannot bypass a cache. */
int campaign_make(struct campaign *campaign, const struct campaign_wish *wish, struct err *err);
void campaign_release(struct campaign *campaign);

/* "2,4,16M" as rising numbers without doubles, none of them 0. */
int campaign_numbers(struct campaign_numbers *numbers, const char *option, const char *text,
		     struct err *err);

/* Marks cells as done that rows of this platform have already. Returns how many. */
size_t campaign_known(struct campaign *campaign, const struct elements *rows);

/* Of cells that are not done; ranks 0: of all. */
struct campaign_sum {
	size_t cells;
	double seconds;
	uint64_t written, file_bytes;
};
struct campaign_sum campaign_left(const struct campaign *campaign, uint64_t ranks);

/* Lines for the program: cells of so many ranks that are not done. */
void campaign_lines(const struct campaign *campaign, uint64_t ranks, struct buf *out);

/* Lines of the program become rows. */
struct campaign_intake {
	struct campaign *campaign;
	const char *platform;
	uint64_t ranks;	      /* that were started */
	double nodes;	      /* 0: not told yet */
	struct elements rows; /* of the cell that is being done */
	size_t cell;	      /* that rows belong to */
};
enum campaign_line {
	CAMPAIGN_OTHER, /* not for us */
	CAMPAIGN_ROW,	/* taken */
	CAMPAIGN_CELL,	/* the cell is complete: rows are to be saved, then cleared */
};
/* enum campaign_line, or negative: other ranks than were started, or a line that makes no sense. */
int campaign_take(struct campaign_intake *intake, const char *line, int64_t now_ns,
		  struct err *err);

#endif
