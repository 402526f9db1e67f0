/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"

#define WATCH_S 0.2	/* interval at which *stop and the limit are checked */
#define DYING_S 0.01	/* interval at which processes that are terminating are checked */
#define KILL_S 10.0	/* give up on processes that survive SIGKILL for this long */
#define TAIL_BYTES 4096 /* child_last_lines() reads at most this many bytes */
#define EXIT_NOT_RUN 127

struct pids {
	pid_t *list;
	size_t count, cap;
};

struct process {
	pid_t pid, parent;
	char state;
	bool is_dead; /* it may still have to be reaped */
};

struct processes {
	struct process *list;
	size_t count, cap;
};

struct child {
	const struct child_options *options;
	pid_t pid;
	struct pids before; /* children that the caller had before; never signaled */
	int64_t started_ns;
	int status;
	bool ended;
	double seconds;
};

static void pids_add(struct pids *pids, pid_t pid)
{
	pids->list = xgrow(pids->list, &pids->cap, pids->count + 1, sizeof(*pids->list));
	pids->list[pids->count++] = pid;
}

static bool pids_has(const struct pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->count; i++)
		if (pids->list[i] == pid)
			return true;
	return false;
}

static bool process_read(const char *name, struct process *process)
{
	AUTO_FREE char *path = xprintf("/proc/%s/stat", name);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char text[1024], *fields;
	long threads = 0;

	if (!f || !fgets(text, sizeof(text), f) || !(fields = strrchr(text, ')')))
		return false;
	process->pid = (pid_t)atoi(name);
	if (sscanf(fields + 1,
		   " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
		   &process->state, &process->parent, &threads) != 3)
		return false;
	/* A thread group leader that exited before its threads looks like a zombie. */
	process->is_dead = process->state == 'X' || (process->state == 'Z' && threads <= 1);
	return true;
}

/* Lists all processes that /proc shows. */
static void processes_read(struct processes *all)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct process process;

	all->count = 0;
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !process_read(entry->d_name, &process))
			continue;
		all->list = xgrow(all->list, &all->cap, all->count + 1, sizeof(*all->list));
		all->list[all->count++] = process;
	}
	if (dir)
		closedir(dir);
}

/*
 * Finds the living descendants of the caller, except those of its earlier children. Zombies that
 * were reparented to the caller are reaped.
 */
static void find_descendants(const struct child *child, struct pids *found)
{
	struct processes all = { 0 };
	size_t before = (size_t)-1;

	found->count = 0;
	processes_read(&all);
	while (found->count != before) {
		before = found->count;
		for (size_t i = 0; i < all.count; i++) {
			const struct process *p = &all.list[i];
			bool ours = p->parent == getpid() && !pids_has(&child->before, p->pid);

			if ((!ours && !pids_has(found, p->parent)) || pids_has(found, p->pid))
				continue;
			if (!p->is_dead)
				pids_add(found, p->pid);
			else if (ours && p->pid != child->pid)
				waitpid(p->pid, NULL, WNOHANG);
		}
	}
	free(all.list);
}

static void list_own_children(struct pids *before)
{
	struct processes all = { 0 };

	processes_read(&all);
	for (size_t i = 0; i < all.count; i++)
		if (all.list[i].parent == getpid())
			pids_add(before, all.list[i].pid);
	free(all.list);
}

static void change_environment(char *const *changes)
{
	for (; changes && *changes; changes++) {
		if (strchr(*changes, '='))
			putenv(*changes);
		else
			unsetenv(*changes);
	}
}

/* The program must not inherit our handlers, ignored signals or signal mask. */
static void reset_signals(void)
{
	sigset_t none;

	for (int signal = 1; signal < NSIG; signal++)
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in the child. Writes errno to the pipe `report` if the program cannot be executed. */
static _Noreturn void exec_command(const struct child_options *options, int output, int report,
				   pid_t parent)
{
	int input = open(options->input ? options->input : "/dev/null", O_RDONLY), code;

	setsid();
	reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_NOT_RUN);
	if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(output, STDERR_FILENO) >= 0) {
		change_environment(options->environment);
		execvp(options->argv[0], options->argv);
	}
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		code = EXIT_NOT_RUN;
	_exit(EXIT_NOT_RUN);
}

static int child_start(struct child *child, struct err *err)
{
	const struct child_options *o = child->options;
	AUTO_CLOSE int output =
		open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	pid_t parent = getpid();
	int ends[2], code = 0;
	ssize_t n;

	if (output < 0)
		return err_set(err, errno, "%s: %s", o->output, strerror(errno));
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set(err, errno, "cannot create a pipe: %s", strerror(errno));
	child->started_ns = clock_now_ns();
	child->pid = fork();
	if (child->pid == 0)
		exec_command(o, output, ends[1], parent);
	close(ends[1]);
	if (child->pid < 0) {
		code = errno;
		close(ends[0]);
		return err_set(err, code, "cannot start a process: %s", strerror(code));
	}
	do
		n = read(ends[0], &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	if (n != sizeof(code))
		return 0;
	waitpid(child->pid, NULL, 0);
	return err_set(err, code, "cannot run %s: %s", o->argv[0], strerror(code));
}

static double child_age_s(const struct child *child)
{
	return (double)(clock_now_ns() - child->started_ns) / (double)NS_PER_S;
}

/* Checks whether the command itself has exited, and notes its status and run time. */
static bool child_has_exited(struct child *child)
{
	if (!child->ended && waitpid(child->pid, &child->status, WNOHANG) == child->pid) {
		child->ended = true;
		child->seconds = child_age_s(child);
	}
	return child->ended;
}

/* Returns early when the process of pidfd exits, or a signal arrives. */
static void sleep_or_exit(double seconds, int pidfd)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	int64_t ns = (int64_t)(seconds * (double)NS_PER_S);
	struct timespec time = { ns / NS_PER_S, ns % NS_PER_S };

	ppoll(&fd, pidfd >= 0, &time, NULL);
}

static bool is_stopped(const struct child *child)
{
	return child->options->stop && *child->options->stop;
}

/* Waits until the command exits, reaches its limit, or *stop is set. */
static void wait_for_command(struct child *child)
{
	AUTO_CLOSE int pidfd = process_pidfd(child->pid);

	while (!child_has_exited(child) && !is_stopped(child)) {
		double left = child->options->limit_s - child_age_s(child);

		if (child->options->look)
			child->options->look(child->options->look_arg);
		if (left <= 0)
			return;
		sleep_or_exit(fmin(left, pidfd >= 0 ? WATCH_S : DYING_S), pidfd);
	}
}

static void signal_all(const struct pids *pids, int signal)
{
	for (size_t i = 0; i < pids->count; i++)
		kill(pids->list[i], signal);
}

/*
 * Waits at most `seconds` until the command and its descendants have exited, or with leader_only
 * the command alone. Returns the number of descendants still alive and lists them.
 */
static size_t wait_until_gone(struct child *child, struct pids *alive, double seconds,
			      bool leader_only)
{
	double until = child_age_s(child) + seconds;

	for (;;) {
		bool ended = child_has_exited(child);

		if (!leader_only || ended)
			find_descendants(child, alive);
		if (ended && (leader_only || !alive->count))
			return alive->count;
		if (child_age_s(child) >= until)
			break;
		clock_sleep_s(DYING_S);
	}
	find_descendants(child, alive);
	/* The command itself may have died meanwhile; it does not count as alive, so reap it now. */
	child_has_exited(child);
	return alive->count;
}

/* Terminates the command and its descendants. Returns how many processes survived. */
static size_t terminate_all(struct child *child)
{
	double grace = child->options->grace_s > 0 ? child->options->grace_s : CHILD_GRACE_S;
	struct pids alive = { 0 };
	double give_up;
	size_t left;

	if (!child_has_exited(child)) {
		kill(child->pid, SIGTERM);
		wait_until_gone(child, &alive, grace / 2, true);
	}
	find_descendants(child, &alive);
	signal_all(&alive, SIGTERM);
	left = wait_until_gone(child, &alive, grace / 2, false);
	/* A process that is still alive may start new ones. */
	for (give_up = child_age_s(child) + KILL_S; left && child_age_s(child) < give_up;) {
		signal_all(&alive, SIGKILL);
		left = wait_until_gone(child, &alive, DYING_S, false);
	}
	free(alive.list);
	return left;
}

/* Gives descendants time to exit after the command. Returns true if some are still alive. */
static bool linger_for_descendants(struct child *child)
{
	double linger = child->options->linger_s > 0 ? child->options->linger_s : CHILD_LINGER_S;
	struct pids alive = { 0 };
	size_t left = wait_until_gone(child, &alive, linger, false);

	free(alive.list);
	return left > 0;
}

static void child_supervise(struct child *child, struct child_end *end)
{
	bool was_ended, was_stopped;

	wait_for_command(child);
	was_ended = child->ended;
	was_stopped = is_stopped(child);
	*end = (struct child_end){ .is_late = !was_ended && !was_stopped };
	end->was_alive = was_ended && linger_for_descendants(child);
	if (!was_ended || end->was_alive)
		end->left = terminate_all(child);
	end->status = child->status;
	end->seconds = child->ended ? child->seconds : child_age_s(child);
}

int child_run(const struct child_options *options, struct child_end *end, struct err *err)
{
	struct child child = { .options = options };
	struct child_end ended;
	int reaper = 0, r;

	if (is_stopped(&child))
		return err_set(err, EINTR, "interrupted");
	prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	list_own_children(&child.before);
	r = child_start(&child, err);
	if (r >= 0) {
		child_supervise(&child, &ended);
		*end = ended;
		if (is_stopped(&child))
			r = err_set(err, EINTR, "interrupted");
	}
	prctl(PR_SET_CHILD_SUBREAPER, reaper);
	free(child.before.list);
	return r;
}

char *child_last_lines(const char *path, unsigned lines)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char text[TAIL_BYTES + 1];
	size_t n, from;

	if (!f)
		return xstrdup("");
	if (fseeko(f, -(off_t)TAIL_BYTES, SEEK_END) != 0)
		rewind(f);
	n = fread(text, 1, TAIL_BYTES, f);
	while (n && text[n - 1] == '\n')
		n--;
	for (from = n; from; from--)
		if (text[from - 1] == '\n' && !--lines)
			break;
	return xstrndup(text + from, n - from);
}
