/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast now: prints the forecast for every target and write size at the current minute.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/date.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/format.h"
#include "cmd/forecast/forecast.h"
#include "predict/forecast/states/forecaster.h"

static const struct option now_options[] = {
	{ 0, "until", "TIME", NULL,
	  "ignore later data, and forecast for this time instead of now; a date or seconds since "
	  "1970 (UTC)",
	  OPTION_TEXT, offsetof(struct forecast_args, until) },
	OPTION_INCLUDE(forecast_model_options, 0),
	OPTION_INCLUDE(forecast_data_options, 0),
	OPTION_INCLUDE(forecast_simulated_options, 0),
	{ 0, "seed", "N", "1", "with --simulate: seed of the random numbers", OPTION_COUNT,
	  offsetof(struct forecast_args, seed) },
	OPTION_INCLUDE(forecast_json_options, 0),
	{ 0 },
};

#define BUSY_PROBABILITY 0.5

/* The forecasts that are printed. */
struct outlook {
	const struct forecaster *forecaster;
	const char *path;
	double now_s; /* the time of the forecast */
	double age_s; /* of the newest probe of all targets; INFINITY: there is none */
	bool is_stale;
	struct forecast *answers; /* targets x sizes */
	double *ages;		  /* per target */
};

static void compute_outlook(struct outlook *outlook, const struct features *features)
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

static const char *state_name(const struct forecast *answer)
{
	return isnan(answer->busy) ? "unknown" : answer->busy > BUSY_PROBABILITY ? "busy" : "idle";
}

static void add_row(struct table *table, const struct outlook *outlook, size_t target, size_t size)
{
	const struct forecaster *forecaster = outlook->forecaster;
	const struct forecast *a = &outlook->answers[target * forecaster->size_count + size];
	char bytes[UNIT_TEXT], expected[UNIT_TEXT], idle[UNIT_TEXT], busy[UNIT_TEXT],
		age[UNIT_TEXT];

	table_add(table, "%s", forecaster->targets[target]);
	table_add(table, "%s", unit_bytes(bytes, (double)forecaster->sizes[size]));
	table_add(table, "%s", state_name(a));
	if (isnan(a->busy))
		table_add(table, "-");
	else
		table_add(table, "%.1f%%", 100 * a->busy);
	table_add(table, "%s", format_seconds(expected, a->expected_s));
	table_add(table, "%s", format_seconds(idle, a->idle_s));
	table_add(table, "%s", format_seconds(busy, a->busy_s));
	table_add(table, "%s", a->is_model ? forecaster->method : "shares");
	table_add(table, "%s", format_seconds(age, outlook->ages[target]));
}

static void print_outlook(const struct outlook *outlook)
{
	static const char *const titles[] = { "target",	   ">size",    "state",	   ">busy",
					      ">expected", ">if idle", ">if busy", "method",
					      ">age",	   NULL };
	const struct forecaster *forecaster = outlook->forecaster;
	char when[DATE_TEXT];
	struct table table;

	term_printf(stdout, "%s at %s UTC\n\n", forecaster->system,
		    date_text(when, outlook->now_s));
	table_init(&table, titles);
	for (size_t t = 0; t < forecaster->target_count; t++)
		for (size_t s = 1; s < forecaster->size_count; s++)
			add_row(&table, outlook, t, s);
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void print_answer_json(struct json *json, const struct outlook *outlook, size_t target,
			      size_t size)
{
	const struct forecaster *forecaster = outlook->forecaster;
	const struct forecast *a = &outlook->answers[target * forecaster->size_count + size];

	json_open(json, NULL, '{');
	json_text(json, "target", forecaster->targets[target]);
	json_count(json, "bytes", forecaster->sizes[size]);
	json_text(json, "state", state_name(a));
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

static void print_outlook_json(const struct outlook *outlook)
{
	const struct forecaster *forecaster = outlook->forecaster;
	struct json json;

	json_start(&json, stdout, FORECAST_SCHEMA);
	forecast_json_system(&json, forecaster->system);
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
			print_answer_json(&json, outlook, t, s);
	json_end(&json);
}

static int show_outlook(const struct command *command, const struct forecast_args *args,
			const struct outlook *outlook)
{
	char age[UNIT_TEXT];
	int ret;

	if (args->json)
		print_outlook_json(outlook);
	else
		print_outlook(outlook);
	ret = command_finish(command);
	if (ret || !outlook->is_stale)
		return ret;
	if (isfinite(outlook->age_s))
		command_fail(command,
			     "the newest probe is %s old, so this forecast shows typical instead "
			     "of current times; is 'sluice forecast probe' running?",
			     format_seconds(age, outlook->age_s));
	else
		command_fail(command,
			     "there is no recent probe, so this forecast shows typical instead of "
			     "current times; is 'sluice forecast probe' running?");
	return COMMAND_NO_DATA;
}

static int now_run(struct command *command)
{
	const struct forecast_args *args = command->args;
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
		compute_outlook(&outlook, &features);
		features_release(&features);
		outlook.is_stale =
			!(outlook.age_s <= FORECAST_STALE_WINDOWS * forecaster.features.window_s);
		ret = show_outlook(command, args, &outlook);
	}
	forecast_data_close(&source);
	forecaster_release(&forecaster);
	return ret;
}

const struct command_ops command_forecast_now = {
	.name = "now",
	.help = "forecast which targets are busy now",
	.about = "A forecast uses the probes of the last minutes (see 'sluice forecast train "
		 "--history'). If the newest probe is older than twice that time, a warning is "
		 "printed and the exit status is 3. The column \"method\" shows \"shares\" for a "
		 "target with too few writes for a model of its own: its forecast is the share of "
		 "its past states.",
	.options = now_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = now_run,
};
