/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside of features: what is made once per chronicle so that a row takes about a microsecond, and
 * the functions that fill the groups whose values need it.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_FEATURES_INTERNAL_H
#define SLUICE_PREDICT_FORECAST_STATES_FEATURES_INTERNAL_H

#include <stdbool.h>

#include "predict/forecast/states/features.h"

/* A target at a time. */
struct moment {
	const struct features *features;
	size_t target, size;
	double time_s;
	const struct chronicle_series *probes;
	size_t first, until; /* its probes in (t - window, t] */
};

/* Does a sample tell how long a write took? */
static inline bool sample_counts(const struct chronicle_series *series, size_t i)
{
	return sample_outcome(series, i) <= SAMPLE_TIMEOUT;
}

/* ---- averages that forget ---- */

#define EWM_COUNT 3

/* After some probes of a target. Value and weight fade alike, so they need not fade to now. */
struct ewm {
	double last_s; /* of the last probe that counts */
	double sum[EWM_COUNT], weight[EWM_COUNT];
};

/* Of one target: its state after every EWM_STEP probes, from none on. */
#define EWM_STEP 16
struct ewm_marks {
	struct ewm *marks;
	size_t count, cap;
};

/* ---- all targets together ---- */

/* All probes up to a time, and of it. */
struct round_sum {
	double time_s, count, sum, squares;
};

struct features_cache {
	uint64_t edits; /* of the chronicle when this was made */
	double *status; /* snapshots x FEATURE_STATUS_COUNT */
	size_t status_count, status_cap;
	struct ewm_marks *ewm; /* per target */
	struct round_sum *rounds;
	size_t round_count, round_cap;
	size_t *taken; /* per target: probes that are in rounds */
	size_t target_count;
};

/* Take what has come since. */
void ewm_follow(struct features_cache *cache, const struct chronicle *chronicle);
void rounds_follow(struct features_cache *cache, const struct chronicle *chronicle);

void ewm_fill(const struct moment *moment, double *out);
void neighbours_fill(const struct moment *moment, double *out);

#endif
