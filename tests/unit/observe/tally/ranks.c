/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/ranks.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "check.h"
#include "observe/report/render.h"
#include "observe/tally/recent.h"
#include "observe/tally/summary.h"

enum { WRITE = 1, READ };

static struct call_info calls[] = {
	[0] = { .name = "none" },
	[WRITE] = { .name = "write", .class = CLASS_WRITE },
	[READ] = { .name = "read", .class = CLASS_READ },
};
static char *files[] = { "", "/shared", "/own" };
static char node1[] = "node1", node2[] = "node2";

/* A launcher, four ranks on two hosts in mixed order, and a child of rank 2. */
static struct process_info processes[] = {
	{ .index = 0, .parent = -1, .rank = -1, .host = node1 },
	{ .index = 1, .parent = 0, .rank = 1, .ranks = 4, .host = node1 },
	{ .index = 2, .parent = 0, .rank = 0, .ranks = 4, .host = node1 },
	{ .index = 3, .parent = -1, .rank = 3, .ranks = 4, .host = node2 },
	{ .index = 4, .parent = -1, .rank = 2, .ranks = 4, .host = node2 },
	{ .index = 5, .parent = 4, .rank = -1, .host = node2 },
};
static struct trace_head head = {
	.run = { .command = "mpiexec -n 4 app" },
	.end = { .duration_ns = 2000, .complete = true },
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files,
	.file_count = 3,
	.processes = processes,
	.process_count = 6,
};

static void processes_find_their_ranks(void)
{
	struct ranks ranks;

	ranks_init(&ranks, &head);
	CHECK_INT(ranks.count, 4);
	CHECK_INT(ranks.hosts, 2);
	CHECK_INT(ranks.world, 4);
	CHECK_INT(ranks.list[3].number, 3);
	CHECK_TEXT(ranks.list[0].host, "node1");
	CHECK_TEXT(ranks.list[2].host, "node2");
	CHECK_INT(ranks_of_process(&ranks, 0), -1);
	CHECK_INT(ranks_of_process(&ranks, 1), 1);
	CHECK_INT(ranks_of_process(&ranks, 3), 3);
	CHECK_INT(ranks_of_process(&ranks, 5), 2); /* forked by it */
	CHECK_INT(ranks_of_process(&ranks, 99), -1);
	ranks_release(&ranks);
}

static void programs_one_after_the_other_share_rank_numbers(void)
{
	struct process_info twice[] = {
		{ .parent = -1, .rank = 0, .ranks = 2 },
		{ .parent = -1, .rank = 7, .ranks = 2 },
		{ .parent = -1, .rank = 0, .ranks = 1 },
		{ .parent = 99, .rank = -1 },
	};
	struct trace_head other = { .processes = twice, .process_count = 4 };
	struct ranks ranks;

	ranks_init(&ranks, &other);
	CHECK_INT(ranks.count, 2);
	CHECK_INT(ranks.world, 2);
	CHECK_INT(ranks_of_process(&ranks, 0), 0);
	CHECK_INT(ranks_of_process(&ranks, 1), 1); /* numbers may have gaps: a rank is missing */
	CHECK_INT(ranks_of_process(&ranks, 2), 0);
	CHECK_INT(ranks_of_process(&ranks, 3), -1);
	ranks_release(&ranks);
}

static void a_spread_names_the_extreme_ranks(void)
{
	static const double values[] = { 3, 1, 8, 1, 8 };
	AUTO_BUF struct buf text = { 0 };
	struct spread spread = { 0 };

	spread_format(&text, &spread);
	CHECK_TEXT(buf_text(&text), "(-,-,-)");
	for (int32_t rank = 0; rank < 5; rank++)
		spread_add(&spread, rank, values[rank]);
	spread_add(&spread, 5, 0.0 / 0.0);
	CHECK_INT(spread.count, 5);
	CHECK_INT(spread.minimum_rank, 1);
	CHECK_INT(spread.maximum_rank, 2);
	buf_clear(&text);
	spread_format(&text, &spread);
	CHECK_TEXT(buf_text(&text), "(4.2,1,8)");
}

/* The oldest are dropped first, and pointers stay valid. */
static void remembered_calls_are_bounded(void)
{
	struct recent recent;

	recent_init(&recent, 3, sizeof(int));
	for (uint64_t id = 1; id <= 4; id++)
		*(int *)recent_put(&recent, (struct call_ref){ 9, id }) = (int)id;
	CHECK_INT(recent.count, 3);
	CHECK(!recent_find(&recent, (struct call_ref){ 9, 1 }));
	CHECK(!recent_find(&recent, (struct call_ref){ 8, 4 }));
	REQUIRE(recent_find(&recent, (struct call_ref){ 9, 2 }));
	CHECK_INT(*(int *)recent_find(&recent, (struct call_ref){ 9, 2 }), 2);
	recent_drop(&recent, (struct call_ref){ 9, 2 });
	recent_drop(&recent, (struct call_ref){ 9, 2 });
	CHECK_INT(recent.count, 2);
	CHECK_INT(*(int *)recent_put(&recent, (struct call_ref){ 9, 2 }), 0);
	recent_release(&recent);
}

static void add(struct summary *s, uint32_t process, uint16_t call, file_id file, int64_t start,
		int64_t duration, int64_t bytes)
{
	static uint64_t id;

	summary_add(s, &(struct activity){ .id = ++id,
					   .process = process,
					   .call = call,
					   .file = file,
					   .start_ns = start,
					   .duration_ns = duration,
					   .result = bytes });
}

/* Rank 3 writes twice, the others once; the child of rank 2 reads, and so does the launcher. */
static void add_run(struct summary *s)
{
	summary_init(s, &head);
	add(s, 0, READ, 2, 0, 50, 512);
	add(s, 1, WRITE, 1, 100, 100, 1024);
	add(s, 2, WRITE, 1, 110, 100, 1024);
	add(s, 3, WRITE, 1, 120, 100, 1024);
	add(s, 4, WRITE, 1, 130, 100, 1024);
	add(s, 5, READ, 2, 140, 50, 256);
	add(s, 3, WRITE, 1, 250, 500, 1024);
}

static void ranks_are_summed_separately(void)
{
	struct summary_row *rows;
	struct spread spread;
	struct summary s;
	size_t n;

	add_run(&s);
	CHECK_INT(s.all.io.calls, 6);
	CHECK_INT(s.all.io.bytes_written, 5 * 1024);
	CHECK_INT(s.all.busy_ns, 130 + 500);
	CHECK_INT(s.outside.io.bytes_read, 512);
	CHECK_INT(s.of_rank[2].io.bytes_read, 256);
	CHECK_INT(s.of_rank[2].busy_ns, 100); /* its two processes at the same time */
	CHECK_INT(s.of_rank[3].busy_ns, 600);
	spread = summary_rank_spread(&s, &sums_measures[SUMS_BUSY]);
	CHECK_INT(spread.maximum_rank, 3);
	CHECK_INT(spread_average(&spread), 225);
	rows = summary_rows(&s, SUMMARY_FILES, &n);
	REQUIRE(n == 2);
	spread = summary_spread(&s, &rows[1], &tally_measures[TALLY_CALLS]);
	CHECK_INT(spread.count, 1); /* only rank 2 has the other file */
	CHECK_INT(spread.minimum_rank, 2);
	free(rows);
	rows = summary_rows(&s, SUMMARY_LAYERS, &n);
	REQUIRE(n == 1);
	spread = summary_spread(&s, &rows[0], &tally_measures[TALLY_WRITTEN]);
	CHECK_INT(spread.count, 4);
	CHECK_INT(spread.maximum, 2048);
	free(rows);
	summary_release(&s);
}

static void counted_calls_go_to_their_ranks(void)
{
	struct aggregate rows[] = {
		{ .process = 3, .file = 1, .group = GROUP_WRITE, .calls = 7, .bytes = 70 },
		{ .process = 0, .file = 1, .group = GROUP_WRITE, .calls = 1, .bytes = 5 },
	};
	struct trace_head counted = head;
	struct summary s;

	counted.aggregates = rows;
	counted.aggregate_count = 2;
	summary_init(&s, &counted);
	CHECK_INT(s.all.io.bytes_written, 70);
	CHECK_INT(s.of_rank[3].io.calls, 7);
	CHECK_INT(s.outside.io.bytes_written, 5);
	summary_release(&s);
}

static void the_verdict_names_the_slowest_rank(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct summary s;

	add_run(&s);
	render_verdict(&out, &s);
	CHECK_WORDS(buf_text(&out), "4 ranks on 2 hosts|256 B|5.00 KiB|2.00 us, 11.2%|225 ns per "
				    "rank|rank 3: 600 ns|write (10.7%|/shared (10.7%)");
	summary_release(&s);
}

static void notes_describe_ranks_launcher_and_clocks(void)
{
	struct host_info hosts[] = {
		{ .host = node1, .method = (char *)"reference" },
		{ .host = node2,
		  .method = (char *)"collective calls",
		  .offset_ns = -1500,
		  .error_ns = 20 },
		{ .host = (char *)"node3",
		  .method = (char *)"time of day",
		  .offset_ns = 7,
		  .error_ns = -1 },
	};
	AUTO_BUF struct buf out = { 0 };
	struct summary s;

	head.hosts = hosts;
	head.host_count = 3;
	add_run(&s);
	s.ranks.world = 5;
	render_notes(&out, &s);
	CHECK_WORDS(buf_text(&out), "ranks: 4 of 5 on 2 hosts|225 ns|100 ns (rank 0)|"
				    "600 ns (rank 3)|2.67 times");
	CHECK_WORDS(buf_text(&out), "outside the ranks|1 call, read 512 B, wrote 0 B in 50 ns");
	CHECK_WORDS(buf_text(&out), "node1: +0 ns (reference|up to 0 ns)");
	CHECK_WORDS(buf_text(&out), "node2: -1.50 us (collective calls|up to 20 ns)");
	CHECK_WORDS(buf_text(&out), "node3: +7 ns (time of day|unknown)");
	summary_release(&s);
	head.hosts = NULL;
	head.host_count = 0;
}

static char *render(void (*renderer)(FILE *, const struct report *))
{
	struct summary s;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	add_run(&s);
	renderer(out, &(struct report){ .summary = &s, .top = 9, .by_rank = true });
	fclose(out);
	summary_release(&s);
	return text;
}

static void tables_compare_ranks(void)
{
	AUTO_FREE char *text = render(render_text);

	CHECK(strstr(text, "  rank  host   calls  errors   read   written  from storage"));
	CHECK(strstr(text,
		     "     3  node2      2       0    0 B  2.00 KiB           0 B    2.00 KiB "
		     " 600 ns       600 ns"));
	CHECK(strstr(text,
		     "  layer  ranks  calls  errors   read   written  time/rank     min     max  "
		     "slowest  of run"));
	CHECK(strstr(text,
		     "  POSIX      4      6       0  256 B  5.00 KiB     237 ns  100 ns  600 ns  "
		     "      3   11.2%"));
}

static void json_contains_every_field_of_every_rank(void)
{
	AUTO_FREE char *text = render(render_json);

	CHECK(strstr(text, "\"ranks\": {\"count\": 4, \"world\": 4, \"hosts\": 2, \"fields\": "));
	CHECK(strstr(text, "\"busy_ns\": {\"average\": 225, \"minimum\": 100, \"minimum_rank\": 0, "
			   "\"maximum\": 600, \"maximum_rank\": 3}"));
	CHECK(strstr(text, "{\"rank\": 2, \"host\": \"node2\", \"calls\": 2, \"errors\": 0, "
			   "\"bytes_read\": 256, \"bytes_written\": 1024, "));
	CHECK(strstr(text, "\"outside_ranks\": {\"calls\": 1"));
	CHECK(strstr(text, "\"file\": \"/own\", \"class\": \"user\", \"layers\": [\"POSIX\"]"));
}

TESTS(TEST(processes_find_their_ranks), TEST(programs_one_after_the_other_share_rank_numbers),
      TEST(a_spread_names_the_extreme_ranks), TEST(remembered_calls_are_bounded),
      TEST(ranks_are_summed_separately), TEST(counted_calls_go_to_their_ranks),
      TEST(the_verdict_names_the_slowest_rank), TEST(notes_describe_ranks_launcher_and_clocks),
      TEST(tables_compare_ranks), TEST(json_contains_every_field_of_every_rank))
