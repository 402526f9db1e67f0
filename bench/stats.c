/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The overhead of node statistics: CPU time per poll and in percent of a core, for all providers
 * together with the recorder that writes a trace, and for each provider alone. The interval between
 * polls is that of a run, so that caches are as cold as in a run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench.h"
#include "observe/stats/recorder.h"
#include "observe/stats/statistics.h"

#define PERIOD_NS INT64_C(100000000)
#define POLLS 100
#define THRESHOLD_PERCENT 0.5
#define TRIALS_MAX 16

struct trial {
	const char *names;
	struct statistics *statistics;
};

/* Samples are written to a trace in the same way as the collector does. */
struct sink {
	void *writer;
	uint64_t samples;
	int failed;
};

static void sink_fact(void *arg, const struct fact *fact, const void *row)
{
	struct sink *sink = arg;

	sink->samples += fact == &fact_sample;
	if (trace_container.add_fact(sink->writer, fact, row, NULL) < 0)
		sink->failed = 1;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_until(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Polls all cases at every tick; the combined case comes first, directly after the wait. */
static void poll_all(struct trial *trials, size_t count)
{
	int64_t next_ns = now_ns();

	for (int i = 0; i < POLLS; i++) {
		next_ns += PERIOD_NS;
		wait_until(next_ns);
		for (size_t k = 0; k < count; k++)
			statistics_poll(trials[k].statistics, now_ns());
	}
}

static void trial_show(struct bench *b, const struct trial *c, bool has_threshold)
{
	double us = (double)statistics_cost_ns(c->statistics) / POLLS / 1000;
	double percent = us * 1000 / (double)PERIOD_NS * 100;

	table_add(&b->table, "%s", has_threshold ? "all, recorded" : c->names);
	table_add(&b->table, "%u", statistics_count(c->statistics));
	table_add(&b->table, "%.1f", us);
	table_add(&b->table, "%.3f", percent);
	bench_judge(b, "cost of statistics", percent,
		    has_threshold ? THRESHOLD_PERCENT : THRESHOLD_NONE, false, "% of a core");
	if (!has_threshold)
		return;
	bench_figure(b, "poll_us", us, 1);
	bench_figure(b, "percent", percent, 3);
}

static size_t trials_make(struct trial *trials, char *all)
{
	size_t count = 0;
	struct err err = { 0 };

	trials[count++].names = all;
	for (size_t i = 0; providers[i] && count < TRIALS_MAX; i++)
		trials[count++].names = providers[i]->name;
	for (size_t i = 0; i < count; i++)
		if (statistics_new(&trials[i].statistics, trials[i].names, "", &err) < 0) {
			fprintf(stderr, "bench_stats: %s\n", err.text);
			return 0;
		}
	return count;
}

static int writer_open(struct sink *sink, const char *path)
{
	struct run_info run = { 0 };
	struct run_clock clock = { (char *)"monotonic", 0, 1, 1, 0 };

	return trace_container.create(&sink->writer, path, &run, &clock, NULL, 0, NULL);
}

static void measure(struct bench *b, struct trial *trials, size_t count)
{
	struct run_end end = { .complete = true };
	struct run_clock clock = { (char *)"monotonic", 0, 1, 1, 0 };
	struct sink sink = { 0 };
	struct recorder *recorder = recorder_new("node", now_ns(), sink_fact, &sink);

	if (writer_open(&sink, b->trace) < 0) {
		bench_fail(b, "cannot write %s", b->trace);
	} else {
		statistics_listen(trials[0].statistics, recorder_listen, recorder);
		poll_all(trials, count);
		if (trace_container.finish(sink.writer, &end, &clock, NULL) < 0 || sink.failed)
			bench_fail(b, "cannot write the samples");
		for (size_t i = 0; i < count; i++)
			trial_show(b, &trials[i], !i);
		bench_figure(b, "samples", (double)sink.samples, 0);
	}
	recorder_free(recorder);
}

int main(int argc, char **argv)
{
	static const char *const titles[] = {
		"providers", ">statistics", ">us per poll", ">% of a core", ">threshold",
		"holds",     NULL
	};
	struct trial trials[TRIALS_MAX] = { 0 };
	char all[] = "cpu memory network io lustre utilization";
	struct bench b;
	size_t count;

	if (argc < 2 || !bench_init(&b, "stats", argv[1], titles)) {
		fprintf(stderr, "bench_stats: cannot use BUILD: %s\n",
			argc < 2 ? "missing" : strerror(errno));
		return 2;
	}
	bench_progress("polling");
	count = trials_make(trials, all);
	if (count)
		measure(&b, trials, count);
	else
		bench_fail(&b, "no provider has statistics");
	bench_progress("");
	table_print(&b.table, stdout, 0);
	for (size_t i = 0; i < count; i++)
		statistics_free(trials[i].statistics);
	return bench_end(&b);
}
