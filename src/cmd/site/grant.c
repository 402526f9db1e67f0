/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site grant: lets users of the operating system use the database.
 */
#include "base/term.h"
#include "cli/command.h"
#include "cmd/site/site.h"
#include "site/access.h"
#include "store/store.h"

struct grant_args {
	struct site_args site;
	bool all, node, web, revoke;
};

static const struct option grant_options[] = {
	{ 0, "all", NULL, NULL, "let the users read the runs of all users", OPTION_FLAG,
	  offsetof(struct grant_args, all) },
	{ 0, "node", NULL, NULL, "let the users write everything, as the daemon does", OPTION_FLAG,
	  offsetof(struct grant_args, node) },
	{ 0, "web", NULL, NULL, "let the users take the role of any user, as 'sluice serve' does",
	  OPTION_FLAG, offsetof(struct grant_args, web) },
	{ 0, "revoke", NULL, NULL, "take the right from the users", OPTION_FLAG,
	  offsetof(struct grant_args, revoke) },
	OPTION_INCLUDE(site_options, offsetof(struct grant_args, site)),
	{ 0 }
};

static int grant_run(struct command *command)
{
	const struct grant_args *args = command->args;
	const char *role = args->node  ? ACCESS_ROLE_NODE
			   : args->web ? ACCESS_ROLE_WEB
			   : args->all ? ACCESS_ROLE_ADMIN
				       : ACCESS_ROLE_USER;
	struct store *store = NULL;
	struct err err = { 0 };
	int ret;

	if (args->all + args->node + args->web > 1)
		return command_misuse(command, "--all, --node and --web exclude each other");
	ret = site_connect_named(command, &args->site, &store);
	for (int i = 0; i < command->argc && !ret; i++) {
		const char *user = command->argv[i];

		if ((args->revoke ? access_revoke : access_grant)(store, user, role, &err) < 0)
			ret = command_fail(command, "%s", err.text);
		else
			term_printf(stdout, "%s: %s role %s\n", user, args->revoke ? "lost" : "has",
				    role);
	}
	store_close(store);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_site_grant = {
	.name = "grant",
	.help = "let users of the operating system use the database",
	.operands = "USER...",
	.operands_min = 1,
	.operands_max = -1,
	.about = "Creates a role of PostgreSQL with the name of the user, if it is missing. With "
		 "peer authentication, which is PostgreSQL's default on a unix socket, the user "
		 "then needs no password.",
	.flags = COMMAND_NO_JSON,
	.options = grant_options,
	.args_bytes = sizeof(struct grant_args),
	.run = grant_run,
};
