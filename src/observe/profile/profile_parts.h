/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Profiles of the parts of a job: one trace or saved profile per node, read by several threads and
 * merged.
 */
#ifndef SLUICE_OBSERVE_PROFILE_PROFILE_PARTS_H
#define SLUICE_OBSERVE_PROFILE_PROFILE_PARTS_H

#include <stddef.h>

#include "observe/profile/profile.h"

/*
 * Initializes the profile with a trace: reads its activities or, if it is a saved profile, that.
 * The trace must stay open. On failure there is nothing to release.
 */
int profile_load(struct profile *profile, struct trace *trace, unsigned threads, profile_seen seen,
		 void *arg, struct err *err);

/*
 * Initializes the profile with all parts. Memory grows with the number of threads, not with that of
 * parts; the result depends on neither. Fails with -EINVAL if they are not parts of one job, or if
 * one is given twice. seen gets the number of parts that were read, from one thread at a time.
 */
int profile_load_parts(struct profile *profile, char *const *paths, size_t count, unsigned threads,
		       profile_seen seen, void *arg, struct err *err);

#endif
