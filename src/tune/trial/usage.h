/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run is seen to use, from its activities: layers, kinds of calls, and the parameters as
 * they were read back (records NAME_parameters of the guest: requested in `name`, effective in
 * `hints`).
 */
#ifndef SLUICE_TUNE_TRIAL_USAGE_H
#define SLUICE_TUNE_TRIAL_USAGE_H

#include "observe/tally/nest.h"
#include "params/space.h"
#include "trace/format.h"

struct buf;
struct usage_value;

struct usage {
	struct space_uses uses; /* all but `creates`, which the file system knows */
	enum middleware middleware;
	struct usage_value *values; /* by key */
	size_t count, cap;
};

void usage_release(struct usage *usage);

/* In the order of their start, with the calls that enclose it and the table of traffic_table(). */
void usage_add(struct usage *usage, const struct trace_head *head, const uint8_t *ways,
	       const struct activity *activity, const struct nest_call *enclosing, size_t depth);

/* KEY=VALUE;KEY=VALUE of all files, sorted; what differs between files is KEY=ONE|OTHER. */
void usage_effective(const struct usage *usage, struct buf *out);

#endif
