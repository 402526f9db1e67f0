/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A cell: one file, accessed through one layer by one member of the run. A member is a rank of a
 * parallel run, or a process of a serial run. Processes of a parallel run that belong to no rank
 * (launcher, scripts), sockets and pipes, and calls inside MPI_Init and similar calls have no cell.
 *
 * A cell counts the calls that no other call of the same layer and file encloses, so the cells of
 * one layer never count anything twice. Cells of different layers overlap: the pwrite inside an
 * MPI_File_write_at is in the POSIX cell, the MPI call in the MPI cell.
 *
 * The number of cells is limited (struct profile_limits). Beyond the limit, new members of a file
 * share its cell with the member CELL_OTHERS, and finally new files share the cell of file 0 of
 * their layer, so that sums over all cells stay complete.
 */
#ifndef SLUICE_OBSERVE_PROFILE_CELL_H
#define SLUICE_OBSERVE_PROFILE_CELL_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "contract/call.h"
#include "observe/profile/raster.h"
#include "observe/tally/recent.h"
#include "observe/tally/survey.h"
#include "trace/activity.h"

/* Bin 0 holds empty transfers, bin i those of [2^(i-1), 2^i) bytes, the last one all larger. */
enum { CELL_SIZE_BINS = 36 };
/* The most frequent sizes of transfers, and the slowest calls, that a cell remembers. */
enum { CELL_SIZES = 4, CELL_SAMPLES = 3 };
/* Cells that are found without a search. */
enum { CELL_LATEST = 64 };

#define CELL_OTHERS (-1) /* all members that have no cell of their own */

/* A transfer size and how often it occurred; the count is a lower bound (Misra-Gries). */
struct cell_size {
	uint64_t bytes, count; /* count 0: unused */
};

/* A slow transfer; `sluice print` shows it by process and id. */
struct cell_sample {
	int64_t duration_ns, start_ns;
	uint64_t bytes;
	struct call_ref call; /* id 0: unused */
};

/* Arrays of two are indexed by READING and WRITING of observe/tally/traffic.h. */
struct cell {
	file_id file;	/* 0: files that have no cell of their own */
	int32_t member; /* number of the rank, or index of the process; or CELL_OTHERS */
	uint8_t layer;
	int32_t group;	      /* ranks that a log has counted together in this cell; else 0 */
	struct survey survey; /* accesses, patterns, alignment, bytes, regions, times */
	uint64_t calls[CLASS_COUNT]; /* by class: opens, closes, stats, syncs, maps, locks ... */
	int64_t time_ns[CLASS_COUNT];
	uint64_t errors;
	uint64_t creates;	/* opens that may create the file */
	uint64_t collective[2]; /* accesses in which several ranks take part together */
	uint64_t sizes[2][CELL_SIZE_BINS];
	int64_t size_ns[2]
		       [CELL_SIZE_BINS]; /* time of these transfers; 0 if only counters are known */
	struct cell_size common[2][CELL_SIZES];	     /* sorted by descending count */
	struct cell_sample samples[2][CELL_SAMPLES]; /* sorted by descending duration */
	struct raster_hint raster;
};

/* Bytes of a size bin's lower limit: 0, 1, 2, 4, ... */
uint64_t cell_bin_bytes(unsigned bin);
unsigned cell_bin(uint64_t bytes);

/* Adds a transfer; the survey is not changed. */
void cell_add_transfer(struct cell *cell, const struct activity *activity, int way, uint64_t bytes);

/* Adds another cell, of any member or file; the key of `cell` stays. */
void cell_merge(struct cell *cell, const struct cell *other);

struct cell_slab;

/* All cells of a profile. A zeroed object is empty. */
struct cell_table {
	struct map map;		 /* struct cell by layer, file and member */
	struct cell_slab *slabs; /* which hold the cells */
	size_t limit;		 /* number of cells from which on members are folded */
	uint64_t folded_members, folded_files; /* searches that found such cells */
	struct cell *latest[CELL_LATEST];      /* found last, by file and layer */
};

void cell_table_release(struct cell_table *cells);

/* Finds the cell, and adds it if it is missing; follows the rule about the limit above. */
struct cell *cell_table_get(struct cell_table *cells, unsigned layer, file_id file, int32_t member);

/*
 * Returns pointers to all cells, sorted by layer, file and member. The caller frees the list; the
 * cells belong to `cells`.
 */
const struct cell **cell_table_list(const struct cell_table *cells, size_t *count);

#endif
