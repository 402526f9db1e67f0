/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file surveyor of SIOX: how each file was accessed, per layer and per rank (in runs without
 * ranks, per process). Activities are fed in the order of their start; what is kept of an open file
 * has a fixed size.
 *
 * An access is a call that reads or writes. Its rules:
 * - After an open, position 0 is expected; after an access, the position behind it. An access that
 *   starts there is sequential; one that starts at most SURVEY_SHORT_SEEK_BYTES away is random with
 *   a short seek, any other random with a long seek.
 * - A non-contiguous access (it spans more than it moves: a view with holes) is never sequential,
 *   but random with a long seek.
 * - Accesses without a known position (datasets of HDF5 and NetCDF) and those that move nothing are
 *   accesses, but of none of these kinds.
 * - A seek distance is from start to start of consecutive accesses in one direction through one
 *   open; the first one has none. The average is over all accesses in that direction.
 * - The time surveyed is from the start of the first call on the file to the end of the last.
 *
 * Sockets and pipes are not surveyed, nor is what happens inside calls such as MPI_Init, nor
 * processes of a parallel run that are no ranks.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_FILE_SURVEYOR_H
#define SLUICE_OBSERVE_PLUGINS_FILE_SURVEYOR_H

#include <stddef.h>

#include "base/map.h"
#include "observe/report/measure.h"
#include "observe/report/nest.h"
#include "observe/report/ranks.h"
#include "observe/report/recent.h"
#include "trace/format.h"

/* What file systems mostly have in memory by reading ahead, and disks reach without a head move. */
#define SURVEY_SHORT_SEEK_BYTES (64 << 10)

/* One file, as one rank used it through one layer. Pairs are [READING] and [WRITING]. */
struct survey {
	uint64_t accesses[2], sequential[2], short_seeks[2], long_seeks[2];
	uint64_t bytes[2];
	uint64_t seek_bytes[2];
	int64_t open_ns, transfer_ns[2], close_ns;
	int64_t first_ns, last_ns;
};

enum { SURVEY_MEASURES = 19 };
extern const struct measure survey_measures[SURVEY_MEASURES];

struct file_surveyor {
	const struct trace_head *head;
	const struct ranks *ranks;
	struct map surveys;    /* struct survey by layer, file and rank or process */
	struct recent opens;   /* struct survey_open by the call that made the handle */
	struct recent started; /* struct survey_start: asynchronous accesses under way */
	struct nest nest;
	uint8_t *ways; /* of each call, see report/traffic.h */
};

/* head and ranks must outlive the surveyor. */
void file_surveyor_init(struct file_surveyor *surveyor, const struct trace_head *head,
			const struct ranks *ranks);
void file_surveyor_release(struct file_surveyor *surveyor);

void file_surveyor_add(struct file_surveyor *surveyor, const struct activity *activity);

/* A file through one layer, over the ranks or processes that accessed it. */
struct survey_row {
	uint8_t layer;
	file_id file;
	size_t members;
	double time_ns; /* of opening, reading, writing and closing, summed over members */
	struct spread fields[SURVEY_MEASURES];
};

/*
 * Files that were accessed, by falling time of their costliest layer; layers of one file from the
 * highest. The caller frees.
 */
struct survey_row *file_surveyor_rows(const struct file_surveyor *surveyor, size_t *count);

#endif
