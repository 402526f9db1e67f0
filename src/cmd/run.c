/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice run: starts a program under capture and collects what it does. The program must not
 * notice: its exit code, output and signals are its own, and whatever fails on our side, it runs
 * all the same.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/process.h"
#include "cli/command.h"
#include "contract/clock.h"
#include "observe/report/brief.h"
#include "run/recording.h"

/* Pause between passes: short while records come, longer when the program does not do I/O. */
#define PAUSE_MIN_US 500
#define PAUSE_MAX_US 20000
/* How long ranks may take to die after their launcher. */
#define RANKS_DIE_NS UINT64_C(2000000000)

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

static volatile pid_t run_child;

/* Signals sent to us alone are meant for the program. */
static void forward(int signal)
{
	int saved = errno;

	if (run_child > 0)
		kill(run_child, signal);
	errno = saved;
}

static void warn(const struct command *c, const char *text)
{
	const struct run_args *args = c->args;

	if (!args->quiet)
		command_warn(c, "%s", text);
}

static void notify(const struct command *c, const char *text)
{
	const struct run_args *args = c->args;

	if (!args->quiet)
		fprintf(stderr, "sluice: %s\n", text);
}

/* Tells each line of text. */
static void warn_lines(const struct command *c, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), notice = strlen(COLLECTOR_NOTICE);
		AUTO_FREE char *line = xstrndup(text, n);

		if (strncmp(line, COLLECTOR_NOTICE, notice) == 0)
			notify(c, line + notice);
		else
			warn(c, line);
		text += n + (text[n] != 0);
	}
}

/* Says beforehand why a program cannot be recorded; it runs in any case. */
static void program_explain(const struct command *c, const char *path)
{
	AUTO_FREE char *interpreter = NULL;
	AUTO_FREE char *text = NULL;

	switch (elf_inspect(path, &interpreter)) {
	case ELF_STATIC:
		text = xprintf("%s is statically linked, so no library can be preloaded into it: "
			       "it runs, but "
			       "nothing is recorded. Link it dynamically to record it",
			       path);
		break;
	case ELF_SETUID:
		text = xprintf("%s is set-user-id or set-group-id, so the loader refuses to "
			       "preload: it runs, "
			       "but nothing is recorded",
			       path);
		break;
	case ELF_FOREIGN:
		text = xprintf("%s is for another machine type than Sluice: it runs, but nothing "
			       "is recorded",
			       path);
		break;
	case ELF_SCRIPT:
		if (strcmp(interpreter, path) != 0)
			program_explain(c, interpreter);
		break;
	case ELF_DYNAMIC:
	case ELF_LINKED:
	case ELF_UNKNOWN:
		break;
	}
	if (text)
		warn(c, text);
}

/* A wrong setting must not keep a program from running. */
static void settings_check(const struct command *c)
{
	struct err err = { 0 };

	recording_budget(c->config, &err);
	if (err.code)
		warn(c, err.text);
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

/* Our library goes first, before what the user preloads already. NULL: it is linked in. */
static void environment_set(const char *library, const char *spool)
{
	const char *before = getenv("LD_PRELOAD");
	AUTO_FREE char *preload = NULL;

	setenv("SLUICE_SPOOL", spool, 1);
	if (!library)
		return;
	preload = before && before[0] ? xprintf("%s:%s", library, before) : xstrdup(library);
	setenv("LD_PRELOAD", preload, 1);
}

/*
 * The signals we treat specially: the terminal sends the first two to the program as well, and a
 * limit on file sizes is for its files, not for our trace.
 */
static const int ignored[] = { SIGINT, SIGQUIT, SIGXFSZ };
static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* How the program shall find them. */
struct signals {
	struct sigaction ignored[COUNT(ignored)], forwarded[COUNT(forwarded)];
};

static void signals_set(struct signals *old)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction pass = { .sa_handler = forward, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &ignore, &old->ignored[i]);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &pass, &old->forwarded[i]);
}

static void signals_restore(const struct signals *old)
{
	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &old->ignored[i], NULL);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &old->forwarded[i], NULL);
}

/* Becomes the program. Returns only if that fails, with the exit code that a shell would give. */
static int program_become(char **argv, const char *program)
{
	int code;

	execv(program, argv);
	/* What a shell does with a file that is no program: it reads it. */
	if (errno == ENOEXEC)
		execvp(argv[0], argv);
	code = errno == ENOENT ? 127 : 126;
	fprintf(stderr, "sluice run: %s: %s\n", program, strerror(errno));
	return code;
}

/* spool NULL: the program runs without us. */
static pid_t child_start(char **argv, const char *program, const char *library, const char *spool,
			 const struct signals *signals)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	signals_restore(signals);
	if (spool)
		environment_set(library, spool);
	_exit(program_become(argv, program));
}

/* Sleeps until the child ends or the pause is over. */
static void pause_for(int pidfd, unsigned microseconds)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	struct timespec pause = { 0, microseconds * 1000L };

	ppoll(&fd, pidfd >= 0, &pause, NULL);
}

static int status_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A launcher that has killed its ranks returns while they are still dying, and recording. */
static void ranks_watch(struct collector *collector)
{
	uint64_t until = clock_monotonic_ns() + RANKS_DIE_NS;

	while (collector_live_ranks(collector) && clock_monotonic_ns() < until) {
		collector_poll(collector);
		pause_for(-1, PAUSE_MIN_US);
	}
}

/* Collects until the child has ended; returns its exit code. */
static int child_watch(pid_t pid, struct collector *collector, bool outlive)
{
	AUTO_CLOSE int pidfd = process_pidfd(pid);
	unsigned pause = PAUSE_MIN_US;
	int status = 0;

	while (waitpid(pid, &status, collector ? WNOHANG : 0) == 0) {
		if (collector_poll(collector))
			pause = PAUSE_MIN_US;
		else if (pause < PAUSE_MAX_US)
			pause *= 2;
		pause_for(pidfd, pause);
	}
	run_child = 0;
	if (collector)
		ranks_watch(collector);
	while (outlive && collector && (collector_poll(collector) || collector_live(collector)))
		pause_for(-1, PAUSE_MAX_US);
	return status_code(status);
}

/* In short what the program did, for whoever looks at a terminal. */
static void brief_tell(const struct command *c, const struct collector_totals *t, const char *trace)
{
	struct err err = { 0 };

	if (brief_print(stderr, trace, &err) >= 0)
		return;
	command_warn(c, "%s", err.text);
	fprintf(stderr, "sluice: %llu calls of %u processes recorded in %s\n",
		(unsigned long long)t->activities, t->processes, trace);
}

static void summary_print(const struct command *c, const struct collector_totals *t,
			  const char *trace)
{
	const struct run_args *args = c->args;
	int when = config_choice(c->config, SETTING_RUN_SUMMARY);
	bool wanted = args->summary || when == CONFIG_WHEN_YES ||
		      (when == CONFIG_WHEN_AUTO && isatty(STDERR_FILENO));

	if (args->quiet)
		return;
	if (wanted)
		brief_tell(c, t, trace);
	else if (t->lost)
		command_warn(c,
			     "%llu calls were lost because the spool was full (see spool.limit); "
			     "they are "
			     "counted in the report",
			     (unsigned long long)t->lost);
	if (!t->processes && recording_mode(c->config) != CAPTURE_OFF && !getenv("SLUICE_DISABLE"))
		command_warn(c,
			     "no process of the run could be recorded; 'sluice doctor' tells more");
}

/* Completes the trace; trouble is told, but for what was told before, and changes nothing for the
 * program. */
static void finish(const struct command *c, struct recording *recording, int code, size_t warned)
{
	struct recording_result result = { 0 };
	struct err err = { 0 };
	int failed = recording_end(recording, code, &result, &err);

	if (result.ours && strlen(result.totals.warnings) > warned)
		warn_lines(c, result.totals.warnings + warned);
	if (failed < 0)
		warn(c, err.text);
	else if (result.ours)
		summary_print(c, &result.totals, result.trace);
}

/* Prepares all that recording needs. On failure it says so, and the program runs without. */
static bool begin(const struct command *c, const char *program, const char *library,
		  struct recording *recording, struct err *err)
{
	const struct run_args *args = c->args;
	char form[16];
	struct recording_options options = {
		.config = c->config,
		.argv = c->argv,
		.program = program,
		.output = args->output,
		.outlive = args->wait,
	};
	AUTO_FREE char *text = NULL;

	option_choice_name("container|text|sqlite", args->form, form, sizeof(form));
	options.form = trace_format_by_name(form);
	if (library && recording_start(recording, &options, err) >= 0)
		return true;
	text = xprintf("%s; the program runs unrecorded%s", err->text,
		       config_text(c->config, SETTING_PARAMS_FILE)[0] ? " and without parameters"
								      : "");
	warn(c, text);
	return false;
}

/* Runs the program, recorded if that can be had. Returns its exit code. */
static int record(const struct command *c, const char *program)
{
	const struct run_args *args = c->args;
	struct recording recording;
	struct signals signals;
	struct err err = { 0 };
	AUTO_FREE char *library = place_library(&err);
	size_t warned = 0;
	bool recorded;
	pid_t pid;
	int code;

	signals_set(&signals);
	recorded = begin(c, program, library, &recording, &err);
	if (recorded) {
		warned = strlen(recording_warnings(&recording));
		warn_lines(c, recording_warnings(&recording));
	}
	pid = child_start(c->argv, program, args->linked ? NULL : library,
			  recorded ? recording_directory(&recording) : NULL, &signals);
	if (pid < 0) {
		code = command_fail(c, "cannot start a process: %s", strerror(errno));
	} else {
		run_child = pid;
		code = child_watch(pid, recorded ? recording.collector : NULL, args->wait);
	}
	if (recorded)
		finish(c, &recording, code, warned);
	return code;
}

/* Is the whole launcher run under Sluice already? Then its ranks are recorded as they are. */
static bool is_recorded_already(void)
{
	const char *spool = getenv("SLUICE_SPOOL");
	struct job job;
	bool launched = job_find(&job);

	job_release(&job);
	return launched && spool && collector_is_alive(spool);
}

static int run(struct command *c)
{
	const struct run_args *args = c->args;
	AUTO_FREE char *program = place_program(c->argv[0]);
	struct err err = { 0 };

	if (overrides_apply(c, &err) < 0)
		return command_misuse(c, "%s", err.text);
	if (!program) {
		command_fail(c, "%s: command not found", c->argv[0]);
		return 127;
	}
	program_explain(c, program);
	if (is_recorded_already()) {
		if (args->params || args->place)
			warn(c, args->params ? "the launcher is run under Sluice already, and what "
					       "that was given counts: --params is not used"
					     : "the launcher is run under Sluice already, and what "
					       "that was given counts: --place is not used");
		return program_become(c->argv, program);
	}
	settings_check(c);
	return record(c, program);
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
