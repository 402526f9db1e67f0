/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces of clients and servers, call by call. Process 0 is the client, process 1 the server on the
 * same host, process 2 a child of the server, process 3 a client on another host.
 */
#include "observe/chain/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/mem.h"
#include "chain_sample.h"
#include "check.h"
#include "trace/format.h"

enum { NONE, SOCKET, CONNECT, ACCEPT, SEND, RECV, PWRITE, DUP, INHERITED, FWRITE, SENDFILE, CALLS };

static const struct call_info calls[CALLS] = {
	[NONE] = { .name = "none" },
	[SOCKET] = { .name = "socket", .layer = LAYER_NETWORK, .class = CLASS_CONNECT },
	[CONNECT] = { .name = "connect", .layer = LAYER_NETWORK, .class = CLASS_CONNECT },
	[ACCEPT] = { .name = "accept4", .layer = LAYER_NETWORK, .class = CLASS_CONNECT },
	[SEND] = { .name = "send", .layer = LAYER_NETWORK, .class = CLASS_WRITE },
	[RECV] = { .name = "recv", .layer = LAYER_NETWORK, .class = CLASS_READ },
	[PWRITE] = { .name = "pwrite", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[DUP] = { .name = "dup", .layer = LAYER_POSIX, .class = CLASS_DUP },
	[INHERITED] = { .name = "inherited", .layer = LAYER_POSIX, .class = CLASS_OPEN },
	[FWRITE] = { .name = "fwrite", .layer = LAYER_STDIO, .class = CLASS_WRITE },
	[SENDFILE] = { .name = "sendfile", .layer = LAYER_POSIX, .class = CLASS_COPY },
};

/* Names of connections. A client has the odd ones, its server the even ones. */
static const char *const names[] = {
	"127.0.0.1:1000-127.0.0.1:80", "127.0.0.1:80-127.0.0.1:1000", "192.0.2.3:1000-192.0.2.1:80",
	"192.0.2.1:80-192.0.2.3:1000", "192.0.2.1:2000-192.0.2.9:90",
};

#define PROCESSES 4
static struct activity list[200];
static size_t list_count;
static uint64_t next_id[PROCESSES][3]; /* by thread */
static const uint32_t first_threads[PROCESSES] = { 0, 0, 10, 0 };

/* Adds a call of a thread, which takes 5 ns of 10. Returns its id. */
static uint64_t add_call(uint32_t process, uint32_t thread, int call, uint64_t link, int64_t result)
{
	struct activity *a = &list[list_count];

	*a = (struct activity){ .start_ns = (int64_t)list_count * 10,
				.duration_ns = 5,
				.id = id_make(first_threads[process] + thread,
					      ++next_id[process][thread]),
				.link = link,
				.result = result,
				.size = 4096,
				.handle = -1,
				.process = process,
				.call = (uint16_t)call,
				.layer = calls[call].layer,
				.present = PRESENT(RESULT) | PRESENT(LINK) | PRESENT(SIZE) };
	list_count++;
	return a->id;
}

static uint64_t add_named(uint32_t process, uint32_t thread, int call, uint64_t link, file_id name)
{
	uint64_t id = add_call(process, thread, call, link, 3);

	list[list_count - 1].name = name;
	list[list_count - 1].present |= PRESENT(NAME);
	return id;
}

/* Makes connection 0 between client and server; sets their descriptors. */
static void add_connection(uint64_t *client, uint64_t *server)
{
	*client = add_call(0, 0, SOCKET, 0, 3);
	add_named(0, 0, CONNECT, *client, 1);
	*server = add_named(1, 0, ACCEPT, 0, 2);
}

static void write_trace(const char *path)
{
	void *w = sample_create(path, "a", calls, CALLS);
	struct err err = { 0 };

	for (uint32_t i = 0; i < PROCESSES; i++) {
		struct process_info p = sample_process(i, i == 3 ? "b" : "a");

		p.parent = i == 2 ? 1 : -1;
		p.first_thread = first_threads[i];
		REQUIRE(trace_text.add_process(w, &p, &err) == 0);
	}
	for (file_id i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		REQUIRE(trace_text.add_file(w, i + 1, names[i], &err) == 0);
	REQUIRE(trace_text.add_activities(w, list, list_count, &err) == 0);
	sample_finish(w);
}

static struct chain *read_chain(void)
{
	AUTO_FREE char *path = xprintf("%s/trace.txt", check_directory());
	struct chain *chain = NULL;
	struct err err = { 0 };

	write_trace(path);
	REQUIRE(chain_read(&chain, path, &err) == 0);
	unlink(path);
	return chain;
}

static void start(void)
{
	list_count = 0;
	memset(next_id, 0, sizeof(next_id));
}

/* The partner of a transfer that has exactly one; 0: none. */
static uint64_t only_partner(const struct chain *chain, uint32_t process, uint64_t id)
{
	const struct chain_transfer *t = chain_find(chain, process, id);

	return t && t->count == 1 ? chain_partner(chain, t, 0)->id : 0;
}

static enum chain_state state(const struct chain *chain, uint32_t process, uint64_t id)
{
	const struct chain_transfer *t = chain_find(chain, process, id);

	return t ? (enum chain_state)t->state : CHAIN_STATES;
}

/* The receive that call number i of the list was made for; 0: none. */
static uint64_t request_of(const struct chain *chain, size_t i)
{
	const struct chain_transfer *t = chain_request(chain, &list[i]);

	return t ? t->id : 0;
}

static void a_write_leads_to_what_the_server_does(void)
{
	uint64_t client, server, sent, received, reply, answer;
	struct chain *chain;
	size_t before, after;

	start();
	add_connection(&client, &server);
	before = list_count;
	add_call(1, 0, PWRITE, 0, 10);
	sent = add_call(0, 0, SEND, client, 100);
	received = add_call(1, 0, RECV, server, 100);
	after = list_count;
	add_call(1, 0, PWRITE, 0, 100);
	reply = add_call(1, 0, SEND, server, 8);
	answer = add_call(0, 0, RECV, client, 8);
	add_call(0, 0, PWRITE, 0, 1);
	add_call(1, 0, ACCEPT, 0, -1);
	list[list_count - 1].error = EAGAIN;
	add_call(1, 0, PWRITE, 0, 1);
	chain = read_chain();
	CHECK(chain_counts(chain)->connections == 1);
	CHECK(only_partner(chain, 0, sent) == received);
	CHECK(only_partner(chain, 1, received) == sent);
	CHECK(only_partner(chain, 1, reply) == answer);
	CHECK_INT(request_of(chain, before), 0);
	CHECK(request_of(chain, after) == received);
	CHECK(request_of(chain, after + 1) == received);
	/* What the client does with the reply is no request, and accept() ends that of the server.
	 */
	CHECK_INT(request_of(chain, after + 3), 0);
	CHECK_INT(request_of(chain, after + 4), 0);
	CHECK_INT(request_of(chain, after + 5), 0);
	CHECK(chain_cause(chain, &list[after])->id == received);
	chain_free(chain);
}

static void duplicates_and_forked_children_use_the_same_connection(void)
{
	uint64_t client, server, copy, sent[3], received[3];
	struct chain *chain;

	start();
	add_connection(&client, &server);
	copy = add_call(0, 0, DUP, client, 4);
	sent[0] = add_call(0, 0, SEND, client, 10);
	sent[1] = add_call(0, 0, SEND, copy, 10);
	sent[2] = add_call(0, 0, SENDFILE, copy, 10);
	/* The child of the server has the descriptor of its parent. */
	for (int i = 0; i < 3; i++)
		received[i] = add_call(2, 0, RECV, server, 10);
	chain = read_chain();
	for (int i = 0; i < 3; i++) {
		CHECK(only_partner(chain, 0, sent[i]) == received[i]);
		CHECK_INT(chain_partner(chain, chain_find(chain, 0, sent[i]), 0)->process, 2);
	}
	chain_free(chain);
}

static void an_inherited_descriptor_continues_its_connection(void)
{
	uint64_t client, server, found, sent[2], received;
	struct chain *chain;

	start();
	add_connection(&client, &server);
	sent[0] = add_call(0, 0, SEND, client, 10);
	add_call(1, 0, RECV, server, 10);
	/* After exec, the server finds its socket by its addresses. */
	found = add_named(1, 1, INHERITED, 0, 2);
	sent[1] = add_call(0, 0, SEND, client, 10);
	received = add_call(1, 1, RECV, found, 10);
	chain = read_chain();
	CHECK(only_partner(chain, 0, sent[1]) == received);
	CHECK_INT(state(chain, 0, sent[0]), CHAIN_MATCHED);
	chain_free(chain);
}

static void a_connection_from_before_the_trace_is_not_matched(void)
{
	uint64_t client, found, sent, received;
	struct chain *chain;

	start();
	client = add_call(0, 0, SOCKET, 0, 3);
	add_named(0, 0, CONNECT, client, 1);
	sent = add_call(0, 0, SEND, client, 10);
	found = add_named(1, 0, INHERITED, 0, 2);
	received = add_call(1, 0, RECV, found, 10);
	chain = read_chain();
	CHECK_INT(state(chain, 1, received), CHAIN_INHERITED);
	CHECK_INT(state(chain, 0, sent), CHAIN_NO_PEER);
	chain_free(chain);
}

static void peeked_bytes_stay_in_the_stream(void)
{
	uint64_t client, server, sent, received;
	struct chain *chain;

	start();
	add_connection(&client, &server);
	sent = add_call(0, 0, SEND, client, 10);
	add_call(1, 0, RECV, server, 10);
	list[list_count - 1].flags = MSG_PEEK;
	list[list_count - 1].present |= PRESENT(FLAGS);
	received = add_call(1, 0, RECV, server, 10);
	chain = read_chain();
	CHECK(only_partner(chain, 0, sent) == received);
	chain_free(chain);
}

static void streams_are_not_matched(void)
{
	uint64_t client, server, received;
	struct chain *chain;

	start();
	add_connection(&client, &server);
	add_call(0, 0, FWRITE, client, 10);
	received = add_call(1, 0, RECV, server, 10);
	chain = read_chain();
	CHECK_INT(state(chain, 1, received), CHAIN_BUFFERED);
	chain_free(chain);
}

static void a_lost_call_makes_the_rest_uncertain(void)
{
	uint64_t client, server, sent[4];
	struct chain *chain;

	start();
	add_connection(&client, &server);
	for (int i = 0; i < 4; i++) {
		sent[i] = add_call(0, 0, SEND, client, 10);
		/* The third receive is missing: its number was used, but there is no record. */
		if (i == 2)
			next_id[1][0]++;
		else
			add_call(1, 0, RECV, server, 10);
		add_call(1, 0, PWRITE, 0, 10);
	}
	chain = read_chain();
	CHECK_INT(state(chain, 0, sent[0]), CHAIN_MATCHED);
	/* It is not known if the missing call was made for the second. */
	CHECK_INT(state(chain, 0, sent[1]), CHAIN_LOST);
	CHECK_INT(state(chain, 0, sent[2]), CHAIN_LOST);
	CHECK_INT(state(chain, 0, sent[3]), CHAIN_LOST);
	chain_free(chain);
}

static void a_lost_call_of_a_child_concerns_its_parent(void)
{
	uint64_t client, server, sent;
	struct chain *chain;

	start();
	add_connection(&client, &server);
	add_call(2, 0, PWRITE, 0, 1);
	next_id[2][0]++;
	add_call(2, 0, PWRITE, 0, 1);
	sent = add_call(0, 0, SEND, client, 10);
	add_call(1, 0, RECV, server, 10);
	chain = read_chain();
	CHECK_INT(state(chain, 0, sent), CHAIN_LOST);
	chain_free(chain);
}

static void addresses_can_be_used_again_but_not_at_the_same_time(void)
{
	uint64_t client, server, first, second;
	struct chain *chain;

	start();
	add_connection(&client, &server);
	first = add_call(0, 0, SEND, client, 10);
	add_call(1, 0, RECV, server, 10);
	add_connection(&client, &server);
	second = add_call(0, 0, SEND, client, 20);
	add_call(1, 0, RECV, server, 20);
	chain = read_chain();
	CHECK_INT(chain_counts(chain)->connections, 2);
	CHECK_INT(state(chain, 0, first), CHAIN_MATCHED);
	CHECK_INT(state(chain, 0, second), CHAIN_MATCHED);
	chain_free(chain);

	/* Two networks on one host: the first connection is used after the second was made. */
	start();
	add_connection(&client, &server);
	first = client;
	add_connection(&client, &server);
	second = add_call(0, 0, SEND, client, 10);
	add_call(1, 0, RECV, server, 10);
	first = add_call(0, 0, SEND, first, 10);
	chain = read_chain();
	CHECK_INT(state(chain, 0, first), CHAIN_SAME_ADDRESSES);
	CHECK_INT(state(chain, 0, second), CHAIN_SAME_ADDRESSES);
	chain_free(chain);
}

static void hosts_are_matched_by_real_addresses_only(void)
{
	uint64_t client, server, sent;
	struct chain *chain;

	start();
	client = add_call(3, 0, SOCKET, 0, 3);
	add_named(3, 0, CONNECT, client, 3);
	server = add_named(1, 0, ACCEPT, 0, 4);
	sent = add_call(3, 0, SEND, client, 10);
	add_call(1, 0, RECV, server, 10);
	chain = read_chain();
	CHECK_INT(state(chain, 3, sent), CHAIN_MATCHED);
	chain_free(chain);

	/* Every host has 127.0.0.1. */
	start();
	client = add_call(3, 0, SOCKET, 0, 3);
	add_named(3, 0, CONNECT, client, 1);
	server = add_named(1, 0, ACCEPT, 0, 2);
	sent = add_call(3, 0, SEND, client, 10);
	add_call(1, 0, RECV, server, 10);
	chain = read_chain();
	CHECK_INT(state(chain, 3, sent), CHAIN_NO_PEER);
	chain_free(chain);
}

/* The server asks another server, process 3 on another host, and waits for its answer. */
static void a_server_that_asks_another_one_continues_its_request(void)
{
	uint64_t client, server, received, own;
	struct chain *chain;
	size_t at;

	start();
	add_connection(&client, &server);
	own = add_call(1, 0, SOCKET, 0, 5);
	add_named(1, 0, CONNECT, own, 5);
	add_call(0, 0, SEND, client, 10);
	received = add_call(1, 0, RECV, server, 10);
	at = list_count;
	add_call(1, 0, SEND, own, 20);
	add_call(1, 0, RECV, own, 30);
	add_call(1, 0, PWRITE, 0, 1);
	chain = read_chain();
	for (size_t i = at; i < list_count; i++)
		CHECK(request_of(chain, i) == received);
	CHECK_INT(chain_counts(chain)->calls[CHAIN_NO_PEER], 2);
	chain_free(chain);
}

static void a_trace_of_one_end_has_no_chain(void)
{
	uint64_t id;
	struct chain *chain;

	start();
	id = add_call(0, 0, SOCKET, 0, 3);
	add_call(0, 0, SEND, id, 10);
	chain = read_chain();
	/* Both names are in the table of files, but no end was made. */
	CHECK(chain && !chain_counts(chain)->connections);
	CHECK_INT(chain_counts(chain)->other_sockets, 1);
	chain_free(chain);
	CHECK(!chain_find(NULL, 0, id) && !chain_request(NULL, &list[0]) && !chain_size(NULL));
}

TESTS(TEST(a_write_leads_to_what_the_server_does),
      TEST(duplicates_and_forked_children_use_the_same_connection),
      TEST(an_inherited_descriptor_continues_its_connection),
      TEST(a_connection_from_before_the_trace_is_not_matched),
      TEST(peeked_bytes_stay_in_the_stream), TEST(streams_are_not_matched),
      TEST(a_lost_call_makes_the_rest_uncertain), TEST(a_lost_call_of_a_child_concerns_its_parent),
      TEST(addresses_can_be_used_again_but_not_at_the_same_time),
      TEST(hosts_are_matched_by_real_addresses_only),
      TEST(a_server_that_asks_another_one_continues_its_request),
      TEST(a_trace_of_one_end_has_no_chain))
