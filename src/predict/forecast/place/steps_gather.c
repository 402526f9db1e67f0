/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collects the points of a placement simulation from probe data and a forecaster.
 */
#include "predict/forecast/place/steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "predict/forecast/chronicle/chronicle.h"
#include "predict/forecast/states/features.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/labels.h"

struct placement_target steps_target(const struct forecast *forecast)
{
	return (struct placement_target){
		.busy = forecast->busy,
		.idle_s = forecast->idle_s,
		.busy_s = forecast->busy_s,
		.idle_sd = forecast->idle_sd,
		.busy_sd = forecast->busy_sd,
		.is_allowed = true,
	};
}

struct gathering {
	struct steps *steps;
	const struct steps_origin *origin;
	const struct chronicle *chronicle;
	int size, model_size; /* index of the size in the chronicle and in the forecaster */
	int *models;	      /* index of each target in the forecaster, or -ENOENT */
};

/* The index of a write at exactly this time, or -ENOENT. One that was abandoned took at least until
 * then; without it, the worst moments would be left out. */
static ptrdiff_t find_sample(const struct chronicle_series *series, double time_s)
{
	size_t n = chronicle_count_until(series, time_s);

	while (n > 0 && series->time_s[n - 1] == time_s) {
		n--;
		if (sample_outcome(series, n) <= SAMPLE_TIMEOUT && series->seconds[n] > 0)
			return (ptrdiff_t)n;
	}
	return -ENOENT;
}

static bool is_complete(const struct chronicle *chronicle, size_t size, double time_s)
{
	for (size_t t = 0; t < chronicle->target_count; t++)
		if (find_sample(chronicle_series(chronicle, t, size), time_s) < 0)
			return false;
	return true;
}

/* Finds the times of the first target's writes at which all others were measured. */
static size_t find_times(const struct gathering *g, double *times, size_t *left_out)
{
	const struct chronicle_series *series = chronicle_series(g->chronicle, 0, (size_t)g->size);
	size_t count = 0;

	*left_out = 0;
	for (size_t i = 0; i < series->count; i++) {
		double time_s = series->time_s[i];

		if (time_s < g->origin->from_s || time_s >= g->origin->to_s ||
		    sample_is_program(series, i) || (i && series->time_s[i - 1] == time_s))
			continue;
		if (is_complete(g->chronicle, (size_t)g->size, time_s))
			times[count++] = time_s;
		else
			++*left_out;
	}
	return count;
}

static void make_forecast(const struct gathering *g, size_t target, double time_s,
			  struct placement_target *out)
{
	const struct features *features = g->origin->features;
	struct forecast forecast;

	if (g->models[target] < 0) {
		*out = (struct placement_target){ .busy = NAN, .idle_s = NAN, .is_allowed = true };
		return;
	}
	forecaster_predict_at(g->origin->forecaster, features, (size_t)g->models[target],
			      (size_t)g->model_size, time_s - features->plan.horizon_s, &forecast);
	*out = steps_target(&forecast);
}

static void gather_target(void *arg, size_t target, unsigned worker)
{
	const struct gathering *g = arg;
	struct steps *steps = g->steps;
	const struct chronicle_series *series =
		chronicle_series(g->chronicle, target, (size_t)g->size);
	AUTO_FREE double *seconds = xcalloc(steps->points, sizeof(double));
	AUTO_FREE double *labels = xcalloc(2 * steps->points, sizeof(double));
	const uint8_t *busy = g->origin->busy
				      ? g->origin->busy[target * CHRONICLE_SIZES + (size_t)g->size]
				      : NULL;

	(void)worker;
	for (size_t p = 0; p < steps->points; p++) {
		size_t at = p * steps->targets + target;
		ptrdiff_t sample = find_sample(series, steps->time_s[p]);

		seconds[p] = steps->seconds[at] = (double)series->seconds[sample];
		if (steps->truth)
			steps->truth[at] = busy && busy[sample];
		make_forecast(g, target, steps->time_s[p], &steps->forecasts[at]);
	}
	if (g->models[target] < 0)
		return;
	labels_draw(&g->origin->forecaster->states, (size_t)g->models[target],
		    (size_t)g->model_size, g->origin->label_seed,
		    &(struct labels_writes){
			    .time_s = steps->time_s, .seconds = seconds, .count = steps->points },
		    labels, labels + steps->points);
	for (size_t p = 0; p < steps->points; p++)
		steps->labels[p * steps->targets + target] = labels[p] > 0.5;
}

static int find_indices(struct gathering *g, struct err *err)
{
	const struct forecaster *forecaster = g->origin->forecaster;

	g->size = chronicle_find_size(g->chronicle, g->origin->bytes);
	g->model_size = forecaster_find_size(forecaster, g->origin->bytes);
	if (g->size < 0 || g->model_size < 0 || !g->chronicle->target_count)
		return err_set(err, ENODATA, "writes of %llu bytes were not %s",
			       (unsigned long long)g->origin->bytes,
			       g->size < 0 ? "measured" : "part of the training");
	for (size_t t = 0; t < g->chronicle->target_count; t++)
		g->models[t] = forecaster_find_target(forecaster, g->chronicle->targets[t]);
	return 0;
}

int steps_gather(struct steps *steps, const struct steps_origin *origin, struct err *err)
{
	const struct chronicle *chronicle = origin->features->chronicle;
	AUTO_FREE int *models = xcalloc(chronicle->target_count + 1, sizeof(*models));
	AUTO_FREE double *times = NULL;
	struct gathering g = { .origin = origin, .chronicle = chronicle, .models = models };
	size_t count, left_out;
	int r = find_indices(&g, err);

	if (r < 0)
		return r;
	times = xcalloc(chronicle_series(chronicle, 0, (size_t)g.size)->count + 1, sizeof(*times));
	count = find_times(&g, times, &left_out);
	if (!count)
		return err_set(err, ENODATA,
			       "writes of %llu bytes to all %zu targets were never measured at the "
			       "same time",
			       (unsigned long long)origin->bytes, chronicle->target_count);
	steps_init(steps, count, chronicle->target_count, origin->busy != NULL);
	steps->left_out = left_out;
	for (size_t p = 0; p < count; p++)
		steps->time_s[p] = times[p];
	g.steps = steps;
	parallel_for(origin->threads ? origin->threads : parallel_cores(), chronicle->target_count,
		     gather_target, &g);
	return (int)count;
}
