/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-45, SIOX-46.
 */
#include "observe/stats/series.h"

#include <math.h>

_Static_assert(sizeof(((struct series *)0)->samples) == 50 * sizeof(double),
	       "a series has 50 samples");

const char *const reduction_names[REDUCTIONS] = { "mean", "sum", "min", "max" };
const uint32_t series_polls[SERIES_LEVELS] = { 1, 10, 100, 600, 6000 };

double series_reduce(enum reduction reduction, const double *values, unsigned count)
{
	double sum = 0, minimum = NAN, maximum = NAN;
	unsigned known = 0;

	for (unsigned i = 0; i < count; i++) {
		if (isnan(values[i]))
			continue;
		known++;
		sum += values[i];
		minimum = fmin(minimum, values[i]); /* fmin() of a number and NAN is the number */
		maximum = fmax(maximum, values[i]);
	}
	if (!known)
		return NAN;
	switch (reduction) {
	case REDUCE_SUM:
		return sum;
	case REDUCE_MIN:
		return minimum;
	case REDUCE_MAX:
		return maximum;
	default:
		return sum / known;
	}
}

/* Number of samples that a level has ever had. */
static uint64_t samples_ever(const struct series *series, unsigned level)
{
	return series->polls / series_polls[level];
}

/* Reduces the newest samples of a level. */
static double reduce_newest(const struct series *series, enum reduction reduction, unsigned level,
			    unsigned count)
{
	double values[SERIES_SAMPLES];

	for (unsigned i = 0; i < count; i++)
		values[i] = series_get(series, level, i);
	return series_reduce(reduction, values, count);
}

void series_add(struct series *series, enum reduction reduction, double value)
{
	series->polls++;
	for (unsigned level = 0; level < SERIES_LEVELS; level++) {
		if (series->polls % series_polls[level])
			return; /* the levels above are not due either */
		if (level)
			value = reduce_newest(series, reduction, level - 1,
					      series_polls[level] / series_polls[level - 1]);
		series->samples[level][(samples_ever(series, level) - 1) % SERIES_SAMPLES] = value;
	}
}

unsigned series_count(const struct series *series, unsigned level)
{
	uint64_t count = samples_ever(series, level);

	return count < SERIES_SAMPLES ? (unsigned)count : SERIES_SAMPLES;
}

double series_get(const struct series *series, unsigned level, unsigned back)
{
	return series->samples[level][(samples_ever(series, level) - 1 - back) % SERIES_SAMPLES];
}
