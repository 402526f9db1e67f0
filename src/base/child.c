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

#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "contract/clock.h"

/* A flag that was set just before we slept is seen so late. */
#define LOOK_S 0.2
/* While processes are dying they are looked at so often, */
#define DYING_S 0.01
/* and given up after SIGKILL so late. */
#define KILL_S 10.0
#define TAIL_BYTES 4096

struct pids {
	pid_t *list;
	size_t count, cap;
};

struct process {
	pid_t pid, parent;
	char state;
	bool is_dead; /* but perhaps not yet reaped */
};

struct processes {
	struct process *list;
	size_t count, cap;
};

struct child {
	const struct child_options *options;
	pid_t pid;
	struct pids before; /* our children from earlier: not our business */
	uint64_t started_ns;
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
	/* A leader that has left while its threads go on looks like a zombie. */
	process->is_dead = process->state == 'X' || (process->state == 'Z' && threads <= 1);
	return true;
}

/* All that run on this machine, as far as /proc shows them. */
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
 * What descends from us but from none of our earlier children. Zombies that have fallen to us are
 * reaped on the way.
 */
static void descendants(const struct child *child, struct pids *found)
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

static void children_note(struct pids *before)
{
	struct processes all = { 0 };

	processes_read(&all);
	for (size_t i = 0; i < all.count; i++)
		if (all.list[i].parent == getpid())
			pids_add(before, all.list[i].pid);
	free(all.list);
}

static void environment_change(char *const *changes)
{
	for (; changes && *changes; changes++) {
		if (strchr(*changes, '='))
			putenv(*changes);
		else
			unsetenv(*changes);
	}
}

/* The program is not to notice how we treat signals. */
static void signals_reset(void)
{
	sigset_t none;

	for (int signal = 1; signal < NSIG; signal++)
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: tells errno through the pipe if there is nothing to run. */
static _Noreturn void child_become(const struct child_options *options, int output, int report,
				   pid_t parent)
{
	int input = open(options->input ? options->input : "/dev/null", O_RDONLY), code;

	setsid();
	signals_reset();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(output, STDERR_FILENO) >= 0) {
		environment_change(options->environment);
		execvp(options->argv[0], options->argv);
	}
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		code = 127;
	_exit(127);
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
		return err_set(err, errno, "cannot make a pipe: %s", strerror(errno));
	child->started_ns = clock_monotonic_ns();
	child->pid = fork();
	if (child->pid == 0)
		child_become(o, output, ends[1], parent);
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
	return err_set(err, code, "%s cannot be run: %s", o->argv[0], strerror(code));
}

static double child_age(const struct child *child)
{
	return (double)(clock_monotonic_ns() - child->started_ns) / 1e9;
}

/* Looks whether the command itself has ended. */
static bool child_ended(struct child *child)
{
	if (!child->ended && waitpid(child->pid, &child->status, WNOHANG) == child->pid) {
		child->ended = true;
		child->seconds = child_age(child);
	}
	return child->ended;
}

static void sleep_for(double seconds, int pidfd)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	long ns = (long)(seconds * 1e9);
	struct timespec time = { ns / 1000000000, ns % 1000000000 };

	ppoll(&fd, pidfd >= 0, &time, NULL);
}

static bool is_stopped(const struct child *child)
{
	return child->options->stop && *child->options->stop;
}

/* Until it has ended, may go on no longer, or is to be stopped. */
static void child_watch(struct child *child)
{
	AUTO_CLOSE int pidfd = process_pidfd(child->pid);

	while (!child_ended(child) && !is_stopped(child)) {
		double left = child->options->limit_s - child_age(child);

		if (child->options->look)
			child->options->look(child->options->look_arg);
		if (left <= 0)
			return;
		sleep_for(fmin(left, pidfd >= 0 ? LOOK_S : DYING_S), pidfd);
	}
}

static void signal_all(const struct pids *pids, int signal)
{
	for (size_t i = 0; i < pids->count; i++)
		kill(pids->list[i], signal);
}

/* Waits until nothing is left, or for so long. The number of those that are. */
static size_t wait_gone(struct child *child, struct pids *alive, double seconds, bool leader_only)
{
	double until = child_age(child) + seconds;

	for (;;) {
		bool ended = child_ended(child);

		if (!leader_only || ended)
			descendants(child, alive);
		if (ended && (leader_only || !alive->count))
			return alive->count;
		if (child_age(child) >= until)
			break;
		sleep_for(DYING_S, -1);
	}
	descendants(child, alive);
	return alive->count;
}

/* Ends what is there, gently first. The number of processes that cannot be ended. */
static size_t child_finish(struct child *child)
{
	double grace = child->options->grace_s > 0 ? child->options->grace_s : CHILD_GRACE_S;
	struct pids alive = { 0 };
	double give_up;
	size_t left;

	if (!child_ended(child)) {
		kill(child->pid, SIGTERM);
		wait_gone(child, &alive, grace / 2, true);
	}
	descendants(child, &alive);
	signal_all(&alive, SIGTERM);
	left = wait_gone(child, &alive, grace / 2, false);
	/* New ones may come as long as old ones live. */
	for (give_up = child_age(child) + KILL_S; left && child_age(child) < give_up;) {
		signal_all(&alive, SIGKILL);
		left = wait_gone(child, &alive, DYING_S, false);
	}
	free(alive.list);
	return left;
}

/* Whatever outlives a command that has ended by itself gets a little time. */
static bool child_outlived(struct child *child)
{
	double linger = child->options->linger_s > 0 ? child->options->linger_s : CHILD_LINGER_S;
	struct pids alive = { 0 };
	size_t left = wait_gone(child, &alive, linger, false);

	free(alive.list);
	return left > 0;
}

static void child_attend(struct child *child, struct child_end *end)
{
	bool was_ended, was_stopped;

	child_watch(child);
	was_ended = child->ended;
	was_stopped = is_stopped(child);
	*end = (struct child_end){ .is_late = !was_ended && !was_stopped };
	end->was_alive = was_ended && child_outlived(child);
	if (!was_ended || end->was_alive)
		end->left = child_finish(child);
	end->status = child->status;
	end->seconds = child->ended ? child->seconds : child_age(child);
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
	children_note(&child.before);
	r = child_start(&child, err);
	if (r >= 0) {
		child_attend(&child, &ended);
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
