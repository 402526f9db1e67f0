/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces of clients of a FUSE server, call by call. Process 0 is the client, with two threads;
 * process 1 is the server; process 2 has the pids of the client in another pid namespace, process 3
 * on another host.
 */
#include "observe/chain/fuse.h"

#include <linux/fuse.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "chain_sample.h"
#include "check.h"
#include "observe/chain/chain.h"
#include "trace/facts.h"
#include "trace/format.h"

enum { NONE, OPEN, PWRITE, PREAD, STAT, READ, WRITEV, REQUEST, REPLY, FWRITE, CALLS };

static const struct call_info calls[CALLS] = {
	[NONE] = { .name = "none" },
	[OPEN] = { .name = "open", .class = CLASS_OPEN },
	[PWRITE] = { .name = "pwrite", .class = CLASS_WRITE },
	[PREAD] = { .name = "pread", .class = CLASS_READ },
	[STAT] = { .name = "stat", .class = CLASS_STAT },
	[READ] = { .name = "read", .class = CLASS_READ },
	[WRITEV] = { .name = "writev", .class = CLASS_WRITE },
	[REQUEST] = { .name = "fuse_request", .class = CLASS_CONTROL },
	[REPLY] = { .name = "fuse_reply", .class = CLASS_CONTROL },
	[FWRITE] = { .name = "fwrite", .layer = LAYER_STDIO, .class = CLASS_WRITE },
};

#define PROCESSES 4
#define CLIENT 0
#define SERVER 1
#define ELSEWHERE 2
#define OTHER_HOST 3

/* The kernel's ids of the threads of the client. */
#define MAIN 100
#define SECOND 101

static struct activity list[200];
static size_t list_count;
static uint64_t next_id[PROCESSES][3]; /* by thread */
static uint64_t device;		       /* id of the open of /dev/fuse */
static bool is_merged;
static int64_t late_ns; /* added to the times of the server */

static struct activity *add(uint32_t process, uint32_t thread, int call, int64_t start_ns,
			    int64_t stop_ns)
{
	struct activity *a = &list[list_count++];
	int64_t shift_ns = process == SERVER ? late_ns : 0;

	REQUIRE(list_count <= sizeof(list) / sizeof(list[0]));
	*a = (struct activity){ .start_ns = start_ns + shift_ns,
				.duration_ns = stop_ns - start_ns,
				.id = id_make(thread, ++next_id[process][thread]),
				.offset = -1,
				.process = process,
				.call = (uint16_t)call,
				.layer = calls[call].layer,
				.present = PRESENT(RESULT) | PRESENT(LINK) | PRESENT(SIZE) };
	return a;
}

/* A call of a client. offset -1: it has none. */
static uint64_t add_call(uint32_t process, uint32_t thread, int call, int64_t start_ns,
			 int64_t stop_ns, int64_t offset, int64_t size)
{
	struct activity *a = add(process, thread, call, start_ns, stop_ns);

	a->offset = offset;
	a->size = a->result = size;
	a->present |= offset >= 0 ? PRESENT(OFFSET) : 0;
	return a->id;
}

/* The server's read of a request, which returns at time_ns. */
static uint64_t add_request(uint32_t thread, int64_t time_ns, uint64_t unique, uint32_t opcode,
			    int64_t tid, int64_t offset, int64_t size)
{
	struct activity *read = add(SERVER, thread, READ, time_ns - 50, time_ns), *head;

	read->link = device;
	read->file = 1;
	read->result = 80;
	head = add(SERVER, thread, REQUEST, time_ns, time_ns);
	head->link = device;
	head->parent = read->id;
	head->result = (int64_t)unique;
	head->flags = opcode;
	head->variable = tid;
	head->size = size;
	head->offset = offset;
	head->present |= PRESENT(FLAGS) | PRESENT(VARIABLE) | (offset >= 0 ? PRESENT(OFFSET) : 0);
	return read->id;
}

static uint64_t add_reply(uint32_t thread, int64_t start_ns, uint64_t unique)
{
	struct activity *write = add(SERVER, thread, WRITEV, start_ns, start_ns + 20), *head;

	write->link = device;
	write->result = 16;
	head = add(SERVER, thread, REPLY, start_ns + 20, start_ns + 20);
	head->link = device;
	head->parent = write->id;
	head->result = (int64_t)unique;
	return write->id;
}

static void start(void)
{
	list_count = 0;
	memset(next_id, 0, sizeof(next_id));
	is_merged = false;
	late_ns = 0;
	device = add(SERVER, 0, OPEN, 0, 10)->id;
	list[0].file = 1;
	list[0].present |= PRESENT(PATH);
}

static void add_note(void *w, int32_t process, const char *name, const char *value)
{
	struct note note = { .time_ns = -1,
			     .process = process,
			     .host = (char *)"a",
			     .source = (char *)"collector",
			     .kind = (char *)NOTE_THREAD,
			     .name = (char *)name,
			     .value = (char *)value };
	struct err err = { 0 };

	REQUIRE(trace_text.add_fact(w, &fact_note, &note, &err) == 0);
}

static void write_trace(const char *path)
{
	const struct host_info host = { (char *)"a", (char *)"reference", 0, 0 };
	void *w = sample_create(path, "a", calls, CALLS);
	struct err err = { 0 };

	qsort(list, list_count, sizeof(list[0]), activity_compare);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		struct process_info p = sample_process(i, i == OTHER_HOST ? "b" : "a");

		p.pid = i == SERVER ? 200 : MAIN;
		REQUIRE(trace_text.add_process(w, &p, &err) == 0);
	}
	REQUIRE(trace_text.add_file(w, 1, "/dev/fuse", &err) == 0);
	add_note(w, CLIENT, "1", "101");
	add_note(w, CLIENT, "two", "102");
	add_note(w, CLIENT, "2", "-7");
	add_note(w, ELSEWHERE, THREAD_NAMESPACE, "4026539999");
	if (is_merged)
		REQUIRE(trace_text.add_host(w, &host, &err) == 0);
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
	REQUIRE(chain);
	return chain;
}

static uint64_t partner(const struct chain *chain, uint32_t process, uint64_t id, uint32_t i)
{
	const struct chain_transfer *t = chain_find(chain, process, id);

	return t && i < t->count ? chain_partner(chain, t, i)->id : 0;
}

static uint32_t partners(const struct chain *chain, uint32_t process, uint64_t id)
{
	const struct chain_transfer *t = chain_find(chain, process, id);

	return t ? t->count : 0;
}

/* The request that the call of the server with this id was made for; 0: none. */
static uint64_t request_of(const struct chain *chain, uint64_t id)
{
	for (size_t i = 0; i < list_count; i++) {
		const struct chain_transfer *t;

		if (list[i].process != SERVER || list[i].id != id)
			continue;
		t = chain_request(chain, &list[i]);
		return t ? t->id : 0;
	}
	return 0;
}

static uint64_t requests(const struct chain *chain, enum chain_state state)
{
	return chain_counts(chain)->requests[state];
}

static void call_leads_to_request_and_reply_back(void)
{
	struct chain *chain;
	uint64_t call, read, work, reply, after;

	start();
	call = add_call(CLIENT, 1, PWRITE, 1000, 2000, 4096, 4096);
	read = add_request(1, 1100, 2, FUSE_WRITE, SECOND, 4096, 4096);
	work = add_call(SERVER, 1, PWRITE, 1200, 1300, 4096, 4096);
	reply = add_reply(1, 1400, 2);
	after = add_call(SERVER, 1, STAT, 1500, 1600, -1, 0);
	chain = read_chain();
	CHECK(partners(chain, CLIENT, call) == 1 && partner(chain, CLIENT, call, 0) == read);
	CHECK(partner(chain, SERVER, read, 0) == call);
	CHECK(request_of(chain, work) == read && request_of(chain, reply) == read);
	CHECK(partner(chain, SERVER, reply, 0) == call);
	CHECK(!request_of(chain, after));
	CHECK(requests(chain, CHAIN_MATCHED) == 1);
	chain_free(chain);
}

static void split_call_leads_to_all_its_requests(void)
{
	struct chain *chain;
	uint64_t call, attribute, first, second;

	start();
	call = add_call(CLIENT, 0, PWRITE, 1000, 2000, 0, 8192);
	attribute = add_request(0, 1100, 2, FUSE_GETXATTR, MAIN, -1, 0);
	add_reply(0, 1150, 2);
	first = add_request(0, 1300, 4, FUSE_WRITE, MAIN, 0, 4096);
	second = add_request(1, 1400, 6, FUSE_WRITE, MAIN, 4096, 4096);
	add_reply(0, 1600, 4);
	add_reply(1, 1700, 6);
	chain = read_chain();
	CHECK(partners(chain, CLIENT, call) == 3);
	CHECK(partner(chain, CLIENT, call, 0) == attribute);
	CHECK(partner(chain, CLIENT, call, 1) == first);
	CHECK(partner(chain, CLIENT, call, 2) == second);
	chain_free(chain);
}

static void reply_of_another_thread_answers_its_request(void)
{
	struct chain *chain;
	uint64_t call, read, other, reply, work;

	start();
	call = add_call(CLIENT, 0, PWRITE, 1000, 2000, 0, 10);
	read = add_request(0, 1100, 2, FUSE_WRITE, MAIN, 0, 10);
	add_call(CLIENT, 1, STAT, 1050, 2500, -1, 0);
	other = add_request(1, 1200, 4, FUSE_GETATTR, SECOND, -1, 0);
	reply = add_reply(1, 1400, 2);
	work = add_call(SERVER, 1, STAT, 1500, 1600, -1, 0);
	add_reply(1, 1700, 4);
	chain = read_chain();
	CHECK(request_of(chain, reply) == read && partner(chain, SERVER, reply, 0) == call);
	CHECK(request_of(chain, work) == other);
	chain_free(chain);
}

static void unknown_callers_are_not_matched(void)
{
	struct chain *chain;

	start();
	add_call(CLIENT, 0, PWRITE, 1000, 9000, 0, 10);
	add_call(ELSEWHERE, 0, PWRITE, 10000, 12000, 0, 10);
	add_call(OTHER_HOST, 0, PWRITE, 10000, 12000, 0, 10);
	add_request(0, 1100, 2, FUSE_WRITE, 0, 0, 10);
	add_request(0, 1200, 4, FUSE_RELEASE, 0, -1, 0);
	add_request(0, 1300, 6, FUSE_WRITE, 102, 0, 10);
	add_request(0, 1400, 8, FUSE_WRITE, -7, 0, 10);
	/* The thread has made no call then: the id has been used again. */
	add_request(0, 11000, 10, FUSE_WRITE, MAIN, 0, 10);
	chain = read_chain();
	CHECK(requests(chain, CHAIN_MATCHED) == 0);
	CHECK(requests(chain, CHAIN_NO_CALLER_ID) == 1);
	CHECK(requests(chain, CHAIN_KERNEL) == 1);
	CHECK(requests(chain, CHAIN_NO_CALLER) == 2);
	CHECK(requests(chain, CHAIN_NO_CALL) == 1);
	chain_free(chain);
}

static void transfer_of_another_range_is_not_matched(void)
{
	struct chain *chain;
	uint64_t call;

	start();
	add_call(CLIENT, 0, PWRITE, 1000, 2000, 0, 4096);
	add_request(0, 1100, 2, FUSE_WRITE, MAIN, 4096, 4096);
	add_request(0, 1300, 4, FUSE_WRITE, MAIN, 0, 8192);
	add_request(0, 1400, 6, FUSE_READ, MAIN, 0, 4096);
	/* Reading ahead, and what is read ahead for this call. */
	call = add_call(CLIENT, 0, PREAD, 3000, 4000, 1000, 10);
	add_request(0, 3100, 8, FUSE_READ, MAIN, 0, 4096);
	add_reply(0, 3200, 8);
	add_request(0, 3300, 10, FUSE_READ, MAIN, 4096, 4096);
	add_reply(0, 3400, 10);
	/* The call does not wait for it. */
	add_call(CLIENT, 0, PREAD, 5000, 6000, 8192, 10);
	add_request(0, 5900, 12, FUSE_READ, MAIN, 8192, 4096);
	add_reply(0, 6100, 12);
	chain = read_chain();
	CHECK(requests(chain, CHAIN_MATCHED) == 1 && partners(chain, CLIENT, call) == 1);
	CHECK(requests(chain, CHAIN_NO_CALL) == 5);
	chain_free(chain);
}

static void inner_call_makes_the_request(void)
{
	struct chain *chain;
	uint64_t outer, inner;

	start();
	outer = add_call(CLIENT, 0, FWRITE, 1000, 2000, 0, 10);
	inner = add_call(CLIENT, 0, PWRITE, 1100, 1900, 0, 10);
	list[list_count - 1].parent = outer;
	add_request(0, 1200, 2, FUSE_WRITE, MAIN, 0, 10);
	add_request(0, 1950, 4, FUSE_GETATTR, MAIN, -1, 0);
	chain = read_chain();
	CHECK(partners(chain, CLIENT, inner) == 1 && partners(chain, CLIENT, outer) == 1);
	chain_free(chain);
}

static void missing_calls_of_the_server_make_requests_uncertain(void)
{
	struct chain *chain;
	uint64_t call;

	start();
	call = add_call(CLIENT, 0, PWRITE, 1000, 2000, 0, 10);
	add_request(0, 1100, 2, FUSE_WRITE, MAIN, 0, 10);
	next_id[SERVER][0]++;
	add_reply(0, 1400, 2);
	add_request(0, 3100, 4, FUSE_FORGET, 0, -1, 0);
	chain = read_chain();
	CHECK(!partners(chain, CLIENT, call) && requests(chain, CHAIN_LOST) == 1);
	chain_free(chain);
}

static void read_without_a_head_is_counted_and_ends_the_request(void)
{
	struct chain *chain;
	struct activity *read;
	uint64_t work;

	start();
	add_call(CLIENT, 0, PWRITE, 1000, 2000, 0, 10);
	add_request(0, 1100, 2, FUSE_WRITE, MAIN, 0, 10);
	read = add(SERVER, 0, READ, 1200, 1300);
	read->file = 1;
	read->result = 80;
	work = add_call(SERVER, 0, PWRITE, 1400, 1500, 0, 10);
	chain = read_chain();
	CHECK(requests(chain, CHAIN_NO_HEAD) == 1 && requests(chain, CHAIN_MATCHED) == 1);
	CHECK(!request_of(chain, work));
	chain_free(chain);
}

/* 20 writes at offsets of their own, then questions that only times tell apart. */
static void add_client_of_another_run(void)
{
	for (int i = 0; i < 20; i++) {
		int64_t at = 1000 + (int64_t)i * 1000;

		add_call(CLIENT, 0, PWRITE, at, at + 500, i * 10L, 10);
		add_request(0, at + 200, (uint64_t)(2 + 2 * i), FUSE_WRITE, MAIN, i * 10L, 10);
		add_reply(0, at + 300, (uint64_t)(2 + 2 * i));
	}
	for (int i = 0; i < 5; i++) {
		int64_t at = 30000 + (int64_t)i * 10000;

		add_call(CLIENT, 0, STAT, at, at + 500, -1, 0);
		add_request(0, at + 200, (uint64_t)(100 + 2 * i), FUSE_GETATTR, MAIN, -1, 0);
		add_reply(0, at + 300, (uint64_t)(100 + 2 * i));
	}
}

static void transfers_show_the_difference_of_clocks(void)
{
	static const int64_t late[] = { 0, 7000, -7000, 40000 };

	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
		struct chain *chain;

		start();
		late_ns = late[i];
		is_merged = true;
		add_client_of_another_run();
		chain = read_chain();
		CHECK(requests(chain, CHAIN_MATCHED) == 25);
		for (uint64_t k = 1; k <= 25; k++)
			CHECK(partners(chain, CLIENT, k) == 1);
		chain_free(chain);
	}
}

static void clocks_that_differ_too_much_match_nothing_wrongly(void)
{
	struct chain *chain;

	start();
	late_ns = 60000;
	is_merged = true;
	add_client_of_another_run();
	chain = read_chain();
	CHECK(requests(chain, CHAIN_MATCHED) == 0);
	chain_free(chain);
}

static void several_calls_are_no_match(void)
{
	struct chain *chain;

	start();
	is_merged = true;
	add_call(CLIENT, 0, PWRITE, 1000, 2000, 0, 10);
	add_call(CLIENT, 0, PWRITE, 3000, 4000, 0, 10);
	add_request(0, 1100, 2, FUSE_WRITE, MAIN, 0, 10);
	chain = read_chain();
	CHECK(requests(chain, CHAIN_MATCHED) == 0 && requests(chain, CHAIN_SEVERAL_CALLS) == 1);
	chain_free(chain);
}

TESTS(TEST(call_leads_to_request_and_reply_back), TEST(split_call_leads_to_all_its_requests),
      TEST(reply_of_another_thread_answers_its_request), TEST(unknown_callers_are_not_matched),
      TEST(transfer_of_another_range_is_not_matched), TEST(inner_call_makes_the_request),
      TEST(missing_calls_of_the_server_make_requests_uncertain),
      TEST(read_without_a_head_is_counted_and_ends_the_request),
      TEST(transfers_show_the_difference_of_clocks),
      TEST(clocks_that_differ_too_much_match_nothing_wrongly), TEST(several_calls_are_no_match))
