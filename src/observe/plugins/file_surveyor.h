/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file surveyor of SIOX: how each file was accessed, per layer and per rank (in runs without
 * ranks, per process). Activities must be added in the order of their start. The state of an open
 * file has a fixed size.
 *
 * An access is a call that reads or writes. These are its rules:
 * - After an open, an access is expected at position 0; after an access, at the position where it
 *   ended. An access that starts there is sequential. One that starts at most
 *   SURVEY_SHORT_SEEK_BYTES away is random with a short seek, any other is random with a long seek.
 * - A non-contiguous access (it spans more bytes than it transfers, as through a view with holes)
 *   is never sequential; it is random with a long seek.
 * - A random access is also strided if its distance from the previous access equals that access's
 *   distance from its own predecessor: same direction of transfer, same open, same sign, not 0.
 * - An access is aligned to what divides its position and its size. A non-contiguous access is not
 *   aligned, because its pieces are not known.
 * - Accesses without a known position (datasets of HDF5 and NetCDF) and accesses that transfer no
 *   data are counted, but belong to none of these kinds.
 * - A seek distance is measured from start to start of consecutive accesses in one direction
 *   through one open; the first access has none. The average is over all accesses in that
 *   direction.
 * - The surveyed time lasts from the start of the first call on the file to the end of the last.
 *
 * Sockets and pipes are not surveyed, nor are calls inside MPI_Init and similar calls. Rows leave
 * out processes of a parallel run that belong to no rank.
 *
 * `sluice report` feeds it from a trace (report/trace_host.h); the asynchronous plug-in
 * `file_surveyor` feeds it while the program runs.
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
	struct recent opens;   /* struct survey_open by the call that created the handle */
	struct recent started; /* struct survey_start: asynchronous accesses in progress */
	struct nest nest;
};

/* The surveyor asks the host for calls, files and processes. The host must outlive it. */
void file_surveyor_init(struct file_surveyor *surveyor, const struct sluice_host *host);
void file_surveyor_release(struct file_surveyor *surveyor);

void file_surveyor_add(struct file_surveyor *surveyor, const struct activity *activity);

/* A file accessed through one layer, combined over the ranks or processes that accessed it. */
struct survey_row {
	uint8_t layer;
	file_id file;
	size_t members;
	size_t accessing[2];	 /* members that read, and that wrote */
	enum sharing sharing[2]; /* how the regions overlap that they read, and wrote */
	double time_ns;		 /* opening, reading, writing and closing, summed over members */
	struct spread fields[SURVEY_MEASURES];
};

/*
 * Returns the accessed files, sorted by descending time of their most expensive layer; the layers
 * of one file come from the highest down. If ranks is NULL or empty, members are processes. The
 * caller frees the rows.
 */
struct survey_row *file_surveyor_rows(const struct file_surveyor *surveyor,
				      const struct ranks *ranks, size_t *count);

/* Calls `seen` once for each survey, in the order of layer, file and process. */
typedef void (*survey_seen)(void *arg, unsigned layer, file_id file, uint32_t process,
			    const struct survey *survey);
void file_surveyor_list(const struct file_surveyor *surveyor, survey_seen seen, void *arg);

extern const struct sluice_plugin plugin_file_surveyor;

#endif
