/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The capture benchmark measures the overhead of recording, the rate of calls that the collector
 * sustains without loss, the size of a trace and the speed of reading it. It prints one table and
 * one closing line of figures, and exits with 1 if a threshold is missed. docs/reference/benchmarks.md
 * describes how each figure is measured.
 * Papers: SIOX-57, SIOX-58.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench.h"
#include "peers.h"
#include "probe.h"

#define ROTATIONS 7
#define PACE_SECONDS 10
#define PACE_THREADS 2
#define PACE_SLACK_NS 500000000 /* a producer that takes longer than this was too slow */
#define SPOOL_LIMIT_BYTES (UINT64_C(1) << 30)
#define STRIDE_CALLS 2000000
#define READS 5
#define STARTS 101

/* threshold_ns: largest overhead per call, in nanoseconds; calls: number of calls that all threads
 * make in a loop, in total. */
static const struct call {
	const char *title, *key, *function;
	const char *calls;
	double threshold_ns, threshold_crowd_ns, threshold_off_ns;
} calls[] = {
	{ "fwrite 0 B", "fwrite0", "fwrite", "400000", 20, 30, 5 },
	{ "fwrite 1 B", "fwrite1", "fwrite", "400000", 20, 30, 5 },
	{ "pwrite 1 B", "pwrite1", "pwrite", "400000", 60, 80, 5 },
	{ "pwrite 4 KiB", "pwrite4k", "pwrite", "200000", THRESHOLD_NONE, THRESHOLD_NONE,
	  THRESHOLD_NONE },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static const int threads[] = { 1, 2, 4, 8, 16 };
#define THREADS (sizeof(threads) / sizeof(threads[0]))
#define CROWD 8 /* the number of threads with a threshold of its own */

enum mode { BARE, TRACED, OFF, MODES };

/* One cell of the cost table: nanoseconds per call, one value per rotation. */
struct cost {
	struct sample warm[MODES], cold[MODES];
};

static void cost_take(struct bench *b, const struct call *call, int thread_count, enum mode mode,
		      struct cost *cost)
{
	AUTO_FREE char *load = bench_program(b, "bench_load");
	AUTO_FREE char *count = xprintf("%d", thread_count);
	char *argv[] = { load,
			 "calls",
			 (char *)call->key,
			 count,
			 (char *)call->calls,
			 b->memory,
			 mode == TRACED ? "stopping" : "plain",
			 NULL };
	static char *const names[] = { NULL, "trace", "off" };
	AUTO_FREE char *what = xprintf("%s, %d threads, %s", call->title, thread_count,
				       names[mode] ? names[mode] : "bare");
	struct reading reading;
	struct probe probe;

	bench_progress(what);
	if (!probe_run(&probe, mode == BARE ? argv : bench_under_sluice(b, names[mode], argv), NULL,
		       NULL)) {
		bench_fail(b, "%s: the program failed", what);
		probe_release(&probe);
		return;
	}
	sample_add(&cost->warm[mode], (double)probe_value(&probe, "warm_ps", 0) / 1000);
	sample_add(&cost->cold[mode], (double)probe_value(&probe, "cold_ps", 0) / 1000);
	if (mode != BARE)
		bench_trace_check(b, what, call->function,
				  mode == TRACED ? probe_value(&probe, "calls", 0) : 0, &reading);
	unlink(b->trace);
	probe_release(&probe);
}

static void cost_row(struct bench *b, unsigned call_number, int thread_count,
		     const struct cost *cost)
{
	const struct call *call = &calls[call_number];
	double bare = sample_median(&cost->warm[BARE]), traced = sample_median(&cost->warm[TRACED]);
	double threshold = thread_count == 1	   ? call->threshold_ns
			   : thread_count == CROWD ? call->threshold_crowd_ns
						   : THRESHOLD_NONE;
	struct sample pairs = sample_added(&cost->warm[TRACED], &cost->warm[BARE]);
	AUTO_FREE char *what =
		xprintf("%s, %d thread%s", call->title, thread_count, thread_count > 1 ? "s" : "");
	AUTO_BUF struct buf peers = { 0 };

	table_add(&b->table, "%s", what);
	table_add(&b->table, "%.1f", bare);
	table_add(&b->table, "%.1f", traced);
	table_add(&b->table, "%+.1f", traced - bare);
	table_add(&b->table, "%+.1f..%+.1f", sample_quantile(&pairs, 0.25),
		  sample_quantile(&pairs, 0.75));
	table_add(&b->table, "%+.1f",
		  sample_median(&cost->cold[TRACED]) - sample_median(&cost->cold[BARE]));
	bench_judge(b, what, traced - bare, threshold, false, "ns");
	peers_cost(&peers, call_number, thread_count);
	table_add(&b->table, "%s", buf_text(&peers));
}

static void off_row(struct bench *b, unsigned call_number, int thread_count,
		    const struct cost *cost)
{
	const struct call *call = &calls[call_number];
	double bare = sample_median(&cost->warm[BARE]), off = sample_median(&cost->warm[OFF]);
	struct sample pairs = sample_added(&cost->warm[OFF], &cost->warm[BARE]);
	AUTO_FREE char *what = xprintf("%s, %d thread%s, off", call->title, thread_count,
				       thread_count > 1 ? "s" : "");

	table_add(&b->table, "%s", what);
	table_add(&b->table, "%.1f", bare);
	table_add(&b->table, "%.1f", off);
	table_add(&b->table, "%+.1f", off - bare);
	table_add(&b->table, "%+.1f..%+.1f", sample_quantile(&pairs, 0.25),
		  sample_quantile(&pairs, 0.75));
	table_add(&b->table, "%s", "");
	bench_judge(b, what, off - bare,
		    thread_count == 1 ? call->threshold_off_ns : THRESHOLD_NONE, false, "ns");
	table_add(&b->table, "%s", thread_count == 1 ? peers_off[call_number] : "");
}

static void cost_figures(struct bench *b, const struct call *call, int thread_count,
			 const struct cost *cost)
{
	double bare = sample_median(&cost->warm[BARE]);
	AUTO_FREE char *traced = xprintf("%s_%d_ns", call->key, thread_count);
	AUTO_FREE char *off = xprintf("%s_off_%d_ns", call->key, thread_count);

	if (thread_count != 1 && thread_count != CROWD)
		return;
	bench_figure(b, traced, sample_median(&cost->warm[TRACED]) - bare, 1);
	bench_figure(b, off, sample_median(&cost->warm[OFF]) - bare, 1);
}

/* Each rotation runs all cases; the modes of a case follow each other directly. */
static void part_cost(struct bench *b)
{
	static struct cost costs[CALLS][THREADS];

	for (int rotation = 0; rotation < ROTATIONS; rotation++)
		for (unsigned c = 0; c < CALLS; c++)
			for (unsigned t = 0; t < THREADS; t++)
				for (enum mode m = BARE; m < MODES; m++)
					cost_take(b, &calls[c], threads[t], m, &costs[c][t]);
	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned t = 0; t < THREADS; t++)
			cost_row(b, c, threads[t], &costs[c][t]);
	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned t = 0; t < THREADS; t++)
			off_row(b, c, threads[t], &costs[c][t]);
	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned t = 0; t < THREADS; t++)
			cost_figures(b, &calls[c], threads[t], &costs[c][t]);
}

/* Adds a row for a figure that has no baseline. */
static void plain_row(struct bench *b, const char *what, double value, int digits, double threshold,
		      bool at_least, const char *peers)
{
	table_add(&b->table, "%s", what);
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%.*f", digits, value);
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%s", "");
	bench_judge(b, what, value, threshold, at_least, "");
	table_add(&b->table, "%s", peers);
}

struct pace {
	const struct bench *bench;
	uint64_t peak_bytes;
	double tail_s;	     /* from the end of the program to the complete trace */
	double collector_ns; /* CPU per activity */
};

static void pace_tick(void *arg)
{
	struct pace *p = arg;
	uint64_t bytes = directory_bytes(p->bench->spool);

	if (bytes > p->peak_bytes)
		p->peak_bytes = bytes;
}

/* Produces the given number of million calls per second for PACE_SECONDS. Returns true if all of
 * them are in the trace. */
static bool pace_try(struct bench *b, int millions, struct pace *pace)
{
	AUTO_FREE char *load = bench_program(b, "bench_load");
	AUTO_FREE char *rate = xprintf("%d", millions * 1000000);
	AUTO_FREE char *what = xprintf("%d million/s for %d s", millions, PACE_SECONDS);
	AUTO_FREE char *seconds = xprintf("%d", PACE_SECONDS), *count = xprintf("%d", PACE_THREADS);
	char *argv[] = { load, "pace", "fwrite0", count, rate, seconds, b->memory, NULL };
	struct bench quiet = { .trace = b->trace }; /* rates above the threshold may fail */
	struct reading reading = { 0 };
	struct probe probe;
	uint64_t elapsed;
	bool good;

	bench_progress(what);
	*pace = (struct pace){ .bench = b };
	good = probe_run(&probe, bench_under_sluice(b, "trace", argv), pace_tick, pace);
	elapsed = probe_value(&probe, "elapsed_ns", 0);
	if (good && elapsed > PACE_SECONDS * UINT64_C(1000000000) + PACE_SLACK_NS) {
		bench_fail(&quiet, "%s: the program took %.1f s", what, (double)elapsed / 1e9);
		good = false;
	}
	good = good &&
	       bench_trace_check(&quiet, what, "fwrite", probe_value(&probe, "calls", 0), &reading);
	if (pace->peak_bytes > SPOOL_LIMIT_BYTES) {
		bench_fail(&quiet, "%s: the spool took %llu bytes", what,
			   (unsigned long long)pace->peak_bytes);
		good = false;
	}
	pace->tail_s = (double)(probe.wall_ns - elapsed) / 1e9;
	if (reading.activities)
		pace->collector_ns = (double)(probe.cpu_us - probe_value(&probe, "cpu_us", 0)) *
				     1000 / (double)reading.activities;
	if (!good)
		fprintf(stderr, "bench: not sustained: %s", buf_text(&quiet.missed));
	buf_release(&quiet.missed);
	unlink(b->trace);
	probe_release(&probe);
	return good;
}

static bool pace_row(struct bench *b, int millions, struct pace *pace)
{
	bool good = pace_try(b, millions, pace);

	table_add(&b->table, "%d million calls/s for %d s", millions, PACE_SECONDS);
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%s", good ? "no loss" : "NOT SUSTAINED");
	table_add(&b->table, "%s", "");
	table_add(&b->table, "spool %.0f MiB", (double)pace->peak_bytes / (1 << 20));
	table_add(&b->table, "+%.1f s", pace->tail_s);
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%s", "");
	return good;
}

/* Raises the rate while it is sustained; lowers it if even the threshold is not sustained. */
static void part_sustained(struct bench *b)
{
	static const int up[] = { 5, 6, 8, 10, 12, 0 }, down[] = { 4, 3, 2, 1, 0 };
	struct pace pace, best = { 0 };
	int highest = 0;

	for (const int *rate = up; *rate && pace_row(b, *rate, &pace); rate++) {
		highest = *rate;
		best = pace;
	}
	for (const int *rate = down; *rate && !highest; rate++) {
		if (pace_row(b, *rate, &pace)) {
			highest = *rate;
			best = pace;
		}
	}
	plain_row(b, "sustained, million/s", highest, 0, 5, true, "");
	plain_row(b, "collector, CPU ns/activity", best.collector_ns, 1, THRESHOLD_NONE, false, "");
	bench_figure(b, "sustained_mps", highest, 0);
	bench_figure(b, "spool_peak_mib", (double)best.peak_bytes / (1 << 20), 0);
	bench_figure(b, "tail_s", best.tail_s, 1);
	bench_figure(b, "collector_ns", best.collector_ns, 1);
}

static void reading_rows(struct bench *b, uint64_t expected)
{
	struct sample wall = { .count = 0 }, cpu = { .count = 0 };
	struct reading reading = { 0 };
	char *argv[] = { b->sluice, "report", b->trace, NULL };
	struct probe probe;
	double report;

	for (int i = 0; i < READS; i++) {
		if (!bench_trace_check(b, "strided writes", "pwrite", expected, &reading))
			break;
		sample_add(&wall, (double)reading.activities * 1e3 / (double)reading.wall_ns);
		sample_add(&cpu, (double)reading.activities * 1e3 / (double)reading.cpu_ns);
	}
	probe_run(&probe, argv, NULL, NULL);
	report = (double)reading.activities * 1e3 / (double)probe.wall_ns;
	probe_release(&probe);
	plain_row(b, "trace, bytes/activity",
		  reading.activities ? (double)reading.file_bytes / (double)reading.activities : 99,
		  2, 8, false, peers_bytes);
	plain_row(b, "reading, million/s", sample_median(&wall), 1, 5, true, "");
	plain_row(b, "reading, million/CPU s", sample_median(&cpu), 1, THRESHOLD_NONE, true, "");
	plain_row(b, "sluice report, million/s", report, 1, THRESHOLD_NONE, true, "");
	bench_figure(
		b, "bytes_per_activity",
		(double)reading.file_bytes / (double)(reading.activities + !reading.activities), 2);
	bench_figure(b, "read_mps", sample_median(&wall), 1);
	bench_figure(b, "report_mps", report, 1);
}

static void part_trace(struct bench *b)
{
	AUTO_FREE char *load = bench_program(b, "bench_load");
	AUTO_FREE char *count = xprintf("%d", STRIDE_CALLS);
	char *argv[] = { load, "stride", count, b->memory, NULL };
	struct probe probe;

	bench_progress("strided writes");
	if (!probe_run(&probe, bench_under_sluice(b, "trace", argv), NULL, NULL))
		bench_fail(b, "strided writes: the program failed");
	probe_release(&probe);
	reading_rows(b, STRIDE_CALLS);
	unlink(b->trace);
}

static void part_start(struct bench *b)
{
	AUTO_FREE char *load = bench_program(b, "bench_load"), *one = bench_program(b, "bench_one");
	AUTO_FREE char *count = xprintf("%d", STARTS);
	char *argv[] = { load, "starts", count, one, NULL };
	struct sample bare = { .count = 0 }, traced = { .count = 0 }, pairs;
	struct reading reading = { 0 };
	struct probe probe;
	double ms;

	bench_progress("start and exit");
	if (!probe_run(&probe, bench_under_sluice(b, "trace", argv), NULL, NULL))
		bench_fail(b, "start and exit: the program failed");
	for (size_t i = 0; i < STARTS; i++) {
		sample_add(&bare, (double)probe_value(&probe, "bare_us", i) / 1000);
		sample_add(&traced, (double)probe_value(&probe, "traced_us", i) / 1000);
	}
	probe_release(&probe);
	/* Each observed start makes one write; starts without the library are not recorded. */
	bench_trace_check(b, "start and exit", "write", STARTS, &reading);
	unlink(b->trace);
	pairs = sample_added(&traced, &bare);
	ms = sample_median(&traced) - sample_median(&bare);
	table_add(&b->table, "start + exit, CPU ms");
	table_add(&b->table, "%.2f", sample_median(&bare));
	table_add(&b->table, "%.2f", sample_median(&traced));
	table_add(&b->table, "%+.2f", ms);
	table_add(&b->table, "%+.2f..%+.2f", sample_quantile(&pairs, 0.25),
		  sample_quantile(&pairs, 0.75));
	table_add(&b->table, "%s", "");
	bench_judge(b, "start + exit", ms, 3, false, "ms");
	table_add(&b->table, "%s", peers_start);
	bench_figure(b, "start_ms", ms, 2);
}

static void table_show(const struct bench *b)
{
	bench_progress("");
	printf("CPU time per call in ns, median of %d rotations; runs without and with Sluice are "
	       "interleaved.\n"
	       "'added' is the difference of the medians, 'quartiles' are those of the "
	       "differences, "
	       "'cold' is the time\nof a call while the spool grows.\n\n",
	       ROTATIONS);
	table_print(&b->table, stdout, 0);
	printf("\npeers: the time that other tools add, measured earlier on a similar machine, not "
	       "in this run; "
	       "see\n"
	       "docs/reference/benchmarks.md\n");
}

int main(int argc, char **argv)
{
	static const char *const titles[] = { "figure",	    ">baseline",  ">sluice",
					      ">added",	    ">quartiles", ">cold/tail",
					      ">threshold", "holds",	  "peers (see below)",
					      NULL };
	struct bench b;

	if (argc < 2 || !bench_init(&b, "capture", argv[1], titles)) {
		fprintf(stderr, "bench_capture: cannot use BUILD: %s\n",
			argc < 2 ? "missing" : strerror(errno));
		return 2;
	}
	part_cost(&b);
	part_sustained(&b);
	part_trace(&b);
	part_start(&b);
	table_show(&b);
	return bench_end(&b);
}
