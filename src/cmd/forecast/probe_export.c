/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe export: what the store has of a system, or a generated one, as a file of blocks.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/modelled.h"
#include "cmd/forecast/probe.h"
#include "cli/window.h"
#include "predict/forecast/chronicle/blocks.h"
#include "predict/simulate/system.h"
#include "store/store.h"

static int chronicle_put(const struct chronicle *chronicle, const char *path, double from_s,
			 double to_s, struct err *err)
{
	double first_s, last_s;

	if (!chronicle_span(chronicle, &first_s, &last_s) || last_s < from_s || first_s >= to_s)
		return err_set(err, ENODATA, "there are no probes of \"%s\" in that time",
			       chronicle->system);
	return blocks_write(chronicle, path ? path : "-", from_s, to_s, err);
}

static int generated_put(const struct probe_args *args, double days_s, double from_s, double to_s,
			 struct err *err)
{
	struct system_wish wish = { .targets = args->count == OPTION_NONE ? 0 : args->count,
				    .days = isnan(days_s) ? 0 : days_s / 86400,
				    .seed = args->seed };
	struct generated generated = { 0 };
	struct chronicle *chronicle = &generated.chronicle;
	int r = modelled_generate(&generated, args->on, &wish, err);

	if (r < 0)
		return r;
	if (args->system)
		snprintf(chronicle->system, sizeof(chronicle->system), "%s", args->system);
	r = chronicle_put(chronicle, args->output, from_s, to_s, err);
	generated_release(&generated);
	return r;
}

static int stored_put(const struct command *command, const struct probe_args *args, double from_s,
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
		r = chronicle_put(&chronicle, args->output, from_s, to_s, err);
	chronicle_release(&chronicle);
	return r;
}

int probe_export(struct command *command, const struct probe_args *args)
{
	struct err err = { 0 };
	double from_s = 0, to_s = 0, days_s = NAN;
	int r = window_take(command, args->from, args->to, &from_s, &to_s);

	if (r == COMMAND_GOOD)
		r = window_days(command, args->days, &days_s);
	if (r != COMMAND_GOOD)
		return r;
	r = args->on ? generated_put(args, days_s, from_s, to_s, &err)
		     : stored_put(command, args, from_s, to_s, &err);
	if (r >= 0)
		return COMMAND_GOOD;
	command_fail(command, "%s", err.text);
	return r == -ENODATA || (r == -ENOENT && !args->on) ? COMMAND_NO_DATA : COMMAND_FAILED;
}
