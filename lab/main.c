/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice-lab: research code that the product does not need. `sluice lab` runs it. It reproduces the
 * tables and figures of the papers, runs the I/O kernels and fits models to any table.
 */
#include "cli/command.h"

extern const struct command_ops command_evaluate, command_help, command_internal, command_kernel,
	command_learn, command_measure, command_reproduce, command_version, command_program;

static const struct command_ops *const commands[] = {
	&command_reproduce, &command_kernel,
	&command_learn,	    &command_evaluate,
	&command_measure,   &command_help,
	&command_version,   &command_internal,
	&command_program,   NULL,
};

static const struct command_section sections[] = {
	{ "Commands:", "reproduce kernel learn evaluate measure help version" },
	{ 0 },
};

static const struct command_alias aliases[] = {
	{ "learn describe", "learn show" },
	{ "reproduce table2", "reproduce behzad table2" },
	{ "reproduce table3", "reproduce behzad table3" },
	{ "reproduce table4", "reproduce behzad table4" },
	{ "reproduce table5", "reproduce behzad table5" },
	{ "reproduce figure7", "reproduce behzad figure7" },
	{ "reproduce figure9", "reproduce behzad figure9" },
	{ "reproduce figure10", "reproduce behzad figure10" },
	{ "reproduce figure11", "reproduce behzad figure11" },
	{ "reproduce figure12", "reproduce behzad figure12" },
	{ "reproduce all", "reproduce behzad all" },
	{ 0 },
};

const struct program cli_program = {
	.name = "sluice lab",
	.page = "sluice-lab",
	.summary = "reproduce published results, run I/O kernels and fit models to tables",
	.commands = commands,
	.sections = sections,
	.aliases = aliases,
};

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
