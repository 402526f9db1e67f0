/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Summarizes the statistics of a trace over a part of the run, such as the time in which the
 * program did I/O.
 */
#ifndef SLUICE_OBSERVE_STATS_WINDOW_H
#define SLUICE_OBSERVE_STATS_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/*
 * Values are in the statistic's unit. Increments (reduction "sum") have a total, and their mean,
 * minimum and maximum are rates per second. Levels have no total (0), and their mean is weighted by
 * time. A sample that lies partly within the window counts with that part.
 */
struct window_figure {
	const struct statistic_info *statistic;
	double total, mean, minimum, maximum;
	double covered_ns; /* time within the window that samples cover; 0: no values */
};

/*
 * Returns one figure per statistic of the head, by number, for [from_ns, to_ns) of the run. NULL if
 * there are no statistics. The caller frees it; the head must outlive it.
 */
struct window_figure *window_new(const struct trace_head *head, int64_t from_ns, int64_t to_ns);

/*
 * The course of one statistic in `count` bins of equal length: levels, or rates per second. NAN for
 * a bin without samples. The samples are those of the head, sorted by statistic and time.
 */
void window_course(const struct trace_head *head, uint32_t statistic, int64_t from_ns,
		   int64_t to_ns, size_t count, double *values);

#endif
