/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/process.h"
#include "daemon/listener.h"

#define SEND_TIMEOUT_S 1
#define STOP_NS (30 * NS_PER_S)
#define PAUSE_FIRST_NS (100 * NS_PER_MS)
#define PAUSE_MAX_NS (10 * NS_PER_S)
#define LIVED_LONG_NS (60 * NS_PER_S)

enum message_kind { MESSAGE_HOLD, MESSAGE_DROP, MESSAGE_READY, MESSAGE_END };

struct message {
	uint32_t kind;
	uint32_t reserved;
	struct kept kept; /* without its descriptors; DROP uses the ticket only */
};

struct keeper {
	const struct keeper_options *options;
	struct map held; /* ticket -> struct kept */
	size_t held_count;
	int signals, channel, pidfd;
	pid_t worker;
	bool was_ready; /* some worker was */
	bool stops;
	int64_t started_ns, pause_ns, kill_ns;
};

/* --- packets --- */

static int send_packet(int channel, const struct message *message)
{
	const struct kept *kept = &message->kept;
	union {
		char bytes[CMSG_SPACE(FRAME_DESCRIPTORS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec part = { (void *)message, sizeof(*message) };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (message->kind == MESSAGE_HOLD && kept->fd_count) {
		size_t bytes = kept->fd_count * sizeof(int);

		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(bytes);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(&control.align), kept->fds, bytes);
	}
	do
		n = sendmsg(channel, &packet, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*message) ? 0 : n < 0 ? -errno : -EIO;
}

static void take_fds(struct kept *kept, struct msghdr *packet)
{
	kept->fd_count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(packet); c; c = CMSG_NXTHDR(packet, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count && kept->fd_count < FRAME_DESCRIPTORS_MAX; i++)
			memcpy(&kept->fds[kept->fd_count++], CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
	}
}

static void close_kept(struct kept *kept)
{
	while (kept->fd_count)
		close(kept->fds[--kept->fd_count]);
}

/* Returns 1, 0 at the end of the channel, or -errno. */
static int receive_packet(int channel, struct message *message)
{
	union {
		char bytes[CMSG_SPACE(FRAME_DESCRIPTORS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { message, sizeof(*message) };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	do
		n = recvmsg(channel, &packet, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n == 0)
		return 0;
	take_fds(&message->kept, &packet);
	if (n == sizeof(*message))
		return 1;
	close_kept(&message->kept);
	return -EPROTO;
}

int keeper_next(int channel, struct kept *kept)
{
	struct message message;
	int r = receive_packet(channel, &message);

	if (r <= 0)
		return r ? r : -EPIPE;
	if (message.kind == MESSAGE_END)
		return 0;
	*kept = message.kept;
	return 1;
}

int keeper_hold(int channel, const struct kept *kept)
{
	struct message message = { .kind = MESSAGE_HOLD, .kept = *kept };

	return send_packet(channel, &message);
}

int keeper_drop(int channel, uint64_t ticket)
{
	struct message message = { .kind = MESSAGE_DROP, .kept = { .ticket = ticket } };

	return send_packet(channel, &message);
}

int keeper_ready(int channel)
{
	struct message message = { .kind = MESSAGE_READY };

	return send_packet(channel, &message);
}

/* --- the keeper's side --- */

static void tell(const struct keeper *keeper, const char *format, int value)
{
	AUTO_FREE char *sentence = NULL;

	if (!keeper->options->tell)
		return;
	sentence = xprintf(format, value);
	keeper->options->tell(keeper->options->arg, sentence);
}

static void release(struct keeper *keeper, uint64_t ticket)
{
	struct kept *kept = map_remove(&keeper->held, ticket);

	if (!kept)
		return;
	close_kept(kept);
	free(kept);
	keeper->held_count--;
}

static void hold(struct keeper *keeper, const struct kept *message)
{
	struct kept *kept = xmalloc(sizeof(*kept)), *old;

	*kept = *message;
	if (!kept->ticket || keeper->held_count >= keeper->options->kept_max) {
		close_kept(kept);
		free(kept);
		return;
	}
	old = map_get(&keeper->held, kept->ticket);
	if (old)
		release(keeper, kept->ticket);
	map_put(&keeper->held, kept->ticket, kept);
	keeper->held_count++;
}

static int compare_tickets(const void *a, const void *b)
{
	const struct kept *x = *(struct kept *const *)a, *y = *(struct kept *const *)b;

	return (x->ticket > y->ticket) - (x->ticket < y->ticket);
}

/* Gives the new worker everything, in the order in which it came. */
static int pass_all(struct keeper *keeper, int channel)
{
	AUTO_FREE struct kept **list = xcalloc(keeper->held_count + 1, sizeof(*list));
	struct message message = { .kind = MESSAGE_HOLD };
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < keeper->held.cap; i++)
		if (keeper->held.entries[i].key)
			list[count++] = keeper->held.entries[i].value;
	qsort(list, count, sizeof(*list), compare_tickets);
	for (size_t i = 0; i < count && r == 0; i++) {
		message.kept = *list[i];
		r = send_packet(channel, &message);
	}
	message = (struct message){ .kind = MESSAGE_END };
	return r ? r : send_packet(channel, &message);
}

/* In the child: nothing of the keeper stays open but the channel and what the caller had opened. */
static _Noreturn void become_worker(struct keeper *keeper, int channel, const sigset_t *mask)
{
	struct timeval timeout = { .tv_sec = SEND_TIMEOUT_S };

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	close(keeper->signals);
	for (size_t i = 0; i < keeper->held.cap; i++)
		if (keeper->held.entries[i].key)
			close_kept(keeper->held.entries[i].value);
	setsockopt(channel, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	sigprocmask(SIG_SETMASK, mask, NULL);
	_exit(keeper->options->work(keeper->options->arg, channel));
}

static int start_worker(struct keeper *keeper, const sigset_t *mask)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	fflush(NULL);
	keeper->worker = fork();
	if (keeper->worker < 0) {
		close(ends[0]);
		close(ends[1]);
		return -errno;
	}
	if (keeper->worker == 0) {
		close(ends[0]);
		become_worker(keeper, ends[1], mask);
	}
	close(ends[1]);
	keeper->channel = ends[0];
	keeper->pidfd = process_pidfd(keeper->worker);
	keeper->started_ns = clock_now_ns();
	/* A worker that dies meanwhile is noticed below. */
	pass_all(keeper, keeper->channel);
	return 0;
}

static void handle_packet(struct keeper *keeper)
{
	struct message message;
	int r = receive_packet(keeper->channel, &message);

	if (r <= 0) {
		close(keeper->channel);
		keeper->channel = -1;
		return;
	}
	switch (message.kind) {
	case MESSAGE_HOLD:
		hold(keeper, &message.kept);
		return;
	case MESSAGE_DROP:
		release(keeper, message.kept.ticket);
		break;
	case MESSAGE_READY:
		keeper->was_ready = true;
		listener_notify("READY=1");
		break;
	default:
		break;
	}
	close_kept(&message.kept);
}

static void handle_signal(struct keeper *keeper)
{
	struct signalfd_siginfo info;

	if (read(keeper->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		kill(keeper->worker, SIGHUP);
		return;
	}
	if (info.ssi_signo == SIGCHLD)
		return;
	if (!keeper->stops)
		keeper->kill_ns = clock_now_ns() + STOP_NS;
	keeper->stops = true;
	listener_notify("STOPPING=1");
	kill(keeper->worker, SIGTERM);
}

/* Waits until the worker exits. Returns its status. */
static int watch_worker(struct keeper *keeper)
{
	int status;

	for (;;) {
		struct pollfd fds[3] = { { keeper->signals, POLLIN, 0 },
					 { keeper->channel, POLLIN, 0 },
					 { keeper->pidfd, POLLIN, 0 } };

		poll(fds, 3, 1000);
		if (fds[1].revents)
			handle_packet(keeper);
		if (fds[0].revents)
			handle_signal(keeper);
		if (keeper->stops && clock_now_ns() > keeper->kill_ns)
			kill(keeper->worker, SIGKILL);
		if (waitpid(keeper->worker, &status, WNOHANG) == keeper->worker)
			break;
	}
	/* What the worker had sent before it died. */
	while (keeper->channel >= 0)
		handle_packet(keeper);
	if (keeper->pidfd >= 0)
		close(keeper->pidfd);
	return status;
}

/* Decides whether to start another worker, and waits before it does. */
static bool goes_on(struct keeper *keeper, int status)
{
	bool failed = WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
	struct pollfd wait = { keeper->signals, POLLIN, 0 };

	/* A worker that never became ready has wrong settings: its message says so. */
	if (keeper->stops || !failed || !keeper->was_ready)
		return false;
	if (clock_now_ns() - keeper->started_ns > LIVED_LONG_NS)
		keeper->pause_ns = PAUSE_FIRST_NS;
	if (WIFSIGNALED(status))
		tell(keeper, "the worker was ended by signal %d; another one is started",
		     WTERMSIG(status));
	else
		tell(keeper, "the worker exited with code %d; another one is started",
		     WEXITSTATUS(status));
	poll(&wait, 1, (int)(keeper->pause_ns / NS_PER_MS));
	keeper->pause_ns =
		keeper->pause_ns * 2 > PAUSE_MAX_NS ? PAUSE_MAX_NS : keeper->pause_ns * 2;
	if (wait.revents)
		handle_signal(keeper);
	return !keeper->stops;
}

static void release_all(struct keeper *keeper)
{
	for (size_t i = 0; i < keeper->held.cap; i++) {
		struct kept *kept =
			keeper->held.entries[i].key ? keeper->held.entries[i].value : NULL;

		if (kept)
			close_kept(kept);
		free(kept);
	}
	map_release(&keeper->held);
}

int keeper_run(const struct keeper_options *options, struct err *err)
{
	struct keeper keeper = {
		.options = options, .signals = -1, .channel = -1, .pause_ns = PAUSE_FIRST_NS
	};
	sigset_t mask, old;
	int status = 0, r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, &old);
	keeper.signals = signalfd(-1, &mask, SFD_CLOEXEC);
	do {
		r = keeper.signals < 0 ? -errno : start_worker(&keeper, &old);
		if (r == 0)
			status = watch_worker(&keeper);
	} while (r == 0 && goes_on(&keeper, status));
	release_all(&keeper);
	if (keeper.signals >= 0)
		close(keeper.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (r < 0)
		return err_set(err, -r, "cannot start the worker: %s", strerror(-r));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
