/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast export: writes the probe data of a system, real or simulated, to a file.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/window.h"
#include "cmd/forecast/probe.h"
#include "predict/forecast/chronicle/blocks.h"
#include "predict/simulate/system.h"
#include "store/store.h"

#define FIELD(name) offsetof(struct probe_args, name)

static const struct option export_options[] = {
	{ 'o', "output", "FILE", NULL,
	  "write to FILE, compressed if it ends in .gz (default: standard output)", OPTION_TEXT,
	  FIELD(output) },
	{ 0, "system", "NAME", NULL,
	  "use the probe data of this system (default: setting probe.system)", OPTION_TEXT,
	  FIELD(system) },
	{ 0, "since", "TIME", NULL, "ignore earlier data; a date or seconds since 1970 (UTC)",
	  OPTION_TEXT, FIELD(since) },
	{ 0, "until", "TIME", NULL, "ignore later data", OPTION_TEXT, FIELD(until) },
	{ 0, "simulate", "NAME", NULL,
	  "use the simulated system NAME, such as titan, instead of the store", OPTION_TEXT,
	  FIELD(simulate) },
	{ 0, "days", "DAYS", NULL, "with --simulate: number of days (default: as in the paper)",
	  OPTION_TEXT, FIELD(days) },
	{ 0, "max-targets", "N", NULL, "with --simulate: use only N targets", OPTION_COUNT,
	  FIELD(max_targets) },
	{ 0, "seed", "N", "1", "with --simulate: seed of the random numbers", OPTION_COUNT,
	  FIELD(seed) },
	{ 0 }
};

#undef FIELD

static int write_data(const struct chronicle *chronicle, const char *path, double from_s,
		      double to_s, struct err *err)
{
	double first_s, last_s;

	if (!chronicle_span(chronicle, &first_s, &last_s) || last_s < from_s || first_s >= to_s)
		return err_set(err, ENODATA, "no probe data of \"%s\" in that time",
			       chronicle->system);
	return blocks_write(chronicle, path ? path : "-", from_s, to_s, err);
}

static int write_simulated(const struct probe_args *args, double days_s, double from_s, double to_s,
			   struct err *err)
{
	struct system_request wish = { .targets = args->max_targets == OPTION_NONE
							  ? 0
							  : args->max_targets,
				       .days = isnan(days_s) ? 0 : days_s / 86400,
				       .seed = args->seed };
	struct generated generated = { 0 };
	struct chronicle *chronicle = &generated.chronicle;
	struct system *system = NULL;
	int r = system_open(&system, args->simulate, err);

	if (r >= 0)
		r = system_generate(&generated, system, &wish, err);
	system_close(system);
	if (r < 0)
		return r;
	if (args->system)
		chronicle_rename(chronicle, args->system);
	r = write_data(chronicle, args->output, from_s, to_s, err);
	generated_release(&generated);
	return r;
}

static int write_stored(const struct command *command, const struct probe_args *args, double from_s,
			double to_s, struct err *err)
{
	AUTO_FREE char *system = probe_system(command, args);
	struct chronicle chronicle = { 0 };
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), err);

	if (r >= 0)
		r = chronicle_load(&chronicle, store, system, from_s, to_s, err);
	store_close(store);
	if (r >= 0)
		r = write_data(&chronicle, args->output, from_s, to_s, err);
	chronicle_release(&chronicle);
	return r;
}

static int export_run(struct command *command)
{
	const struct probe_args *args = command->args;
	struct err err = { 0 };
	double from_s = 0, to_s = 0, days_s = NAN;
	int r = window_parse(command, args->since, args->until, &from_s, &to_s);

	if (r == COMMAND_GOOD)
		r = window_parse_days(command, args->days, &days_s);
	if (r != COMMAND_GOOD)
		return r;
	r = args->simulate ? write_simulated(args, days_s, from_s, to_s, &err)
			   : write_stored(command, args, from_s, to_s, &err);
	if (r >= 0)
		return COMMAND_GOOD;
	/* An unknown simulated system is a mistake; an empty store is not. */
	return r == -ENOENT && args->simulate ? command_fail(command, "%s", err.text)
					      : command_fail_err(command, r, &err);
}

const struct command_ops command_forecast_export = {
	.name = "export",
	.help = "write probe data to a file",
	.about = "  sluice forecast export --since 2018-03-10 -o titan.blocks.gz\n"
		 "  sluice forecast export --simulate titan --days 1 | sluice forecast import -",
	.options = export_options,
	.args_bytes = sizeof(struct probe_args),
	.flags = COMMAND_NO_JSON,
	.run = export_run,
};
