/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How each access to a file continues the previous one of the same process to the same file. What
 * is learned about durations (site/learn.h), and what is compared with it
 * (observe/plugins/expected.h), is told apart by this.
 */
#ifndef SLUICE_OBSERVE_TALLY_ACCESS_PATTERN_H
#define SLUICE_OBSERVE_TALLY_ACCESS_PATTERN_H

#include <stdint.h>

#include "base/map.h"

struct activity;

enum access_pattern {
	PATTERN_OTHER, /* the first access, or one without a position */
	PATTERN_SEQUENTIAL,
	PATTERN_STRIDED,
	PATTERN_RANDOM,
	PATTERNS
};

const char *access_pattern_name(enum access_pattern pattern);

/* Zero-initialized: no access so far. */
struct access_tracker {
	struct map positions; /* of a file in a process */
	size_t limit;	      /* of positions; further ones are PATTERN_OTHER. 0: none */
};

void access_tracker_release(struct access_tracker *tracker);

/* `bytes` are those that the access moved. */
enum access_pattern access_tracker_add(struct access_tracker *tracker, const struct activity *a,
				       uint64_t bytes);

#endif
