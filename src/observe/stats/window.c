/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/window.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/stats/series.h"

static bool is_sum(const struct statistic_info *statistic)
{
	return !strcmp(statistic->reduction, reduction_names[REDUCE_SUM]);
}

/*
 * Returns how much of the sample's time lies within the window. The times come from files; doubles
 * cannot overflow. A level that was read at one moment counts for a nanosecond.
 */
static double overlap_ns(const struct stat_sample *sample, int64_t from_ns, int64_t to_ns)
{
	double end = (double)sample->time_ns, begin = end - (double)sample->period_ns;
	double from = (double)from_ns, to = (double)to_ns;

	if (sample->period_ns <= 0)
		return end >= from && end < to ? 1 : 0;
	begin = begin > from ? begin : from;
	end = end < to ? end : to;
	return end > begin ? end - begin : 0;
}

/* mean holds the weighted sum until all samples are added. */
static void figure_add(struct window_figure *f, const struct stat_sample *sample, double weight)
{
	double value = (double)sample->value / f->statistic->scale;

	if (is_sum(f->statistic)) {
		if (sample->period_ns <= 0)
			return; /* no rate can be computed */
		f->total += value * weight / (double)sample->period_ns;
		value = value * NS_PER_S / (double)sample->period_ns;
	}
	f->minimum = f->covered_ns > 0 && f->minimum < value ? f->minimum : value;
	f->maximum = f->covered_ns > 0 && f->maximum > value ? f->maximum : value;
	f->mean += value * weight;
	f->covered_ns += weight;
}

struct window_figure *window_new(const struct trace_head *head, int64_t from_ns, int64_t to_ns)
{
	struct window_figure *figures;

	if (!head->statistic_count)
		return NULL;
	figures = xcalloc(head->statistic_count, sizeof(*figures));
	for (size_t i = 0; i < head->statistic_count; i++)
		figures[i].statistic = &head->statistics[i];
	for (size_t i = 0; i < head->sample_count; i++) {
		const struct stat_sample *sample = &head->samples[i];
		double weight = overlap_ns(sample, from_ns, to_ns);

		if (weight >= 1)
			figure_add(&figures[sample->statistic], sample, weight);
	}
	for (size_t i = 0; i < head->statistic_count; i++)
		if (figures[i].covered_ns > 0)
			figures[i].mean /= figures[i].covered_ns;
	return figures;
}

/* The first sample of a statistic. */
static size_t find_sample(const struct trace_head *head, uint32_t statistic)
{
	size_t low = 0, high = head->sample_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (head->samples[middle].statistic < statistic)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Bins that a sample overlaps: doubles, because the times come from files. */
static size_t bin_of(double ns, double from_ns, double bin_ns, size_t count)
{
	double at = (ns - from_ns) / bin_ns;

	return at <= 0 ? 0 : at >= (double)count ? count - 1 : (size_t)at;
}

void window_course(const struct trace_head *head, uint32_t statistic, int64_t from_ns,
		   int64_t to_ns, size_t count, double *values)
{
	double bin_ns = ((double)to_ns - (double)from_ns) / (double)count;
	AUTO_FREE struct window_figure *figures = xcalloc(count + 1, sizeof(*figures));

	for (size_t i = 0; i < count; i++)
		figures[i].statistic = &head->statistics[statistic];
	for (size_t i = find_sample(head, statistic);
	     bin_ns > 0 && i < head->sample_count && head->samples[i].statistic == statistic; i++) {
		const struct stat_sample *sample = &head->samples[i];
		double end = (double)sample->time_ns, begin = end - (double)sample->period_ns;

		for (size_t bin = bin_of(begin, (double)from_ns, bin_ns, count),
			    last = bin_of(end, (double)from_ns, bin_ns, count);
		     bin <= last; bin++) {
			double from = (double)from_ns + (double)bin * bin_ns;
			double weight = overlap_ns(sample, (int64_t)from, (int64_t)(from + bin_ns));

			if (weight > 0)
				figure_add(&figures[bin], sample, weight);
		}
	}
	for (size_t i = 0; i < count; i++)
		values[i] = figures[i].covered_ns > 0 ? figures[i].mean / figures[i].covered_ns
						      : (double)NAN;
}
