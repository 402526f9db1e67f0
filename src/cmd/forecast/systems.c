/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast systems and forget: list and delete the systems whose probe data is in the store.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/date.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/window.h"
#include "cmd/forecast/probe.h"
#include "store/probes.h"

static const struct option systems_options[] = { OPTION_INCLUDE(probe_json_options, 0), { 0 } };

static const struct option forget_options[] = {
	{ 0, "until", "TIME", NULL,
	  "delete only earlier data; a date or seconds since 1970 (UTC) (default: all)",
	  OPTION_TEXT, offsetof(struct probe_args, until) },
	{ 0 }
};

static int add_row(void *arg, const struct probe_system *system)
{
	struct table *table = arg;
	char text[DATE_TEXT];

	table_add(table, "%s", system->name);
	table_add(table, "%" PRIu64, system->targets);
	table_add(table, "%" PRIu64, system->rows);
	table_add(table, "%" PRIu64, system->snapshots);
	table_add(table, "%s", date_text(text, system->from_s));
	table_add(table, "%s", date_text(text, system->to_s));
	return 0;
}

static int add_object(void *arg, const struct probe_system *system)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "system", system->name);
	json_count(json, "targets", system->targets);
	json_count(json, "samples", system->rows);
	json_count(json, "snapshots", system->snapshots);
	json_double(json, "from", system->from_s);
	json_double(json, "to", system->to_s);
	json_close(json);
	return 0;
}

static int print_systems(struct store *store, struct err *err)
{
	static const char *const titles[] = { "system", ">targets", ">samples", ">snapshots",
					      "from",	"to (UTC)", NULL };
	struct table table;
	int r;

	table_init(&table, titles);
	r = probes_systems(store, add_row, &table, err);
	if (r >= 0 && !table.count)
		r = err_set(err, ENODATA,
			    "no probe data yet: collect it with 'sluice forecast probe' or load "
			    "it with 'sluice forecast import'");
	if (r >= 0)
		table_print(&table, stdout, 0);
	table_release(&table);
	return r;
}

static int print_systems_json(struct store *store, struct err *err)
{
	struct json json;
	int r;

	json_start(&json, stdout, PROBE_SCHEMA);
	json_open(&json, "systems", '[');
	r = probes_systems(store, add_object, &json, err);
	json_end(&json);
	return r;
}

static int systems_run(struct command *command)
{
	const struct probe_args *args = command->args;
	struct store *store = NULL;
	struct err err = { 0 };
	int r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), &err);

	if (r >= 0)
		r = args->json ? print_systems_json(store, &err) : print_systems(store, &err);
	store_close(store);
	return r < 0 ? command_fail_err(command, r, &err) : command_finish(command);
}

static int forget_run(struct command *command)
{
	const struct probe_args *args = command->args;
	struct store *store = NULL;
	struct err err = { 0 };
	double from_s = 0, to_s = 0;
	int r = window_parse(command, NULL, args->until, &from_s, &to_s);

	if (r != COMMAND_GOOD)
		return r;
	r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), &err);
	if (r >= 0)
		r = probes_forget(store, command->argv[0], to_s, &err);
	store_close(store);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

const struct command_ops command_forecast_systems = {
	.name = "systems",
	.help = "list the systems whose probe data is stored",
	.options = systems_options,
	.args_bytes = sizeof(struct probe_args),
	.run = systems_run,
};

const struct command_ops command_forecast_forget = {
	.name = "forget",
	.help = "delete the probe data of a system",
	.operands = "SYSTEM",
	.operands_min = 1,
	.operands_max = 1,
	.about = "  sluice forecast forget titan --until 2018-01-01",
	.options = forget_options,
	.args_bytes = sizeof(struct probe_args),
	.flags = COMMAND_NO_JSON,
	.run = forget_run,
};
