/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of call classes. The guest's counters keep one sum per group. Guest-safe.
 */
#ifndef SLUICE_CONTRACT_GROUP_H
#define SLUICE_CONTRACT_GROUP_H

#include <stdbool.h>

#include "contract/call.h"

/* One row per group: enum name, printed name. */
#define GROUP_LIST(X)       \
	X(READ, "read")     \
	X(WRITE, "write")   \
	X(SEEK, "seek")     \
	X(SYNC, "sync")     \
	X(META, "metadata") \
	X(OTHER, "other")
#define GROUP_ENUM(name, text) GROUP_##name,
enum group { GROUP_LIST(GROUP_ENUM) GROUP_COUNT };
#undef GROUP_ENUM

static inline enum group group_of_class(enum call_class class)
{
	switch (class) {
	case CLASS_READ:
		return GROUP_READ;
	case CLASS_WRITE:
	case CLASS_COPY:
		return GROUP_WRITE;
	case CLASS_SEEK:
		return GROUP_SEEK;
	case CLASS_SYNC:
		return GROUP_SYNC;
	case CLASS_OPEN:
	case CLASS_CLOSE:
	case CLASS_STAT:
	case CLASS_META:
	case CLASS_DIR:
	case CLASS_RESIZE:
		return GROUP_META;
	default:
		return GROUP_OTHER;
	}
}

/* Are the size and the result of such a call byte counts? */
static inline bool class_moves_bytes(enum call_class class)
{
	return class == CLASS_READ || class == CLASS_WRITE || class == CLASS_COPY;
}

#endif
