/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-21, WAN-23.
 */
#include "predict/forecast/states/features.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/chains.h"
#include "predict/forecast/states/features_internal.h"

/* Indices of the numbers of a snapshot; from STATUS_XL on in the order of site_class(). */
enum {
	STATUS_JOBS,
	STATUS_BATCH,
	STATUS_DEBUG,
	STATUS_XL,
	STATUS_NEW = STATUS_XL + SITE_CLASSES,
	STATUS_MIDDLE,
	STATUS_OLD,
	STATUS_VIRTUAL,
	STATUS_MEMORY,
};
_Static_assert(STATUS_MEMORY + 1 == FEATURE_STATUS_COUNT, "a snapshot has 13 numbers");

/* Multiplies, because products of whole seconds are exact and thirds are not. */
static size_t find_age_class(const struct job *job)
{
	double allocated_s = job->allocated_s, used_s = job->used_s;

	if (!(allocated_s > 0) || isnan(used_s) || 3 * used_s < allocated_s)
		return STATUS_NEW;
	return 3 * used_s > 2 * allocated_s ? STATUS_OLD : STATUS_MIDDLE;
}

static double zero_if_unknown(double value)
{
	return isnan(value) ? 0 : value;
}

void features_status(const struct jobs *jobs, const struct site *site,
		     double status[FEATURE_STATUS_COUNT])
{
	memset(status, 0, FEATURE_STATUS_COUNT * sizeof(*status));
	status[STATUS_JOBS] = (double)jobs->count;
	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->rows[i];

		status[STATUS_BATCH] += site_name_matches(site->batch, job->queue);
		status[STATUS_DEBUG] += site_name_matches(site->debug, job->queue);
		status[STATUS_XL + site_class(site, zero_if_unknown(job->nodes))]++;
		status[find_age_class(job)]++;
		status[STATUS_VIRTUAL] += zero_if_unknown(job->virtual_bytes);
		status[STATUS_MEMORY] += zero_if_unknown(job->memory_bytes);
	}
}

static void status_fill(const struct moment *moment, double *out)
{
	const struct features *features = moment->features;
	ptrdiff_t last = chronicle_jobs_at(features->chronicle, moment->time_s);

	if (last < 0)
		for (int i = 0; i < FEATURE_STATUS_COUNT; i++)
			out[i] = NAN;
	else if ((size_t)last < features->cache->status_count)
		memcpy(out, features->cache->status + last * FEATURE_STATUS_COUNT,
		       FEATURE_STATUS_COUNT * sizeof(*out));
	else
		features_status(&features->chronicle->snapshots[last], features->site, out);
}

static void latency_fill(const struct moment *moment, double *out)
{
	const struct chronicle_series *probes = moment->probes;
	double last = NAN, sum = 0, squares = 0, mean;
	size_t count = 0;

	for (size_t i = moment->first; i < moment->until; i++)
		if (sample_counts(probes, i)) {
			last = (double)probes->seconds[i];
			sum += last;
			count++;
		}
	mean = count ? sum / (double)count : NAN;
	for (size_t i = moment->first; i < moment->until; i++)
		if (sample_counts(probes, i)) {
			double off = (double)probes->seconds[i] - mean;

			squares += off * off;
		}
	out[0] = last;
	out[1] = mean;
	out[2] = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
}

#define DAY_S 86400.0

static void clock_fill(const struct moment *moment, double *out)
{
	double day = 2 * M_PI * fmod(moment->time_s, DAY_S) / DAY_S;
	double week = 2 * M_PI * fmod(moment->time_s, 7 * DAY_S) / (7 * DAY_S);

	out[0] = sin(day);
	out[1] = cos(day);
	out[2] = sin(week);
	out[3] = cos(week);
}

#define PAST_WRITES 6
#define PAST_SEARCH (10 * PAST_WRITES) /* writes to look at, including those in progress */

/*
 * Uses writes that had ended by the time of the forecast, which excludes the write that starts at
 * this time. Only a few writes can be in progress, so the search ends soon.
 */
static void past_fill(const struct moment *moment, double *out)
{
	const struct chronicle_series *series =
		chronicle_series(moment->features->chronicle, moment->target, moment->size);
	size_t count = 0, at = chronicle_count_until(series, moment->time_s);
	double sum = 0;

	out[0] = out[1] = out[2] = out[3] = NAN;
	for (size_t looked = 0; at-- > 0 && count < PAST_WRITES && looked < PAST_SEARCH; looked++) {
		double begun_s = series->time_s[at], seconds = (double)series->seconds[at];

		if (begun_s >= moment->time_s || begun_s + seconds > moment->time_s ||
		    !reference_counts(&moment->features->plan, series, at))
			continue;
		if (count < 2)
			out[count] = seconds;
		if (!count)
			out[3] = moment->time_s - begun_s;
		sum += seconds;
		count++;
	}
	if (count)
		out[2] = sum / (double)count;
}

static void node_fill(const struct moment *moment, double *out)
{
	const struct features *features = moment->features;
	ptrdiff_t last = chronicle_node_at(features->chronicle, moment->time_s);
	const struct node_state *node = last < 0 ? NULL : &features->chronicle->nodes[last];

	if (node && node->time_s <= moment->time_s - features->plan.window_s)
		node = NULL;
	for (int i = 0; i < NODE_VALUES; i++)
		out[i] = node ? node->values[i] : NAN;
}

static void state_fill(const struct moment *moment, double *out)
{
	const struct features *features = moment->features;
	const struct chain *chain = features->cache->chains[moment->target];

	out[0] =
		chain ? chain_state(chain, moment->probes, moment->time_s, features->plan.horizon_s)
		      : NAN;
}

#define GROUP_WIDTH 13

/* The groups in the order of their bits, which is that of the columns of a row. */
static const struct group {
	const char *word;
	void (*fill)(const struct moment *moment, double *out);
	size_t width;
	const char *names[GROUP_WIDTH];
} groups[FEATURE_GROUPS] = {
	{ "status",
	  status_fill,
	  FEATURE_STATUS_COUNT,
	  { "jobs", "jobs_batch", "jobs_debug", "jobs_extra_large", "jobs_large", "jobs_medium",
	    "jobs_small", "jobs_extra_small", "jobs_new", "jobs_middle_aged", "jobs_old",
	    "virtual_bytes", "memory_bytes" } },
	{ "latency", latency_fill, 3, { "latency", "latency_mean", "latency_sd" } },
	{ "ewm", ewm_fill, EWM_COUNT, { "ewm_2min", "ewm_10min", "ewm_1h" } },
	{ "clock", clock_fill, 4, { "day_sin", "day_cos", "week_sin", "week_cos" } },
	{ "neighbors",
	  neighbors_fill,
	  4,
	  { "others_mean", "others_sd", "others_now", "others_ratio" } },
	{ "past", past_fill, 4, { "past_last", "past_before", "past_mean", "past_age_s" } },
	{ "node",
	  node_fill,
	  NODE_VALUES,
	  {
#define X(word, name, help) "node_" name,
		  NODE_VALUE_LIST(X)
#undef X
	  } },
	{ "state", state_fill, 1, { "state" } },
	{ "share", share_fill, 1, { "share" } },
};

void features_plan_init(struct features_plan *plan)
{
	*plan = (struct features_plan){ .groups = FEATURE_PAPER, .window_s = 600 };
}

/* The groups that a word names; 0 if it is unknown. */
static unsigned find_groups(const char *word, size_t length)
{
	if (length == 5 && strncmp(word, "paper", length) == 0)
		return FEATURE_PAPER;
	if (length == 6 && strncmp(word, "recent", length) == 0)
		return FEATURE_RECENT;
	if (length == 3 && strncmp(word, "all", length) == 0)
		return FEATURE_ALL;
	for (size_t i = 0; i < FEATURE_GROUPS; i++)
		if (strlen(groups[i].word) == length && strncmp(groups[i].word, word, length) == 0)
			return 1u << i;
	return 0;
}

int features_plan_parse(struct features_plan *plan, const char *text, struct err *err)
{
	unsigned chosen = 0;

	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");
		unsigned bits = find_groups(at, length);

		if (!bits)
			return err_set(
				err, EINVAL,
				"unknown feature group \"%.*s\": expected paper, recent, all or a "
				"comma-separated list of " FEATURE_WORDS,
				(int)(length < 60 ? length : 60), at);
		chosen |= bits;
		at += length;
		if (!*at)
			break;
	}
	plan->groups = chosen;
	return 0;
}

const char *features_group(size_t group)
{
	return groups[group].word;
}

double features_known_until(const struct features_plan *plan, double time_s)
{
	double known_s = time_s - plan->horizon_s;

	return plan->earlier_rounds ? nextafter(known_s, -INFINITY) : known_s;
}

size_t features_width(const struct features_plan *plan)
{
	size_t width = 0;

	for (size_t i = 0; i < FEATURE_GROUPS; i++)
		if (plan->groups & 1u << i)
			width += groups[i].width;
	return width;
}

const char *features_name(const struct features_plan *plan, size_t column)
{
	for (size_t i = 0; i < FEATURE_GROUPS; i++) {
		if (!(plan->groups & 1u << i))
			continue;
		if (column < groups[i].width)
			return groups[i].names[column];
		column -= groups[i].width;
	}
	return NULL;
}

size_t features_select(const struct features_plan *plan, unsigned wanted, const double *row,
		       double *selected)
{
	size_t width = 0;

	for (size_t i = 0; i < FEATURE_GROUPS; i++) {
		if (!(plan->groups & 1u << i))
			continue;
		if (wanted & 1u << i) {
			memcpy(selected + width, row, groups[i].width * sizeof(*row));
			width += groups[i].width;
		}
		row += groups[i].width;
	}
	return width;
}

static void cache_free(struct features_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->target_count; i++)
		free(cache->ewm[i].marks);
	for (size_t i = 0; i < cache->target_count * CHRONICLE_SIZES; i++)
		free(cache->writes[i].busy);
	free(cache->writes);
	free(cache->ewm);
	free(cache->taken);
	free(cache->chains);
	free(cache->rounds);
	free(cache->status);
	free(cache);
}

static void extend_targets(struct features *features)
{
	struct features_cache *cache = features->cache;
	const struct chronicle *chronicle = features->chronicle;
	size_t count = chronicle->target_count, more = count - cache->target_count;

	if (!more)
		return;
	cache->ewm = xrealloc(cache->ewm, count, sizeof(*cache->ewm));
	cache->taken = xrealloc(cache->taken, count, sizeof(*cache->taken));
	memset(cache->ewm + cache->target_count, 0, more * sizeof(*cache->ewm));
	memset(cache->taken + cache->target_count, 0, more * sizeof(*cache->taken));
	cache->chains = xrealloc(cache->chains, count, sizeof(*cache->chains));
	cache->writes = xrealloc(cache->writes, count * CHRONICLE_SIZES, sizeof(*cache->writes));
	memset(cache->writes + cache->target_count * CHRONICLE_SIZES, 0,
	       more * CHRONICLE_SIZES * sizeof(*cache->writes));
	for (size_t i = cache->target_count; i < count; i++)
		cache->chains[i] = chains_find(features->plan.chains, chronicle->targets[i]);
	cache->target_count = count;
}

static void extend_status(struct features *features)
{
	struct features_cache *cache = features->cache;
	size_t count = features->chronicle->snapshot_count;

	cache->status = xgrow(cache->status, &cache->status_cap, count + 1,
			      FEATURE_STATUS_COUNT * sizeof(*cache->status));
	for (; cache->status_count < count; cache->status_count++)
		features_status(&features->chronicle->snapshots[cache->status_count],
				features->site,
				cache->status + cache->status_count * FEATURE_STATUS_COUNT);
}

void features_update(struct features *features)
{
	const struct chronicle *chronicle = features->chronicle;

	if (features->cache && features->cache->edits != chronicle->edits) {
		cache_free(features->cache);
		features->cache = NULL;
	}
	if (!features->cache) {
		features->cache = xcalloc(1, sizeof(*features->cache));
		features->cache->edits = chronicle->edits;
	}
	extend_targets(features);
	if (features->plan.groups & FEATURE_STATUS)
		extend_status(features);
	if (features->plan.groups & FEATURE_EWM)
		ewm_extend(features->cache, chronicle);
	if (features->plan.groups & FEATURE_NEIGHBORS)
		rounds_extend(features->cache, chronicle);
	if (features->plan.groups & FEATURE_SHARE)
		busy_writes_extend(features->cache, features->plan.borders, chronicle);
}

void features_init(struct features *features, const struct chronicle *chronicle,
		   const struct site *site, const struct features_plan *plan)
{
	*features = (struct features){ .chronicle = chronicle, .site = site, .plan = *plan };
	features_update(features);
}

void features_release(struct features *features)
{
	cache_free(features->cache);
	*features = (struct features){ 0 };
}

static void moment_init(struct moment *moment, const struct features *features, size_t target,
			size_t size, double time_s)
{
	const struct chronicle_series *probes = chronicle_series(features->chronicle, target, 0);
	size_t first = chronicle_count_until(probes, time_s), until = first;

	while (first && probes->time_s[first - 1] > time_s - features->plan.window_s)
		first--;
	*moment = (struct moment){ features, target, size, time_s, probes, first, until };
}

size_t features_at(const struct features *features, size_t target, size_t size, double time_s,
		   double *row)
{
	struct moment moment;
	size_t width = 0, count = 0;

	moment_init(&moment, features, target, size, time_s);
	for (size_t i = 0; i < FEATURE_GROUPS; i++) {
		if (!(features->plan.groups & 1u << i))
			continue;
		groups[i].fill(&moment, row + width);
		width += groups[i].width;
	}
	for (size_t i = 0; i < width; i++)
		count += !isnan(row[i]);
	return count;
}

static double probe_age(const struct features *features, size_t target, double known_s,
			double time_s)
{
	const struct chronicle_series *probes = chronicle_series(features->chronicle, target, 0);
	size_t until = chronicle_count_until(probes, known_s);

	return until ? time_s - probes->time_s[until - 1] : NAN;
}

/*
 * The time up to which a forecast for this write uses probe data. A program writes at any time, so
 * the newest probe may not have ended when it begins; it is not known then.
 */
static double find_known_time(const struct features *features, size_t target,
			      const struct chronicle_series *series, size_t sample)
{
	const struct chronicle_series *probes = chronicle_series(features->chronicle, target, 0);
	double known_s = features_known_until(&features->plan, series->time_s[sample]);
	double begin_s = known_s;
	size_t until = chronicle_count_until(probes, known_s);

	while (sample_is_program(series, sample) && until-- &&
	       probes->time_s[until] + (double)probes->seconds[until] > begin_s)
		known_s = nextafter(probes->time_s[until], -INFINITY);
	return known_s;
}

static void append_row(const struct features *features, size_t target, size_t size, size_t sample,
		       struct feature_rows *rows)
{
	const struct chronicle_series *series = chronicle_series(features->chronicle, target, size);
	double *x = rows->x + rows->rows * rows->width, time_s = series->time_s[sample];
	double known_s = find_known_time(features, target, series, sample);

	rows->gaps += rows->width - features_at(features, target, size, known_s, x);
	rows->time_s[rows->rows] = time_s;
	rows->age_s[rows->rows] = probe_age(features, target, known_s, time_s);
	rows->seconds[rows->rows] = (double)series->seconds[sample];
	rows->sample[rows->rows] = sample;
	rows->timeouts += sample_outcome(series, sample) == SAMPLE_TIMEOUT;
	rows->rows++;
}

void features_rows(const struct features *features, size_t target, size_t size, double from_s,
		   double to_s, struct feature_rows *rows)
{
	const struct chronicle_series *series = chronicle_series(features->chronicle, target, size);
	size_t first = chronicle_count_until(series, nextafter(from_s, -INFINITY));
	size_t until = chronicle_count_until(series, nextafter(to_s, -INFINITY));
	size_t most = until > first ? until - first : 0;

	*rows = (struct feature_rows){ .width = features_width(&features->plan) };
	rows->x = xcalloc(most * rows->width + 1, sizeof(*rows->x));
	rows->time_s = xcalloc(most + 1, sizeof(*rows->time_s));
	rows->seconds = xcalloc(most + 1, sizeof(*rows->seconds));
	rows->age_s = xcalloc(most + 1, sizeof(*rows->age_s));
	rows->sample = xcalloc(most + 1, sizeof(*rows->sample));
	for (size_t i = first; i < until; i++)
		if (reference_counts(&features->plan, series, i))
			append_row(features, target, size, i, rows);
}

void feature_rows_release(struct feature_rows *rows)
{
	free(rows->x);
	free(rows->time_s);
	free(rows->seconds);
	free(rows->age_s);
	free(rows->sample);
	*rows = (struct feature_rows){ 0 };
}
