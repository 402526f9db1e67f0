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
#include "predict/forecast/service/outlook.h"

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

static void add_row(struct table *table, const struct outlook *outlook, size_t target, size_t size)
{
	const struct forecaster *forecaster = outlook->forecaster;
	const struct forecast *a = outlook_answer(outlook, target, size);
	char bytes[UNIT_TEXT], expected[UNIT_TEXT], idle[UNIT_TEXT], busy[UNIT_TEXT],
		age[UNIT_TEXT];

	table_add(table, "%s", forecaster->targets[target]);
	table_add(table, "%s", unit_bytes(bytes, (double)forecaster->sizes[size]));
	table_add(table, "%s", outlook_state(a));
	if (isnan(a->busy))
		table_add(table, "-");
	else
		table_add(table, "%.1f%%", 100 * a->busy);
	table_add(table, "%s", format_seconds(expected, a->expected_s));
	table_add(table, "%s", format_seconds(idle, a->idle_s));
	table_add(table, "%s", format_seconds(busy, a->busy_s));
	table_add(table, "%s",
		  a->is_model ? forecaster_model(forecaster, target, size)->method : "shares");
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

static void print_outlook_json(const struct outlook *outlook)
{
	struct json json;

	json_start(&json, stdout, FORECAST_SCHEMA);
	outlook_json(outlook, &json);
	json_end(&json);
}

static int show_outlook(const struct command *command, const struct forecast_args *args,
			const struct outlook *outlook)
{
	AUTO_FREE char *caution = outlook_caution(outlook), *warning = outlook_warning(outlook);
	int ret;

	if (args->json)
		print_outlook_json(outlook);
	else
		print_outlook(outlook);
	if (caution && !args->json)
		term_sentence(stdout, "\n%s\n", caution);
	ret = command_finish(command);
	if (ret || !warning)
		return ret;
	command_fail(command, "%s", warning);
	return COMMAND_NO_DATA;
}

static int now_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	AUTO_FREE char *path = forecast_path(command, args);
	struct forecast_data source = { 0 };
	struct forecaster forecaster = { 0 };
	struct outlook outlook;
	double now_s;
	int ret = forecast_model(command, args, &forecaster);

	if (!ret)
		ret = forecast_latest(command, args, &forecaster, &source, &now_s);
	if (!ret) {
		outlook_init(&outlook, &forecaster, path, &source, now_s);
		ret = show_outlook(command, args, &outlook);
		outlook_release(&outlook);
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
