/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Storage targets: what was probed, and whether they are busy.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"
#include "learn/states/mixture.h"
#include "predict/forecast/service/outlook.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/probe_view.h"

#define DAY_S 86400.0
#define TREND_BINS 48
#define BINS_DEFAULT 240
#define BINS_MAX 2000
#define TARGETS_MAX 1000

/* --- bins of a series --- */

/* Durations of the writes of one size to one target per part of the window. */
struct bins {
	double from_s, bin_s;
	size_t count;
	size_t *writes, *failed;
	double *least, *mean, *most; /* NAN: no write was completed or timed out */
};

static void bins_init(struct bins *bins, double from_s, double to_s, size_t count)
{
	*bins = (struct bins){
		.from_s = from_s,
		.bin_s = (to_s - from_s) / (double)count,
		.count = count,
		.writes = xcalloc(count, sizeof(*bins->writes)),
		.failed = xcalloc(count, sizeof(*bins->failed)),
		.least = xmalloc(count * sizeof(*bins->least)),
		.mean = xmalloc(count * sizeof(*bins->mean)),
		.most = xmalloc(count * sizeof(*bins->most)),
	};
	for (size_t i = 0; i < count; i++)
		bins->least[i] = bins->mean[i] = bins->most[i] = NAN;
}

static void bins_release(struct bins *bins)
{
	free(bins->writes);
	free(bins->failed);
	free(bins->least);
	free(bins->mean);
	free(bins->most);
}

/* The last bin includes the end of the window. */
static bool bin_find(const struct bins *bins, double time_s, size_t *bin)
{
	double at = (time_s - bins->from_s) / bins->bin_s;

	if (!(at >= 0 && at <= (double)bins->count))
		return false;
	*bin = at < (double)bins->count ? (size_t)at : bins->count - 1;
	return true;
}

static void bins_add(struct bins *bins, const struct chronicle_series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		double seconds = (double)series->seconds[i];
		size_t bin;

		if (!bin_find(bins, series->time_s[i], &bin))
			continue;
		if (sample_outcome(series, i) != SAMPLE_DONE)
			bins->failed[bin]++;
		if (sample_outcome(series, i) > SAMPLE_TIMEOUT)
			continue;
		if (!bins->writes[bin]++)
			bins->mean[bin] = 0;
		bins->least[bin] = fmin(bins->least[bin], seconds);
		bins->most[bin] = fmax(bins->most[bin], seconds);
		bins->mean[bin] += (seconds - bins->mean[bin]) / (double)bins->writes[bin];
	}
}

static void put_reals(struct json *json, const char *key, const double *values, size_t count)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		json_double(json, NULL, values[i]);
	json_close(json);
}

static void put_counts(struct json *json, const char *key, const size_t *values, size_t count)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		json_count(json, NULL, values[i]);
	json_close(json);
}

/* --- all targets --- */

static void put_newest(struct json *json, const struct chronicle_series *series)
{
	size_t last = series->count - 1;
	char outcome[16], method[16];

	if (!series->count) {
		json_text(json, "newest", NULL);
		return;
	}
	option_choice_name(SAMPLE_OUTCOMES, (int)sample_outcome(series, last), outcome,
			   sizeof(outcome));
	option_choice_name(SAMPLE_METHODS, (int)sample_method(series, last), method,
			   sizeof(method));
	json_open(json, "newest", '{');
	probe_view_put_time(json, "time_ns", series->time_s[last]);
	json_double(json, "seconds", (double)series->seconds[last]);
	json_text(json, "outcome", outcome);
	json_text(json, "method", method);
	json_close(json);
}

static void put_series(struct json *json, const struct probe_view *view, size_t target, size_t size)
{
	const struct chronicle *rows = forecast_data_rows(&view->data);
	const struct chronicle_series *series = chronicle_series(rows, target, size);
	size_t failed = 0;
	struct bins bins;

	bins_init(&bins, view->from_s, view->to_s, TREND_BINS);
	bins_add(&bins, series);
	for (size_t i = 0; i < bins.count; i++)
		failed += bins.failed[i];
	json_open(json, NULL, '{');
	json_count(json, "bytes", rows->sizes[size]);
	json_count(json, "writes", series->count);
	json_count(json, "failed", failed);
	put_newest(json, series);
	put_reals(json, "trend", bins.mean, bins.count);
	json_close(json);
	bins_release(&bins);
}

static void put_target(struct json *json, const struct probe_view *view, size_t target)
{
	const struct chronicle *rows = forecast_data_rows(&view->data);

	json_open(json, NULL, '{');
	json_text(json, "name", rows->targets[target]);
	json_open(json, "sizes", '[');
	for (size_t size = 0; size < rows->size_count; size++)
		put_series(json, view, target, size);
	json_close(json);
	json_close(json);
}

static void answer_targets(struct web_call *call)
{
	const struct chronicle *rows;
	struct probe_view view;
	struct reply reply;

	if (!probe_view_open(call, DAY_S, 0, &view))
		return;
	rows = forecast_data_rows(&view.data);
	reply_start(&reply, "sluice.targets/1");
	probe_view_put(&reply.json, &view);
	json_count(&reply.json, "target_count", rows->target_count);
	json_open(&reply.json, "targets", '[');
	for (size_t i = 0; i < rows->target_count && i < TARGETS_MAX; i++)
		put_target(&reply.json, &view, i);
	json_close(&reply.json);
	reply_end(&reply, call);
	probe_view_close(&view);
}

void handle_targets(struct web_call *call)
{
	pthread_mutex_lock(call->heavy);
	answer_targets(call);
	pthread_mutex_unlock(call->heavy);
}

/* --- one target over time --- */

/* What a model says about the target in each bin; NAN: nothing. */
struct course {
	uint64_t bytes;	  /* of the writes that the states are about; 0: no model */
	double *busy;	  /* probability, by the durations of these writes */
	double *forecast; /* probability, by what was known at the start of the bin */
	double idle_s, busy_s;
};

static void measure_states(struct course *course, const struct bins *bins,
			   const struct mixture *mixture, const struct chronicle_series *series)
{
	AUTO_FREE size_t *counts = xcalloc(bins->count, sizeof(*counts));

	for (size_t i = 0; i < series->count; i++) {
		double posterior[MIXTURE_MAX] = { 0 }, busy = 1;
		size_t bin;

		if (sample_outcome(series, i) > SAMPLE_TIMEOUT ||
		    !bin_find(bins, series->time_s[i], &bin))
			continue;
		if (sample_outcome(series, i) == SAMPLE_DONE) {
			mixture_posterior(mixture, (double)series->seconds[i], posterior);
			busy = posterior[1];
		}
		if (!counts[bin]++)
			course->busy[bin] = 0;
		course->busy[bin] += (busy - course->busy[bin]) / (double)counts[bin];
	}
}

static void forecast_states(struct course *course, const struct bins *bins,
			    const struct forecaster *forecaster, const struct forecast_data *data,
			    size_t target, size_t size)
{
	struct features features;

	features_init(&features, forecast_data_rows(data), &data->site, &forecaster->features);
	for (size_t i = 0; i < bins->count; i++) {
		struct forecast forecast = { .busy = NAN };
		double age =
			forecaster_predict_at(forecaster, &features, target, size,
					      bins->from_s + (double)i * bins->bin_s, &forecast);

		if (isfinite(age))
			course->forecast[i] = forecast.busy;
	}
	features_release(&features);
}

/* The size that the states are about: the wanted one, or the largest if that is the probe size. */
static int choose_state_size(const struct forecaster *forecaster, uint64_t bytes)
{
	int size = forecaster_find_size(forecaster, bytes);

	return size > 0 ? size : (int)forecaster->size_count - 1;
}

static void find_course(struct course *course, const struct bins *bins,
			const struct probe_view *view, const struct forecaster *forecaster,
			const char *name, uint64_t bytes)
{
	const struct chronicle *rows = forecast_data_rows(&view->data);
	int target = forecaster_find_target(forecaster, name),
	    size = choose_state_size(forecaster, bytes), at = chronicle_find_target(rows, name);
	const struct mixture *mixture;
	int series;

	if (target < 0 || size < 1 || at < 0 || strcmp(forecaster->system, rows->system) != 0)
		return;
	course->bytes = forecaster->sizes[size];
	mixture = states_mixture(&forecaster->states, (size_t)target, (size_t)size);
	series = chronicle_find_size(rows, course->bytes);
	if (mixture && mixture->count == 2) {
		course->idle_s = mixture_mean(mixture, 0);
		course->busy_s = mixture_mean(mixture, 1);
		if (series >= 0)
			measure_states(course, bins, mixture,
				       chronicle_series(rows, (size_t)at, (size_t)series));
	}
	forecast_states(course, bins, forecaster, &view->data, (size_t)target, (size_t)size);
}

static void put_course(struct json *json, const struct course *course, size_t count)
{
	json_open(json, "states", '{');
	json_count(json, "bytes", course->bytes);
	json_double(json, "idle_s", course->idle_s);
	json_double(json, "busy_s", course->busy_s);
	put_reals(json, "busy", course->busy, count);
	put_reals(json, "forecast", course->forecast, count);
	json_close(json);
}

static void answer_history(struct web_call *call, const struct probe_view *view,
			   const struct forecaster *forecaster, size_t target, size_t size,
			   size_t count)
{
	const struct chronicle *rows = forecast_data_rows(&view->data);
	struct course course = { .idle_s = NAN, .busy_s = NAN };
	struct reply reply;
	struct bins bins;

	bins_init(&bins, view->from_s, view->to_s, count);
	bins_add(&bins, chronicle_series(rows, target, size));
	course.busy = xmalloc(count * sizeof(*course.busy));
	course.forecast = xmalloc(count * sizeof(*course.forecast));
	for (size_t i = 0; i < count; i++)
		course.busy[i] = course.forecast[i] = NAN;
	if (forecaster)
		find_course(&course, &bins, view, forecaster, rows->targets[target],
			    rows->sizes[size]);
	reply_start(&reply, "sluice.target/1");
	probe_view_put(&reply.json, view);
	json_text(&reply.json, "target", rows->targets[target]);
	json_open(&reply.json, "sizes", '[');
	for (size_t i = 0; i < rows->size_count; i++)
		json_count(&reply.json, NULL, rows->sizes[i]);
	json_close(&reply.json);
	json_count(&reply.json, "bytes", rows->sizes[size]);
	json_number(&reply.json, "bin_ns", (int64_t)(bins.bin_s * NS_PER_S));
	put_counts(&reply.json, "writes", bins.writes, count);
	put_counts(&reply.json, "failed", bins.failed, count);
	put_reals(&reply.json, "least_s", bins.least, count);
	put_reals(&reply.json, "mean_s", bins.mean, count);
	put_reals(&reply.json, "most_s", bins.most, count);
	if (course.bytes)
		put_course(&reply.json, &course, count);
	else
		json_text(&reply.json, "states", NULL);
	reply_end(&reply, call);
	free(course.busy);
	free(course.forecast);
	bins_release(&bins);
}

static void find_history(struct web_call *call, const struct probe_view *view,
			 const struct forecaster *forecaster, size_t count)
{
	const struct chronicle *rows = forecast_data_rows(&view->data);
	const char *name = call_text(call, "target", "");
	int target = chronicle_find_target(rows, name), size;
	int64_t bytes;

	if (target < 0) {
		call_fail(call, 404,
			  "\"%s\" is not a target of this system; /targets lists them in the "
			  "parameter target",
			  name);
		return;
	}
	if (!call_number(call, "bytes", 0, INT64_MAX, (int64_t)rows->sizes[0], &bytes))
		return;
	size = chronicle_find_size(rows, (uint64_t)bytes);
	if (size < 0) {
		call_fail(call, 404, "no writes of %lld bytes in this time", (long long)bytes);
		return;
	}
	answer_history(call, view, forecaster, (size_t)target, (size_t)size, count);
}

static void open_history(struct web_call *call, size_t count)
{
	struct forecaster forecaster = { 0 };
	const char *path = config_text(call->config, SETTING_FORECAST_MODEL);
	bool has_model = forecaster_load(&forecaster, path, NULL) >= 0;
	struct probe_view view;

	if (probe_view_open(call, DAY_S, has_model ? forecast_data_history_s(&forecaster) : 0,
			    &view)) {
		if (view.problem)
			call_fail(call, 404, "%s", view.problem);
		else
			find_history(call, &view, has_model ? &forecaster : NULL, count);
		probe_view_close(&view);
	}
	forecaster_release(&forecaster);
}

void handle_target_history(struct web_call *call)
{
	int64_t count;

	if (!call_number(call, "bins", 1, BINS_MAX, BINS_DEFAULT, &count))
		return;
	pthread_mutex_lock(call->heavy);
	open_history(call, (size_t)count);
	pthread_mutex_unlock(call->heavy);
}

/* --- the forecast --- */

/* An answer without forecasts that says why. */
static void answer_no_forecast(struct web_call *call, const char *problem)
{
	struct reply reply;

	reply_start(&reply, "sluice.forecast/1");
	json_text(&reply.json, "problem", problem);
	json_open(&reply.json, "forecasts", '[');
	json_close(&reply.json);
	reply_end(&reply, call);
}

static void answer_forecast(struct web_call *call, const struct forecaster *forecaster,
			    const char *path, double now_s)
{
	struct forecast_data data = { 0 };
	struct forecast_query query;
	struct outlook outlook;
	struct err err = { 0 };
	struct reply reply;

	forecast_query_init(&query, call->config);
	query.system = forecaster->system;
	query.from_s = now_s - forecast_data_history_s(forecaster);
	query.to_s = nextafter(now_s, INFINITY);
	query.most_samples = PROBE_VIEW_SAMPLES;
	if (forecast_data_open(&data, &query, &err) < 0) {
		answer_no_forecast(call, err.text);
	} else {
		outlook_init(&outlook, forecaster, path, &data, now_s);
		reply_start(&reply, "sluice.forecast/1");
		outlook_json(&outlook, &reply.json);
		reply_end(&reply, call);
		outlook_release(&outlook);
	}
	forecast_data_close(&data);
}

void handle_forecast(struct web_call *call)
{
	const char *path = config_text(call->config, SETTING_FORECAST_MODEL);
	struct forecaster forecaster = { 0 };
	struct err err = { 0 };
	int64_t until;
	int r;

	if (!call_number(call, "until", 0, INT32_MAX * INT64_C(16), (int64_t)time(NULL), &until))
		return;
	pthread_mutex_lock(call->heavy);
	r = forecaster_load(&forecaster, path, &err);
	if (r >= 0)
		answer_forecast(call, &forecaster, path, (double)until);
	else
		answer_no_forecast(call, r == -ENOENT
						 ? "no model yet: collect probe data with 'sluice "
						   "forecast probe', then run 'sluice forecast "
						   "train'"
						 : err.text);
	forecaster_release(&forecaster);
	pthread_mutex_unlock(call->heavy);
}
