/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast --now: what the model says of every target and size at this minute.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/date.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/unit.h"
#include "cmd/forecast/forecast.h"
#include "predict/forecast/states/forecaster.h"

/* Everything that is printed. */
struct outlook {
	const struct forecaster *forecaster;
	const char *path;
	double now_s, age_s; /* of the newest probe of all; INFINITY: none */
	bool is_stale;
	struct forecast *answers; /* targets x sizes */
	double *ages;		  /* per target */
};

static void outlook_ask(struct outlook *outlook, const struct features *features)
{
	const struct forecaster *forecaster = outlook->forecaster;

	for (size_t t = 0; t < forecaster->target_count; t++) {
		outlook->ages[t] = INFINITY;
		for (size_t s = 1; s < forecaster->size_count; s++)
			outlook->ages[t] = forecaster_answer(
				forecaster, features, t, s, outlook->now_s,
				&outlook->answers[t * forecaster->size_count + s]);
		outlook->age_s = fmin(outlook->age_s, outlook->ages[t]);
	}
}

static const char *state_of(const struct forecast *answer)
{
	return isnan(answer->busy) ? "unknown" : answer->busy > 0.5 ? "busy" : "idle";
}

static const char *seconds_text(char out[UNIT_TEXT], double seconds)
{
	if (!(seconds < 9e9))
		snprintf(out, UNIT_TEXT, "-");
	else
		unit_ns(out, (int64_t)(seconds * 1e9));
	return out;
}

static void row_add(struct table *table, const struct outlook *outlook, size_t target, size_t size)
{
	const struct forecaster *forecaster = outlook->forecaster;
	const struct forecast *a = &outlook->answers[target * forecaster->size_count + size];
	char bytes[UNIT_TEXT], expected[UNIT_TEXT], idle[UNIT_TEXT], busy[UNIT_TEXT],
		age[UNIT_TEXT];

	table_add(table, "%s", forecaster->targets[target]);
	table_add(table, "%s", unit_bytes(bytes, (double)forecaster->sizes[size]));
	table_add(table, "%s", state_of(a));
	if (isnan(a->busy))
		table_add(table, "-");
	else
		table_add(table, "%.1f%%", 100 * a->busy);
	table_add(table, "%s", seconds_text(expected, a->expected_s));
	table_add(table, "%s", seconds_text(idle, a->idle_s));
	table_add(table, "%s", seconds_text(busy, a->busy_s));
	table_add(table, "%s", a->is_model ? forecaster->method : "shares");
	table_add(table, "%s", seconds_text(age, outlook->ages[target]));
}

static void outlook_print(const struct outlook *outlook)
{
	static const char *const titles[] = { "target", ">size",      "state", ">busy", ">expected",
					      ">idle",	">when busy", "by",    ">age",	NULL };
	const struct forecaster *forecaster = outlook->forecaster;
	char when[DATE_TEXT];
	struct table table;

	printf("%s at %s UTC\n\n", forecaster->system, date_text(when, outlook->now_s));
	table_init(&table, titles);
	for (size_t t = 0; t < forecaster->target_count; t++)
		for (size_t s = 1; s < forecaster->size_count; s++)
			row_add(&table, outlook, t, s);
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void answer_json(struct json *json, const struct outlook *outlook, size_t target,
			size_t size)
{
	const struct forecaster *forecaster = outlook->forecaster;
	const struct forecast *a = &outlook->answers[target * forecaster->size_count + size];

	json_open(json, NULL, '{');
	json_text(json, "target", forecaster->targets[target]);
	json_count(json, "bytes", forecaster->sizes[size]);
	json_text(json, "state", state_of(a));
	json_real(json, "busy", a->busy);
	json_real(json, "expected_s", a->expected_s);
	json_real(json, "idle_s", a->idle_s);
	json_real(json, "busy_s", a->busy_s);
	json_real(json, "idle_sd", a->idle_sd);
	json_real(json, "busy_sd", a->busy_sd);
	json_bool(json, "is_model", a->is_model);
	json_real(json, "age_s", outlook->ages[target]);
	json_close(json);
}

static void outlook_json(const struct outlook *outlook)
{
	const struct forecaster *forecaster = outlook->forecaster;
	struct json json;

	json_start(&json, stdout, FORECAST_SCHEMA);
	json_text(&json, "system", forecaster->system);
	json_real(&json, "time", outlook->now_s);
	json_real(&json, "age_s", outlook->age_s);
	json_bool(&json, "is_stale", outlook->is_stale);
	json_open(&json, "model", '{');
	json_text(&json, "path", outlook->path);
	json_text(&json, "method", forecaster->method);
	json_text(&json, "settings", forecaster->settings);
	json_count(&json, "generation", forecaster->generation);
	json_number(&json, "made", forecaster->made_s);
	json_real(&json, "from", forecaster->from_s);
	json_real(&json, "to", forecaster->to_s);
	json_real(&json, "horizon_s", forecaster->features.horizon_s);
	json_close(&json);
	json_open(&json, "forecasts", '[');
	for (size_t t = 0; t < forecaster->target_count; t++)
		for (size_t s = 1; s < forecaster->size_count; s++)
			answer_json(&json, outlook, t, s);
	json_end(&json);
}

static int outlook_tell(const struct command *command, const struct forecast_args *args,
			const struct outlook *outlook)
{
	char age[UNIT_TEXT];
	int ret;

	if (args->json)
		outlook_json(outlook);
	else
		outlook_print(outlook);
	ret = command_finish(command);
	if (ret || !outlook->is_stale)
		return ret;
	if (isfinite(outlook->age_s))
		command_fail(command,
			     "the newest probe is %s old: this tells what is usual, not what is "
			     "now; does 'sluice probe run' run?",
			     unit_ns(age, (int64_t)(outlook->age_s * 1e9)));
	else
		command_fail(command, "there are no probes of the last hours: this tells what is "
				      "usual, not what is now; does 'sluice probe run' run?");
	return COMMAND_NO_DATA;
}

int forecast_now(struct command *command, const struct forecast_args *args)
{
	AUTO_FREE char *path = forecast_path(command, args);
	struct forecast_data source = { 0 };
	struct forecaster forecaster = { 0 };
	struct outlook outlook = { .forecaster = &forecaster, .path = path, .age_s = INFINITY };
	AUTO_FREE struct forecast *answers = NULL;
	AUTO_FREE double *ages = NULL;
	struct features features;
	int ret = forecast_model(command, args, &forecaster);

	if (!ret)
		ret = forecast_latest(command, args, &forecaster, &source, &outlook.now_s);
	if (!ret) {
		answers = xcalloc(forecaster.target_count * forecaster.size_count + 1,
				  sizeof(*answers));
		ages = xcalloc(forecaster.target_count + 1, sizeof(*ages));
		outlook.answers = answers;
		outlook.ages = ages;
		features_init(&features, forecast_data_rows(&source), &source.site,
			      &forecaster.features);
		outlook_ask(&outlook, &features);
		features_release(&features);
		outlook.is_stale = !(outlook.age_s <= 2 * forecaster.features.window_s);
		ret = outlook_tell(command, args, &outlook);
	}
	forecast_data_close(&source);
	forecaster_release(&forecaster);
	return ret;
}
