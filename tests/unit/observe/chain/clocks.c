/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client on the host "one", whose clock is the reference, and a server on the host "two", whose
 * times are ahead by a known amount.
 */
#include "observe/chain/clocks.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "chain_sample.h"
#include "check.h"
#include "trace/format.h"
#include "trace/merge/merge.h"

enum { NONE, SOCKET, CONNECT, ACCEPT, SEND, RECV, CALLS };

static const struct call_info calls[CALLS] = {
	[NONE] = { .name = "none" },
	[SOCKET] = { .name = "socket", .layer = LAYER_NETWORK, .class = CLASS_CONNECT },
	[CONNECT] = { .name = "connect", .layer = LAYER_NETWORK, .class = CLASS_CONNECT },
	[ACCEPT] = { .name = "accept", .layer = LAYER_NETWORK, .class = CLASS_CONNECT },
	[SEND] = { .name = "send", .layer = LAYER_NETWORK, .class = CLASS_WRITE },
	[RECV] = { .name = "recv", .layer = LAYER_NETWORK, .class = CLASS_READ },
};

enum { CLIENT, SERVER };

static struct activity list[20];
static size_t list_count;
static uint64_t next_id[2];
static int64_t ahead_ns;
static const char *method;

static void start(int64_t ahead)
{
	list_count = 0;
	next_id[CLIENT] = next_id[SERVER] = 0;
	ahead_ns = ahead;
	method = "time of day";
}

/* Adds a call that takes 10 ns from this time on the reference clock. Returns its id. */
static uint64_t add_call(uint32_t process, int call, int64_t at_ns, uint64_t link, file_id name)
{
	struct activity *a = &list[list_count++];

	*a = (struct activity){ .start_ns = at_ns + (process == SERVER ? ahead_ns : 0),
				.duration_ns = 10,
				.id = id_make(0, ++next_id[process]),
				.link = link,
				.result = 8,
				.handle = 3,
				.process = process,
				.call = (uint16_t)call,
				.layer = calls[call].layer,
				.name = name,
				.present = PRESENT(RESULT) | PRESENT(LINK) |
					   (name ? PRESENT(NAME) : 0) };
	return a->id;
}

/* Connects client and server. */
static void add_connection(uint64_t *client, uint64_t *server)
{
	*client = add_call(CLIENT, SOCKET, 1000, 0, 0);
	add_call(CLIENT, CONNECT, 1020, *client, 1);
	*server = add_call(SERVER, ACCEPT, 1040, 0, 2);
}

/* A request that the server receives from 100 ns on, and its reply that arrives after 300 ns. */
static void add_request(uint64_t client, uint64_t server, int64_t at_ns)
{
	add_call(CLIENT, SEND, at_ns, client, 0);
	add_call(SERVER, RECV, at_ns + 100, server, 0);
	add_call(SERVER, SEND, at_ns + 200, server, 0);
	add_call(CLIENT, RECV, at_ns + 300, client, 0);
}

static int compare_starts(const void *a, const void *b)
{
	const struct activity *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void write_trace(const char *path)
{
	const struct host_info hosts[] = { { (char *)"one", (char *)"reference", 0, 0 },
					   { (char *)"two", (char *)method, 0, -1 } };
	void *w = sample_create(path, "one", calls, CALLS);
	struct err err = { 0 };

	qsort(list, list_count, sizeof(*list), compare_starts);
	for (uint32_t i = 0; i < 2; i++) {
		struct process_info p = sample_process(i, hosts[i].host);

		REQUIRE(trace_text.add_process(w, &p, &err) == 0);
		REQUIRE(trace_text.add_host(w, &hosts[i], &err) == 0);
	}
	REQUIRE(trace_text.add_file(w, 1, "192.0.2.1:1000-192.0.2.2:80", &err) == 0);
	REQUIRE(trace_text.add_file(w, 2, "192.0.2.2:80-192.0.2.1:1000", &err) == 0);
	REQUIRE(trace_text.add_activities(w, list, list_count, &err) == 0);
	sample_finish(w);
}

/* The correction of the server's host; false: there is none. */
static bool find_correction(struct merge_correction *found)
{
	AUTO_FREE char *path = xprintf("%s/trace.txt", check_directory());
	struct merge_correction *corrections = NULL;
	struct err err = { 0 };
	size_t count = 0;

	write_trace(path);
	REQUIRE(clocks_read(&corrections, &count, path, &err) == 0);
	unlink(path);
	REQUIRE(count <= 1);
	if (count) {
		CHECK_TEXT(corrections[0].host, "two");
		*found = corrections[0];
	}
	clocks_free(corrections, count);
	return count == 1;
}

static void requests_and_replies_bound_the_difference_of_two_clocks(void)
{
	const int64_t differences_ns[] = { 0, 5000, -900 };

	for (size_t i = 0; i < 3; i++) {
		struct merge_correction found;
		uint64_t client, server;

		start(differences_ns[i]);
		add_connection(&client, &server);
		add_request(client, server, 2000);
		REQUIRE(find_correction(&found));
		/* The request allows -110 and more, the reply 110 and less. */
		CHECK_INT(found.offset_ns, -differences_ns[i]);
		CHECK_INT(found.error_ns, 111);
	}
}

static void messages_of_one_direction_bound_nothing(void)
{
	struct merge_correction found;
	uint64_t client, server;

	start(5000);
	add_connection(&client, &server);
	add_call(CLIENT, SEND, 2000, client, 0);
	add_call(SERVER, RECV, 2100, server, 0);
	CHECK(!find_correction(&found));
}

static void clocks_that_drift_are_not_corrected(void)
{
	struct merge_correction found;
	uint64_t client, server;

	start(0);
	add_connection(&client, &server);
	add_request(client, server, 2000);
	ahead_ns = 1000;
	add_request(client, server, 3000);
	CHECK(!find_correction(&found));
}

static void clocks_that_collective_calls_have_aligned_are_not_corrected(void)
{
	struct merge_correction found;
	uint64_t client, server;

	start(5000);
	method = "collective calls";
	add_connection(&client, &server);
	add_request(client, server, 2000);
	CHECK(!find_correction(&found));
}

TESTS(TEST(requests_and_replies_bound_the_difference_of_two_clocks),
      TEST(messages_of_one_direction_bound_nothing), TEST(clocks_that_drift_are_not_corrected),
      TEST(clocks_that_collective_calls_have_aligned_are_not_corrected))
