/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice: its commands, how the overview groups them, and the spellings of earlier versions.
 */
#include "cli/command.h"
#include "run/launcher.h"

extern const struct command_ops command_compare, command_config, command_doctor, command_forecast,
	command_help, command_internal, command_kb, command_lab, command_ls, command_model,
	command_plot, command_print, command_report, command_rm, command_run, command_serve,
	command_site, command_tag, command_trace, command_tune, command_version;

static const struct command_ops *const commands[] = {
	&command_run,	   &command_report,
	&command_plot,	   &command_compare,
	&command_print,	   &command_ls,
	&command_rm,	   &command_tag,
	&command_serve,	   &command_trace,
	&command_tune,	   &command_kb,
	&command_model,	   &command_forecast,
	&command_site,	   &command_config,
	&command_doctor,   &command_help,
	&command_version,  &command_lab,
	&command_internal, NULL,
};

static const struct command_section sections[] = {
	{ "Record and explain:", "run report serve plot compare print ls tag rm trace" },
	{ "Make it faster:", "tune kb model" },
	{ "Shared storage:", "forecast" },
	{ "Whole site:", "site" },
	{ "Set up:", "config doctor help version" },
	{ "Research:", "lab" },
	{ 0 },
};

static const struct command_alias aliases[] = {
	{ "last", "trace path" },
	{ "convert", "trace convert" },
	{ "merge", "trace merge" },
	{ "recover", "trace recover" },
	{ "store", "config store" },
	{ "params", "kb params" },
	{ "bench --list", "model data list" },
	{ "bench", "model measure" },
	{ "model describe", "model show" },
	{ "probe run", "forecast probe" },
	{ "probe list", "forecast systems" },
	{ "probe", "forecast" },
	{ "forecast --now", "forecast now" },
	{ "model evaluate", "lab evaluate" },
	{ "tune --list", "kb tunings" },
	{ "tune --show", "kb tunings" },
	{ "tune --forget", "kb tunings --forget" },
	{ "learn describe", "lab learn show" },
	{ "learn", "lab learn" },
	{ "kernel", "lab kernel" },
	{ "reproduce", "lab reproduce" },
	{ 0 },
};

const struct program cli_program = {
	.name = "sluice",
	.page = "sluice",
	.summary = "record, explain and speed up the I/O of programs",
	.commands = commands,
	.sections = sections,
	.aliases = aliases,
};

struct words {
	int argc;
	char **argv;
};

static int run_words(void *arg)
{
	const struct words *words = arg;

	return cli_main(words->argc, words->argv);
}

/*
 * `sluice run` starts the program's process before anything else, so that nothing that follows can
 * harm the program. The command itself then runs in the recorder (run/launcher.h).
 */
int main(int argc, char **argv)
{
	struct words words = { argc, argv };
	struct launcher_options options = {
		.name = "sluice run", .command = argv, .record = run_words, .arg = &words
	};
	int program;

	launcher_hold_signals();
	program = cli_find_operand(argc, argv, &command_run);
	if (program > 0) {
		options.argv = argv + program;
		return launcher_run(&options);
	}
	launcher_release_signals();
	return cli_main(argc, argv);
}
