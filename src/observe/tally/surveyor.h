/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Surveys how files are accessed, as the file surveyor of SIOX does: it follows each open file and
 * adds every access to the survey of its file. Activities must be added in the order of their
 * start. The state of an open file has a fixed size. The owner keeps the surveys: `sluice report`
 * in the cells of a profile (observe/profile/cell.h), the plug-in `file_surveyor` per process.
 *
 * An access is a call that reads or writes. These are its rules:
 * - After an open, an access is expected at position 0; after an access, at the position where it
 *   ended. An access that starts there is sequential. One that starts at most
 *   SURVEY_SHORT_SEEK_BYTES away is random with a short seek, any other is random with a long seek.
 * - If several processes share a handle because they inherited it, an access is expected where the
 *   latest one of the same process ended, or where the latest one of any of them ended: pread()
 *   and pwrite() have positions of their own, read() and write() share that of the handle.
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
 * Papers: SIOX-41, SIOX-55.
 */
#ifndef SLUICE_OBSERVE_TALLY_SURVEYOR_H
#define SLUICE_OBSERVE_TALLY_SURVEYOR_H

#include <stdbool.h>

#include "observe/tally/recent.h"
#include "observe/tally/survey.h"
#include "trace/activity.h"

struct surveyor_ops {
	/*
	 * Returns the survey of the activity's process, or of its rank, for a file; it must stay
	 * where it is. NULL: the file is not surveyed.
	 */
	struct survey *(*survey)(void *arg, const struct activity *activity, file_id file);
	/* Index of the process that forked this one; -1: none. */
	int32_t (*parent)(void *arg, uint32_t process);
};

struct surveyor {
	const struct surveyor_ops *ops;
	void *arg;
	struct recent opens;   /* struct survey_open by the call that created the handle */
	struct recent started; /* struct survey_start: asynchronous accesses in progress */
};

void surveyor_init(struct surveyor *surveyor, const struct surveyor_ops *ops, void *arg);
void surveyor_release(struct surveyor *surveyor);

/*
 * Adds a call. covered says that it is part of another call of the same layer and file, or is not
 * surveyed: on a socket or pipe, or inside MPI_Init or a similar call.
 */
void surveyor_add(struct surveyor *surveyor, const struct activity *activity,
		  const struct call_info *call, bool covered);

#endif
