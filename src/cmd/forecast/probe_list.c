/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe list, forget: the systems that the store has probes of.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/date.h"
#include "base/json.h"
#include "base/table.h"
#include "cmd/forecast/probe.h"
#include "cli/window.h"
#include "store/probes.h"

static int row_add(void *arg, const struct probe_system *system)
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

static int object_add(void *arg, const struct probe_system *system)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "system", system->name);
	json_count(json, "targets", system->targets);
	json_count(json, "samples", system->rows);
	json_count(json, "snapshots", system->snapshots);
	json_real(json, "from", system->from_s);
	json_real(json, "to", system->to_s);
	json_close(json);
	return 0;
}

static int systems_show(struct store *store, struct err *err)
{
	static const char *const titles[] = { "system", ">targets", ">samples", ">snapshots",
					      "from",	"to (UTC)", NULL };
	struct table table;
	int r;

	table_init(&table, titles);
	r = probes_systems(store, row_add, &table, err);
	if (r >= 0 && !table.count)
		r = err_set(err, ENODATA,
			    "there are no probes yet: 'sluice probe run' makes them, 'sluice "
			    "probe import' takes those of others");
	if (r >= 0)
		table_print(&table, stdout, 0);
	table_release(&table);
	return r;
}

static int systems_json(struct store *store, struct err *err)
{
	struct json json;
	int r;

	json_start(&json, stdout, PROBE_SCHEMA);
	json_open(&json, "systems", '[');
	r = probes_systems(store, object_add, &json, err);
	json_end(&json);
	return r;
}

static int fail(const struct command *command, int r, const struct err *err)
{
	command_fail(command, "%s", err->text);
	return r == -ENODATA || r == -ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
}

int probe_list(struct command *command, const struct probe_args *args)
{
	struct store *store = NULL;
	struct err err = { 0 };
	int r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), &err);

	if (r >= 0)
		r = args->json ? systems_json(store, &err) : systems_show(store, &err);
	store_close(store);
	return r < 0 ? fail(command, r, &err) : command_finish(command);
}

int probe_forget(struct command *command, const struct probe_args *args)
{
	struct store *store = NULL;
	struct err err = { 0 };
	double from_s = 0, to_s = 0;
	int r = window_take(command, args->from, args->to, &from_s, &to_s);

	if (r != COMMAND_GOOD)
		return r;
	if (args->from)
		return command_misuse(command, "forget takes what is before --to: no --from");
	r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), &err);
	if (r >= 0)
		r = probes_forget(store, command->argv[1], to_s, &err);
	store_close(store);
	return r < 0 ? fail(command, r, &err) : COMMAND_GOOD;
}
