/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast describe: the durations of writes with their states, and statistics of the jobs,
 * of a system with probe data.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/unit.h"
#include "cli/sheet.h"
#include "cmd/forecast/forecast.h"
#include "learn/judge/metrics.h"
#include "predict/forecast/states/description.h"

static const struct option describe_options[] = {
	OPTION_INCLUDE(forecast_data_options, 0),
	OPTION_INCLUDE(forecast_simulated_options, 0),
	OPTION_INCLUDE(forecast_json_options, 0),
	{ 0 },
};

static const struct sheet_column write_columns[] = {
	{ "size", "size", 0 },		{ ">~writes", "writes", 0 },
	{ ">timeouts", "timeouts", 0 }, { ">failed", "failed", 0 },
	{ ">median s", "median_s", 4 }, { ">p95 s", "p95_s", 4 },
	{ ">p99 s", "p99_s", 4 },	{ ">longest s", "longest_s", 4 },
	{ ">states", "states", 0 },	{ 0 },
};

static const struct sheet_column state_columns[] = {
	{ "size", "size", 0 },
	{ "state", "state", 0 },
	{ ">~share", "share", 3 },
	{ ">mode s", "mode_s", 4 },
	{ ">mean s", "mean_s", 4 },
	{ ">sigma", "sigma", 3 },
	{ 0 },
};

static const struct sheet_column job_columns[] = {
	{ "quantity", "quantity", 0 }, { ">~jobs", "jobs", 0 },	     { ">minimum", "minimum", 4 },
	{ ">median", "median", 4 },    { ">maximum", "maximum", 4 }, { 0 },
};

static void add_writes(struct sheet *sheet, struct sheet *states, uint64_t bytes,
		       const struct description_writes *writes)
{
	static const double shares[] = { 0.5, 0.95, 0.99, 1 };
	const struct mixture *mixture = &writes->mixture;
	char text[UNIT_TEXT];

	unit_bytes(text, (double)bytes);
	sheet_text(sheet, "%s", text);
	sheet_number(sheet, (double)writes->count);
	sheet_number(sheet, (double)writes->timeouts);
	sheet_number(sheet, (double)writes->failed);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		sheet_number(sheet, writes->count ? metrics_quantile(writes->seconds, writes->count,
								     shares[i])
						  : NAN);
	sheet_number(sheet, writes->has_states ? (double)mixture->count : NAN);
	for (size_t c = 0; writes->has_states && c < mixture->count; c++) {
		sheet_text(states, "%s", text);
		sheet_text(states, "%s", description_state(mixture, c));
		sheet_number(states, mixture->components[c].weight);
		sheet_number(states, description_mode(mixture, c));
		sheet_number(states, mixture_mean(mixture, c));
		sheet_number(states, mixture->components[c].second);
	}
	if (writes->has_states && mixture->count == 1)
		sheet_note(states,
			   "%s: a single state, so there is nothing to forecast but random "
			   "variation",
			   text);
}

static void fill_writes(struct sheet *sheet, struct sheet *states,
			const struct chronicle *chronicle)
{
	sheet_init(sheet, "writes", "durations of writes to all targets", write_columns);
	sheet_init(states, "states", "states of writes, log-normal", state_columns);
	for (size_t size = 0; size < chronicle->size_count; size++) {
		struct description_writes writes;

		description_writes_init(&writes, chronicle, size);
		add_writes(sheet, states, chronicle->sizes[size], &writes);
		description_writes_release(&writes);
	}
	sheet_note(sheet, "states: their number by BIC, up to %d; at least %d writes are needed",
		   DESCRIPTION_STATES, DESCRIPTION_LEAST);
	sheet_note(states, "mode: most frequent duration; tail: a third state with less than 5 %% "
			   "of the writes. Forecasts always use two states.");
}

/* Minimum, median and maximum of the known values; reorders them. */
static void add_range(struct sheet *sheet, const char *name, double *values, size_t count,
		      double unit)
{
	static const double shares[] = { 0, 0.5, 1 };
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			values[known++] = values[i] / unit;
	sheet_text(sheet, "%s", name);
	sheet_number(sheet, (double)known);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		sheet_number(sheet, known ? metrics_quantile(values, known, shares[i]) : NAN);
}

#define SMALL_NODES 10 /* as in the paper */

static void fill_jobs(struct sheet *sheet, const struct chronicle *chronicle)
{
	struct description_jobs jobs;
	size_t small = 0, known = 0;

	sheet_init(sheet, "jobs", "jobs of the snapshots", job_columns);
	description_jobs_init(&jobs, chronicle);
	for (size_t i = 0; i < jobs.count; i++) {
		small += jobs.nodes[i] < SMALL_NODES;
		known += !isnan(jobs.nodes[i]);
	}
	add_range(sheet, "nodes", jobs.nodes, jobs.count, 1);
	add_range(sheet, "memory, GB", jobs.memory_bytes, jobs.count, 1e9);
	add_range(sheet, "run time, h", jobs.seconds, jobs.count, 3600);
	if (jobs.days > 0)
		sheet_note(sheet, "%.1f jobs per day in %.1f days", (double)jobs.count / jobs.days,
			   jobs.days);
	if (known)
		sheet_note(sheet, "%.1f %% of the jobs have fewer than %d nodes",
			   100 * (double)small / (double)known, SMALL_NODES);
	sheet_note(sheet, "the run time of a job is the one in the last snapshot that has it, and "
			  "jobs between two snapshots are missed");
	description_jobs_release(&jobs);
}

static void show_sheets(struct sheet *sheets, size_t count, const struct forecast_args *args,
			const char *system)
{
	struct json json;

	if (args->json) {
		json_start(&json, stdout, FORECAST_SCHEMA);
		forecast_json_system(&json, system);
		json_open(&json, "sheets", '[');
	}
	for (size_t i = 0; i < count; i++) {
		sheets[i].is_modelled = forecast_is_modelled(system);
		if (args->json)
			sheet_json(&sheets[i], &json);
		else
			sheet_print(&sheets[i], stdout);
		if (!args->json && i + 1 < count)
			putchar('\n');
		sheet_release(&sheets[i]);
	}
	if (args->json)
		json_end(&json);
}

static int describe_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	struct forecast_data data = { 0 };
	const struct chronicle *chronicle;
	struct sheet sheets[3];
	int ret = forecast_open(command, args, -INFINITY, INFINITY, &data);

	chronicle = forecast_data_rows(&data);
	if (!ret) {
		fill_writes(&sheets[0], &sheets[1], chronicle);
		if (chronicle->snapshot_count)
			fill_jobs(&sheets[2], chronicle);
		show_sheets(sheets, chronicle->snapshot_count ? 3 : 2, args, chronicle->system);
		ret = command_finish(command);
	}
	forecast_data_close(&data);
	return ret;
}

const struct command_ops command_forecast_describe = {
	.name = "describe",
	.help = "show statistics of stored write times and jobs",
	.about = "Shows how long writes of each size took, the states that fit these times, and "
		 "the sizes and run times of the jobs that were running. 'sluice plot writes' and "
		 "'sluice plot jobs' draw the histograms.\n\n"
		 "  sluice forecast describe --system titan",
	.options = describe_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = describe_run,
};
