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
 * - A random access is strided, too, if it starts as far from the one before as that one from the
 *   one before it: same direction of transfer, same open, same sign, not 0.
 * - An access is aligned to what divides its position and its size; a non-contiguous one to
 *   nothing, since its pieces are not known.
 * - Accesses without a known position (datasets of HDF5 and NetCDF) and those that move nothing are
 *   accesses, but of none of these kinds.
 * - A seek distance is from start to start of consecutive accesses in one direction through one
 *   open; the first one has none. The average is over all accesses in that direction.
 * - The time surveyed is from the start of the first call on the file to the end of the last.
 *
 * Sockets and pipes are not surveyed, nor is what happens inside calls such as MPI_Init, nor, in
 * rows, processes of a parallel run that are no ranks.
 *
 * It is fed by `sluice report` from a trace (report/trace_host.h) and, as the asynchronous plug-in
 * `file_surveyor`, while the program runs.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_FILE_SURVEYOR_H
#define SLUICE_OBSERVE_PLUGINS_FILE_SURVEYOR_H

#include <stddef.h>

#include <sluice/plugin.h>

#include "base/map.h"
#include "observe/plugins/survey.h"
#include "observe/tally/nest.h"
#include "observe/tally/ranks.h"
#include "observe/tally/recent.h"

struct file_surveyor {
	const struct sluice_host *host;
	struct map surveys;    /* struct survey by layer, file and process */
	struct recent opens;   /* struct survey_open by the call that made the handle */
	struct recent started; /* struct survey_start: asynchronous accesses under way */
	struct nest nest;
};

/* The surveyor asks the host for calls, files and processes; it must outlive it. */
void file_surveyor_init(struct file_surveyor *surveyor, const struct sluice_host *host);
void file_surveyor_release(struct file_surveyor *surveyor);

void file_surveyor_add(struct file_surveyor *surveyor, const struct activity *activity);

/* A file through one layer, over the ranks or processes that accessed it. */
struct survey_row {
	uint8_t layer;
	file_id file;
	size_t members;
	size_t accessing[2];	 /* how many of them read, and wrote */
	enum sharing sharing[2]; /* how what they read, and wrote, lies to each other */
	double time_ns;		 /* of opening, reading, writing and closing, summed over members */
	struct spread fields[SURVEY_MEASURES];
};

/*
 * Files that were accessed, by falling time of their costliest layer; layers of one file from the
 * highest. ranks may be NULL or without any: then members are processes. The caller frees.
 */
struct survey_row *file_surveyor_rows(const struct file_surveyor *surveyor,
				      const struct ranks *ranks, size_t *count);

/* Calls seen once for each survey, by layer, file and process. */
typedef void (*survey_seen)(void *arg, unsigned layer, file_id file, uint32_t process,
			    const struct survey *survey);
void file_surveyor_list(const struct file_surveyor *surveyor, survey_seen seen, void *arg);

extern const struct sluice_plugin plugin_file_surveyor;

#endif
