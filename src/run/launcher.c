/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/process.h"
#include "contract/clock.h"
#include "contract/journal.h"
#include "observe/collect/launches.h"
#include "run/launch.h"

/* The program must not wait longer for the recorder. */
#define READY_NS (60 * NS_PER_S)
/* The same if a signal waits for the program. */
#define READY_SIGNAL_NS (2 * NS_PER_S)
#define READY_POLL_MS 20
/* A recorder that was killed before the program started is replaced this often. */
#define RECORDER_STARTS 3

/* As a shell reports them. */
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_SIGNAL_BASE 128

struct launcher {
	const struct launcher_options *options;
	struct launch *launch;
	int go[2], up[2], life[2];
	pid_t recorder; /* 0: none */
};

/* The signal mask that the command was started with. */
static sigset_t original_mask;

/* For the signal handler: the process to forward to (0: none), whether it may execute the program
 * already, and whether a signal was forwarded. */
static volatile pid_t forward_to;
static volatile sig_atomic_t has_started, has_signal;

/* Not forwarded are faults, job control, and signals that concern only the launcher. */
static bool is_forwarded(int signal)
{
	switch (signal) {
	case SIGKILL:
	case SIGSTOP:
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
	case SIGSYS:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCHLD:
	case SIGWINCH:
	case SIGPIPE:
	case SIGXFSZ:
		return false;
	default:
		/* The signals in between belong to the C library. */
		return signal <= SIGSYS || signal >= SIGRTMIN;
	}
}

void launcher_hold_signals(void)
{
	sigset_t held;

	sigemptyset(&held);
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (is_forwarded(signal))
			sigaddset(&held, signal);
	sigprocmask(SIG_BLOCK, &held, &original_mask);
}

void launcher_release_signals(void)
{
	sigprocmask(SIG_SETMASK, &original_mask, NULL);
}

/*
 * Until the program is executed, its process holds signals, so that a signal which arrives by two
 * ways counts once. Afterwards a signal of the kernel is one that the terminal sends to the whole
 * process group, or a timer of the process that executed this command.
 */
static void forward_signal(int signal, siginfo_t *info, void *context)
{
	bool is_timer = signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF;
	int saved = errno;

	(void)context;
	has_signal = 1;
	if (forward_to > 0 && (!has_started || info->si_code <= 0 || is_timer))
		kill(forward_to, signal);
	errno = saved;
}

static void forward_signals(pid_t program)
{
	struct sigaction forward = { .sa_sigaction = forward_signal,
				     .sa_flags = SA_SIGINFO | SA_RESTART };
	sigset_t pending;

	forward_to = program;
	sigemptyset(&pending);
	sigpending(&pending);
	for (int signal = 1; signal <= SIGRTMAX; signal++) {
		if (!is_forwarded(signal))
			continue;
		/* The terminal may have sent it before the program's process existed. */
		if (sigismember(&pending, signal) > 0)
			kill(program, signal);
		sigaction(signal, &forward, NULL);
	}
	/* Otherwise there may be no exit code to wait for. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	launcher_release_signals();
}

__attribute__((format(printf, 2, 3))) static void warn(const struct launcher *l, const char *format,
						       ...)
{
	char sentence[1024];
	va_list args;

	if (l->launch && l->launch->is_quiet)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	dprintf(STDERR_FILENO, "%s: warning: %s\n", l->options->name, sentence);
}

/* Executes the command line. Returns only on failure, with the exit code. */
static int exec_words(const struct launcher_options *o)
{
	const char *program = o->argv[0];
	AUTO_BUF struct buf shown = { 0 };
	int error;

	launcher_release_signals();
	/* Like a shell, this runs a file that is not in an executable format as a script. */
	execvp(program, o->argv);
	error = errno;
	escape_text(&shown, program, "");
	dprintf(STDERR_FILENO, "%s: %s: %s\n", o->name, buf_text(&shown),
		error == ENOENT && !strchr(program, '/') ? "command not found" : strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Executes the program. Returns only on failure, with the exit code. */
static int program_exec(const struct launcher_options *o)
{
	/* In a trial the library preserves the user's files; see contract/journal.h. */
	if (getenv(JOURNAL_VARIABLE) && !getenv("SLUICE_SPOOL")) {
		dprintf(STDERR_FILENO,
			"%s: the program is not run, because it cannot be recorded, and its files "
			"could not be preserved\n",
			o->name);
		return EXIT_NOT_EXECUTABLE;
	}
	return exec_words(o);
}

static int exec_unrecorded(const struct launcher *l, const char *what)
{
	warn(l, "%s: %s; the program runs unrecorded", what, strerror(errno));
	return program_exec(l->options);
}

/* A pipe whose ends do not take the place of standard files that are closed. */
static int pipe_open(int ends[2])
{
	int low[2];

	if (pipe2(low, O_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = low[i] > STDERR_FILENO ? low[i] : fcntl(low[i], F_DUPFD_CLOEXEC, 3);
		if (ends[i] != low[i])
			close(low[i]);
	}
	return ends[0] < 0 || ends[1] < 0 ? -EMFILE : 0;
}

static void pipe_close(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

/* Sets errno on failure. */
static bool launch_open(struct launcher *l)
{
	void *page = mmap(NULL, sizeof(*l->launch), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	l->launch = page;
	l->launch->launcher = getpid();
	l->launch->started = time(NULL);
	return pipe_open(l->go) >= 0 && pipe_open(l->life) >= 0;
}

/* The recorder has died before the program started, so there is nothing to recover. */
static void remove_preparations(struct launch *launch)
{
	if (launch->directory[0] && !launch->is_shared)
		process_remove_spool(launch->directory, CONTROL_NAME);
	launch->directory[0] = 0;
}

/*
 * The command line of the program with this command in it (launch_move_command()). Returns NULL if
 * there is no memory for it.
 */
static char **compose_command(const struct launcher *l)
{
	const struct launcher_options *o = l->options;
	size_t own = (size_t)(o->argv - o->command), count = 0, n = 0;
	char **composed;

	for (char *at = l->launch->prefix; *at; at += strlen(at) + 1)
		count++;
	while (o->argv[n])
		n++;
	composed = calloc(count + own + n + 2, sizeof(*composed));
	if (!composed)
		return NULL;
	n = 0;
	for (size_t i = 0; i < l->launch->move_to; i++)
		composed[n++] = o->argv[i];
	for (char *at = l->launch->prefix; *at; at += strlen(at) + 1)
		composed[n++] = at;
	for (size_t i = 1; i < own; i++)
		composed[n++] = o->command[i];
	if (strcmp(o->command[own - 1], "--") != 0)
		composed[n++] = "--";
	for (size_t i = l->launch->move_to; o->argv[i]; i++)
		composed[n++] = o->argv[i];
	return composed;
}

/* Executes the program as the page says. Returns only on failure, with the exit code. */
static int program_exec_moved(const struct launcher *l)
{
	struct launcher_options options = *l->options;
	char **composed = l->launch->move_to ? compose_command(l) : NULL;
	int code;

	if (composed)
		options.argv = composed;
	/* The command that was put before the program preserves its files. */
	code = composed ? exec_words(&options) : program_exec(&options);
	free(composed);
	return code;
}

/* Runs in the program's process: waits until the page is complete, or the others are gone. */
static _Noreturn void program_run(struct launcher *l)
{
	struct launch *launch = l->launch;
	int state, code;
	ssize_t n;
	char byte;

	pipe_close(&l->go[1]);
	pipe_close(&l->life[0]);
	pipe_close(&l->life[1]);
	while ((n = read(l->go[0], &byte, 1)) < 0 && errno == EINTR)
		;
	state = atomic_load(&launch->state);
	if (state == LAUNCH_REFUSED)
		_exit(launch->refusal);
	/* Launcher and recorder were killed before the program started: this is the launcher now.
	 */
	if (n == 0 && state == LAUNCH_PREPARING) {
		remove_preparations(launch);
		_exit(launcher_run(l->options));
	}
	/* Without memory for the variables, the program runs unrecorded. */
	if (state == LAUNCH_READY && launch->spool[0] &&
	    (!launch->preload[0] || setenv("LD_PRELOAD", launch->preload, 1) == 0))
		setenv("SLUICE_SPOOL", launch->spool, 1);
	if (state == LAUNCH_READY && launch->spool[0])
		for (char *at = launch->environment; *at; at += strlen(at) + 1)
			putenv(at);
	code = program_exec_moved(l);
	if (launch->spool[0])
		launches_withdraw(launch->spool);
	_exit(code);
}

/* The recorder ignores all signals that may reach its process group and survives the program, so
 * that it can complete the trace. */
static void recorder_set_signals(void)
{
	static const int further[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ };
	sigset_t none;

	for (int number = 1; number <= SIGRTMAX; number++)
		if (is_forwarded(number))
			signal(number, SIG_IGN);
	for (size_t i = 0; i < sizeof(further) / sizeof(*further); i++)
		signal(further[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Files of the recorder must not take the place of standard files that are closed. */
static void fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static _Noreturn void recorder_run(struct launcher *l)
{
	struct launch_link link = { .launch = l->launch,
				    .go = l->go[1],
				    .up = l->up[1],
				    .life = l->life[0],
				    .pidfd = process_pidfd(l->launch->program) };
	const struct rlimit no_core = { 0, 0 };
	int code;

	pipe_close(&l->go[0]);
	pipe_close(&l->up[0]);
	pipe_close(&l->life[1]);
	recorder_set_signals();
	fill_standard_files();
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_NAME, "sluice-recorder");
	launch_set_link(&link);
	code = l->options->record(l->options->arg);
	if (atomic_load(&l->launch->state) == LAUNCH_PREPARING)
		launch_refuse(&link, code);
	fflush(NULL);
	_exit(code);
}

/* Returns -errno if there can be no recorder. */
static int recorder_start(struct launcher *l)
{
	int r = pipe_open(l->up);

	if (r < 0)
		return r;
	l->recorder = fork();
	if (l->recorder == 0)
		recorder_run(l);
	if (l->recorder < 0) {
		r = -errno;
		l->recorder = 0;
		pipe_close(&l->up[0]);
	}
	pipe_close(&l->up[1]);
	return r;
}

/* Waits until the recorder is ready. Returns 0; -ETIME; -EPIPE if it has ended before, by *status.
 */
static int await_ready(struct launcher *l, int *status)
{
	uint64_t began = clock_monotonic_ns();

	for (;;) {
		struct pollfd up = { .fd = l->up[0], .events = POLLIN };
		uint64_t passed = clock_monotonic_ns() - began;

		poll(&up, 1, READY_POLL_MS);
		if (atomic_load(&l->launch->state) != LAUNCH_PREPARING)
			return 0;
		if (waitpid(l->recorder, status, WNOHANG) == l->recorder)
			return -EPIPE;
		if (passed > READY_NS || (has_signal && passed > READY_SIGNAL_NS))
			return -ETIME;
	}
}

/* Returns true if another recorder may be started. */
static bool recorder_try(struct launcher *l)
{
	int status = 0, r = recorder_start(l);
	bool was_killed;

	if (r < 0) {
		warn(l, "cannot start a process: %s; the program runs unrecorded", strerror(-r));
		return false;
	}
	r = await_ready(l, &status);
	pipe_close(&l->up[0]);
	/* A recorder that has just been killed may have been ready before. */
	if (r == 0 || atomic_load(&l->launch->state) != LAUNCH_PREPARING)
		return false;
	if (r == -ETIME)
		kill(l->recorder, SIGKILL);
	l->recorder = 0;
	remove_preparations(l->launch);
	/* A recorder without memory aborts, and so would the next one. */
	was_killed = r == -EPIPE && WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT;
	if (!was_killed)
		warn(l, "the recorder %s; the program runs unrecorded",
		     r == -ETIME ? "does not respond" : "has failed");
	return was_killed;
}

static void recorder_prepare(struct launcher *l)
{
	int starts = 0;

	while (recorder_try(l))
		if (++starts == RECORDER_STARTS) {
			warn(l, "the recorder was killed %d times; the program runs unrecorded",
			     starts);
			break;
		}
}

/* Lets the program start, and waits for its end. */
static int program_wait(struct launcher *l, pid_t program)
{
	siginfo_t info;
	int status = 0;

	has_started = 1;
	(void)!write(l->go[1], "", 1);
	pipe_close(&l->go[1]);
	while (waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	/* Until it is reaped, no other process can have its pid. */
	forward_to = 0;
	waitpid(program, &status, 0);
	return WIFSIGNALED(status) ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits until the recorder exits, and continues it if it was stopped. */
static int recorder_wait(struct launcher *l)
{
	int status = 0;
	pid_t pid;

	do {
		pid = waitpid(l->recorder, &status, WUNTRACED);
		if (pid > 0 && WIFSTOPPED(status))
			kill(l->recorder, SIGCONT);
	} while (pid > 0 ? WIFSTOPPED(status) : errno == EINTR);
	l->recorder = 0;
	return status;
}

/* The recorder was killed while the program ran: a new one reads what it has left. */
static void recorder_recover(struct launcher *l, int signal)
{
	struct launch *launch = l->launch;
	int status = -1;

	if (!launch->spool[0] || launch->is_shared)
		return;
	launch->killed_by = signal;
	if (recorder_start(l) == 0)
		status = recorder_wait(l);
	if (status != 0)
		warn(l,
		     "the recorder was killed by signal %d; 'sluice trace recover %s' completes "
		     "the trace",
		     signal, launch->spool);
}

static void recorder_finish(struct launcher *l, int code)
{
	int status;

	l->launch->exit_code = code;
	atomic_store(&l->launch->is_over, 1);
	pipe_close(&l->life[1]);
	if (!l->recorder)
		return;
	status = recorder_wait(l);
	if (WIFSIGNALED(status))
		recorder_recover(l, WTERMSIG(status));
}

int launcher_run(const struct launcher_options *options)
{
	struct launcher l = {
		.options = options, .go = { -1, -1 }, .up = { -1, -1 }, .life = { -1, -1 }
	};
	pid_t program;
	int code;

	if (!launch_open(&l))
		return exec_unrecorded(&l, "cannot start the recorder");
	program = fork();
	if (program == 0)
		program_run(&l);
	if (program < 0)
		return exec_unrecorded(&l, "cannot start a process");
	l.launch->program = program;
	pipe_close(&l.go[0]);
	forward_signals(program);
	recorder_prepare(&l);
	code = program_wait(&l, program);
	recorder_finish(&l, code);
	return code;
}
