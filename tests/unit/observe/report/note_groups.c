/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/note_groups.h"

#include "base/mem.h"
#include "check.h"
#include "observe/report/render.h"
#include "observe/tally/summary.h"

#define S INT64_C(1000000000)

/* Two ranks that a launcher started. */
static struct process_info processes[] = {
	{ .parent = -1, .rank = -1 },
	{ .parent = -1, .rank = 0, .ranks = 2 },
	{ .parent = -1, .rank = 1, .ranks = 2 },
};
static struct note notes[64];
static struct trace_head head = { .processes = processes, .process_count = 3, .notes = notes };
static struct ranks ranks;

static void begin(void)
{
	head.note_count = 0;
	head.end.duration_ns = 10 * S;
	ranks_release(&ranks);
	ranks_init(&ranks, &head);
}

static void note(int32_t process, const char *source, const char *kind, const char *name,
		 const char *value)
{
	notes[head.note_count++] = (struct note){ .time_ns = -1,
						  .process = process,
						  .host = "n0",
						  .source = (char *)source,
						  .kind = (char *)kind,
						  .name = (char *)name,
						  .value = (char *)value };
}

static void numbers_of_ranks_become_a_spread(void)
{
	AUTO_FREE struct note_group *found = NULL;
	const struct note_group *f;
	size_t n;

	begin();
	note(0, "p", NOTE_REPORT, "reads", "100"); /* reported by the launcher */
	note(1, "p", NOTE_REPORT, "reads", "10");
	note(1, "p", NOTE_COST, "reads", "77"); /* another kind */
	note(2, "p", NOTE_REPORT, "reads", "20");
	note(-1, "p", NOTE_REPORT, "nodes", "5");
	note(0, "p", NOTE_REPORT, "launched", "6");
	found = note_groups_new(&head, &ranks, NOTE_REPORT, &n);
	REQUIRE(n == 3);
	f = note_groups_find(found, n, "p", "reads");
	REQUIRE(f && f->is_number);
	CHECK_INT(f->spread.count, 2);
	CHECK_INT(spread_average(&f->spread), 15);
	CHECK_INT(f->spread.maximum_rank, 1);
	CHECK_INT(f->sum, 130);
	/* Without a rank the spread is over processes, without a process over nodes. */
	CHECK_INT(note_groups_find(found, n, "p", "nodes")->spread.maximum, 5);
	CHECK_INT(note_groups_find(found, n, "p", "launched")->spread.maximum, 6);
	CHECK(!note_groups_find(found, n, "q", "reads"));
}

static void a_number_that_a_process_reports_twice_is_two_findings(void)
{
	AUTO_FREE struct note_group *found = NULL;
	size_t n;

	begin();
	note(1, "p", NOTE_REPORT, "reads", "1");
	note(2, "p", NOTE_REPORT, "reads", "2");
	note(1, "p", NOTE_REPORT, "reads", "30");
	note(2, "p", NOTE_REPORT, "reads", "40");
	found = note_groups_new(&head, &ranks, NOTE_REPORT, &n);
	REQUIRE(n == 2);
	CHECK_INT(found[0].spread.maximum, 2);
	CHECK_INT(found[1].spread.minimum, 30);
}

static void equal_texts_become_one_finding(void)
{
	AUTO_FREE struct note_group *found = NULL;
	size_t n;

	begin();
	note(1, "p", NOTE_REPORT, "mode", "fast");
	note(2, "p", NOTE_REPORT, "mode", "fast");
	note(1, "p", NOTE_REPORT, "mode", "12 monkeys"); /* not a number */
	note(1, NULL, NOTE_REPORT, NULL, NULL);
	found = note_groups_new(&head, &ranks, NOTE_REPORT, &n);
	REQUIRE(n == 3);
	CHECK_INT(found[0].count, 2);
	CHECK_TEXT(note_group_value(&found[0]), "fast");
	CHECK(!found[1].is_number);
	CHECK_TEXT(note_group_source(&found[2]), "");
}

static char *rendered(void (*render)(FILE *, const struct report *))
{
	struct summary summary;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	summary_init(&summary, &head);
	render(out, &(struct report){ .summary = &summary, .top = 2 });
	fclose(out);
	summary_release(&summary);
	return text;
}

static void events_have_their_time_and_place(void)
{
	AUTO_FREE char *text = NULL;

	begin();
	for (int i = 0; i < 4; i++) {
		note(i < 3 ? i : -1, "reasoner", NOTE_ANOMALY, "bad", "slow calls");
		notes[i].time_ns = (i + 1) * S;
	}
	note(-1, "mine", NOTE_REFUSED, "", "ABI 7");
	note(1, "read_ahead", NOTE_APPLIED, "advice given", "10");
	note(2, "read_ahead", NOTE_APPLIED, "advice given", "30");
	text = rendered(render_events);
	CHECK_WORDS(text, "1.00 s, process 0, reasoner: bad: slow calls|"
			  "2.00 s, rank 0, reasoner: bad: slow calls|2 more|--top 4");
	CHECK(!strstr(text, "3.00 s"));
	CHECK(strstr(text, "\n  n0, mine: ABI 7\n"));
	CHECK(strstr(text, "\n  [read_ahead] advice given (20,10,30)\n"));
}

static void reports_and_overheads_are_grouped(void)
{
	AUTO_FREE char *text = NULL;

	begin();
	note(1, "surveyor", NOTE_REPORT, "POSIX \"/a\"/Accesses", "1");
	note(2, "surveyor", NOTE_REPORT, "POSIX \"/a\"/Accesses", "2");
	note(-1, "surveyor", NOTE_REPORT, "POSIX \"/a\"/Sharing", "disjoint");
	note(1, "surveyor", NOTE_REPORT, "POSIX \"/b\"/Accesses", "7");
	note(1, "overhead", NOTE_COST, "guest_ns", "1500000");
	note(1, "overhead", NOTE_COST, "guest_share", "0.00125");
	text = rendered(render_note_groups);
	CHECK(strstr(text, "(average,minimum,maximum)\n"
			   "  [surveyor] POSIX \"/a\": Accesses (1.5,1,2), Sharing disjoint\n"
			   "  [surveyor] POSIX \"/b\": Accesses 7\n\n"));
	CHECK_WORDS(strstr(text, "[overhead]"), "1.50 ms|0.12%");
}

static void fields_of_a_group_continue_on_the_next_line(void)
{
	static char names[30][32];
	AUTO_FREE char *text = NULL;

	begin();
	for (int i = 0; i < 30; i++) {
		snprintf(names[i], sizeof(names[i]), "group/field%d", i);
		note(1, "p", NOTE_REPORT, names[i], "123456");
	}
	text = rendered(render_note_groups);
	CHECK(strstr(text, "\n  [p] group: field0 123456, field1 123456, "));
	CHECK(strstr(text, ",\n      field"));
	CHECK(strstr(text, " field29 123456\n"));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		CHECK(strcspn(line, "\n") <= 118);
}

static void a_long_report_is_cut_and_says_so(void)
{
	static char names[50][8];
	AUTO_FREE char *text = NULL;

	begin();
	for (int i = 0; i < 50; i++) {
		snprintf(names[i], sizeof(names[i]), "n%d/f", i);
		note(1, i < 45 ? "long" : "short", NOTE_REPORT, names[i], "1");
	}
	text = rendered(render_note_groups);
	CHECK_WORDS(text, "[long] n39: f 1|5 more of long|--top 45|[short] n45: f 1");
	CHECK(!strstr(text, "[long] n40"));
}

static void node_statistics_are_limited_to_the_time_of_io(void)
{
	static struct statistic_info statistics[] = {
		{ .number = 0,
		  .host = "n0",
		  .name = "utilization/io",
		  .unit = "%",
		  .reduction = "mean",
		  .scale = 10 },
		{ .number = 1,
		  .host = "n0",
		  .name = "io/vda/read",
		  .unit = "bytes",
		  .reduction = "sum",
		  .scale = 1 },
		{ .number = 2,
		  .host = "n0",
		  .name = "swap",
		  .unit = "bytes",
		  .reduction = "mean",
		  .scale = 1 },
	};
	static struct stat_sample samples[] = {
		{ .statistic = 0, .time_ns = 5 * S, .period_ns = 5 * S, .value = 300 },
		{ .statistic = 0, .time_ns = 10 * S, .period_ns = 5 * S, .value = 900 },
		{ .statistic = 1, .time_ns = 10 * S, .period_ns = 10 * S, .value = 10 << 20 },
		{ .statistic = 2, .time_ns = 10 * S, .period_ns = 10 * S, .value = 0 },
	};
	AUTO_FREE char *text = NULL;

	begin();
	head.statistics = statistics;
	head.statistic_count = 3;
	head.samples = samples;
	head.sample_count = 4;
	text = rendered(render_note_groups);
	CHECK(strncmp(text, "\nNode statistics ", 17) == 0);
	CHECK_WORDS(text, "0 ns to 10.0 s");
	CHECK(strstr(text, "utilization/io       60.0%       30.0%       90.0%         -  n0\n"));
	CHECK(strstr(text, "io/vda/read     1.00 MiB/s  1.00 MiB/s  1.00 MiB/s  10.0 MiB  n0\n"));
	CHECK(!strstr(text, "swap")); /* 0 all the time */
	head.statistic_count = head.sample_count = 0;
}

TESTS(TEST(numbers_of_ranks_become_a_spread),
      TEST(a_number_that_a_process_reports_twice_is_two_findings),
      TEST(equal_texts_become_one_finding), TEST(events_have_their_time_and_place),
      TEST(reports_and_overheads_are_grouped), TEST(fields_of_a_group_continue_on_the_next_line),
      TEST(a_long_report_is_cut_and_says_so), TEST(node_statistics_are_limited_to_the_time_of_io))
