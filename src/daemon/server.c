/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All threads wait for the listening socket, and the kernel wakes one of them (EPOLLEXCLUSIVE). A
 * connection stays with the thread that accepted it.
 */
#include "daemon/server.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#define EVENTS 64
#define ACCEPTS 64 /* connections that are accepted before clients have their turn */
#define SWEEP_NS NS_PER_S
#define FULL_PAUSE_MS 20 /* without descriptors, accepting pauses for this long */

struct server_thread {
	struct server *server;
	unsigned number;
	pthread_t thread;
	int epoll;
	struct client clients; /* head of a ring */
	struct client_room room;
	int64_t swept_ns;
};

struct server {
	struct server_options options;
	int stop; /* eventfd */
	pthread_mutex_t lock;
	struct map users; /* user + 1 -> number of connections, as a pointer */
	struct server_thread *threads;
	unsigned thread_count; /* those that run */
};

/* --- limits --- */

static bool is_exempt(uid_t user)
{
	return user == 0 || user == geteuid();
}

/* Adds `change` to the connections of the user, and returns their number. */
static uint64_t count_user(struct server *server, uid_t user, int change)
{
	uint64_t key = (uint64_t)user + 1, count;

	pthread_mutex_lock(&server->lock);
	count = (uintptr_t)map_get(&server->users, key) + (uint64_t)(int64_t)change;
	if (count)
		map_put(&server->users, key, (void *)(uintptr_t)count);
	else
		map_remove(&server->users, key);
	pthread_mutex_unlock(&server->lock);
	return count;
}

static int check_limits(struct server *server, uid_t user, uint64_t of_user)
{
	struct counters *counters = server->options.counters;

	if (atomic_load(&counters->clients) > server->options.clients_max)
		return REFUSAL_CLIENTS;
	if (of_user > server->options.user_max && !is_exempt(user))
		return REFUSAL_USER;
	if (!counters_take_memory(counters, sizeof(struct client)))
		return REFUSAL_MEMORY;
	return -1;
}

/* --- connections --- */

static void refuse_client(struct server *server, struct client *client, enum refusal why)
{
	counters_refuse(server->options.counters, why);
	client_send(client, FRAME_REFUSED, refusal_sentences[why], strlen(refusal_sentences[why]));
}

static void forget_client(struct server *server, uid_t user)
{
	count_user(server, user, -1);
	atomic_fetch_sub(&server->options.counters->clients, 1);
}

static void close_client(struct server_thread *thread, struct client *client)
{
	struct server *server = thread->server;

	client->next->previous = client->previous;
	client->previous->next = client->next;
	forget_client(server, client->user);
	/* close() does not suffice while a child that was forked has the descriptor, too. */
	epoll_ctl(thread->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	client_release(client, server->options.counters);
	counters_return_memory(server->options.counters, sizeof(*client));
	free(client);
}

static void add_client(struct server_thread *thread, const struct client *made)
{
	struct client *client = xmalloc(sizeof(*client)), *head = &thread->clients;
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };

	*client = *made;
	client->deadline_ns = thread->room.now_ns + thread->room.idle_ns;
	client->next = head;
	client->previous = head->previous;
	head->previous->next = client;
	head->previous = client;
	if (epoll_ctl(thread->epoll, EPOLL_CTL_ADD, client->fd, &event) != 0)
		close_client(thread, client);
}

/* Returns false if there is no connection to accept now. */
static bool accept_client(struct server_thread *thread)
{
	struct server *server = thread->server;
	struct client client = { 0 };
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	int why;

	client.fd = accept4(server->options.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (client.fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			clock_sleep_ns(FULL_PAUSE_MS * NS_PER_MS);
		return errno == ECONNABORTED || errno == EINTR;
	}
	if (getsockopt(client.fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
		close(client.fd);
		return true;
	}
	client.user = peer.uid;
	client.process = peer.pid;
	counters_add(&server->options.counters->connections, 1);
	counters_add(&server->options.counters->clients, 1);
	why = check_limits(server, client.user, count_user(server, client.user, 1));
	if (why >= 0) {
		refuse_client(server, &client, (enum refusal)why);
		forget_client(server, client.user);
		close(client.fd);
		return true;
	}
	add_client(thread, &client);
	return true;
}

static void serve_client(struct server_thread *thread, struct client *client)
{
	int r = client_receive(client, &thread->room);

	if (r == 0)
		return;
	if (r < 0)
		refuse_client(thread->server, client, (enum refusal)(-1 - r));
	close_client(thread, client);
}

static void close_late_clients(struct server_thread *thread)
{
	int64_t now = thread->room.now_ns;
	struct client *client = thread->clients.next;

	if (now - thread->swept_ns < SWEEP_NS)
		return;
	thread->swept_ns = now;
	while (client != &thread->clients) {
		struct client *next = client->next;

		if (now > client->deadline_ns) {
			refuse_client(thread->server, client, REFUSAL_SLOW);
			close_client(thread, client);
		}
		client = next;
	}
}

/* --- threads --- */

static int handle_frame(void *arg, struct client *client, const struct frame *frame)
{
	struct server_thread *thread = arg;
	const struct server_options *options = &thread->server->options;

	return options->handle(options->arg, thread->number, client, frame);
}

/* Returns false if the server stops. */
static bool serve_events(struct server_thread *thread)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(thread->epoll, events, EVENTS, 500);

	thread->room.now_ns = clock_now_ns();
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &thread->server->stop)
			return false;
		if (events[i].data.ptr == &thread->server->options.listener)
			for (int k = 0; k < ACCEPTS && accept_client(thread); k++)
				;
		else
			serve_client(thread, events[i].data.ptr);
	}
	close_late_clients(thread);
	return true;
}

static void *run_thread(void *arg)
{
	struct server_thread *thread = arg;

	while (serve_events(thread))
		;
	while (thread->clients.next != &thread->clients)
		close_client(thread, thread->clients.next);
	return NULL;
}

static int watch_fd(int epoll, int fd, uint32_t events, void *what)
{
	struct epoll_event event = { .events = events, .data.ptr = what };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static int start_thread(struct server *server, unsigned number)
{
	struct server_thread *thread = &server->threads[number];
	const struct server_options *options = &server->options;
	int r;

	thread->server = server;
	thread->number = number;
	thread->clients.next = thread->clients.previous = &thread->clients;
	thread->room = (struct client_room){ .bytes = xmalloc(CLIENT_ROOM_BYTES),
					     .counters = options->counters,
					     .timeout_ns = options->timeout_ns,
					     .idle_ns = options->idle_ns,
					     .handle = handle_frame,
					     .arg = thread };
	thread->epoll = epoll_create1(EPOLL_CLOEXEC);
	r = thread->epoll < 0 ? -errno : 0;
	if (r == 0)
		r = watch_fd(thread->epoll, server->stop, EPOLLIN, &server->stop);
	if (r == 0)
		r = watch_fd(thread->epoll, options->listener, EPOLLIN | EPOLLEXCLUSIVE,
			     &server->options.listener);
	if (r == 0)
		r = -pthread_create(&thread->thread, NULL, run_thread, thread);
	if (r == 0)
		return 0;
	if (thread->epoll >= 0)
		close(thread->epoll);
	free(thread->room.bytes);
	return r;
}

int server_start(struct server **made, const struct server_options *options, struct err *err)
{
	struct server *server = xcalloc(1, sizeof(*server));
	int r = 0;

	server->options = *options;
	pthread_mutex_init(&server->lock, NULL);
	server->threads = xcalloc(options->threads, sizeof(*server->threads));
	server->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->stop < 0)
		r = -errno;
	while (r == 0 && server->thread_count < options->threads) {
		r = start_thread(server, server->thread_count);
		if (r == 0)
			server->thread_count++;
	}
	if (r < 0) {
		server_stop(server);
		return err_set(err, -r, "cannot start the threads of the server: %s", strerror(-r));
	}
	*made = server;
	return 0;
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	/* Fails only if the event is set already. */
	if (server->stop >= 0)
		eventfd_write(server->stop, 1);
	for (unsigned i = 0; i < server->thread_count; i++) {
		pthread_join(server->threads[i].thread, NULL);
		close(server->threads[i].epoll);
		free(server->threads[i].room.bytes);
	}
	if (server->stop >= 0)
		close(server->stop);
	pthread_mutex_destroy(&server->lock);
	map_release(&server->users);
	free(server->threads);
	free(server);
}
