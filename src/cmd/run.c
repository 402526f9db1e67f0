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
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/elf.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/unit.h"
#include "cmd/command.h"
#include "observe/collect/calibrate.h"
#include "observe/collect/collector.h"

/* Pause between passes: short while records come, longer when the program does not do I/O. */
#define PAUSE_MIN_US 500
#define PAUSE_MAX_US 20000

struct run_args {
	const char *output;
	const char *mode;
	const char *spool_dir;
	const char *spool_limit;
	int form;
	bool wait;
	bool summary, quiet;
};

static const struct option run_options[] = {
	{ 'o', "output", "FILE", NULL, "write the trace there instead of into trace.dir",
	  OPTION_TEXT, offsetof(struct run_args, output) },
	{ 'f', "format", "container|text|sqlite", "container", "form of the trace", OPTION_CHOICE,
	  offsetof(struct run_args, form) },
	{ 'm', "mode", "MODE", NULL, "trace, counters or off; overrides capture.mode", OPTION_TEXT,
	  offsetof(struct run_args, mode) },
	{ 0, "spool-dir", "DIR", NULL, "where to hand over records; overrides spool.dir",
	  OPTION_TEXT, offsetof(struct run_args, spool_dir) },
	{ 0, "spool-limit", "SIZE", NULL, "most space for records under way; overrides spool.limit",
	  OPTION_TEXT, offsetof(struct run_args, spool_limit) },
	{ 'w', "wait", NULL, NULL, "wait also for processes that outlive the command", OPTION_FLAG,
	  offsetof(struct run_args, wait) },
	{ 's', "summary", NULL, NULL, "print a summary also when stderr is not a terminal",
	  OPTION_FLAG, offsetof(struct run_args, summary) },
	{ 'q', "quiet", NULL, NULL, "print nothing of our own", OPTION_FLAG,
	  offsetof(struct run_args, quiet) },
	{ 0 }
};

/* What is needed to record; collector is NULL when the program runs without. */
struct recording {
	char *library, *path, *container;
	struct collector *collector;
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

static void quote(struct buf *out, const char *word)
{
	if (*word && !strpbrk(word, " \t\n\"'\\$`|&;<>()*?[]{}!#~")) {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *word);
	buf_putc(out, '\'');
}

static char *uuid_make(void)
{
	unsigned char bytes[16];
	struct buf text = { 0 };

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf_printf(&text, "%02x", bytes[i]);
	return buf_take(&text);
}

static struct run_info run_describe(char **argv)
{
	const char *user = getenv("USER");
	struct buf command = { 0 };
	struct timespec now;
	char host[256] = "";

	clock_gettime(CLOCK_REALTIME, &now);
	gethostname(host, sizeof(host) - 1);
	for (int i = 0; argv[i]; i++) {
		if (i)
			buf_putc(&command, ' ');
		quote(&command, argv[i]);
	}
	return (struct run_info){
		.uuid = uuid_make(),
		.command = buf_take(&command),
		.directory = getcwd(NULL, 0),
		.host = xstrdup(host),
		.user = user ? xstrdup(user) : xprintf("%u", (unsigned)getuid()),
		.version = xstrdup(SLUICE_VERSION),
		.started_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
	};
}

/* trace.dir/20260102-030405-program-PID.sluice; made if need be. NULL with a message in err. */
static char *trace_path(const struct command *c, const char *program, struct err *err)
{
	const char *directory = config_text(c->config, SETTING_TRACE_DIR);
	const char *base = strrchr(program, '/');
	time_t now = time(NULL);
	struct tm local;
	char stamp[32];

	if (place_make_dir(directory, 0700, err) < 0)
		return NULL;
	localtime_r(&now, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	return xprintf("%s/%s-%s-%d.sluice", directory, stamp, base ? base + 1 : program,
		       (int)getpid());
}

static enum capture_clock clock_choose(const struct config *config)
{
	const char *name;

	switch (config_choice(config, SETTING_CAPTURE_CLOCK)) {
	case CONFIG_CLOCK_COUNTER:
		return CLOCK_SOURCE_COUNTER;
	case CONFIG_CLOCK_MONOTONIC:
		return CLOCK_SOURCE_MONOTONIC;
	default:
		return calibrate_counter_is_steady(&name) ? CLOCK_SOURCE_COUNTER
							  : CLOCK_SOURCE_MONOTONIC;
	}
}

static enum capture_mode mode_choose(const struct config *config)
{
	switch (config_choice(config, SETTING_CAPTURE_MODE)) {
	case CONFIG_MODE_COUNTERS:
		return CAPTURE_COUNTERS;
	case CONFIG_MODE_OFF:
		return CAPTURE_OFF;
	default:
		return CAPTURE_TRACE;
	}
}

static int overrides_apply(struct command *c, struct err *err)
{
	const struct run_args *args = c->args;
	int r = config_set(c->config, SETTING_CAPTURE_MODE, args->mode, "--mode", err);

	if (r >= 0)
		r = config_set(c->config, SETTING_SPOOL_DIR, args->spool_dir, "--spool-dir", err);
	if (r >= 0)
		r = config_set(c->config, SETTING_SPOOL_LIMIT, args->spool_limit, "--spool-limit",
			       err);
	return r;
}

/* The collector of this run; NULL with a message in err. */
static struct collector *collector_start(const struct command *c, const char *trace,
					 struct err *err)
{
	struct run_info run = run_describe(c->argv);
	const char *spool_dir = config_text(c->config, SETTING_SPOOL_DIR);
	struct collector_options options = {
		.trace = trace,
		.spool_dir = strcmp(spool_dir, "auto") ? spool_dir : NULL,
		.spool_bytes = config_number(c->config, SETTING_SPOOL_LIMIT),
		.mode = mode_choose(c->config),
		.clock = clock_choose(c->config),
		.skip = config_text(c->config, SETTING_CAPTURE_SKIP),
		.run = &run,
	};
	struct collector *collector = NULL;

	if (collector_open(&collector, &options, err) < 0)
		collector = NULL;
	run_info_release(&run);
	return collector;
}

/* Our library goes first, before what the user preloads already. */
static void environment_set(const char *library, const char *spool)
{
	const char *before = getenv("LD_PRELOAD");
	AUTO_FREE char *preload =
		before && before[0] ? xprintf("%s:%s", library, before) : xstrdup(library);

	setenv("LD_PRELOAD", preload, 1);
	setenv("SLUICE_SPOOL", spool, 1);
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

static pid_t child_start(char **argv, const char *program, const struct recording *r,
			 const struct signals *signals)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	signals_restore(signals);
	if (r->collector)
		environment_set(r->library, collector_directory(r->collector));
	execv(program, argv);
	/* What a shell does with a file that is no program: it reads it. */
	if (errno == ENOEXEC)
		execvp(argv[0], argv);
	fprintf(stderr, "sluice run: %s: %s\n", program, strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int pidfd_of(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
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

/* Collects until the child has ended; returns its exit code. */
static int child_watch(pid_t pid, struct collector *collector, bool outlive)
{
	AUTO_CLOSE int pidfd = pidfd_of(pid);
	unsigned pause = PAUSE_MIN_US;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (collector && collector_poll(collector))
			pause = PAUSE_MIN_US;
		else if (pause < PAUSE_MAX_US)
			pause *= 2;
		pause_for(pidfd, pause);
	}
	run_child = 0;
	while (outlive && collector && (collector_poll(collector) || collector_live(collector)))
		pause_for(-1, PAUSE_MAX_US);
	return status_code(status);
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
	if (t->lost)
		command_warn(c,
			     "%llu calls were lost because the spool was full (see spool.limit); "
			     "they are "
			     "counted in the report",
			     (unsigned long long)t->lost);
	if (wanted)
		fprintf(stderr, "sluice: %llu calls of %u processes recorded in %s\n",
			(unsigned long long)t->activities, t->processes, trace);
	if (!t->processes && mode_choose(c->config) != CAPTURE_OFF && !getenv("SLUICE_DISABLE"))
		command_warn(c,
			     "no process of the run could be recorded; 'sluice doctor' tells more");
}

/* Turns the container into the form that was asked for. */
static int form_convert(const char *container, const char *path, const char *form, struct err *err)
{
	struct trace trace;
	int r = trace_open(&trace, container, NULL, err);

	if (r < 0)
		return r;
	r = trace_convert(&trace, trace_format_by_name(form), path, err);
	trace_close(&trace);
	if (r >= 0)
		unlink(container);
	return r;
}

/* Completes the trace; trouble is told and changes nothing for the program. */
static void recording_end(const struct command *c, struct recording *r, int code)
{
	const struct run_args *args = c->args;
	struct collector_totals totals;
	char form[16];
	struct err err;
	int failed = collector_close(r->collector, code, &totals, &err);

	option_choice_name("container|text|sqlite", args->form, form, sizeof(form));
	if (failed >= 0 && strcmp(r->container, r->path) != 0)
		failed = form_convert(r->container, r->path, form, &err);
	if (failed < 0)
		warn(c, err.text);
	else
		summary_print(c, &totals, r->path);
}

/* Prepares all that recording needs. On failure it says so, and the program runs without. */
static void recording_start(const struct command *c, const char *program, struct recording *r)
{
	const struct run_args *args = c->args;
	AUTO_FREE char *text = NULL;
	struct err err = { 0 };

	r->library = place_library(&err);
	if (r->library)
		r->path = args->output ? xstrdup(args->output) : trace_path(c, program, &err);
	if (r->path)
		r->container = args->form > 0 ? xprintf("%s.partial", r->path) : xstrdup(r->path);
	if (r->container)
		r->collector = collector_start(c, r->container, &err);
	if (r->collector)
		return;
	text = xprintf("%s; the program runs unrecorded", err.text);
	warn(c, text);
}

static void recording_release(struct recording *r)
{
	free(r->library);
	free(r->path);
	free(r->container);
}

static int run(struct command *c)
{
	const struct run_args *args = c->args;
	AUTO_FREE char *program = place_program(c->argv[0]);
	struct recording recording = { 0 };
	struct signals signals;
	struct err err = { 0 };
	pid_t pid;
	int code;

	if (overrides_apply(c, &err) < 0)
		return command_misuse(c, "%s", err.text);
	if (!program) {
		command_fail(c, "%s: command not found", c->argv[0]);
		return 127;
	}
	program_explain(c, program);
	signals_set(&signals);
	recording_start(c, program, &recording);
	pid = child_start(c->argv, program, &recording, &signals);
	if (pid < 0) {
		code = command_fail(c, "cannot start a process: %s", strerror(errno));
	} else {
		run_child = pid;
		code = child_watch(pid, recording.collector, args->wait);
	}
	if (recording.collector)
		recording_end(c, &recording, code);
	recording_release(&recording);
	return code;
}

const struct command_ops command_run = {
	.name = "run",
	.help = "run a program and record its I/O",
	.operands = "[--] PROGRAM [ARGUMENT...]",
	.operands_min = 1,
	.operands_max = -1,
	.about = "Runs PROGRAM and records every POSIX and STDIO call that it and its children "
		 "make, without "
		 "changing them. The exit code is the program's own; its output is untouched.\n\n"
		 "The trace goes into trace.dir, where 'sluice last' and 'sluice ls' find it; "
		 "'sluice report' and "
		 "'sluice print' show it. If anything fails on Sluice's side the program runs as "
		 "it would without, "
		 "and a warning says so.\n\n"
		 "SLUICE_DISABLE=1 in the environment keeps a process and its children from being "
		 "recorded.",
	.options = run_options,
	.args_bytes = sizeof(struct run_args),
	.order = OPTION_STOP_FIRST,
	.run = run,
};
