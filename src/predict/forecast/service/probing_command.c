/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command during which a process probes. The command runs on all its CPUs as it would without
 * probes, and its end ends the probes. Signals of the terminal reach the command directly; this
 * process forwards the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "predict/forecast/service/probing_internal.h"

#define LOW_PRIORITY 10
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

static const int ignored[] = { SIGINT, SIGQUIT };
static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The command's pid, for the signal handler, and the actions that it replaces. */
static volatile sig_atomic_t child;
static struct sigaction old_actions[COUNT(ignored) + COUNT(forwarded)];

static void forward_signal(int signal)
{
	if (child)
		kill((pid_t)child, signal);
}

/* Holds the signals that are forwarded, so that none is lost before there is a command. */
static void signals_hold(sigset_t *before)
{
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaddset(&held, forwarded[i]);
	sigprocmask(SIG_BLOCK, &held, before);
}

static void signals_set(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction pass = { .sa_handler = forward_signal, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &ignore, &old_actions[i]);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &pass, &old_actions[COUNT(ignored) + i]);
}

static void signals_restore(void)
{
	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &old_actions[i], NULL);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &old_actions[COUNT(ignored) + i], NULL);
}

/* The wanted CPU or the last allowed one; -1 if this process may not use it. */
static int choose_cpu(int wanted)
{
	cpu_set_t allowed;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -1;
	if (wanted != PROBING_LAST_CPU)
		return wanted < CPU_SETSIZE && CPU_ISSET(wanted, &allowed) ? wanted : -1;
	while (cpu >= 0 && !CPU_ISSET(cpu, &allowed))
		cpu--;
	return cpu;
}

int probing_command_check(const struct probing_options *options, struct err *err)
{
	if (!options->command[0])
		return err_set(err, EINVAL, "missing COMMAND");
	if (choose_cpu(options->cpu) < 0)
		return err_set(err, EINVAL, "CPU %d is outside the allowed CPU set", options->cpu);
	return 0;
}

/* A failure is only a warning, because the command matters more than its probes. */
static void confine_to_cpu(const struct probing *probing, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		probing_warn(probing, "cannot run on CPU %d only: %s", cpu, strerror(errno));
	setpriority(PRIO_PROCESS, 0, LOW_PRIORITY);
}

/* The child process. Reports errno through the pipe, which execvp() closes on success. */
static void become_command(char *const *argv, int error_pipe)
{
	int error;

	execvp(argv[0], argv);
	error = errno;
	if (write(error_pipe, &error, sizeof(error)) < 0)
		_exit(EXIT_NOT_EXECUTABLE);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* Returns 0 once the command has been executed, or its errno. */
static int read_exec_error(int error_pipe)
{
	ssize_t n;
	int error = 0;

	do
		n = read(error_pipe, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? error : 0;
}

int probing_command_start(struct probing *probing, int *pidfd, struct err *err)
{
	char *const *argv = probing->options.command;
	int cpu = choose_cpu(probing->options.cpu), errors[2], error;
	sigset_t before;

	probing->command_exit = EXIT_FAILURE;
	if (pipe2(errors, O_CLOEXEC) < 0)
		return err_set(err, errno, "cannot start %s: %s", argv[0], strerror(errno));
	signals_hold(&before);
	signals_set();
	probing->command = fork();
	if (!probing->command) {
		signals_restore();
		sigprocmask(SIG_SETMASK, &before, NULL);
		become_command(argv, errors[1]);
	}
	error = probing->command < 0 ? errno : 0;
	child = probing->command > 0 ? probing->command : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(errors[1]);
	if (child)
		error = read_exec_error(errors[0]);
	close(errors[0]);
	if (error && child)
		probing_command_wait(probing);
	else if (error)
		signals_restore();
	if (error)
		return err_set(err, error, "%s: %s", argv[0], strerror(error));
	*pidfd = process_pidfd(probing->command);
	confine_to_cpu(probing, cpu);
	return 0;
}

bool probing_command_has_ended(int pidfd)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };

	return pidfd >= 0 && poll(&fd, 1, 0) > 0;
}

void probing_command_wait(struct probing *probing)
{
	int status = 0;

	while (waitpid(probing->command, &status, 0) < 0 && errno == EINTR)
		continue;
	child = 0;
	signals_restore();
	probing->command_exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
