/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns options into queries of probe data (predict/forecast/service/forecast_data.h), and opens
 * the data and the model that they select.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"
#include "cli/window.h"
#include "cmd/forecast/forecast.h"
#include "cmd/forecast/probe.h"
#include "predict/forecast/states/forecaster.h"

static void show_warning(void *arg, const char *text)
{
	command_warn(arg, "%s", text);
}

void forecast_args_query(struct forecast_query *query, const struct command *command,
			 const struct forecast_args *args)
{
	forecast_query_init(query, command->config);
	if (args->system || args->inputs.count)
		query->system = args->system;
	if (args->site || args->simulate)
		query->site = args->site;
	query->is_default_system = query->is_default_system && !args->system;
	query->files = args->inputs.items;
	query->file_count = args->inputs.count;
	query->simulated = args->simulate;
	query->wish = (struct system_request){
		.targets = args->max_targets == OPTION_NONE ? 0 : args->max_targets,
		.seed = args->seed,
		.threads = args->threads == OPTION_NONE ? 0 : (unsigned)args->threads
	};
	query->on_warning = show_warning;
	query->arg = (void *)command;
}

int forecast_open(const struct command *command, const struct forecast_args *args, double from_s,
		  double to_s, struct forecast_data *data)
{
	struct forecast_query query;
	struct err err = { 0 };
	int r;

	forecast_args_query(&query, command, args);
	query.from_s = from_s;
	query.to_s = to_s;
	r = forecast_data_open(data, &query, &err);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

char *forecast_path(const struct command *command, const struct forecast_args *args)
{
	return xstrdup(args->model ? args->model
				   : config_text(command->config, SETTING_FORECAST_MODEL));
}

int forecast_model(const struct command *command, const struct forecast_args *args,
		   struct forecaster *forecaster)
{
	AUTO_FREE char *path = forecast_path(command, args);
	struct err err = { 0 };
	int r = forecaster_load(forecaster, path, &err);

	if (r == -ENOENT && !args->model) {
		command_fail(
			command,
			"no model yet (%s): collect probe data with 'sluice forecast probe', then "
			"run 'sluice forecast train'",
			path);
		return COMMAND_NO_DATA;
	}
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

int forecast_keep(const struct command *command, const struct forecast_args *args,
		  const struct forecaster *forecaster, const char *path)
{
	struct err err = { 0 };
	int r = 0;

	if (!args->output && !args->model)
		r = place_make_parent(path, TRUSTED_DIRECTORY_MODE, &err);
	if (r >= 0)
		r = forecaster_save(forecaster, path, &err);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

int forecast_latest(const struct command *command, const struct forecast_args *args,
		    const struct forecaster *forecaster, struct forecast_data *data, double *now_s)
{
	struct forecast_query query;
	struct err err = { 0 };
	double from, to;
	int r, ret = window_parse(command, args->since, args->until, &from, &to);

	if (ret)
		return ret;
	*now_s = isfinite(to) ? to : (double)time(NULL);
	forecast_args_query(&query, command, args);
	if (!args->system && !args->inputs.count)
		query.system = forecaster->system;
	query.from_s = *now_s - forecast_data_history_s(forecaster);
	query.to_s = nextafter(*now_s, INFINITY);
	r = forecast_data_open(data, &query, &err);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

const struct option probe_site_options[] = {
	{ 0, "site", "NAME|FILE", NULL,
	  "description of the site: queues, size classes, policy (default: setting probe.site)",
	  OPTION_TEXT, offsetof(struct probe_args, site) },
	{ 0 }
};

const struct option probe_json_options[] = { { 'j', "json", NULL, NULL,
					       "print one JSON object of schema " PROBE_SCHEMA,
					       OPTION_FLAG, offsetof(struct probe_args, json) },
					     { 0 } };

char *probe_system(const struct command *command, const struct probe_args *args)
{
	return forecast_system_name(
		args->system ? args->system : config_text(command->config, SETTING_PROBE_SYSTEM));
}

const char *probe_site(const struct command *command, const struct probe_args *args)
{
	return args->site ? args->site : config_text(command->config, SETTING_PROBE_SITE);
}

int probe_owner_key(const struct command *command, uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	return forecast_owner_key(key, config_text(command->config, SETTING_STORE_PATH), err);
}
