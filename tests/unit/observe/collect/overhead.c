/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-18.
 */
#include "observe/collect/overhead.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)

static void keep(void *arg, const struct note *note)
{
	buf_printf(arg, "%lld %d %s %s %s %s\n", (long long)note->time_ns, (int)note->process,
		   note->source, note->kind, note->name, note->value);
}

static void start(struct overhead *o, struct buf *notes, double budget)
{
	struct overhead_settings settings = { .budget = budget,
					      .grace_ns = 100 * MS,
					      .processors = 4,
					      .host = "node",
					      .note = keep,
					      .arg = notes };

	overhead_init(o, &settings, CAPTURE_TRACE);
}

/* A process of one thread that has run for that long, and its overhead. */
static enum capture_mode add_sample(struct overhead *o, uint32_t process, int64_t run_ns,
				    int64_t cost_ns)
{
	struct overhead_sample sample = { .cost_ns = cost_ns, .run_ns = run_ns, .threads = 1 };

	overhead_add(o, process, &sample);
	return overhead_judge(o, run_ns);
}

static void budgets_are_percentages(void)
{
	static const char *const wrong[] = { "",     "x",    "-1%", "1%%", "inf",
					     "0x1%", "101%", "1 s", "nan", "%" };
	struct err err = { 0 };
	double share = 7;

	CHECK(overhead_parse("1%", &share, &err) == 0 && share == 0.01);
	CHECK(overhead_parse("0.5 %", &share, &err) == 0 && share == 0.005);
	CHECK(overhead_parse("2", &share, &err) == 0 && share == 0.02);
	CHECK(overhead_parse("0", &share, &err) == 0 && share == 0);
	share = 7;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (overhead_parse(wrong[i], &share, &err) >= 0)
			printf("accepted: %s\n", wrong[i]);
		CHECK(overhead_parse(wrong[i], &share, &err) < 0);
		CHECK(strstr(err.text, "overhead.budget"));
	}
	CHECK(share == 7);
}

static void within_the_budget_everything_is_recorded(void)
{
	AUTO_BUF struct buf notes = { 0 };
	struct overhead o;

	start(&o, &notes, 0.01);
	for (int64_t s = 1; s < 1000; s++)
		CHECK_INT(add_sample(&o, 0, s * S, s * S / 100), CAPTURE_TRACE);
	CHECK_TEXT(buf_text(&notes), "");
	overhead_release(&o);
}

static void a_short_run_is_never_degraded(void)
{
	AUTO_BUF struct buf notes = { 0 };
	struct overhead o;

	start(&o, &notes, 0.01);
	CHECK_INT(add_sample(&o, 0, 100 * MS, 50 * MS), CAPTURE_TRACE);
	CHECK_INT(add_sample(&o, 0, 200 * MS, 100 * MS), CAPTURE_TRACE);
	CHECK_INT(add_sample(&o, 0, 201 * MS, 100 * MS + 1), CAPTURE_COUNTERS);
	overhead_release(&o);
}

static void beyond_the_budget_calls_are_counted_and_then_ignored(void)
{
	AUTO_BUF struct buf notes = { 0 };
	struct overhead o;

	start(&o, &notes, 0.01);
	CHECK_INT(add_sample(&o, 0, 10 * S, 100 * MS), CAPTURE_TRACE);
	CHECK_INT(add_sample(&o, 0, 12 * S, 384 * MS), CAPTURE_COUNTERS);
	/* Threads that have not noticed the new mode yet do not count against it. */
	CHECK_INT(add_sample(&o, 0, 13 * S, 2 * S), CAPTURE_COUNTERS);
	CHECK_INT(add_sample(&o, 0, 15 * S, 2 * S), CAPTURE_OFF);
	CHECK_INT(add_sample(&o, 0, 99 * S, 50 * S), CAPTURE_OFF);
	CHECK(strstr(buf_text(&notes), "12000000000 0 overhead degraded counters "));
	CHECK_WORDS(buf_text(&notes), "recording|3.2%|1%");
	CHECK(strstr(buf_text(&notes), "15000000000 0 overhead degraded off "));
	CHECK_WORDS(buf_text(&notes), "counting|54%|1%");
	overhead_release(&o);
}

static void counting_within_the_budget_continues(void)
{
	AUTO_BUF struct buf notes = { 0 };
	struct overhead o;

	start(&o, &notes, 0.01);
	CHECK_INT(add_sample(&o, 0, 1 * S, 500 * MS), CAPTURE_COUNTERS);
	/* Half of the run time was lost at first, but counting is cheap. */
	for (int64_t s = 2; s < 100; s++)
		CHECK_INT(add_sample(&o, 0, s * S, 500 * MS + s * 9 * MS), CAPTURE_COUNTERS);
	overhead_release(&o);
}

static void a_budget_of_0_is_no_limit(void)
{
	AUTO_BUF struct buf notes = { 0 };
	struct overhead o;

	start(&o, &notes, 0);
	CHECK_INT(add_sample(&o, 0, 10 * S, 10 * S), CAPTURE_TRACE);
	CHECK_TEXT(buf_text(&notes), "");
	overhead_release(&o);
}

static void the_worst_process_decides(void)
{
	AUTO_BUF struct buf notes = { 0 };
	struct overhead o;

	start(&o, &notes, 0.01);
	CHECK_INT(add_sample(&o, 0, 100 * S, 0), CAPTURE_TRACE);
	CHECK_INT(add_sample(&o, 7, 100 * S, 2 * S), CAPTURE_COUNTERS);
	CHECK(strstr(buf_text(&notes), "100000000000 7 overhead degraded counters "));
	overhead_release(&o);
}

static void an_impossible_overhead_is_ignored(void)
{
	AUTO_BUF struct buf notes = { 0 };
	struct overhead o;

	start(&o, &notes, 0.01);
	CHECK_INT(add_sample(&o, 0, 10 * S, 50 * MS), CAPTURE_TRACE);
	CHECK_INT(add_sample(&o, 0, 11 * S, INT64_MAX), CAPTURE_TRACE);
	overhead_finish(&o, -1, -1);
	CHECK(strstr(buf_text(&notes), "cost guest_ns 50000000\n"));
	overhead_release(&o);
}

static void threads_share_the_cost_up_to_the_processors(void)
{
	struct overhead_sample sample = { .cost_ns = 8 * S, .run_ns = 10 * S };

	sample.threads = 0;
	CHECK(overhead_share(&sample, 4) == 0.8);
	sample.threads = 2;
	CHECK(overhead_share(&sample, 4) == 0.4);
	sample.threads = 1000;
	CHECK(overhead_share(&sample, 4) == 0.2);
	sample.run_ns = 0;
	CHECK(overhead_share(&sample, 4) == 0);
}

static void the_sample_is_read_from_the_spool(void)
{
	static struct spool_header header;
	struct run_clock clock = { .num = 10, .den = 1 }; /* 10 ns per tick */
	struct overhead_sample s;

	header.attached = 1000;
	header.first_thread = 3;
	header.threads = 5;
	header.cost_ticks = 70;
	header.plugins[0].ticks = 6;
	header.plugins[CONTROL_PLUGINS - 1].ticks = 1;
	s = overhead_sample(&header, &clock, 3000);
	CHECK_INT(s.cost_ns, 700);
	CHECK_INT(s.inline_ns, 70);
	CHECK_INT(s.run_ns, 20000);
	CHECK_INT(s.threads, 2);
	CHECK_INT(overhead_sample(&header, &clock, 500).run_ns, 0);
}

static void at_the_end_all_overheads_are_noted(void)
{
	AUTO_BUF struct buf notes = { 0 };
	struct overhead o;

	start(&o, &notes, 0.01);
	overhead_add(&o, 2,
		     &(struct overhead_sample){
			     .cost_ns = 5 * MS, .inline_ns = MS, .run_ns = S, .threads = 2 });
	overhead_finish(&o, 40 * MS, -1);
	CHECK_TEXT(buf_text(&notes), "-1 2 overhead cost guest_ns 5000000\n"
				     "-1 2 overhead cost guest_share 0.0025000000000000001\n"
				     "-1 2 overhead cost inline_ns 1000000\n"
				     "-1 -1 overhead cost collector_ns 40000000\n"
				     "-1 -1 overhead node processors 4\n");
	CHECK(overhead_cpu_ns() >= 0);
	overhead_release(&o);
}

TESTS(TEST(budgets_are_percentages), TEST(within_the_budget_everything_is_recorded),
      TEST(a_short_run_is_never_degraded),
      TEST(beyond_the_budget_calls_are_counted_and_then_ignored),
      TEST(counting_within_the_budget_continues), TEST(a_budget_of_0_is_no_limit),
      TEST(the_worst_process_decides), TEST(an_impossible_overhead_is_ignored),
      TEST(threads_share_the_cost_up_to_the_processors), TEST(the_sample_is_read_from_the_spool),
      TEST(at_the_end_all_overheads_are_noted))
