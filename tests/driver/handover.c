/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collecting half of a site, without the rest of the daemon: publishes a policy, receives what
 * processes hand over, and collects it.
 *
 *	handover SITE SPOOLS TRACES POLICY LINGER_MS
 *
 * Prints "ready", and one line per run that is over: its user, mode, activities, losses and trace.
 * SIGTERM ends it, and leaves runs that are not over to the next one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "contract/frame.h"
#include "observe/collect/calibrate.h"
#include "observe/collect/cpu_counter.h"
#include "observe/collect/reception.h"
#include "policy/policy_page.h"
#include "policy/rules.h"

#define SCAN_NS (200 * NS_PER_MS)

static volatile sig_atomic_t stop;
static uint64_t files, activities;

static void on_signal(int number)
{
	stop = number;
}

static void on_end(void *arg, const struct reception_end *end)
{
#define MODE_NAME(name, word, help) word,
	static const char *const modes[] = { POLICY_MODES(MODE_NAME) };
#undef MODE_NAME

	(void)arg;
	printf("end %u %s %llu %llu %s %s\n", (unsigned)end->run.user, modes[end->run.mode],
	       (unsigned long long)(end->totals ? end->totals->activities : 0),
	       (unsigned long long)(end->totals ? end->totals->lost : 0),
	       end->run.job[0] ? end->run.job : "-", end->trace ? end->trace : end->err->text);
	fflush(stdout);
}

static void on_file(void *arg, const struct reception_run *run, file_id id, const char *path)
{
	(void)arg, (void)run, (void)id, (void)path;
	files++;
}

static void on_activities(void *arg, const struct reception_run *run, const struct activity *batch,
			  size_t n)
{
	(void)arg, (void)run, (void)batch;
	activities += n;
}

static int die(const struct err *err)
{
	fprintf(stderr, "handover: %s\n", err->text);
	return 1;
}

static int open_socket(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t before = umask(0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 4096) != 0) {
		perror(path);
		exit(1);
	}
	umask(before);
	return fd;
}

static int publish(const char *site, const char *socket, const char *spools, const char *rules,
		   struct err *err)
{
	static struct policy page;
	struct cpu_counter counter;
	int r = policy_page_init(&page, socket, spools, err);

	cpu_counter_read(&counter);
	page.clock = cpu_counter_choose(&counter);
	if (r >= 0)
		r = rules_load(&page, rules, err);
	if (r >= 0)
		r = policy_page_prepare(spools, POLICY_NOBODY, err);
	return r < 0 ? r : policy_page_publish(site, &page, err);
}

/* How long to wait for a process that has connected, but not yet sent its frame. */
#define SEND_MS 5000

/* Reads one frame with its descriptors. The process sends it right after it has connected. */
static bool receive(int fd, struct reception_message *m)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	struct {
		struct frame_header header;
		struct hello hello;
	} frame;
	union {
		struct cmsghdr header;
		unsigned char bytes[CMSG_SPACE(FRAME_DESCRIPTORS_MAX * sizeof(int))];
	} control;
	struct iovec part = { &frame, sizeof(frame) };
	struct msghdr all = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n = poll(&readable, 1, SEND_MS) == 1 ? recvmsg(fd, &all, MSG_CMSG_CLOEXEC) : -1;
	struct cmsghdr *rights = n < 0 ? NULL : CMSG_FIRSTHDR(&all);
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (n != (ssize_t)sizeof(frame) || !rights || rights->cmsg_type != SCM_RIGHTS ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		return false;
	if (frame.header.magic != FRAME_MAGIC || frame.header.type != FRAME_HELLO ||
	    frame.header.length != sizeof(frame.hello) ||
	    frame.header.check != (uint32_t)XXH3_64bits(&frame.hello, sizeof(frame.hello)) ||
	    frame.header.head_check !=
		    (uint32_t)XXH3_64bits(&frame.header, offsetof(struct frame_header, head_check)))
		return false;
	*m = (struct reception_message){ .hello = frame.hello,
					 .user = peer.uid,
					 .process = peer.pid,
					 .ticket = 1,
					 .fd_count =
						 (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int) };
	memcpy(m->fds, CMSG_DATA(rights), m->fd_count * sizeof(int));
	return true;
}

static void accept_all(struct reception *reception, int listening)
{
	struct reception_message message;
	int fd;

	while ((fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct err err = { 0 };

		if (!receive(fd, &message))
			fprintf(stderr, "handover: an invalid frame\n");
		else if (reception_take(reception, &message, &err) < 0)
			fprintf(stderr, "handover: refused: %s\n", err.text);
		close(fd);
	}
}

static void serve(struct reception *reception, int listening)
{
	uint64_t scanned = 0;

	while (!stop) {
		size_t taken;

		accept_all(reception, listening);
		taken = reception_poll(reception);
		if (clock_monotonic_ns() - scanned > SCAN_NS) {
			reception_scan(reception);
			scanned = clock_monotonic_ns();
		}
		if (!taken)
			clock_sleep_ns(2 * NS_PER_MS);
	}
}

int main(int argc, char **argv)
{
	struct reception_options options = { .on_end = on_end,
					     .on_file = on_file,
					     .on_activities = on_activities };
	struct sigaction action = { .sa_handler = on_signal };
	struct reception *reception;
	struct reception_counts counts;
	struct err err = { 0 };
	AUTO_FREE char *path = NULL;
	int listening;

	if (argc != 6) {
		fprintf(stderr, "usage: handover SITE SPOOLS TRACES POLICY LINGER_MS\n");
		return 2;
	}
	options.spools = argv[2];
	options.traces = argv[3];
	options.linger_ns = (uint64_t)atoll(argv[5]) * NS_PER_MS;
	sigaction(SIGTERM, &action, NULL);
	path = xprintf("%s/" POLICY_SOCKET_NAME, argv[1]);
	listening = open_socket(path);
	if (publish(argv[1], path, argv[2], argv[4], &err) < 0 ||
	    reception_open(&reception, &options, &err) < 0)
		return die(&err);
	printf("ready\n");
	fflush(stdout);
	serve(reception, listening);
	counts = reception_counts(reception);
	printf("counts accepted %llu refused %llu repeated %llu seen %llu files %llu\n",
	       (unsigned long long)counts.accepted, (unsigned long long)counts.refused,
	       (unsigned long long)counts.repeated, (unsigned long long)activities,
	       (unsigned long long)files);
	reception_close(reception);
	close(listening);
	return 0;
}
