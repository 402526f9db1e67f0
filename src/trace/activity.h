/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Activities (sluice/activity.h) in order and compared. In the collector their times are ticks;
 * they become nanoseconds in readers, and before plug-ins see them.
 */
#ifndef SLUICE_TRACE_ACTIVITY_H
#define SLUICE_TRACE_ACTIVITY_H

#include <stdbool.h>

#include <sluice/activity.h>

#include "contract/call.h"
#include "contract/record.h"

/* The order of every reader: by start, then process, then id. For qsort. */
int activity_compare(const void *a, const void *b);

/* True when the two are the same in every field that is present. */
bool activity_equal(const struct activity *a, const struct activity *b);

#endif
