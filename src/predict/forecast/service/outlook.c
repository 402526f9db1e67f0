/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/service/outlook.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/unit.h"
#include "predict/forecast/service/forecast_data.h"

#define BUSY_PROBABILITY 0.5

static void compute_answers(struct outlook *outlook, const struct features *features)
{
	const struct forecaster *forecaster = outlook->forecaster;

	for (size_t t = 0; t < forecaster->target_count; t++) {
		outlook->ages[t] = INFINITY;
		for (size_t s = 1; s < forecaster->size_count; s++)
			outlook->ages[t] = forecaster_predict_at(
				forecaster, features, t, s, outlook->now_s,
				&outlook->answers[t * forecaster->size_count + s]);
		outlook->age_s = fmin(outlook->age_s, outlook->ages[t]);
	}
}

void outlook_init(struct outlook *outlook, const struct forecaster *forecaster, const char *path,
		  const struct forecast_data *data, double now_s)
{
	size_t count = forecaster->target_count * forecaster->size_count;
	struct features features;

	*outlook = (struct outlook){
		.forecaster = forecaster,
		.path = path,
		.now_s = now_s,
		.age_s = INFINITY,
		.answers = xcalloc(count + 1, sizeof(*outlook->answers)),
		.ages = xcalloc(forecaster->target_count + 1, sizeof(*outlook->ages)),
	};
	features_init(&features, forecast_data_rows(data), &data->site, &forecaster->features);
	compute_answers(outlook, &features);
	features_release(&features);
	outlook->is_stale =
		!(outlook->age_s <= OUTLOOK_STALE_WINDOWS * forecaster->features.window_s);
}

void outlook_release(struct outlook *outlook)
{
	free(outlook->answers);
	free(outlook->ages);
	*outlook = (struct outlook){ 0 };
}

const char *outlook_state(const struct forecast *forecast)
{
	return isnan(forecast->busy)		   ? "unknown"
	       : forecast->busy > BUSY_PROBABILITY ? "busy"
						   : "idle";
}

char *outlook_warning(const struct outlook *outlook)
{
	char age[UNIT_TEXT];

	if (!outlook->is_stale)
		return NULL;
	if (!isfinite(outlook->age_s))
		return xstrdup("there is no recent probe, so this forecast shows typical instead "
			       "of current times; is 'sluice forecast probe' running?");
	return xprintf("the newest probe is %s old, so this forecast shows typical instead of "
		       "current times; is 'sluice forecast probe' running?",
		       unit_ns(age, (int64_t)(outlook->age_s * (double)NS_PER_S)));
}

char *outlook_caution(const struct outlook *outlook)
{
	const struct forecaster *forecaster = outlook->forecaster;
	size_t all = 0, models = 0, useless = 0, rejected = 0;

	for (size_t t = 0; t < forecaster->target_count; t++)
		for (size_t s = 1; s < forecaster->size_count; s++) {
			const struct forecaster_model *model = forecaster_model(forecaster, t, s);

			all++;
			rejected += forecaster_model_is_rejected(model);
			if (!outlook_answer(outlook, t, s)->is_model)
				continue;
			models++;
			useless += !forecaster_model_is_useful(model);
		}
	if (rejected)
		return xprintf("%zu of %zu forecasts are the share of busy writes, because no "
			       "method was better on later data",
			       rejected, all);
	if (!useless)
		return NULL;
	return xprintf("%zu of %zu models were not shown to be better than always predicting the "
		       "more frequent state (cross-validated on blocks of time)",
		       useless, models);
}

/* Seconds since 1970, of which json_double() would lose the last digit. */
static void put_time(struct json *json, const char *key, double time_s)
{
	if (isfinite(time_s))
		json_number(json, key, (int64_t)floor(time_s));
	else
		json_text(json, key, NULL);
}

static void put_model(struct json *json, const struct outlook *outlook)
{
	const struct forecaster *forecaster = outlook->forecaster;

	json_open(json, "model", '{');
	json_text(json, "path", outlook->path);
	json_text(json, "method", forecaster->method);
	json_text(json, "settings", forecaster->settings);
	json_count(json, "generation", forecaster->generation);
	json_number(json, "made", forecaster->made_s);
	put_time(json, "from", forecaster->from_s);
	put_time(json, "to", forecaster->to_s);
	json_double(json, "horizon_s", forecaster->features.horizon_s);
	json_close(json);
}

static void put_answer(struct json *json, const struct outlook *outlook, size_t target, size_t size)
{
	const struct forecaster *forecaster = outlook->forecaster;
	const struct forecaster_model *model = forecaster_model(forecaster, target, size);
	const struct forecast *a = outlook_answer(outlook, target, size);

	json_open(json, NULL, '{');
	json_text(json, "target", forecaster->targets[target]);
	json_count(json, "bytes", forecaster->sizes[size]);
	json_text(json, "state", outlook_state(a));
	json_double(json, "busy", a->busy);
	json_double(json, "expected_s", a->expected_s);
	json_double(json, "idle_s", a->idle_s);
	json_double(json, "busy_s", a->busy_s);
	json_double(json, "idle_sd", a->idle_sd);
	json_double(json, "busy_sd", a->busy_sd);
	json_bool(json, "is_model", a->is_model);
	json_text(json, "method", a->is_model ? model->method : "shares");
	json_double(json, "log_loss", model->log_loss);
	json_double(json, "share_log_loss", model->share_log_loss);
	json_count(json, "rows", model->rows);
	json_double(json, "accuracy", model->accuracy);
	json_double(json, "majority", model->majority);
	json_double(json, "ceiling", model->ceiling);
	json_bool(json, "is_useful", forecaster_model_is_useful(model));
	json_double(json, "age_s", outlook->ages[target]);
	json_close(json);
}

void outlook_json(const struct outlook *outlook, struct json *json)
{
	const struct forecaster *forecaster = outlook->forecaster;
	AUTO_FREE char *warning = outlook_warning(outlook), *caution = outlook_caution(outlook);

	forecast_json_system(json, forecaster->system);
	put_time(json, "time", outlook->now_s);
	json_double(json, "age_s", outlook->age_s);
	json_bool(json, "is_stale", outlook->is_stale);
	json_text(json, "warning", warning);
	json_text(json, "caution", caution);
	put_model(json, outlook);
	json_open(json, "forecasts", '[');
	for (size_t t = 0; t < forecaster->target_count; t++)
		for (size_t s = 1; s < forecaster->size_count; s++)
			put_answer(json, outlook, t, s);
	json_close(json);
}
