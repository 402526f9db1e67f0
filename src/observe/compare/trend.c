/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/ratio.h"
#include "learn/math/vector.h"

/* The level of one measure: all of them together have RATIO_LEVEL. */
#define MEASURE_LEVEL (RATIO_LEVEL / TREND_MEASURES)

/* A shift is located exactly for counts, but for noisy values only about. */
#define SAME_EVENT 2

/* The size of a shift is estimated from at most so many runs on each side. */
#define ESTIMATE_RUNS 50

const struct trend_measure_info trend_measures[TREND_MEASURES] = {
	[TREND_DURATION] = { "duration", 1, false },
	[TREND_IO_TIME] = { "io_time", 1, false },
	[TREND_THROUGHPUT] = { "throughput", -1, false },
	[TREND_CALLS] = { "calls", 1, true },
	[TREND_READ] = { "bytes_read", 0, true },
	[TREND_WRITTEN] = { "bytes_written", 0, true },
};

/* The values of one measure, and where its level shifts. */
struct series {
	enum trend_measure measure;
	size_t offset; /* of the first value among all runs */
	double *values;
	size_t count;
	size_t *positions;
	size_t shifts;
};

/*
 * A count that is constant on both sides of each shift: its stretches of equal values are long
 * enough, except perhaps the last one, which may be about to become a level. False: it varies.
 */
static bool find_exact_shifts(struct series *s)
{
	s->shifts = 0;
	for (size_t i = 0, end; i < s->count; i = end) {
		for (end = i + 1; end < s->count && s->values[end] == s->values[i];)
			end++;
		if (end - i < TREND_LEAST)
			return end == s->count;
		if (i)
			s->positions[s->shifts++] = i;
	}
	return true;
}

static double median_of(const double *values, size_t n)
{
	AUTO_FREE double *copy = xcalloc(n, sizeof(double));

	memcpy(copy, values, n * sizeof(double));
	return vector_median(copy, n);
}

static bool is_positive(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(values[i] > 0))
			return false;
	return true;
}

/* Estimates the ratio. False: chance may cause such a difference between these neighbors. */
static bool estimate_ratio(struct trend_shift *shift, const double *before, size_t n,
			   const double *after, size_t m)
{
	struct ratio_interval interval;
	struct ratio_test test;
	bool is_real;

	ratio_test_init(&test, m, n);
	is_real = ratio_test_chance(&test, after, before) <= RATIO_LEVEL;
	if (is_real && is_positive(before, n) && is_positive(after, m) &&
	    ratio_test_interval(&test, after, before, RATIO_LEVEL, &interval)) {
		shift->ratio = interval.middle;
		shift->low = interval.low;
		shift->high = interval.high;
	}
	ratio_test_release(&test);
	return is_real;
}

static enum trend_direction direction_of(const struct trend_shift *shift)
{
	int sense = trend_measures[shift->measure].sense;

	if (!sense || (shift->ratio < TREND_RELEVANT && shift->ratio > 1 / TREND_RELEVANT))
		return TREND_OTHER;
	return (shift->ratio > 1) == (sense > 0) ? TREND_WORSE : TREND_BETTER;
}

/* Adds the shift at positions[i], unless it is not confirmed. */
static void add_shift(struct trend *trend, const struct series *s, size_t i, bool is_exact)
{
	size_t at = s->positions[i], from = i ? s->positions[i - 1] : 0;
	size_t to = i + 1 < s->shifts ? s->positions[i + 1] : s->count;
	size_t n = at - from < ESTIMATE_RUNS ? at - from : ESTIMATE_RUNS;
	size_t m = to - at < ESTIMATE_RUNS ? to - at : ESTIMATE_RUNS;
	struct trend_shift shift = { .measure = s->measure,
				     .at = s->offset + at,
				     .runs_before = at - from,
				     .runs_after = to - at,
				     .before = median_of(s->values + from, at - from),
				     .after = median_of(s->values + at, to - at),
				     .low = NAN,
				     .high = NAN,
				     .is_exact = is_exact };

	shift.ratio = shift.after / shift.before;
	if (!is_exact && !estimate_ratio(&shift, s->values + at - n, n, s->values + at, m))
		return;
	shift.direction = direction_of(&shift);
	trend->shifts = xgrow(trend->shifts, &trend->cap, trend->count + 1, sizeof(*trend->shifts));
	trend->shifts[trend->count++] = shift;
}

static void add_series(struct trend *trend, struct series *s)
{
	bool is_exact = trend_measures[s->measure].is_count && find_exact_shifts(s);

	if (!is_exact)
		s->shifts = level_shift_find(s->values, s->count, MEASURE_LEVEL, s->positions);
	for (size_t i = 0; i < s->shifts; i++)
		add_shift(trend, s, i, is_exact);
}

static int compare_shifts(const void *a, const void *b)
{
	const struct trend_shift *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (int)x->measure - (int)y->measure;
}

static int compare_positions(const void *a, const void *b)
{
	const struct trend_shift *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (int)x->measure - (int)y->measure;
}

/* Shifts that follow each other closely are one event, which is where an exact one of them is. */
static void make_events(struct trend *trend)
{
	trend->events = xcalloc(trend->count + 1, sizeof(*trend->events));
	if (trend->count)
		qsort(trend->shifts, trend->count, sizeof(*trend->shifts), compare_positions);
	for (size_t i = 0, end; i < trend->count; i = end) {
		size_t at = trend->shifts[i].at;
		bool is_exact = false;

		for (end = i; end < trend->count &&
			      trend->shifts[end].at <= trend->shifts[i].at + SAME_EVENT;
		     end++) {
			trend->shifts[end].event = trend->event_count;
			if (trend->shifts[end].is_exact && !is_exact)
				at = trend->shifts[end].at;
			is_exact |= trend->shifts[end].is_exact;
		}
		trend->events[trend->event_count++] = at;
	}
	if (trend->count)
		qsort(trend->shifts, trend->count, sizeof(*trend->shifts), compare_shifts);
}

void trend_init(struct trend *trend, const struct trend_run *runs, size_t n)
{
	size_t offset = n > TREND_RUNS_MAX ? n - TREND_RUNS_MAX : 0;
	struct series s = { .offset = offset, .count = n - offset };

	*trend = (struct trend){ .runs = s.count, .is_testable = s.count >= 2 * TREND_LEAST };
	s.values = xcalloc(s.count + 1, sizeof(*s.values));
	s.positions = xcalloc(s.count + 1, sizeof(*s.positions));
	for (int k = 0; k < TREND_MEASURES; k++) {
		s.measure = (enum trend_measure)k;
		for (size_t i = 0; i < s.count; i++)
			s.values[i] = runs[offset + i].values[k];
		if (vector_all_finite(s.values, s.count))
			add_series(trend, &s);
	}
	make_events(trend);
	free(s.values);
	free(s.positions);
}

void trend_release(struct trend *trend)
{
	free(trend->shifts);
	free(trend->events);
	*trend = (struct trend){ 0 };
}

/* Does the measure shift again later? */
static bool is_superseded(const struct trend *trend, const struct trend_shift *shift)
{
	for (size_t i = 0; i < trend->count; i++)
		if (trend->shifts[i].measure == shift->measure && trend->shifts[i].at > shift->at)
			return true;
	return false;
}

const struct trend_shift *trend_latest(const struct trend *trend, enum trend_direction direction)
{
	const struct trend_shift *latest = NULL;

	for (size_t i = 0; i < trend->count; i++) {
		const struct trend_shift *shift = &trend->shifts[i];

		if (shift->direction == direction && !is_superseded(trend, shift) &&
		    (!latest || shift->event > latest->event))
			latest = shift;
	}
	return latest;
}
