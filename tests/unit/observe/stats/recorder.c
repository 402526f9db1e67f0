/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/recorder.h"

#include "observe/stats/window.h"
#include "stats_tree.h"

#define SECOND INT64_C(1000000000)

/* Keeps the recorded facts as a trace does. */
struct kept {
	struct trace_head head;
	size_t statistic_cap, sample_cap;
};

static void keep(void *arg, const struct fact *fact, const void *row)
{
	struct kept *kept = arg;
	struct trace_head *head = &kept->head;

	if (fact == &fact_statistic) {
		const struct statistic_info *info = row;

		REQUIRE(info->number == head->statistic_count);
		head->statistics = xgrow(head->statistics, &kept->statistic_cap,
					 head->statistic_count + 1, sizeof(*info));
		head->statistics[head->statistic_count++] = (struct statistic_info){
			info->number,	     xstrdup(info->host),      xstrdup(info->name),
			xstrdup(info->unit), xstrdup(info->reduction), info->scale
		};
		return;
	}
	REQUIRE(fact == &fact_sample);
	REQUIRE(((const struct stat_sample *)row)->statistic < head->statistic_count);
	head->samples = xgrow(head->samples, &kept->sample_cap, head->sample_count + 1,
			      sizeof(*head->samples));
	head->samples[head->sample_count++] = *(const struct stat_sample *)row;
}

static const struct stat_sample *sample_of(const struct kept *kept, uint32_t statistic,
					   size_t which)
{
	for (size_t i = 0; i < kept->head.sample_count; i++)
		if (kept->head.samples[i].statistic == statistic && !which--)
			return &kept->head.samples[i];
	REQUIRE(!"there is such a sample");
	return NULL;
}

/* Polls `count` times, 100 ms apart and up to a millisecond late; each poll adds 10 bytes. */
static void polls_make(struct tree *t, int count)
{
	static uint64_t bytes = 100;

	for (int i = 0; i < count; i++) {
		AUTO_FREE char *net = xprintf("h\n eth0: %llu 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n",
					      (unsigned long long)(bytes += 10));
		AUTO_FREE char *load = xprintf("%d.125 0 0 1/1 1\n", i % 2);

		tree_write(t, "proc/net/dev", net);
		tree_write(t, "proc/loadavg", load);
		statistics_poll(t->statistics, t->now_ns + i % 3 * 500000);
		t->now_ns += POLL_NS;
	}
}

static void every_poll_is_kept_for_a_minute_and_every_second_later(void)
{
	struct tree t = tree_new();
	struct kept kept = { 0 };
	struct recorder *recorder = recorder_new("n1", t.now_ns, keep, &kept);
	const struct stat_sample *last;
	int64_t total = 0;
	size_t dense = 0;

	tree_write(&t, "proc/loadavg", "");
	tree_write(&t, "proc/net/dev", "");
	tree_start(&t, "cpu network");
	statistics_listen(t.statistics, recorder_listen, recorder);
	polls_make(&t, 705); /* 70.4 s */
	recorder_finish(recorder, t.statistics);
	REQUIRE(kept.head.statistic_count == 5);
	CHECK_TEXT(kept.head.statistics[0].name, "cpu/load");
	CHECK_TEXT(kept.head.statistics[0].reduction, "mean");
	CHECK_INT(kept.head.statistics[0].scale, 100);
	CHECK_TEXT(kept.head.statistics[1].name, "network/eth0/received");
	CHECK_TEXT(kept.head.statistics[1].host, "n1");
	for (size_t i = 0; i < kept.head.sample_count; i++)
		if (kept.head.samples[i].statistic == 1) {
			total += kept.head.samples[i].value;
			dense += kept.head.samples[i].time_ns <= 60 * SECOND;
		}
	/* The first poll initializes the counter. Nothing is lost when samples become rare. */
	CHECK_INT(dense, 600);
	CHECK_INT(total, 704 * 10);
	CHECK_INT(sample_of(&kept, 0, 0)->time_ns, 0);
	CHECK_INT(sample_of(&kept, 0, 0)->value, 13);
	CHECK_INT(sample_of(&kept, 1, 0)->period_ns, POLL_NS + 500000);
	/* Ten seconds and a remainder. */
	CHECK_INT(sample_of(&kept, 1, 600)->value, 100);
	CHECK(llabs(sample_of(&kept, 1, 600)->period_ns - SECOND) <= 2000000);
	CHECK_INT(sample_of(&kept, 0, 605)->value, 63); /* 0.625 on average */
	last = &kept.head.samples[kept.head.sample_count - 1];
	CHECK_INT(last->time_ns, 704 * POLL_NS + 704 % 3 * 500000);
	recorder_free(recorder);
	tree_free(&t);
	for (size_t i = 0; i < kept.head.statistic_count; i++)
		fact_release(&fact_statistic, &kept.head.statistics[i]);
	free(kept.head.statistics);
	free(kept.head.samples);
}

static void a_long_run_has_few_samples(void)
{
	struct tree t = tree_new();
	struct kept kept = { 0 };
	struct recorder *recorder = recorder_new("", t.now_ns, keep, &kept);
	const int64_t day = 24 * 3600 * SECOND;
	int64_t covered_ns = 0;

	tree_write(&t, "proc/loadavg", "0.5 0 0 1/1 1\n");
	tree_start(&t, "cpu");
	statistics_listen(t.statistics, recorder_listen, recorder);
	for (int64_t ns = 0; ns <= day; ns += POLL_NS) {
		statistics_poll(t.statistics, t.now_ns + ns);
	}
	CHECK(kept.head.sample_count < 10000);
	for (size_t i = 0; i < kept.head.sample_count; i++)
		covered_ns += kept.head.samples[i].period_ns;
	CHECK(covered_ns > day - 60 * SECOND);
	recorder_free(recorder);
	tree_free(&t);
	for (size_t i = 0; i < kept.head.statistic_count; i++)
		fact_release(&fact_statistic, &kept.head.statistics[i]);
	free(kept.head.statistics);
	free(kept.head.samples);
}

static struct statistic_info statistics[] = {
	{ 0, (char *)"n1", (char *)"cpu/user", (char *)"%", (char *)"mean", 100 },
	{ 1, (char *)"n1", (char *)"io/sda/read", (char *)"bytes", (char *)"sum", 1 },
	{ 2, (char *)"n2", (char *)"cpu/user", (char *)"%", (char *)"mean", 1 },
	{ 3, (char *)"n2", (char *)"cpu/idle", (char *)"%", (char *)"mean", 1 },
};
static struct stat_sample samples[] = {
	{ 0, SECOND, 0, 9900 },
	{ 0, 2 * SECOND, SECOND, 2000 },
	{ 0, 3 * SECOND, SECOND, 4000 },
	{ 0, 4 * SECOND, SECOND, 8000 },
	{ 1, 2 * SECOND, 2 * SECOND, 600 },
	{ 1, 4 * SECOND, 2 * SECOND, 200 },
	{ 2, 9 * SECOND, SECOND, 50 },
	{ 3, INT64_MAX, INT64_MIN, 1 },
	{ 3, INT64_MIN, INT64_MAX, 1 },
};
static const struct trace_head head = { .statistics = statistics,
					.statistic_count = 4,
					.samples = samples,
					.sample_count = sizeof(samples) / sizeof(samples[0]) };

/* Finds the figure of a host's statistic; with host NULL, that of the first host. */
static const struct window_figure *find_figure(const struct window_figure *figures,
					       const char *host, const char *name)
{
	for (size_t i = 0; i < head.statistic_count; i++)
		if (figures[i].covered_ns > 0 && !strcmp(figures[i].statistic->name, name) &&
		    (!host || !strcmp(figures[i].statistic->host, host)))
			return &figures[i];
	return NULL;
}

static void a_window_weighs_samples_by_the_time_they_share(void)
{
	/* From 1.5 s to 3 s. */
	AUTO_FREE struct window_figure *w = window_new(&head, 3 * SECOND / 2, 3 * SECOND);
	const struct window_figure *f = find_figure(w, NULL, "cpu/user");

	REQUIRE(f);
	CHECK_TEXT(f->statistic->host, "n1");
	CHECK(fabs(f->mean - (20 * 0.5 + 40) / 1.5) < 1e-9);
	CHECK(f->maximum == 40 && f->minimum == 20 && f->total == 0);
	CHECK(f->covered_ns == 1.5e9);
	f = find_figure(w, "n1", "io/sda/read");
	REQUIRE(f);
	/* A quarter of 600 in half a second, half of 200 in one. */
	CHECK(fabs(f->total - 250) < 1e-9);
	CHECK(fabs(f->mean - 250 / 1.5) < 1e-9);
	CHECK(f->maximum == 300 && f->minimum == 100);
	CHECK(!find_figure(w, "n2", "cpu/user"));
	CHECK(!find_figure(w, NULL, "cpu/system"));
}

static void windows_may_be_empty_or_outside_the_run(void)
{
	static const int64_t ends[] = { INT64_MIN, -1, 0, 1, SECOND, 5 * SECOND, INT64_MAX };
	struct trace_head none = { 0 };
	AUTO_FREE struct window_figure *first = window_new(&head, 0, SECOND + 1);

	/* A level that was read at one moment. */
	CHECK(first[0].covered_ns >= 1 && first[0].maximum == 99);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
			AUTO_FREE struct window_figure *w = window_new(&head, ends[i], ends[k]);

			for (size_t j = 0; j < 4; j++) {
				CHECK(w[j].covered_ns >= 0 && !isnan(w[j].mean));
				CHECK(i < k || w[j].covered_ns == 0);
			}
		}
	CHECK(!window_new(&none, 0, 1));
}

TESTS(TEST(every_poll_is_kept_for_a_minute_and_every_second_later),
      TEST(a_long_run_has_few_samples), TEST(a_window_weighs_samples_by_the_time_they_share),
      TEST(windows_may_be_empty_or_outside_the_run))
