/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice: its commands, how the overview groups them, and the spellings of earlier versions.
 */
#include "cli/command.h"

extern const struct command_ops command_config, command_convert, command_doctor, command_help,
	command_internal, command_kernel, command_last, command_learn, command_ls, command_merge,
	command_print, command_recover, command_report, command_reproduce, command_run,
	command_store, command_version;
extern const struct command_ops command_bench, command_forecast, command_kb, command_model,
	command_params, command_probe, command_tune;

static const struct command_ops *const commands[] = {
	&command_run,	 &command_tune,	     &command_report,  &command_print,	  &command_ls,
	&command_last,	 &command_convert,   &command_merge,   &command_recover,  &command_store,
	&command_learn,	 &command_model,     &command_probe,   &command_forecast, &command_bench,
	&command_kernel, &command_reproduce, &command_params,  &command_kb,	  &command_config,
	&command_doctor, &command_help,	     &command_version, &command_internal, NULL,
};

static const struct command_section sections[] = {
	{ "Record and explain:", "run report print ls last convert merge recover" },
	{ "Make it faster:", "tune kb params model bench" },
	{ "Shared storage:", "forecast probe" },
	{ "Set up:", "config store doctor help version" },
	{ "Research:", "learn kernel reproduce" },
	{ 0 },
};

static const struct command_alias aliases[] = {
	{ 0 },
};

const struct program cli_program = {
	.name = "sluice",
	.page = "sluice",
	.summary = "see, explain and speed up what a program does to its storage",
	.commands = commands,
	.sections = sections,
	.aliases = aliases,
};

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
