/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/elf.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/process.h"
#include "contract/clock.h"
#include "run/recording.h"

/* The pause between two passes over the spools: short while records arrive, longer when the program
 * does not do I/O. */
#define PAUSE_MIN_US 500
#define PAUSE_MAX_US 20000
/* Ranks may need this long to exit after their launcher has returned. */
#define RANKS_EXIT_NS UINT64_C(2000000000)

/* As a shell reports them. */
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_SIGNAL_BASE 128

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The running program, for the signal handler; 0: none. */
static volatile pid_t session_child;

static void forward_signal(int signal)
{
	int saved = errno;

	if (session_child > 0)
		kill(session_child, signal);
	errno = saved;
}

__attribute__((format(printf, 2, 3))) static void warn(const struct session_options *options,
						       const char *format, ...)
{
	AUTO_FREE char *sentence = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&sentence, format, args) < 0)
		sentence = NULL;
	va_end(args);
	if (sentence && options->warn)
		options->warn(options->arg, sentence);
}

/* Passes on the sentences of the collector, one per line. */
static void forward_sentences(const struct session_options *options, const char *text)
{
	const size_t notice = strlen(COLLECTOR_NOTICE);

	while (*text) {
		size_t n = strcspn(text, "\n");
		AUTO_FREE char *line = xstrndup(text, n);

		if (strncmp(line, COLLECTOR_NOTICE, notice) != 0)
			warn(options, "%s", line);
		else if (options->notify)
			options->notify(options->arg, line + notice);
		text += n + (text[n] != 0);
	}
}

/* Says beforehand why a program cannot be recorded. It runs in any case. */
static void warn_if_unrecordable(const struct session_options *options, const char *path)
{
	AUTO_FREE char *interpreter = NULL;

	switch (elf_inspect(path, &interpreter)) {
	case ELF_STATIC:
		warn(options,
		     "%s is statically linked, so no library can be preloaded: it runs unrecorded. "
		     "Link it dynamically, or link the wrappers in (see --linked)",
		     path);
		break;
	case ELF_SETUID:
		warn(options,
		     "%s is set-user-id or set-group-id, so the loader ignores preloaded "
		     "libraries: it runs unrecorded",
		     path);
		break;
	case ELF_FOREIGN:
		warn(options,
		     "%s is built for another machine type than Sluice: it runs unrecorded", path);
		break;
	case ELF_SCRIPT:
		if (strcmp(interpreter, path) != 0)
			warn_if_unrecordable(options, interpreter);
		break;
	case ELF_DYNAMIC:
	case ELF_LINKED:
	case ELF_UNKNOWN:
		break;
	}
}

/* A wrong setting must not keep a program from running. */
static void warn_about_settings(const struct session_options *options)
{
	struct err err = { 0 };

	recording_budget(options->config, &err);
	if (err.code)
		warn(options, "%s", err.text);
}

/* The guest library comes before the libraries that the user preloads. NULL: it is linked in. */
static void set_environment(const char *library, const char *spool)
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
 * The signals that the session treats specially. The terminal sends the first two to the program as
 * well, and a limit on file sizes (SIGXFSZ) is meant for the program's files, not for the trace.
 */
static const int ignored[] = { SIGINT, SIGQUIT, SIGXFSZ };
static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT };

/* The handlers before the session, which the program must inherit. */
struct signals {
	struct sigaction ignored[COUNT(ignored)], forwarded[COUNT(forwarded)];
};

static void signals_set(struct signals *old)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction forward = { .sa_handler = forward_signal, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &ignore, &old->ignored[i]);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &forward, &old->forwarded[i]);
}

static void signals_restore(const struct signals *old)
{
	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &old->ignored[i], NULL);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &old->forwarded[i], NULL);
}

/* Replaces this process by the program. Returns only on failure, with -errno. */
static int program_exec(char **argv, const char *program)
{
	execv(program, argv);
	/* A shell reads a file that is not in an executable format as a script. */
	if (errno == ENOEXEC)
		execvp(argv[0], argv);
	return -errno;
}

static int exec_failure_code(int error)
{
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* How to start the program. */
struct start {
	char **argv;
	const char *program; /* path */
	const char *library; /* to preload; NULL: none */
	const char *spool;   /* directory of the recording; NULL: the program runs unrecorded */
	const struct signals *signals;
};

/*
 * Starts the program in a child process. exec() closes the pipe, so that *error, which the child
 * writes if exec() fails, stays 0 for a program that was started.
 */
static pid_t child_start(const struct start *start, int *error)
{
	int ends[2] = { -1, -1 };
	pid_t pid;

	*error = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		int failure;

		signals_restore(start->signals);
		if (start->spool)
			set_environment(start->library, start->spool);
		failure = program_exec(start->argv, start->program);
		if (write(ends[1], &failure, sizeof(failure)) != sizeof(failure))
			_exit(EXIT_NOT_EXECUTABLE);
		_exit(exec_failure_code(failure));
	}
	close(ends[1]);
	if (pid > 0) {
		session_child = pid;
		while (read(ends[0], error, sizeof(*error)) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	return pid;
}

/* Sleeps until the child exits or the pause is over. pidfd -1: there is no child to wait for. */
static void sleep_unless_exited(int pidfd, unsigned microseconds)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	struct timespec pause = { 0, microseconds * NS_PER_US };

	ppoll(&fd, pidfd >= 0, &pause, NULL);
}

static int status_code(int status)
{
	return WIFSIGNALED(status) ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A launcher that has killed its ranks returns while they are still exiting, and recording. */
static void collect_until_ranks_exit(struct collector *collector)
{
	uint64_t until = clock_monotonic_ns() + RANKS_EXIT_NS;

	while (collector_live_ranks(collector) && clock_monotonic_ns() < until) {
		collector_poll(collector);
		sleep_unless_exited(-1, PAUSE_MIN_US);
	}
}

/* Collects until the child has exited. Returns its exit code. collector NULL: only waits. */
static int child_watch(pid_t pid, struct collector *collector, bool wait_for_descendants)
{
	AUTO_CLOSE int pidfd = process_pidfd(pid);
	unsigned pause = PAUSE_MIN_US;
	int status = 0;

	while (waitpid(pid, &status, collector ? WNOHANG : 0) == 0) {
		if (collector_poll(collector))
			pause = PAUSE_MIN_US;
		else if (pause < PAUSE_MAX_US)
			pause *= 2;
		sleep_unless_exited(pidfd, pause);
	}
	session_child = 0;
	if (!collector)
		return status_code(status);
	collect_until_ranks_exit(collector);
	while (wait_for_descendants && (collector_poll(collector) || collector_live(collector)))
		sleep_unless_exited(-1, PAUSE_MAX_US);
	return status_code(status);
}

/* Prepares the recording. False: it failed, a warning says so, and the program runs unrecorded. */
static bool recording_begin(const struct session_options *options, const char *program,
			    const char *library, struct recording *recording, struct err *err)
{
	struct recording_options recording_options = {
		.config = options->config,
		.argv = options->argv,
		.program = program,
		.output = options->output,
		.form = options->form,
		.outlive = options->wait_for_descendants,
	};
	bool has_parameters = config_text(options->config, SETTING_PARAMS_FILE)[0];

	if (library && recording_start(recording, &recording_options, err) >= 0)
		return true;
	warn(options, "%s; the program runs unrecorded%s", err->text,
	     has_parameters ? " and without parameters" : "");
	return false;
}

/* Completes the trace. A failure is a warning and changes nothing for the program. The first warned
 * bytes of the recording's warnings were passed on before. */
static void recording_finish(const struct session_options *options, struct recording *recording,
			     size_t warned, struct session_result *result)
{
	struct recording_result recorded = { 0 };
	struct err err = { 0 };
	int failed = recording_end(recording, result->exit_code, &recorded, &err);

	if (recorded.ours && strlen(recorded.totals.warnings) > warned)
		forward_sentences(options, recorded.totals.warnings + warned);
	if (failed < 0) {
		warn(options, "%s", err.text);
		return;
	}
	if (!recorded.ours)
		return;
	result->has_trace = true;
	result->totals = recorded.totals;
	result->is_empty = !recorded.totals.processes &&
			   recording_mode(options->config) != CAPTURE_OFF &&
			   !getenv("SLUICE_DISABLE");
	memcpy(result->trace, recorded.trace, sizeof(result->trace));
}

/* Starts the program and waits for it, with the collector of the recording if there is one. */
static int program_run(const struct session_options *options, const struct start *start,
		       struct collector *collector, struct session_result *result, struct err *err)
{
	int error = 0;
	pid_t pid = child_start(start, &error);

	if (pid < 0) {
		result->exit_code = EXIT_FAILURE;
		return err_set(err, errno, "cannot start a process: %s", strerror(errno));
	}
	result->exit_code = child_watch(pid, collector, options->wait_for_descendants);
	if (error)
		return err_set(err, -error, "%s: %s", start->program, strerror(-error));
	return 0;
}

static int program_record(const struct session_options *options, const char *program,
			  struct session_result *result, struct err *err)
{
	struct recording recording;
	struct signals signals;
	struct err trouble = { 0 };
	AUTO_FREE char *library = place_library(&trouble);
	struct start start = { .argv = options->argv, .program = program, .signals = &signals };
	size_t warned = 0;
	bool recorded;
	int r;

	signals_set(&signals);
	recorded = recording_begin(options, program, library, &recording, &trouble);
	if (recorded) {
		warned = strlen(recording_warnings(&recording));
		forward_sentences(options, recording_warnings(&recording));
		start.library = options->is_linked ? NULL : library;
		start.spool = recording_directory(&recording);
	}
	r = program_run(options, &start, recorded ? recording.collector : NULL, result, err);
	if (recorded)
		recording_finish(options, &recording, warned, result);
	signals_restore(&signals);
	return r;
}

/* Is the launcher that started this process run under Sluice? Then its ranks are recorded. */
static bool launcher_is_recorded(void)
{
	const char *spool = getenv("SLUICE_SPOOL");
	struct job job;
	bool launched = job_find(&job);

	job_release(&job);
	return launched && spool && collector_is_alive(spool);
}

/* The settings of the outer `sluice run` apply to all ranks. */
static void warn_about_unused_options(const struct session_options *options)
{
	static const struct {
		enum setting_id setting;
		const char *option;
	} checked[] = { { SETTING_PARAMS_FILE, "--params" }, { SETTING_PLACE_RULE, "--place" } };

	for (size_t i = 0; i < COUNT(checked); i++) {
		const char *origin = options->config->values[checked[i].setting].origin;

		if (!origin || strcmp(origin, checked[i].option) != 0)
			continue;
		warn(options,
		     "the launcher already runs under Sluice, whose options apply: %s is not used",
		     checked[i].option);
	}
}

int session_run(const struct session_options *options, struct session_result *result,
		struct err *err)
{
	AUTO_FREE char *program = place_program(options->argv[0]);
	int r;

	*result = (struct session_result){ 0 };
	if (!program) {
		result->exit_code = EXIT_NOT_FOUND;
		return err_set(err, ENOENT, "%s: command not found", options->argv[0]);
	}
	warn_if_unrecordable(options, program);
	if (launcher_is_recorded()) {
		warn_about_unused_options(options);
		r = program_exec(options->argv, program);
		result->exit_code = exec_failure_code(r);
		return err_set(err, -r, "%s: %s", program, strerror(-r));
	}
	warn_about_settings(options);
	return program_record(options, program, result, err);
}
