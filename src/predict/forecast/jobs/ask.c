/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a command of the scheduler and captures its output. The command has its own process group,
 * which is killed if it takes too long, if it prints too much, or if this process dies. Its stderr
 * becomes part of the error message.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "predict/forecast/jobs/ask.h"

#define STDERR_BYTES 400   /* longest part of stderr that is kept */
#define MESSAGE_COMMAND 80 /* longest part of the command in a message */
#define EXIT_NOT_FOUND 127
#define EXIT_CANNOT_START 126
#define EXIT_POLL_NS (2 * NS_PER_MS)

struct asking {
	pid_t pid;
	int out, err; /* read ends of the pipes; -1: closed */
	double until_s;
	size_t max_bytes;
	bool is_brief; /* keep messages short, for commands that run often */
	struct buf *text;
	struct buf errors; /* stderr */
};

/* In the child: may only call async-signal-safe functions before exec. */
static _Noreturn void become_command(const char *command, int out, int err)
{
	int nothing = open("/dev/null", O_RDONLY);
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	sigaction(SIGTERM, &usual, NULL);
	dup2(nothing, 0);
	dup2(out, 1);
	dup2(err, 2);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sigaction(SIGPIPE, &usual, NULL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(EXIT_NOT_FOUND);
}

static void kill_own_group(int number)
{
	(void)number;
	kill(0, SIGKILL);
}

/*
 * The leader of the command's process group; exits as the command does. If the process that runs
 * the command is killed, the leader gets SIGTERM and kills the group, because the children of the
 * shell would otherwise continue.
 */
static _Noreturn void lead_group(const char *command, int out, int err, pid_t parent)
{
	struct sigaction all = { .sa_handler = kill_own_group }, usual = { .sa_handler = SIG_DFL };
	int status = 0;
	sigset_t term;
	pid_t pid;

	setpgid(0, 0);
	sigaction(SIGTERM, &all, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_NOT_FOUND);
	pid = fork();
	if (pid == 0)
		become_command(command, out, err);
	close(out);
	close(err);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		sigaction(WTERMSIG(status), &usual, NULL);
		raise(WTERMSIG(status));
	}
	_exit(pid < 0 ? EXIT_CANNOT_START : WEXITSTATUS(status));
}

static int start_command(struct asking *asking, const char *command)
{
	pid_t self = getpid();
	int out[2], err[2];

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(err, O_CLOEXEC) < 0) {
		close(out[0]);
		close(out[1]);
		return -EMFILE;
	}
	asking->pid = fork();
	if (asking->pid == 0)
		lead_group(command, out[1], err[1], self);
	close(out[1]);
	close(err[1]);
	asking->out = out[0];
	asking->err = err[0];
	if (asking->pid < 0) {
		close(out[0]);
		close(err[0]);
		return -EAGAIN;
	}
	/* The child does the same; this call covers the time until it has. */
	setpgid(asking->pid, asking->pid);
	return 0;
}

/* Reads a piece of output, and closes the pipe at its end. */
static void read_piece(int *fd, struct buf *into, size_t max_bytes)
{
	char piece[65536];
	ssize_t n = read(*fd, piece, sizeof(piece));

	if (n > 0) {
		size_t room = into->len < max_bytes ? max_bytes - into->len : 0;

		buf_add(into, piece, (size_t)n < room ? (size_t)n : room);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		close(*fd);
		*fd = -1;
	}
}

/* Reads until both pipes are closed. */
static int read_output(struct asking *asking)
{
	while (asking->out >= 0 || asking->err >= 0) {
		struct pollfd ends[] = { { asking->out, POLLIN, 0 }, { asking->err, POLLIN, 0 } };
		double left = asking->until_s - clock_now_s();

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(ends, 2, left < 3600 ? (int)(left * 1000) + 1 : 3600000) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (asking->out >= 0 && ends[0].revents)
			read_piece(&asking->out, asking->text, asking->max_bytes + 1);
		if (asking->err >= 0 && ends[1].revents)
			read_piece(&asking->err, &asking->errors, STDERR_BYTES);
		if (asking->text->len > asking->max_bytes)
			return -EFBIG;
	}
	return 0;
}

/* Waits for the command, which may continue after it has closed its pipes. */
static int wait_for_exit(struct asking *asking, int *status)
{
	while (waitpid(asking->pid, status, WNOHANG) == 0) {
		if (clock_now_s() > asking->until_s)
			return -ETIMEDOUT;
		clock_sleep_ns(EXIT_POLL_NS);
	}
	return 0;
}

static void kill_group(struct asking *asking)
{
	kill(-asking->pid, SIGKILL);
	while (waitpid(asking->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Returns stderr as one line; only its first line if is_brief. */
static const char *join_lines(struct buf *words, bool is_brief)
{
	if (is_brief && words->len) {
		size_t blank = strspn(words->data, "\r\n\t ");
		size_t end = blank + strcspn(words->data + blank, "\r\n");

		words->len = end < words->len ? end : words->len;
		words->data[words->len] = 0;
	}
	for (size_t i = 0; i < words->len; i++)
		if ((unsigned char)words->data[i] < ' ')
			words->data[i] = ' ';
	while (words->len && words->data[words->len - 1] == ' ')
		words->data[--words->len] = 0;
	return words->len ? words->data + strspn(words->data, " ") : "no error message";
}

static int report_result(struct asking *asking, const char *command, double timeout_s, int r,
			 int status, struct err *err)
{
	const char *said = join_lines(&asking->errors, asking->is_brief);
	int n = asking->is_brief ? (int)strcspn(command, " \t\n") : MESSAGE_COMMAND;

	if (r == -ETIMEDOUT)
		return err_set(err, ETIMEDOUT, "'%.*s' did not finish within %g s", n, command,
			       timeout_s);
	if (r == -EFBIG)
		return err_set(err, EFBIG, "'%.*s' printed more than %zu bytes", n, command,
			       asking->max_bytes);
	if (r < 0)
		return err_set(err, -r, "'%.*s': %s", n, command, strerror(-r));
	if (WIFSIGNALED(status))
		return err_set(err, EIO, "'%.*s' was killed by signal %d: %s", n, command,
			       WTERMSIG(status), said);
	if (WEXITSTATUS(status))
		return err_set(err, WEXITSTATUS(status) == EXIT_NOT_FOUND ? ENOENT : EIO,
			       "'%.*s' failed with exit code %d: %s", n, command,
			       WEXITSTATUS(status), said);
	return 0;
}

static int run_command(struct buf *text, const char *command, double timeout_s, size_t max_bytes,
		       bool is_brief, struct err *err)
{
	struct asking asking = { .until_s = clock_now_s() + timeout_s,
				 .max_bytes = max_bytes,
				 .is_brief = is_brief,
				 .text = text };
	int status = 0, r = start_command(&asking, command);

	if (r < 0)
		return err_set(err, -r, "cannot start '%.80s': %s", command, strerror(-r));
	r = read_output(&asking);
	if (r >= 0)
		r = wait_for_exit(&asking, &status);
	if (r < 0)
		kill_group(&asking);
	if (asking.out >= 0)
		close(asking.out);
	if (asking.err >= 0)
		close(asking.err);
	r = report_result(&asking, command, timeout_s, r, status, err);
	buf_release(&asking.errors);
	return r;
}

int jobs_run_command(struct buf *text, const char *command, double timeout_s, size_t max_bytes,
		     struct err *err)
{
	return run_command(text, command, timeout_s, max_bytes, false, err);
}

int jobs_query(struct jobs *jobs, const struct jobs_reader *reader, const char *command,
	       double timeout_s, const uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	double before_s = jobs->time_s;
	int r;

	if (!command || !*command)
		command = reader->command;
	r = run_command(&text, command, timeout_s, JOBS_ASK_BYTES, true, err);
	if (r < 0)
		return r;
	if (!(before_s > 0))
		jobs->time_s = clock_realtime_s();
	r = reader->read(jobs, reader->name, buf_text(&text), text.len, key, err);
	if (r < 0)
		jobs->time_s = before_s;
	return r;
}
