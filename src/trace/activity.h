/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comparison of activities (sluice/activity.h). In the collector the times of an activity are
 * ticks; readers convert them to nanoseconds, and so does the collector before it calls plug-ins.
 */
#ifndef SLUICE_TRACE_ACTIVITY_H
#define SLUICE_TRACE_ACTIVITY_H

#include <stdbool.h>

#include <sluice/activity.h>

#include "contract/call.h"
#include "contract/record.h"

/* The order in which every reader returns activities: by start, process, id. For qsort(). */
int activity_compare(const void *a, const void *b);

/* True if both have the same fields present, with the same values. */
bool activity_equal(const struct activity *a, const struct activity *b);

#endif
