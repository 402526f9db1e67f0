/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe export: what the store has of a system, or a generated one, as a file of blocks.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "cmd/probe.h"
#include "predict/forecast/blocks.h"
#include "predict/simulate/system.h"
#include "store/store.h"

#define MODELLED "modelled:"

int probe_window(const struct command *command, const struct probe_args *args, double *from_s,
		 double *to_s)
{
	static const char hint[] = "is no time such as 2018-03-10T18:58 or 1520708288";

	*from_s = -INFINITY;
	*to_s = INFINITY;
	if (args->from && date_parse(args->from, from_s) < 0)
		return command_misuse(command, "--from: \"%s\" %s", args->from, hint);
	if (args->to && date_parse(args->to, to_s) < 0)
		return command_misuse(command, "--to: \"%s\" %s", args->to, hint);
	if (!(*from_s < *to_s))
		return command_misuse(command, "--from must be before --to");
	return COMMAND_GOOD;
}

static int days_parse(const char *text, double *days, struct err *err)
{
	char *end;

	*days = 0;
	if (!text)
		return 0;
	*days = strtod(text, &end);
	if (end == text || *end || !(*days > 0 && *days < 1e5))
		return err_set(err, EINVAL, "--days: \"%s\" is no number of days", text);
	return 0;
}

static int generate(const struct probe_args *args, struct generated *generated, struct err *err)
{
	struct system_wish wish = { .targets = args->count == OPTION_NONE ? 0 : args->count,
				    .seed = args->seed };
	const char *name = args->on;
	struct system *system = NULL;
	int r = days_parse(args->days, &wish.days, err);

	if (r < 0)
		return r;
	if (strncmp(name, MODELLED, strlen(MODELLED)) == 0)
		name += strlen(MODELLED);
	r = system_open(&system, name, err);
	if (r >= 0)
		r = system_generate(generated, system, &wish, err);
	system_close(system);
	return r;
}

static int chronicle_put(const struct chronicle *chronicle, const char *path, double from_s,
			 double to_s, struct err *err)
{
	double first_s, last_s;

	if (!chronicle_span(chronicle, &first_s, &last_s) || last_s < from_s || first_s >= to_s)
		return err_set(err, ENODATA, "there are no probes of \"%s\" in that time",
			       chronicle->system);
	return blocks_write(chronicle, path ? path : "-", from_s, to_s, err);
}

static int generated_put(const struct probe_args *args, double from_s, double to_s, struct err *err)
{
	struct generated generated = { 0 };
	struct chronicle *chronicle = &generated.chronicle;
	int r = generate(args, &generated, err);

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
	double from_s, to_s;
	int r = probe_window(command, args, &from_s, &to_s);

	if (r != COMMAND_GOOD)
		return r;
	r = args->on ? generated_put(args, from_s, to_s, &err)
		     : stored_put(command, args, from_s, to_s, &err);
	if (r >= 0)
		return COMMAND_GOOD;
	command_fail(command, "%s", err.text);
	return r == -ENODATA || (r == -ENOENT && !args->on) ? COMMAND_NO_DATA : COMMAND_FAILED;
}
