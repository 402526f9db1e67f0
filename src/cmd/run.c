/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice run: runs a program under capture. This file reads the options and prints; run/session.h
 * does the work.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "observe/report/brief.h"
#include "run/session.h"
#include "trace/format.h"

struct run_args {
	const char *output;
	const char *mode;
	const char *spool_dir;
	const char *spool_limit;
	const char *params;
	const char *tune;
	const char *place;
	int form;
	bool messages, wait, linked;
	bool summary, quiet;
};

static const struct option run_options[] = {
	{ 'o', "output", "FILE", NULL, "write the trace there instead of into trace.dir",
	  OPTION_TEXT, offsetof(struct run_args, output) },
	{ 'f', "format", "container|text|sqlite", "container", "form of the trace", OPTION_CHOICE,
	  offsetof(struct run_args, form) },
	{ 'm', "mode", "MODE", NULL, "trace, counters, flight or off; overrides capture.mode",
	  OPTION_TEXT, offsetof(struct run_args, mode) },
	{ 0, "messages", NULL, NULL,
	  "record what MPI sends inside calls on files; overrides capture.messages", OPTION_FLAG,
	  offsetof(struct run_args, messages) },
	{ 0, "spool-dir", "DIR", NULL, "where to hand over records; overrides spool.dir",
	  OPTION_TEXT, offsetof(struct run_args, spool_dir) },
	{ 0, "spool-limit", "SIZE", NULL, "most space for records under way; overrides spool.limit",
	  OPTION_TEXT, offsetof(struct run_args, spool_limit) },
	{ 'p', "params", "FILE", NULL,
	  "apply the parameters of FILE (XML, JSON or hints); overrides params.file", OPTION_TEXT,
	  offsetof(struct run_args, params) },
	{ 't', "tune", "WORD", NULL,
	  "off, suggest or apply what tuning has found; overrides tune.apply", OPTION_TEXT,
	  offsetof(struct run_args, tune) },
	{ 0, "place", "RULE", NULL,
	  "spread new files by forecast: equal, classes, expected, hedged; overrides place.rule",
	  OPTION_TEXT, offsetof(struct run_args, place) },
	{ 'w', "wait", NULL, NULL, "wait also for processes that outlive the command", OPTION_FLAG,
	  offsetof(struct run_args, wait) },
	{ 0, "linked", NULL, NULL, "preload nothing: the program has the wrappers linked in",
	  OPTION_FLAG, offsetof(struct run_args, linked) },
	{ 's', "summary", NULL, NULL, "print a summary also when stderr is not a terminal",
	  OPTION_FLAG, offsetof(struct run_args, summary) },
	{ 'q', "quiet", NULL, NULL, "print nothing of our own", OPTION_FLAG,
	  offsetof(struct run_args, quiet) },
	{ 0 }
};

/* A warning of the session. */
static void show_warning(void *arg, const char *sentence)
{
	const struct command *c = arg;
	const struct run_args *args = c->args;

	if (!args->quiet)
		command_warn(c, "%s", sentence);
}

static void show_notice(void *arg, const char *sentence)
{
	const struct command *c = arg;
	const struct run_args *args = c->args;

	if (!args->quiet)
		fprintf(stderr, "sluice: %s\n", sentence);
}

static int overrides_apply(struct command *c, struct err *err)
{
	const struct run_args *args = c->args;
	int r = config_set(c->config, SETTING_CAPTURE_MODE, args->mode, "--mode", err);

	if (r >= 0)
		r = config_set(c->config, SETTING_CAPTURE_MESSAGES, args->messages ? "on" : NULL,
			       "--messages", err);
	if (r >= 0)
		r = config_set(c->config, SETTING_SPOOL_DIR, args->spool_dir, "--spool-dir", err);
	if (r >= 0)
		r = config_set(c->config, SETTING_SPOOL_LIMIT, args->spool_limit, "--spool-limit",
			       err);
	if (r >= 0)
		r = config_set(c->config, SETTING_PARAMS_FILE, args->params, "--params", err);
	if (r >= 0)
		r = config_set(c->config, SETTING_TUNE_APPLY, args->tune, "--tune", err);
	if (r >= 0)
		r = config_set(c->config, SETTING_PLACE_RULE, args->place, "--place", err);
	return r;
}

static void brief_show(const struct command *c, const struct session_result *result)
{
	struct err err = { 0 };

	if (brief_print(stderr, result->trace, &err) >= 0)
		return;
	command_warn(c, "%s", err.text);
	fprintf(stderr, "sluice: %llu calls of %u processes recorded in %s\n",
		(unsigned long long)result->totals.activities, result->totals.processes,
		result->trace);
}

static void summary_show(const struct command *c, const struct session_result *result)
{
	const struct run_args *args = c->args;
	int when = config_choice(c->config, SETTING_RUN_SUMMARY);
	bool wanted = args->summary || when == CONFIG_WHEN_YES ||
		      (when == CONFIG_WHEN_AUTO && isatty(STDERR_FILENO));

	if (args->quiet)
		return;
	if (wanted)
		brief_show(c, result);
	else if (result->totals.lost)
		command_warn(c,
			     "%llu calls were lost because the spool was full (see spool.limit); "
			     "the report counts them",
			     (unsigned long long)result->totals.lost);
	if (result->is_empty)
		command_warn(c, "no process of the run could be recorded; run 'sluice doctor' to "
				"find out why");
}

static int run(struct command *c)
{
	const struct run_args *args = c->args;
	struct session_options options = {
		.config = c->config,
		.argv = c->argv,
		.output = args->output,
		.wait_for_descendants = args->wait,
		.is_linked = args->linked,
		.warn = show_warning,
		.notify = show_notice,
		.arg = c,
	};
	struct session_result result;
	struct err err = { 0 };
	char form[16];

	if (overrides_apply(c, &err) < 0)
		return command_misuse(c, "%s", err.text);
	option_choice_name("container|text|sqlite", args->form, form, sizeof(form));
	options.form = trace_format_by_name(form);
	if (session_run(&options, &result, &err) < 0)
		command_fail(c, "%s", err.text);
	if (result.has_trace)
		summary_show(c, &result);
	return result.exit_code;
}

const struct command_ops command_run = {
	.name = "run",
	.help = "run a program and record its I/O",
	.operands = "[--] PROGRAM [ARGUMENT...]",
	.operands_min = 1,
	.operands_max = -1,
	.about =
		"Runs PROGRAM and records every POSIX and STDIO call that it and its children "
		"make, without "
		"changing them. The exit code is the program's own; its output is untouched.\n\n"
		"The trace goes into trace.dir, where 'sluice last' and 'sluice ls' find it; "
		"'sluice report' and "
		"'sluice print' show it. If anything fails on Sluice's side the program runs as "
		"it would without, "
		"and a warning says so.\n\n"
		"A parallel job gives one trace, either way:\n\n"
		"  sluice run -- mpiexec -n 8 ./app\n"
		"  mpiexec -n 8 sluice run -- ./app\n\n"
		"In the second form, which also serves several nodes, the options of the first "
		"rank "
		"to start count. Each node writes a part into TRACE.parts, and the last one merges "
		"them; see 'sluice merge'.\n\n"
		"--params hands parameters of HDF5, MPI-IO and the file system to the program's "
		"libraries when it opens files, without changing the program. FILE is read once, "
		"and all ranks get the same; see 'sluice params'. What may not be applied is left "
		"out with a warning: parameters that change more than params.allow says, those "
		"that params.forbid names, and those that are known to lose data. A parameter "
		"goes before what the program sets itself unless params.authority says otherwise. "
		"Without recording:\n\n"
		"  sluice run --mode off --params FILE -- ./app\n\n"
		"Without --params, parameters that 'sluice tune' has found for the program are "
		"told of, or applied with --tune=apply. What was applied is in the trace, and "
		"'sluice report' shows what became of it.\n\n"
		"--place spreads the files that the program makes over the targets of probe.site, "
		"as the forecast of this moment has them (see 'sluice forecast') and the site's "
		"file allows: over directories, with links in the place of the files, over OSTs "
		"of Lustre or over pools of CephFS. Where there is no forecast the program runs "
		"as without, with a warning.\n\n"
		"SLUICE_DISABLE=1 in the environment keeps a process and its children from being "
		"recorded.",
	.options = run_options,
	.args_bytes = sizeof(struct run_args),
	.order = OPTION_STOP_FIRST,
	.run = run,
};
