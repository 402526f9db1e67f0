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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"

#define WATCH_MS 200	/* interval at which the caller checks *stop and calls look() */
#define LONGEST_S 60.0	/* of one wait for the command */
#define BEGUN_S 0.2	/* interval at which a command that has not begun is checked */
#define DYING_S 0.01	/* interval at which processes that are terminating are checked */
#define KILL_S 10.0	/* give up on processes that survive SIGKILL for this long */
#define TAIL_BYTES 4096 /* child_last_lines() reads at most this many bytes */
#define EXIT_NOT_RUN 127

/* What the guardian sends to the caller as its last action. */
struct report {
	int code; /* errno if the command could not be executed */
	struct child_end end;
};

/* The caller's view of the guardian. */
struct guardian {
	pid_t pid;
	int stop;   /* closing it terminates the command */
	int report; /* a struct report arrives here */
};

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

/* The command as its guardian sees it. */
struct child {
	const struct child_options *options;
	int input, output, errors;
	int caller; /* the caller closes its end to stop the command, or by being killed */
	pid_t pid;
	int64_t started_ns, begun_ns; /* begun_ns 0: the limit does not count yet */
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

/* Finds the living descendants of the guardian. Zombies that were reparented to it are reaped. */
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
			bool ours = p->parent == getpid();

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
static _Noreturn void exec_command(const struct child *child, int report, pid_t parent)
{
	const struct child_options *o = child->options;
	int code;

	setsid();
	reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_NOT_RUN);
	if (dup2(child->input, STDIN_FILENO) >= 0 && dup2(child->output, STDOUT_FILENO) >= 0 &&
	    dup2(child->errors, STDERR_FILENO) >= 0) {
		change_environment(o->environment);
		execvp(o->argv[0], o->argv);
	}
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		code = EXIT_NOT_RUN;
	_exit(EXIT_NOT_RUN);
}

/* Returns 0, or the errno for which the command could not be executed. */
static int child_start(struct child *child)
{
	pid_t parent = getpid();
	int ends[2], code = 0;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	child->started_ns = clock_now_ns();
	child->pid = fork();
	if (child->pid == 0)
		exec_command(child, ends[1], parent);
	close(ends[1]);
	if (child->pid < 0) {
		code = errno;
		close(ends[0]);
		return code;
	}
	do
		n = read(ends[0], &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	if (n != sizeof(code))
		return 0;
	waitpid(child->pid, NULL, 0);
	return code;
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

/* The caller has closed its end, or was killed. */
static bool is_stopped(const struct child *child)
{
	struct pollfd caller = { .fd = child->caller, .events = POLLIN };

	return poll(&caller, 1, 0) > 0;
}

/* What is left of the limit. */
static double time_left_s(struct child *child)
{
	const char *begun = child->options->begun;

	if (!child->begun_ns && (!begun || access(begun, F_OK) == 0))
		child->begun_ns = begun ? clock_now_ns() : child->started_ns;
	if (!child->begun_ns)
		return INFINITY;
	return child->options->limit_s -
	       (double)(clock_now_ns() - child->begun_ns) / (double)NS_PER_S;
}

/* Waits until the command exits, reaches its limit, or is to be stopped. */
static void wait_for_command(struct child *child)
{
	AUTO_CLOSE int pidfd = process_pidfd(child->pid);
	struct pollfd fds[] = { { child->caller, POLLIN, 0 }, { pidfd, POLLIN, 0 } };

	while (!child_has_exited(child) && !is_stopped(child)) {
		double left = time_left_s(child);
		double longest = child->begun_ns ? LONGEST_S : BEGUN_S;
		double pause = fmin(left, pidfd >= 0 ? longest : DYING_S);

		if (left <= 0)
			return;
		poll(fds, pidfd >= 0 ? 2 : 1, (int)ceil(pause * 1e3));
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
	/* The command itself may have died meanwhile; it does not count as alive, so reap it now.
	 */
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

/* The guardian must survive signals for the caller, and keep no files of the caller open. */
static void guardian_prepare(const struct child *child, int report)
{
	const int keep[] = { child->input,  child->output, child->errors,
			     child->caller, report,	   child->options->lock };

	setsid();
	for (int number = 1; number < NSIG; number++)
		if (number != SIGCHLD)
			signal(number, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, "sluice-guardian");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	process_close_files(keep, sizeof(keep) / sizeof(*keep) - (child->options->lock <= 0));
}

static _Noreturn void guardian_run(struct child *child, int to)
{
	struct report report = { 0 };

	guardian_prepare(child, to);
	if (is_stopped(child))
		_exit(0);
	report.code = child_start(child);
	if (!report.code)
		child_supervise(child, &report.end);
	if (child->options->lock > 0 && futimens(child->options->lock, NULL) == 0)
		fchmod(child->options->lock, 0600);
	if (write(to, &report, sizeof(report)) != (ssize_t)sizeof(report))
		_exit(1);
	_exit(0);
}

static int guardian_start(struct guardian *guardian, struct child *child)
{
	int stop[2] = { -1, -1 }, report[2] = { -1, -1 }, r = 0;

	if (pipe2(stop, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0)
		r = -errno;
	child->caller = stop[0];
	guardian->pid = r < 0 ? -1 : fork();
	if (guardian->pid == 0) {
		close(stop[1]);
		guardian_run(child, report[1]);
	}
	if (guardian->pid < 0)
		r = -errno;
	guardian->stop = r < 0 ? (auto_close(&stop[1]), -1) : stop[1];
	guardian->report = r < 0 ? (auto_close(&report[0]), -1) : report[0];
	auto_close(&stop[0]);
	auto_close(&report[1]);
	return r;
}

/* Waits for the report, calls look() and passes *stop on. Returns false if there is no report. */
static bool guardian_wait(struct guardian *guardian, const struct child_options *o,
			  struct report *report)
{
	struct pollfd fd = { .fd = guardian->report, .events = POLLIN };
	ssize_t n;

	while (poll(&fd, 1, WATCH_MS) <= 0) {
		if (o->stop && *o->stop) {
			auto_close(&guardian->stop);
			guardian->stop = -1;
		}
		if (o->look)
			o->look(o->look_arg);
	}
	do
		n = read(guardian->report, report, sizeof(*report));
	while (n < 0 && errno == EINTR);
	auto_close(&guardian->stop);
	auto_close(&guardian->report);
	while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof(*report);
}

static int run_guarded(struct child *child, struct child_end *end, struct err *err)
{
	const struct child_options *o = child->options;
	struct guardian guardian;
	struct report report;
	int r = guardian_start(&guardian, child);
	bool has_report;

	if (r < 0)
		return err_set(err, -r, "cannot start a process: %s", strerror(-r));
	has_report = guardian_wait(&guardian, o, &report);
	if (has_report && report.code)
		return err_set(err, report.code, "cannot run %s: %s", o->argv[0],
			       strerror(report.code));
	if (has_report)
		*end = report.end;
	if (o->stop && *o->stop)
		return err_set(err, EINTR, "interrupted");
	if (!has_report)
		return err_set(err, EIO, "the guardian of %s was killed", o->argv[0]);
	return 0;
}

static int open_output(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
}

int child_run(const struct child_options *o, struct child_end *end, struct err *err)
{
	AUTO_CLOSE int input = open(o->input ? o->input : "/dev/null", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int output = open_output(o->output);
	AUTO_CLOSE int errors = -1;
	struct child child = { .options = o, .input = input, .output = output };

	if (o->stop && *o->stop)
		return err_set(err, EINTR, "interrupted");
	if (output < 0)
		return err_set(err, errno, "%s: %s", o->output, strerror(errno));
	errors = o->errors ? open_output(o->errors) : fcntl(output, F_DUPFD_CLOEXEC, 0);
	if (errors < 0)
		return err_set(err, errno, "%s: %s", o->errors ? o->errors : o->output,
			       strerror(errno));
	if (input < 0)
		return err_set(err, errno, "%s: %s", o->input, strerror(errno));
	child.errors = errors;
	return run_guarded(&child, end, err);
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
