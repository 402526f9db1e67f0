/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of `sluice site`.
 */
#ifndef SLUICE_CMD_SITE_SITE_H
#define SLUICE_CMD_SITE_SITE_H

#include "base/option.h"

struct command;
struct site_db;
struct store;

/* The option that names the database. */
struct site_args {
	const char *database;
};

extern const struct option site_options[];

/* The database that the option or the setting site.database names; NULL, with a message: none. */
const char *site_name(const struct command *command, const struct site_args *args);

/* Opens it. Returns COMMAND_GOOD; else prints why and returns the exit code. */
int site_open_named(const struct command *command, const struct site_args *args,
		    struct site_db **site);

/* The same for a database of any version. */
int site_connect_named(const struct command *command, const struct site_args *args,
		       struct store **store);

#endif
