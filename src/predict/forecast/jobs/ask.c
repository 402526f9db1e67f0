/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asks a scheduler: runs a command and takes what it prints. The command has a process group of its
 * own, which is killed when it takes too long or prints too much, and when whoever asks dies; its
 * stderr is for the message.
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
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "predict/forecast/jobs/ask.h"

#define WORDS_BYTES 400 /* of stderr */

struct asking {
	pid_t pid;
	int out, err; /* ends of pipes; -1: closed */
	double until_s;
	size_t most;
	bool is_brief; /* whoever asks often tells little of what went wrong */
	struct buf *text;
	struct buf words;
};

static double now_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- in the child: only what may be called between fork and exec ---- */

static _Noreturn void become(const char *command, int out, int err)
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
	_exit(127);
}

static void group_end(int number)
{
	(void)number;
	kill(0, SIGKILL);
}

/*
 * Leads the group of the command and ends as that does. Whoever asks may be killed, and a shell's
 * own children would go on without end: the leader is told, and takes all of them along.
 */
static _Noreturn void lead(const char *command, int out, int err, pid_t parent)
{
	struct sigaction all = { .sa_handler = group_end }, usual = { .sa_handler = SIG_DFL };
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
		_exit(127);
	pid = fork();
	if (pid == 0)
		become(command, out, err);
	close(out);
	close(err);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		sigaction(WTERMSIG(status), &usual, NULL);
		raise(WTERMSIG(status));
	}
	_exit(pid < 0 ? 126 : WEXITSTATUS(status));
}

static int start(struct asking *asking, const char *command)
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
		lead(command, out[1], err[1], self);
	close(out[1]);
	close(err[1]);
	asking->out = out[0];
	asking->err = err[0];
	if (asking->pid < 0) {
		close(out[0]);
		close(err[0]);
		return -EAGAIN;
	}
	/* Both do it: whoever comes first. */
	setpgid(asking->pid, asking->pid);
	return 0;
}

/* A piece of what it prints; the pipe is closed at its end. */
static void take(int *fd, struct buf *into, size_t most)
{
	char piece[65536];
	ssize_t n = read(*fd, piece, sizeof(piece));

	if (n > 0) {
		size_t room = into->len < most ? most - into->len : 0;

		buf_add(into, piece, (size_t)n < room ? (size_t)n : room);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		close(*fd);
		*fd = -1;
	}
}

/* Until both pipes are closed. */
static int listen_to(struct asking *asking)
{
	while (asking->out >= 0 || asking->err >= 0) {
		struct pollfd ends[] = { { asking->out, POLLIN, 0 }, { asking->err, POLLIN, 0 } };
		double left = asking->until_s - now_s(CLOCK_MONOTONIC);

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(ends, 2, left < 3600 ? (int)(left * 1000) + 1 : 3600000) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (asking->out >= 0 && ends[0].revents)
			take(&asking->out, asking->text, asking->most + 1);
		if (asking->err >= 0 && ends[1].revents)
			take(&asking->err, &asking->words, WORDS_BYTES);
		if (asking->text->len > asking->most)
			return -EFBIG;
	}
	return 0;
}

/* It has closed its pipes and may still run. */
static int await(struct asking *asking, int *status)
{
	const struct timespec nap = { .tv_nsec = 2000000 };

	while (waitpid(asking->pid, status, WNOHANG) == 0) {
		if (now_s(CLOCK_MONOTONIC) > asking->until_s)
			return -ETIMEDOUT;
		nanosleep(&nap, NULL);
	}
	return 0;
}

static void end(struct asking *asking)
{
	kill(-asking->pid, SIGKILL);
	while (waitpid(asking->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* What it said, on one line; of several only the first, if it is to be brief. */
static const char *words_line(struct buf *words, bool is_brief)
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
	return words->len ? words->data + strspn(words->data, " ") : "it said nothing";
}

static int judge(struct asking *asking, const char *command, double timeout_s, int r, int status,
		 struct err *err)
{
	const char *said = words_line(&asking->words, asking->is_brief);
	int n = asking->is_brief ? (int)strcspn(command, " \t\n") : 80;

	if (r == -ETIMEDOUT)
		return err_set(err, ETIMEDOUT, "'%.*s' has not answered within %g s", n, command,
			       timeout_s);
	if (r == -EFBIG)
		return err_set(err, EFBIG, "'%.*s' prints more than %zu bytes", n, command,
			       asking->most);
	if (r < 0)
		return err_set(err, -r, "'%.*s': %s", n, command, strerror(-r));
	if (WIFSIGNALED(status))
		return err_set(err, EIO, "'%.*s' was ended by signal %d: %s", n, command,
			       WTERMSIG(status), said);
	if (WEXITSTATUS(status))
		return err_set(err, WEXITSTATUS(status) == 127 ? ENOENT : EIO,
			       "'%.*s' failed with exit code %d: %s", n, command,
			       WEXITSTATUS(status), said);
	return 0;
}

static int command_run(struct buf *text, const char *command, double timeout_s, size_t most,
		       bool is_brief, struct err *err)
{
	struct asking asking = { .until_s = now_s(CLOCK_MONOTONIC) + timeout_s,
				 .most = most,
				 .is_brief = is_brief,
				 .text = text };
	int status = 0, r = start(&asking, command);

	if (r < 0)
		return err_set(err, -r, "'%.80s' cannot be started: %s", command, strerror(-r));
	r = listen_to(&asking);
	if (r >= 0)
		r = await(&asking, &status);
	if (r < 0)
		end(&asking);
	if (asking.out >= 0)
		close(asking.out);
	if (asking.err >= 0)
		close(asking.err);
	r = judge(&asking, command, timeout_s, r, status, err);
	buf_release(&asking.words);
	return r;
}

int jobs_command(struct buf *text, const char *command, double timeout_s, size_t most,
		 struct err *err)
{
	return command_run(text, command, timeout_s, most, false, err);
}

int jobs_ask(struct jobs *jobs, const struct jobs_reader *reader, const char *command,
	     double timeout_s, const uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	double before_s = jobs->time_s;
	int r;

	if (!command || !*command)
		command = reader->command;
	r = command_run(&text, command, timeout_s, JOBS_ASK_BYTES, true, err);
	if (r < 0)
		return r;
	if (!(before_s > 0))
		jobs->time_s = now_s(CLOCK_REALTIME);
	r = reader->read(jobs, reader->name, buf_text(&text), text.len, key, err);
	if (r < 0)
		jobs->time_s = before_s;
	return r;
}
