/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site: the database of a site, which holds the runs of all its users.
 */
#include "cmd/site/site.h"

#include "cli/command.h"
#include "site/site.h"
#include "store/store.h"

extern const struct command_ops command_site_init, command_site_status, command_site_import,
	command_site_export, command_site_migrate, command_site_query, command_site_forget,
	command_site_archive, command_site_grant, command_site_learn, command_site_watch;

const struct option site_options[] = {
	{ 0, "database", "DATABASE", NULL,
	  "use this connection string of PostgreSQL or SQLite file (default: the setting "
	  "site.database)",
	  OPTION_TEXT, offsetof(struct site_args, database) },
	{ 0 }
};

const char *site_name(const struct command *command, const struct site_args *args)
{
	const char *name = args->database ? args->database
					  : config_text(command->config, SETTING_SITE_DATABASE);

	if (*name)
		return name;
	command_fail(command, "no database is named; set site.database in /etc/sluice.conf, or "
			      "use --database, such as --database 'dbname=sluice'");
	return NULL;
}

int site_open_named(const struct command *command, const struct site_args *args,
		    struct site_db **site)
{
	const char *name = site_name(command, args);
	struct err err = { 0 };

	if (!name)
		return COMMAND_FAILED;
	return site_open(site, name, &err) < 0 ? command_fail(command, "%s", err.text)
					       : COMMAND_GOOD;
}

int site_connect_named(const struct command *command, const struct site_args *args,
		       struct store **store)
{
	const char *name = site_name(command, args);
	struct err err = { 0 };

	if (!name)
		return COMMAND_FAILED;
	return store_connect(store, name, &err) < 0 ? command_fail(command, "%s", err.text)
						    : COMMAND_GOOD;
}

static const struct command_ops *const subcommands[] = {
	&command_site_init,   &command_site_status,  &command_site_import,  &command_site_export,
	&command_site_query,  &command_site_grant,   &command_site_learn,   &command_site_watch,
	&command_site_forget, &command_site_archive, &command_site_migrate, NULL,
};

const struct command_ops command_site = {
	.name = "site",
	.help = "keep the runs of all users of a site in one database",
	.about = "The database is PostgreSQL 15 or later, or an SQLite file with the same tables. "
		 "In PostgreSQL, users see their own runs only, and the server enforces it.\n\n"
		 "  sudo -u postgres createdb sluice\n"
		 "  sudo -u postgres sluice site init --database dbname=sluice\n"
		 "  sluice site import 3f9a1\n"
		 "  sluice site query 'SELECT program, count(*) FROM run GROUP BY program'\n\n"
		 "docs/reference/site.md describes the tables.",
	.subcommands = subcommands,
};
