/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The feature groups that need a cache: exponentially weighted means of a target's own probes,
 * statistics of the probes of all other targets, and shares of busy writes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "predict/forecast/chronicle/times.h"
#include "predict/forecast/states/features_internal.h"
#include "predict/forecast/states/labels.h"

static const double half_lives_s[EWM_COUNT] = { 120, 600, 3600 };
#define EWM_STALE 10 /* half-lives after which a mean is unknown */
#define NOW_PART 10  /* "now" is the last tenth of the window */

/* Probes are equally spaced as a rule, so the factors of the previous step are kept. */
struct decay {
	double gap_s, factors[EWM_COUNT];
};

static void ewm_add(struct ewm *ewm, struct decay *decay, double time_s, double seconds)
{
	double gap_s = time_s - ewm->last_s;

	if (decay->gap_s != gap_s)
		for (int i = 0; i < EWM_COUNT; i++)
			decay->factors[i] = exp2(-gap_s / half_lives_s[i]);
	decay->gap_s = gap_s;
	for (int i = 0; i < EWM_COUNT; i++) {
		ewm->sum[i] = ewm->sum[i] * decay->factors[i] + seconds;
		ewm->weight[i] = ewm->weight[i] * decay->factors[i] + 1;
	}
	ewm->last_s = time_s;
}

static void ewm_add_range(struct ewm *ewm, const struct chronicle_series *probes, size_t from,
			  size_t until)
{
	struct decay decay = { .gap_s = NAN };

	for (size_t i = from; i < until; i++)
		if (sample_counts(probes, i))
			ewm_add(ewm, &decay, probes->time_s[i], (double)probes->seconds[i]);
}

static void extend_marks(struct ewm_marks *marks, const struct chronicle_series *probes)
{
	while ((marks->count + 1) * EWM_STEP <= probes->count) {
		struct ewm ewm = { 0 };

		if (marks->count)
			ewm = marks->marks[marks->count - 1];
		ewm_add_range(&ewm, probes, marks->count * EWM_STEP, (marks->count + 1) * EWM_STEP);
		marks->marks =
			xgrow(marks->marks, &marks->cap, marks->count + 1, sizeof(*marks->marks));
		marks->marks[marks->count++] = ewm;
	}
}

void ewm_extend(struct features_cache *cache, const struct chronicle *chronicle)
{
	for (size_t i = 0; i < chronicle->target_count; i++)
		extend_marks(&cache->ewm[i], chronicle_series(chronicle, i, 0));
}

void ewm_fill(const struct moment *moment, double *out)
{
	const struct features_cache *cache = moment->features->cache;
	struct ewm ewm = { 0 };
	size_t from = 0;

	if (moment->target < cache->target_count) {
		const struct ewm_marks *marks = &cache->ewm[moment->target];

		from = moment->until / EWM_STEP;
		from = from < marks->count ? from : marks->count;
		if (from)
			ewm = marks->marks[from - 1];
	}
	ewm_add_range(&ewm, moment->probes, from * EWM_STEP, moment->until);
	for (int i = 0; i < EWM_COUNT; i++)
		out[i] = ewm.weight[i] > 0 &&
					 moment->time_s - ewm.last_s < EWM_STALE * half_lives_s[i]
				 ? ewm.sum[i] / ewm.weight[i]
				 : NAN;
}

/* The time of the earliest probe that is not included in rounds. */
static double find_next_time(const struct features_cache *cache, const struct chronicle *chronicle)
{
	double earliest = INFINITY;

	for (size_t i = 0; i < chronicle->target_count; i++) {
		const struct chronicle_series *probes = chronicle_series(chronicle, i, 0);

		if (cache->taken[i] < probes->count && probes->time_s[cache->taken[i]] < earliest)
			earliest = probes->time_s[cache->taken[i]];
	}
	return earliest;
}

/* Targets may be appended at different times, so discard rounds that are not before from_s. */
static void discard_rounds_from(struct features_cache *cache, const struct chronicle *chronicle,
				double from_s)
{
	if (!cache->round_count || cache->rounds[cache->round_count - 1].time_s < from_s)
		return;
	while (cache->round_count && cache->rounds[cache->round_count - 1].time_s >= from_s)
		cache->round_count--;
	for (size_t i = 0; i < chronicle->target_count; i++) {
		size_t before = chronicle_count_until(chronicle_series(chronicle, i, 0),
						      nextafter(from_s, -INFINITY));

		if (before < cache->taken[i])
			cache->taken[i] = before;
	}
}

static void add_to_round(struct round_sum *round, const struct chronicle_series *probes,
			 size_t *taken)
{
	for (; *taken < probes->count && probes->time_s[*taken] == round->time_s; ++*taken) {
		double seconds = (double)probes->seconds[*taken];

		if (!sample_counts(probes, *taken))
			continue;
		round->count++;
		round->sum += seconds;
		round->squares += seconds * seconds;
	}
}

/* Appends the round of all probes with this time. */
static void append_round(struct features_cache *cache, const struct chronicle *chronicle,
			 double time_s)
{
	struct round_sum round = { 0 };

	if (cache->round_count)
		round = cache->rounds[cache->round_count - 1];
	round.time_s = time_s;
	for (size_t i = 0; i < chronicle->target_count; i++)
		add_to_round(&round, chronicle_series(chronicle, i, 0), &cache->taken[i]);
	cache->rounds = xgrow(cache->rounds, &cache->round_cap, cache->round_count + 1,
			      sizeof(*cache->rounds));
	cache->rounds[cache->round_count++] = round;
}

void rounds_extend(struct features_cache *cache, const struct chronicle *chronicle)
{
	double time_s = find_next_time(cache, chronicle);

	discard_rounds_from(cache, chronicle, time_s);
	while (time_s < INFINITY) {
		append_round(cache, chronicle, time_s);
		time_s = find_next_time(cache, chronicle);
	}
}

/* The sums of all probes with a time <= time_s. */
static struct round_sum find_sums_until(const struct features_cache *cache, double time_s)
{
	size_t until = times_until(cache->rounds, sizeof(*cache->rounds),
				   offsetof(struct round_sum, time_s), cache->round_count, time_s);

	return until ? cache->rounds[until - 1] : (struct round_sum){ 0 };
}

/* The target's own part of the sums over (from_s, now]. */
static struct round_sum sum_own_probes(const struct moment *moment, double from_s)
{
	const struct features_cache *cache = moment->features->cache;
	struct round_sum own = { 0 };
	size_t until = moment->until;

	if (moment->target >= cache->target_count)
		return own;
	if (until > cache->taken[moment->target])
		until = cache->taken[moment->target];
	for (size_t i = until; i-- > 0 && moment->probes->time_s[i] > from_s;) {
		double seconds = (double)moment->probes->seconds[i];

		if (!sample_counts(moment->probes, i))
			continue;
		own.count++;
		own.sum += seconds;
		own.squares += seconds * seconds;
	}
	return own;
}

/* The sums of all other targets over (from_s, now]; *own is set to the target's own sums. */
static struct round_sum sum_other_targets(const struct moment *moment, double from_s,
					  struct round_sum *own)
{
	struct round_sum now = find_sums_until(moment->features->cache, moment->time_s);
	struct round_sum before = find_sums_until(moment->features->cache, from_s);

	*own = sum_own_probes(moment, from_s);
	now.count -= before.count + own->count;
	now.sum -= before.sum + own->sum;
	now.squares -= before.squares + own->squares;
	return now;
}

/* Mean and deviation in the window; mean of its last tenth; own mean divided by the others'. */
void neighbors_fill(const struct moment *moment, double *out)
{
	double window_s = moment->features->plan.window_s;
	struct round_sum own, own_now;
	struct round_sum window = sum_other_targets(moment, moment->time_s - window_s, &own);
	struct round_sum now =
		sum_other_targets(moment, moment->time_s - window_s / NOW_PART, &own_now);
	double mean = window.count > 0 ? window.sum / window.count : NAN;
	double spread = window.squares - window.count * mean * mean;

	out[0] = mean;
	out[1] = window.count > 1 ? sqrt(fmax(spread, 0) / (window.count - 1)) : NAN;
	out[2] = now.count > 0 ? now.sum / now.count : NAN;
	out[3] = own.count > 0 && mean > 0 ? own.sum / own.count / mean : NAN;
}

void busy_writes_extend(struct features_cache *cache, const struct borders *borders,
			const struct chronicle *chronicle)
{
	for (size_t i = 0; i < chronicle->target_count * chronicle->size_count; i++) {
		size_t target = i / chronicle->size_count, size = i % chronicle->size_count;
		const struct chronicle_series *series = chronicle_series(chronicle, target, size);
		struct busy_writes *writes = &cache->writes[target * CHRONICLE_SIZES + size];

		if (size && !writes->mixture)
			writes->mixture = borders_find(borders, chronicle->targets[target],
						       chronicle->sizes[size]);
		if (!writes->mixture)
			continue;
		writes->busy =
			xgrow(writes->busy, &writes->cap, series->count + 1, sizeof(*writes->busy));
		for (; writes->count < series->count; writes->count++)
			writes->busy[writes->count] = (float)labels_posterior(
				writes->mixture, (double)series->seconds[writes->count],
				sample_outcome(series, writes->count) == SAMPLE_TIMEOUT);
	}
}

#define SHARE_WRITES (5 * FEATURE_SHARE_HALF) /* older writes hardly count */
#define SHARE_SEARCH (2 * SHARE_WRITES)	      /* writes to look at, including those in progress */

/* Uses writes that had ended, like FEATURE_PAST. */
void share_fill(const struct moment *moment, double *out)
{
	const struct features *features = moment->features;
	const struct chronicle_series *series =
		chronicle_series(features->chronicle, moment->target, moment->size);
	double sum, weight = FEATURE_SHARE_PRIOR, decay = 1;
	size_t at = chronicle_count_until(series, moment->time_s), count = 0;
	const struct busy_writes *writes;

	out[0] = NAN;
	if (moment->target >= features->cache->target_count)
		return;
	writes = &features->cache->writes[moment->target * CHRONICLE_SIZES + moment->size];
	if (!writes->mixture)
		return;
	sum = weight * writes->mixture->components[1].weight;
	at = at < writes->count ? at : writes->count;
	for (size_t looked = 0; at-- > 0 && count < SHARE_WRITES && looked < SHARE_SEARCH;
	     looked++) {
		double begun_s = series->time_s[at], seconds = (double)series->seconds[at];

		if (begun_s >= moment->time_s || begun_s + seconds > moment->time_s ||
		    !reference_counts(&features->plan, series, at))
			continue;
		sum += decay * (double)writes->busy[at];
		weight += decay;
		decay *= exp2(-1.0 / FEATURE_SHARE_HALF);
		count++;
	}
	out[0] = sum / weight;
}
