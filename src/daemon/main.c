/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluiced: the daemon of a node. It collects what the processes of all users record, and forwards
 * it to the database of the site.
 */
#include "cli/command.h"

extern const struct command_ops command_help, command_internal, command_serve, command_status,
	command_version;

static const struct command_ops *const commands[] = {
	&command_serve, &command_status, &command_help, &command_version, &command_internal, NULL,
};

static const struct command_section sections[] = {
	{ "Commands:", "serve status help version" },
	{ 0 },
};

const struct program cli_program = {
	.name = "sluiced",
	.page = "sluiced",
	.summary = "collect the I/O of all users of a node for the site",
	.commands = commands,
	.sections = sections,
	.fallback = "serve",
};

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
