/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Joins the statistics of a trace to its time: what each came to in a stretch of the run, such as
 * the one in which the program did I/O.
 */
#ifndef SLUICE_OBSERVE_STATS_WINDOW_H
#define SLUICE_OBSERVE_STATS_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/*
 * In the statistic's unit. Increments (reduction "sum") have a total, and mean and most are rates
 * per second; levels have no total (0), their mean is by time. A sample of which only a part lies
 * within counts with that part.
 */
struct window_figure {
	const struct statistic_info *statistic;
	double total, mean, least, most;
	double covered_ns; /* time within, of which there are samples; 0: no figures */
};

/*
 * One per statistic of the head, by number, of [from_ns, to_ns) of the run. The caller frees; the
 * head must outlive it. NULL where there are no statistics.
 */
struct window_figure *window_new(const struct trace_head *head, int64_t from_ns, int64_t to_ns);

/* That of a host's statistic; of the first host that has it, with host NULL. NULL: no samples. */
const struct window_figure *window_find(const struct window_figure *figures, size_t count,
					const char *host, const char *name);

#endif
