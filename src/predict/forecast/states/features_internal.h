/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cache of features, which lets a row take about a microsecond, and the functions that compute
 * the groups which need it.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_FEATURES_INTERNAL_H
#define SLUICE_PREDICT_FORECAST_STATES_FEATURES_INTERNAL_H

#include <stdbool.h>

#include "predict/forecast/states/features.h"

/* The target, size and time that a row is computed for. */
struct moment {
	const struct features *features;
	size_t target, size;
	double time_s;
	const struct chronicle_series *probes;
	size_t first, until; /* indices of the probes in (t - window, t] */
};

/* True if a sample has a duration. */
static inline bool sample_counts(const struct chronicle_series *series, size_t i)
{
	return sample_outcome(series, i) <= SAMPLE_TIMEOUT;
}

/* The same for a write that is a label or a feature of later ones. */
static inline bool reference_counts(const struct features_plan *plan,
				    const struct chronicle_series *series, size_t i)
{
	return sample_counts(series, i) &&
	       !(plan->ignores_programs && sample_is_program(series, i));
}

#define EWM_COUNT 3

/*
 * Exponentially weighted sums after some probes of a target. Sum and weight decay by the same
 * factor, so their ratio needs no decay from last_s to now.
 */
struct ewm {
	double last_s; /* time of the last probe with a duration */
	double sum[EWM_COUNT], weight[EWM_COUNT];
};

/* The sums of one target after every EWM_STEP probes. */
#define EWM_STEP 16
struct ewm_marks {
	struct ewm *marks;
	size_t count, cap;
};

/* Cumulative sums of the probes of all targets up to and including time_s. */
struct round_sum {
	double time_s, count, sum, squares;
};

/* The posterior of busy of the writes of a target and size. */
struct busy_writes {
	const struct mixture *mixture; /* NULL: unknown */
	float *busy;
	size_t count, cap;
};

struct features_cache {
	uint64_t edits; /* chronicle->edits when the cache was made */
	double *status; /* snapshots x FEATURE_STATUS_COUNT */
	size_t status_count, status_cap;
	struct ewm_marks *ewm; /* per target */
	struct round_sum *rounds;
	size_t round_count, round_cap;
	size_t *taken;		     /* per target: number of probes included in rounds */
	const struct chain **chains; /* per target; NULL: unknown */
	struct busy_writes *writes;  /* targets x CHRONICLE_SIZES, for FEATURE_SHARE */
	size_t target_count;
};

/* Extend the cache by the probes that were appended. */
void ewm_extend(struct features_cache *cache, const struct chronicle *chronicle);
void rounds_extend(struct features_cache *cache, const struct chronicle *chronicle);

void busy_writes_extend(struct features_cache *cache, const struct borders *borders,
			const struct chronicle *chronicle);

void ewm_fill(const struct moment *moment, double *out);
void neighbors_fill(const struct moment *moment, double *out);
void share_fill(const struct moment *moment, double *out);

#endif
