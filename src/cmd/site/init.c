/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site init, migrate: create the tables, and change them to another version.
 */
#include <errno.h>

#include "base/term.h"
#include "cli/command.h"
#include "cmd/site/site.h"
#include "site/access.h"
#include "store/schema.h"
#include "store/store.h"

struct migrate_args {
	struct site_args site;
	uint64_t to;
};

static const struct option migrate_options[] = {
	{ 0, "to", "VERSION", NULL,
	  "change the tables to this version (default: the current one); 0 removes them",
	  OPTION_COUNT, offsetof(struct migrate_args, to) },
	OPTION_INCLUDE(site_options, offsetof(struct migrate_args, site)),
	{ 0 }
};

/* Makes the members of the configured group administrators. */
static int sync_group(const struct command *command, struct store *store, struct err *err)
{
	const char *group = config_text(command->config, SETTING_SITE_GROUP);
	size_t changed = 0;
	int r = *group ? access_sync_group(store, group, &changed, err) : 0;

	return r == -EOPNOTSUPP ? 0 : r;
}

static int change_version(const struct command *command, const struct site_args *args, int to)
{
	struct store *store = NULL;
	struct err err = { 0 };
	int before = 0, r, ret = site_connect_named(command, args, &store);

	if (ret)
		return ret;
	r = store_version(store, &before, &err);
	if (r >= 0)
		r = store_migrate(store, to, &err);
	if (r >= 0 && to == SCHEMA_VERSION)
		r = access_init(store, &err);
	if (r >= 0 && to == SCHEMA_VERSION)
		r = sync_group(command, store, &err);
	if (r < 0)
		ret = command_fail(command, "%s", err.text);
	else if (before == to)
		term_printf(stdout, "%s: the tables have version %d\n", store_path(store), to);
	else
		term_printf(stdout, "%s: changed the tables from version %d to version %d\n",
			    store_path(store), before, to);
	store_close(store);
	return ret ? ret : command_finish(command);
}

static int init_run(struct command *command)
{
	return change_version(command, command->args, SCHEMA_VERSION);
}

static int migrate_run(struct command *command)
{
	const struct migrate_args *args = command->args;

	if (args->to != OPTION_NONE && args->to > SCHEMA_VERSION)
		return command_misuse(command, "--to: versions are 0 to %d", SCHEMA_VERSION);
	return change_version(command, &args->site,
			      args->to == OPTION_NONE ? SCHEMA_VERSION : (int)args->to);
}

const struct command_ops command_site_init = {
	.name = "init",
	.help = "create the tables, roles and policies of the database",
	.about = "The database itself must exist (createdb). Roles and policies need the rights of "
		 "a superuser of PostgreSQL. It is safe to run the command again: it creates what "
		 "is missing, and makes the members of the group in the setting site.group "
		 "administrators.\n\n"
		 "  sudo -u postgres sluice site init --database dbname=sluice",
	.flags = COMMAND_NO_JSON,
	.options = site_options,
	.args_bytes = sizeof(struct site_args),
	.run = init_run,
};

const struct command_ops command_site_migrate = {
	.name = "migrate",
	.help = "change the tables to the current version, or to another one",
	.about = "An SQLite file is migrated when it is opened; PostgreSQL waits for this command. "
		 "Stop the daemons before. A change is one transaction. An earlier version drops "
		 "what it cannot hold: make a backup (pg_dump) before.",
	.flags = COMMAND_NO_JSON,
	.options = migrate_options,
	.args_bytes = sizeof(struct migrate_args),
	.run = migrate_run,
};
