/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/metrics.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "check.h"

#define LABELS(...) ((const char *const[]){ __VA_ARGS__ })

/* The rendered text; valid until the next call. */
static const char *rendered(struct metrics *metrics, bool with_jobs)
{
	static struct buf text;

	buf_clear(&text);
	metrics_render(metrics, with_jobs, &text);
	return buf_text(&text);
}

static void counters_add_up_by_series(void)
{
	struct metrics *m = metrics_new();

	CHECK(!*rendered(m, true));
	metrics_add(m, METRIC_BYTES, LABELS("lustre", "ost3", "write", "slow"), 100);
	metrics_add(m, METRIC_BYTES, LABELS("lustre", "ost3", "write", "slow"), 0.5);
	metrics_add(m, METRIC_BYTES, LABELS("lustre", NULL, "write", ""), 7);
	CHECK(strstr(rendered(m, false), "# TYPE sluice_io_bytes_total counter\n"));
	CHECK(strstr(rendered(m, false),
		     "sluice_io_bytes_total{filesystem=\"lustre\",target=\"ost3\",operation="
		     "\"write\",class=\"slow\"} 100.5\n"));
	CHECK(strstr(rendered(m, false),
		     "target=\"unknown\",operation=\"write\",class=\"unknown\"} 7\n"));
	metrics_free(m);
}

static void wrong_values_and_types_are_ignored(void)
{
	struct metrics *m = metrics_new();

	metrics_add(m, METRIC_ACTIVITIES, NULL, -1);
	metrics_add(m, METRIC_ACTIVITIES, NULL, NAN);
	metrics_add(m, METRIC_RUNS, NULL, 1);
	metrics_set(m, METRIC_ACTIVITIES, NULL, 1);
	metrics_observe(m, METRIC_DURATION, LABELS("a", "b"), NAN);
	CHECK(!*rendered(m, true));
	metrics_set(m, METRIC_RUNS, NULL, -INFINITY);
	CHECK(strstr(rendered(m, true), "\nsluice_runs -Inf\n"));
	metrics_free(NULL);
	metrics_free(m);
}

static void histograms_have_cumulative_buckets(void)
{
	struct metrics *m = metrics_new();

	metrics_observe(m, METRIC_DURATION, LABELS("ext4", "read"), 1e-6);
	metrics_observe(m, METRIC_DURATION, LABELS("ext4", "read"), 0.05);
	metrics_observe(m, METRIC_DURATION, LABELS("ext4", "read"), 1000);
	CHECK(strstr(rendered(m, true), "operation=\"read\",le=\"1e-06\"} 1\n"));
	CHECK(strstr(rendered(m, true), "operation=\"read\",le=\"0.01\"} 1\n"));
	CHECK(strstr(rendered(m, true), "operation=\"read\",le=\"0.1\"} 2\n"));
	CHECK(strstr(rendered(m, true), "operation=\"read\",le=\"100\"} 2\n"));
	CHECK(strstr(rendered(m, true), "operation=\"read\",le=\"+Inf\"} 3\n"));
	CHECK(strstr(rendered(m, true), "_count{filesystem=\"ext4\",operation=\"read\"} 3\n"));
	metrics_free(m);
}

static void values_are_escaped_and_made_utf8(void)
{
	struct metrics *m = metrics_new();
	char longest[4 * METRICS_VALUE_BYTES];

	metrics_add(m, METRIC_LOST,
		    LABELS("a\"b\\c\nd\xff"
			   "e\xc3\xa9"),
		    1);
	CHECK(strstr(rendered(m, true), "{cause=\"a\\\"b\\\\c\\nd?e\xc3\xa9\"} 1\n"));
	for (size_t i = 0; i < sizeof(longest) - 2; i += 2)
		memcpy(longest + i, "\xc3\xa9", 3);
	longest[sizeof(longest) - 2] = 0;
	metrics_add(m, METRIC_LOST, LABELS(longest), 1);
	/* Cut between two characters. */
	CHECK(strstr(rendered(m, true), "\xc3\xa9\"} 1\n"));
	CHECK(strlen(rendered(m, true)) < 3 * METRICS_VALUE_BYTES);
	metrics_free(m);
}

static size_t count_lines(const char *text, const char *start)
{
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, start)); at++)
		count += at == text || at[-1] == '\n';
	return count;
}

static void cardinality_is_bounded_per_label(void)
{
	struct metrics *m = metrics_new();

	for (int i = 0; i < 10000; i++) {
		char target[32];

		snprintf(target, sizeof(target), "target%d", i);
		metrics_add(m, METRIC_BYTES, LABELS("lustre", target, "write", "normal"), 1);
	}
	CHECK(count_lines(rendered(m, true), "sluice_io_bytes_total{") == METRICS_VALUES + 1);
	/* Nothing is lost: what has no series of its own is counted under "other". */
	CHECK(strstr(rendered(m, true),
		     "{filesystem=\"lustre\",target=\"other\",operation=\"write\","
		     "class=\"normal\"} 9936\n"));
	CHECK(strstr(rendered(m, true),
		     "sluice_metrics_overflow_total{metric=\"sluice_io_bytes_total\"} 9936\n"));
	metrics_free(m);
}

static void cardinality_is_bounded_per_metric(void)
{
	struct metrics *m = metrics_new();

	for (int i = 0; i < 40; i++)
		for (int k = 0; k < 40; k++) {
			char a[8], b[8];

			snprintf(a, sizeof(a), "a%d", i);
			snprintf(b, sizeof(b), "b%d", k);
			metrics_add(m, METRIC_BYTES, LABELS(a, b, "read", "fast"), 1);
		}
	CHECK(count_lines(rendered(m, true), "sluice_io_bytes_total{") == METRICS_SERIES + 1);
	CHECK(strstr(rendered(m, true),
		     "{filesystem=\"other\",target=\"other\",operation=\"other\","
		     "class=\"other\"} 1088\n"));
	metrics_free(m);
}

static void jobs_are_rendered_only_on_request_and_can_be_forgotten(void)
{
	struct metrics *m = metrics_new();

	metrics_add(m, METRIC_JOB_BYTES, LABELS("42", "alice", "lustre", "write"), 1);
	metrics_add(m, METRIC_JOB_BYTES, LABELS("43", "bob", "lustre", "write"), 1);
	metrics_add(m, METRIC_ACTIVITIES, NULL, 1);
	CHECK(!strstr(rendered(m, false), "job"));
	CHECK(!strstr(rendered(m, false), "alice"));
	CHECK(strstr(rendered(m, false), "sluice_daemon_activities_total 1\n"));
	CHECK(strstr(rendered(m, true), "job_id=\"42\",user=\"alice\""));
	metrics_forget(m, METRIC_JOB_BYTES, "42");
	CHECK(!strstr(rendered(m, true), "alice"));
	CHECK(strstr(rendered(m, true), "bob"));
	metrics_free(m);
}

static void *add_many(void *arg)
{
	for (int i = 0; i < 20000; i++)
		metrics_add(arg, METRIC_LOST, LABELS(i % 2 ? "a" : "b"), 1);
	return NULL;
}

static void threads_may_add_and_render(void)
{
	struct metrics *m = metrics_new();
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, add_many, m);
	for (int i = 0; i < 100; i++)
		rendered(m, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK(strstr(rendered(m, true), "sluice_daemon_lost_total{cause=\"a\"} 30000\n"));
	metrics_free(m);
}

TESTS(TEST(counters_add_up_by_series), TEST(wrong_values_and_types_are_ignored),
      TEST(histograms_have_cumulative_buckets), TEST(values_are_escaped_and_made_utf8),
      TEST(cardinality_is_bounded_per_label), TEST(cardinality_is_bounded_per_metric),
      TEST(jobs_are_rendered_only_on_request_and_can_be_forgotten),
      TEST(threads_may_add_and_render))
