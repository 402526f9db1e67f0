/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice run: runs a program under capture. This file reads the options and prints; run/launcher.h
 * and run/session.h do the work.
 * Papers: SIOX-1.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"
#include "cmd/format_option.h"
#include "cmd/run_argument.h"
#include "observe/job/parts.h"
#include "observe/report/applied.h"
#include "observe/report/brief.h"
#include "run/injection.h"
#include "run/launch.h"
#include "run/session.h"

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
	{ 'o', "output", "FILE", NULL, "write the trace to FILE instead of a new file in trace.dir",
	  OPTION_TEXT, offsetof(struct run_args, output) },
	{ 'f', "format", FORMAT_WORDS, "container", "file format to write", OPTION_CHOICE,
	  offsetof(struct run_args, form) },
	{ 0, "mode", "MODE", NULL,
	  "record every call (trace), only count calls (counters), keep the calls before an "
	  "anomaly (flight), or record nothing (off); overrides capture.mode",
	  OPTION_TEXT, offsetof(struct run_args, mode) },
	{ 0, "messages", NULL, NULL,
	  "record the messages that MPI-IO sends internally; overrides capture.messages",
	  OPTION_FLAG, offsetof(struct run_args, messages) },
	{ 'p', "params", "FILE", NULL,
	  "apply the parameters in FILE (XML, JSON or hints), or 'NAME=VALUE ...'; overrides "
	  "params.file",
	  OPTION_TEXT, offsetof(struct run_args, params) },
	{ 0, "tune", "WHEN", NULL,
	  "apply or suggest parameters that 'sluice tune' found, or off; overrides tune.apply",
	  OPTION_TEXT, offsetof(struct run_args, tune) },
	{ 0, "place", "RULE", NULL,
	  "place each new file by what storage targets still have to write and how fast they "
	  "are (adaptive), or by shares of a forecast (equal, classes, expected, hedged), or off; "
	  "overrides place.rule",
	  OPTION_TEXT, offsetof(struct run_args, place) },
	{ 0, "wait", NULL, NULL, "also wait for processes that outlive the program", OPTION_FLAG,
	  offsetof(struct run_args, wait) },
	{ 0, "linked", NULL, NULL,
	  "do not preload the library, because the program is linked with it", OPTION_FLAG,
	  offsetof(struct run_args, linked) },
	{ 0, "spool-dir", "DIR", NULL,
	  "directory of records that wait for the collector; overrides spool.dir", OPTION_TEXT,
	  offsetof(struct run_args, spool_dir) },
	{ 0, "spool-limit", "SIZE", NULL,
	  "maximum size of records that wait for the collector; overrides spool.limit", OPTION_TEXT,
	  offsetof(struct run_args, spool_limit) },
	{ 0, "summary", NULL, NULL,
	  "print a summary even if standard error is not a terminal, where otherwise only the path "
	  "of "
	  "the trace is printed",
	  OPTION_FLAG, offsetof(struct run_args, summary) },
	{ 'q', "quiet", NULL, NULL, "print no summary, notices or warnings", OPTION_FLAG,
	  offsetof(struct run_args, quiet) },
	{ 0 }
};

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
		term_printf(stderr, "sluice: %s\n", sentence);
}

static int apply_overrides(struct command *c, struct err *err)
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

static void print_brief(const struct command *c, const struct session_result *result)
{
	struct err err = { 0 };

	if (brief_print(stderr, result->trace, c->config, &err) >= 0)
		return;
	command_warn(c, "%s", err.text);
	term_printf(stderr, "sluice: %llu calls of %u processes recorded in %s\n",
		    (unsigned long long)result->totals.activities, result->totals.processes,
		    result->trace);
}

/*
 * Without a summary: says what plug-ins did to the program, and why calls or processes are missing
 * in the trace.
 */
static void print_notices(struct command *c, const struct session_result *result)
{
	AUTO_BUF struct buf acts = { 0 };
	struct err err = { 0 };
	struct trace trace;

	if (trace_open(&trace, result->trace, NULL, &err) < 0) {
		command_warn(c, "%s", err.text);
		return;
	}
	applied_describe_acts(&acts, &trace.head);
	if (acts.len)
		show_notice(c, buf_text(&acts));
	run_argument_warn_causes(c, &trace.head);
	trace_close(&trace);
}

/* A part of a trace is removed when the last node of the job has merged it with the others. */
static void print_path(const struct session_result *result)
{
	AUTO_FREE char *whole = parts_trace_of(result->trace);

	if (whole)
		term_printf(stderr, "sluice: part of trace %s\n", whole);
	else
		term_printf(stderr, "sluice: trace %s\n", result->trace);
}

static void print_summary(struct command *c, const struct session_result *result)
{
	const struct run_args *args = c->args;
	int when = config_choice(c->config, SETTING_RUN_SUMMARY);
	bool wanted = args->summary || when == CONFIG_WHEN_YES ||
		      (when == CONFIG_WHEN_AUTO && isatty(STDERR_FILENO));

	if (args->quiet)
		return;
	if (wanted)
		print_brief(c, result);
	else if (result->totals.lost || result->totals.unrecorded || result->totals.has_acted)
		print_notices(c, result);
	if (!wanted && when != CONFIG_WHEN_NO)
		print_path(result);
	if (result->is_empty)
		command_warn(c, "no process of the run could be recorded; run 'sluice doctor' to "
				"find out why");
}

/* The recorder was killed. */
static int recover_trace(const struct command *c, const struct session_options *options)
{
	int signal = options->link->launch->killed_by;
	struct session_result result;
	struct err err = { 0 };

	if (session_recover(options, &result, &err) < 0) {
		show_warning((void *)c, err.text);
		return COMMAND_FAILED;
	}
	if (!((const struct run_args *)c->args)->quiet)
		command_warn(c,
			     "the recorder was killed by signal %d; its trace was recovered: %s "
			     "(%llu calls)",
			     signal, result.trace, (unsigned long long)result.totals.activities);
	return COMMAND_GOOD;
}

/* Runs in the recorder (run/launcher.h), which the program does not wait for: the exit code matters
 * only if the program was not started. */
static int run_program(struct command *c)
{
	const struct run_args *args = c->args;
	struct session_options options = {
		.link = launch_link(),
		.config = c->config,
		.argv = c->argv,
		.output = args->output,
		.form = format_option(args->form),
		.wait_for_descendants = args->wait,
		.is_linked = args->linked,
		.warn = show_warning,
		.notify = show_notice,
		.arg = c,
	};
	struct session_result result;
	struct err err = { 0 };

	if (apply_overrides(c, &err) < 0 || injection_check(c->config, &err) < 0)
		return command_misuse(c, "%s", err.text);
	if (options.link->launch->killed_by)
		return recover_trace(c, &options);
	options.link->launch->is_quiet = args->quiet;
	session_record(&options, &result);
	/* Without the launcher, nobody waits for a summary. */
	if (result.has_trace && !options.link->is_alone)
		print_summary(c, &result);
	return COMMAND_GOOD;
}

const struct command_ops command_run = {
	.name = "run",
	.help = "run a program and record its I/O",
	.operands = "[--] PROGRAM [ARGUMENT]...",
	.operands_min = 1,
	.operands_max = -1,
	.about =
		"Runs PROGRAM and records the I/O calls that it and its child processes make: "
		"POSIX, STDIO, MPI-IO, HDF5, NetCDF and PnetCDF. The program is not modified; "
		"its exit code and its output are unchanged. It is only observed unless --params, "
		"--tune, --place or the setting plugins.act requests more. If recording fails, "
		"the program runs as usual and a warning is printed.\n\n"
		"The trace is stored in trace.dir. 'sluice ls' lists the runs; 'sluice report' "
		"and 'sluice print' show the latest one.\n\n"
		"A parallel job produces one trace, either way:\n\n"
		"  sluice run -- mpiexec -n 8 ./app\n"
		"  mpiexec -n 8 sluice run -- ./app\n\n"
		"In the second form, which also works on several nodes, the options of the rank "
		"that starts first apply. Each node writes a part into TRACE.parts and the last "
		"node merges them; see 'sluice trace merge'. With Slurm, the first form works on "
		"several nodes, too: 'sluice run -- srun ./app' executes 'srun sluice run -- "
		"./app'.\n\n"
		"--params passes parameters of HDF5, MPI-IO and the file system to the program's "
		"libraries when it opens files. FILE is read once and all ranks get the same "
		"values; see 'sluice kb params'. A few parameters can be given directly, for all "
		"files or, after @, for those that match a pattern:\n\n"
		"  sluice run --params 'rdcc_nbytes=16M cb_nodes=4@*.h5' -- ./app\n\n"
		"If FILE cannot be read or is malformed, the program "
		"is not started. A parameter is ignored, with a warning, if it "
		"changes more than params.allow permits, if params.forbid lists it, or if it is "
		"known to lose data. A parameter overrides the value that the program sets "
		"unless params.authority says otherwise. To apply parameters without "
		"recording:\n\n"
		"  sluice run --mode off --params FILE -- ./app\n\n"
		"Without --params, Sluice suggests parameters that 'sluice tune' has found for "
		"this program, or applies them with --tune=apply, which always prints what it did "
		"or why it did nothing. Parameters are applied only if code, arguments, ranks, "
		"data size, platform and file system are those of the tuning. Runs with them are "
		"compared with the default, and an entry that loses twice is demoted; see 'sluice "
		"kb'. After a slow run, and once in a while, a run is made without parameters, "
		"and says so. 'sluice report' shows what was applied and whether it took "
		"effect.\n\n"
		"--place distributes the files that the program creates over the storage targets "
		"of probe.site, within the site's policy: over directories, with symbolic links "
		"at the original names; over Lustre OSTs; or over CephFS pools. '--place adaptive' "
		"chooses the directory of each file when it is created, from the bytes that all "
		"your programs on the node still have to write there and from the rates of their "
		"earlier writes; if sluiced runs, also from those of other users. It begins with "
		"the current forecast (see 'sluice forecast') or, without one, with equal targets, "
		"and reports where the files are. The other rules use fixed shares of the "
		"forecast; without one, files are created as usual and a warning is printed. An "
		"open file is never moved.\n\n"
		"SLUICE_DISABLE=1 in the environment disables recording for a process and its "
		"children. If it is set for 'sluice run' itself, no trace is written.\n\n"
		"Programs in containers of Apptainer are recorded like others. For those of "
		"Podman and Docker, a warning names the options that they need.\n\n"
		"Signals that 'sluice run' receives are passed to the program. If the process "
		"that records the program is killed, the program continues, and the trace is "
		"recovered when it ends. If 'sluice run' itself is killed, the program continues "
		"and is recorded to its end.",
	.exit_status = "That of PROGRAM; 128 plus N if signal N ended it; 127 if it was not found "
		       "and 126 if it could not be executed; 2 for incorrect usage.",
	.options = run_options,
	.args_bytes = sizeof(struct run_args),
	.order = OPTION_STOP_FIRST,
	.flags = COMMAND_NO_JSON,
	.run = run_program,
};
