/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/recorder.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/stats/statistics.h"

#define EARLY_FRACTION 20 /* a poll may come early by 1/20 of the interval */

const struct recorder_step recorder_steps[] = {
	{ 60 * NS_PER_S, 0 },
	{ 3600 * NS_PER_S, NS_PER_S },
	{ 12 * 3600 * NS_PER_S, 10 * NS_PER_S },
	{ INT64_MAX, 60 * NS_PER_S },
};

/* Polls since the last sample. */
struct gathered {
	double sum, minimum, maximum;
	unsigned count;
};

struct recorder {
	char *host;
	int64_t zero_ns;
	recorder_sink fact;
	void *arg;
	struct gathered *list;
	size_t count, cap; /* statistics that were registered */
	bool began;
	int64_t written_ns, polled_ns; /* by the clock of the polls */
};

struct recorder *recorder_new(const char *host, int64_t zero_ns, recorder_sink fact, void *arg)
{
	struct recorder *r = xcalloc(1, sizeof(*r));

	r->host = xstrdup(host);
	r->zero_ns = zero_ns;
	r->fact = fact;
	r->arg = arg;
	return r;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	free(recorder->host);
	free(recorder->list);
	free(recorder);
}

/* Registers new statistics. */
static void register_new(struct recorder *r, const struct statistics *statistics)
{
	for (; r->count < statistics_count(statistics); r->count++) {
		const struct statistic *one = statistics_get(statistics, (unsigned)r->count);
		struct statistic_info row = { .number = (uint32_t)r->count,
					      .host = r->host,
					      .name = one->name,
					      .unit = (char *)one->unit,
					      .reduction = (char *)reduction_names[one->reduction],
					      .scale = one->scale };

		r->list = xgrow(r->list, &r->cap, r->count + 1, sizeof(*r->list));
		r->list[r->count] = (struct gathered){ 0 };
		r->fact(r->arg, &fact_statistic, &row);
	}
}

static void gather_value(struct gathered *g, double value)
{
	if (isnan(value))
		return;
	g->minimum = g->count ? fmin(g->minimum, value) : value;
	g->maximum = g->count ? fmax(g->maximum, value) : value;
	g->sum += value;
	g->count++;
}

static double gathered_value(const struct gathered *g, enum reduction reduction)
{
	switch (reduction) {
	case REDUCE_SUM:
		return g->sum;
	case REDUCE_MIN:
		return g->minimum;
	case REDUCE_MAX:
		return g->maximum;
	default:
		return g->sum / g->count;
	}
}

static int64_t round_to_int64(double value)
{
	if (value >= 0x1p63)
		return INT64_MAX;
	if (value <= -0x1p63)
		return INT64_MIN;
	return (int64_t)round(value);
}

static void write_samples(struct recorder *r, const struct statistics *statistics, int64_t now_ns)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct statistic *one = statistics_get(statistics, (unsigned)i);
		struct gathered *g = &r->list[i];
		struct stat_sample row = { .statistic = (uint32_t)i,
					   .time_ns = now_ns - r->zero_ns,
					   .period_ns = now_ns - r->written_ns };

		if (!g->count)
			continue; /* no value was available */
		row.value = round_to_int64(gathered_value(g, one->reduction) * one->scale);
		*g = (struct gathered){ 0 };
		r->fact(r->arg, &fact_sample, &row);
	}
	r->written_ns = now_ns;
}

static bool is_due(const struct recorder *r, int64_t now_ns)
{
	const struct recorder_step *step = recorder_steps;

	while (now_ns - r->zero_ns > step->until_ns)
		step++;
	return now_ns - r->written_ns >= step->every_ns - step->every_ns / EARLY_FRACTION;
}

void recorder_listen(void *recorder, const struct statistics *statistics, int64_t now_ns)
{
	struct recorder *r = recorder;

	if (!r->began)
		r->written_ns = now_ns;
	r->began = true;
	register_new(r, statistics);
	for (size_t i = 0; i < r->count; i++)
		gather_value(&r->list[i], statistics_get(statistics, (unsigned)i)->last);
	r->polled_ns = now_ns;
	if (is_due(r, now_ns))
		write_samples(r, statistics, now_ns);
}

void recorder_finish(struct recorder *recorder, const struct statistics *statistics)
{
	if (recorder->polled_ns > recorder->written_ns)
		write_samples(recorder, statistics, recorder->polled_ns);
}
