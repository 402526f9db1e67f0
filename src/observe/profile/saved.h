/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile in a file, so that the parts of a job can be reported on their nodes and merged later:
 * a trace container with the facts of the part and the profile in place of activities. Only the
 * version of Sluice that wrote it can be relied on to read it.
 */
#ifndef SLUICE_OBSERVE_PROFILE_SAVED_H
#define SLUICE_OBSERVE_PROFILE_SAVED_H

#include <stdbool.h>

struct err;
struct profile;
struct trace;

#define SAVED_SUFFIX ".profile"

/*
 * Writes the profile to a new file; an older trace or profile is replaced, other files are not.
 */
int saved_write(const struct profile *profile, const char *path, struct err *err);

/*
 * Initializes the profile with what an open trace has saved. Returns 1, or 0 if the trace is not a
 * saved profile (the profile is then untouched). The trace must stay open while it is used.
 */
int saved_read(struct profile *profile, struct trace *trace, struct err *err);

#endif
