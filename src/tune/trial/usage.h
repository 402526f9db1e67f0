/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run uses, found in its activities: layers, kinds of calls, and the effective parameters.
 * The guest records the latter as NAME_parameters, with the requested parameters in `name` and the
 * effective ones in `hints`.
 */
#ifndef SLUICE_TUNE_TRIAL_USAGE_H
#define SLUICE_TUNE_TRIAL_USAGE_H

#include "observe/tally/nest.h"
#include "params/space.h"
#include "trace/format.h"

struct buf;
struct usage_value;

struct usage {
	struct space_uses uses; /* without `creates`, which only the file system knows */
	enum middleware middleware;
	struct usage_value *values; /* sorted by key */
	size_t count, cap;
};

void usage_release(struct usage *usage);

/* Adds an activity, in the order of their start, with the calls that enclose it. ways is the table
 * of traffic_table(). */
void usage_add(struct usage *usage, const struct trace_head *head, const uint8_t *ways,
	       const struct activity *activity, const struct nest_call *enclosing, size_t depth);

/* Writes "KEY=VALUE;KEY=VALUE", sorted; if files differ in a value, it is "KEY=ONE|OTHER". */
void usage_effective(const struct usage *usage, struct buf *out);

#endif
