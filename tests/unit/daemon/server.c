/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-29.
 */
#include "daemon/server.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "contract/frame.h"
#include "daemon/counters.h"
#include "daemon/listener.h"
#include "wire/frame.h"

static struct {
	struct sockaddr_un address;
	struct counters counters;
	_Atomic pid_t child;
} test;

/* As the daemon does when it copies a trace: the child has every descriptor of its parent. */
static int start_child(void *arg, unsigned thread, struct client *client, const struct frame *frame)
{
	pid_t child = fork();

	(void)arg, (void)thread, (void)client, (void)frame;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	test.child = child;
	return 0;
}

static int connect_to_server(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	REQUIRE(connect(fd, (const struct sockaddr *)&test.address, sizeof(test.address)) == 0);
	return fd;
}

static void send_request(int fd)
{
	struct frame_header header;

	frame_seal(&header, FRAME_STATUS_REQUEST, 0, NULL, 0);
	REQUIRE(send(fd, &header, sizeof(header), MSG_NOSIGNAL) == sizeof(header));
}

static void wait_for_clients(uint64_t count)
{
	while (test.counters.clients != count)
		clock_sleep_ns(NS_PER_MS);
}

/* epoll still reports a closed descriptor whose copy is open, with the data of the client. */
static void a_client_can_leave_while_a_child_has_its_descriptor(void)
{
	struct server_options options = { .threads = 1,
					  .clients_max = 16,
					  .user_max = 16,
					  .timeout_ns = 600 * NS_PER_S,
					  .idle_ns = 600 * NS_PER_S,
					  .counters = &test.counters,
					  .handle = start_child };
	struct server *server;
	int fd;

	test.address.sun_family = AF_UNIX;
	REQUIRE(snprintf(test.address.sun_path, sizeof(test.address.sun_path), "%s/socket",
			 check_directory()) < (int)sizeof(test.address.sun_path));
	test.counters.memory_limit = 1 << 20;
	options.listener = listener_create(test.address.sun_path, NULL);
	REQUIRE(options.listener >= 0);
	REQUIRE(server_start(&server, &options, NULL) == 0);
	fd = connect_to_server();
	send_request(fd);
	while (!test.child)
		clock_sleep_ns(NS_PER_MS);
	shutdown(fd, SHUT_RDWR); /* the child has this end, too */
	close(fd);
	wait_for_clients(0);

	/* The server's thread goes through its events before and after it accepts another client.
	 */
	fd = connect_to_server();
	wait_for_clients(1);
	close(fd);
	wait_for_clients(0);
	CHECK_INT(test.counters.connections, 2);
	kill(test.child, SIGKILL);
	waitpid(test.child, NULL, 0);
	server_stop(server);
	close(options.listener);
}

TESTS(TEST(a_client_can_leave_while_a_child_has_its_descriptor))
