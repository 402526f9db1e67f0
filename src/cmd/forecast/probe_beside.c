/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A command beside which we probe: it runs as without us, on all its cores, and its end is ours.
 * The terminal's signals reach it by themselves, the others are passed on.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/forecast/probe_run.h"
#include "base/process.h"

#define LOW_PRIORITY 10

static const int ignored[] = { SIGINT, SIGQUIT };
static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A handler has no other place. */
static volatile sig_atomic_t child;

static void forward(int signal)
{
	if (child)
		kill((pid_t)child, signal);
}

static void signals_set(struct sigaction *old)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction pass = { .sa_handler = forward, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &ignore, &old[i]);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &pass, &old[COUNT(ignored) + i]);
}

static void signals_restore(const struct sigaction *old)
{
	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &old[i], NULL);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &old[COUNT(ignored) + i], NULL);
}

/* The core that was asked for, or the last that we may use; -1: it is none of them. */
static int core_choose(uint64_t wanted)
{
	cpu_set_t allowed;
	int core = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -1;
	if (wanted != OPTION_NONE)
		return wanted < CPU_SETSIZE && CPU_ISSET(wanted, &allowed) ? (int)wanted : -1;
	while (core >= 0 && !CPU_ISSET(core, &allowed))
		core--;
	return core;
}

/* Fails open: a command is worth more than its probes. */
static void self_confine(const struct running *run, int core)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(core, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		command_warn(run->command, "core %d: %s", core, strerror(errno));
	setpriority(PRIO_PROCESS, 0, LOW_PRIORITY);
}

static void command_become(char **argv)
{
	int code;

	execvp(argv[0], argv);
	code = errno == ENOENT ? 127 : 126;
	fprintf(stderr, "sluice probe: %s: %s\n", argv[0], strerror(errno));
	_exit(code);
}

int beside_start(struct running *run, pid_t *pid, int *pidfd)
{
	struct sigaction old[COUNT(ignored) + COUNT(forwarded)];
	int core = core_choose(run->args->core);

	if (run->command->argc < 2)
		return command_misuse(run->command, "--beside needs a command: --beside -- ...");
	if (core < 0)
		return command_misuse(run->command, "--core: it is none that we may use");
	signals_set(old);
	*pid = fork();
	if (*pid < 0)
		return command_fail(run->command, "no process for the command: %s",
				    strerror(errno));
	if (!*pid) {
		signals_restore(old);
		command_become(run->command->argv + 1);
	}
	child = *pid;
	*pidfd = process_pidfd(*pid);
	self_confine(run, core);
	return 0;
}

bool beside_has_ended(int pidfd)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };

	return pidfd >= 0 && poll(&fd, 1, 0) > 0;
}

int beside_end(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	child = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
