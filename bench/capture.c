/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The capture benchmark: what recording costs a program, what the collector carries without loss,
 * how large a trace is and how fast it is read. Prints one table and one closing line of figures;
 * exits 1 if a bar is missed. docs/benchmarks.md says how each figure comes about.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/table.h"
#include "peers.h"
#include "probe.h"

#define ROTATIONS 7
#define PACE_SECONDS 10
#define PACE_THREADS 2
#define PACE_SLACK_NS 500000000 /* a producer that takes longer than this has not kept the pace */
#define SPOOL_LIMIT_BYTES (UINT64_C(1) << 30)
#define STRIDE_CALLS 2000000
#define READS 5
#define STARTS 101
#define BAR_NONE 0

/* bar_ns: most that recording may add, in nanoseconds; calls: made in a loop by all threads
 * together. */
static const struct call {
	const char *title, *key, *function;
	const char *calls;
	double bar_ns, bar_crowd_ns, bar_off_ns;
} calls[] = {
	{ "fwrite 0 B", "fwrite0", "fwrite", "400000", 20, 30, 5 },
	{ "fwrite 1 B", "fwrite1", "fwrite", "400000", 20, 30, 5 },
	{ "pwrite 1 B", "pwrite1", "pwrite", "400000", 60, 80, 5 },
	{ "pwrite 4 KiB", "pwrite4k", "pwrite", "200000", BAR_NONE, BAR_NONE, BAR_NONE },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static const int threads[] = { 1, 2, 4, 8, 16 };
#define THREADS (sizeof(threads) / sizeof(threads[0]))
#define CROWD 8 /* the number of threads that has a bar of its own */

enum mode { BARE, TRACED, OFF, MODES };

/* One cell of the cost table: nanoseconds per call, one value per rotation. */
struct cost {
	struct sample warm[MODES], cold[MODES];
};

struct bench {
	char *sluice, *load, *one;
	char *work;   /* on disk: traces */
	char *memory; /* in memory: what the programs write */
	char *spool;  /* below it: the spools */
	char *trace;
	struct table table;
	struct buf line;
	struct buf missed;
	unsigned failures;
};

static char *scratch; /* removed when a signal ends us */
static char *scratch_memory;

static void interrupted(int number)
{
	directory_remove(scratch);
	directory_remove(scratch_memory);
	_exit(128 + number);
}

static void fail(struct bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct bench *b, const char *format, ...)
{
	AUTO_FREE char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	buf_printf(&b->missed, "missed: %s\n", text);
	b->failures++;
}

static void figure(struct bench *b, const char *key, double value, int digits)
{
	buf_printf(&b->line, " %s=%.*f", key, digits, value);
}

/* Checks a value against its bar and fills the cells "bar" and "holds". A bar of 0 is none. */
static void judge(struct bench *b, const char *what, double value, double bar, bool at_least,
		  const char *unit)
{
	bool holds = at_least ? value >= bar : value <= bar;

	if (bar == BAR_NONE) {
		table_add(&b->table, "%s", "");
		table_add(&b->table, "%s", "");
		return;
	}
	table_add(&b->table, "%s %g", at_least ? ">=" : "<=", bar);
	table_add(&b->table, "%s", holds ? "yes" : "NO");
	if (!holds)
		fail(b, "%s is %.1f %s, the bar is %s %g", what, value, unit,
		     at_least ? "at least" : "at most", bar);
}

static void progress(const char *text)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s", text);
}

/* argv with `sluice run` before it; the array is static. */
static char **under_sluice(const struct bench *b, char *mode, char *const *argv)
{
	static char *words[32];
	char *own[] = { b->sluice, "run",	  "--quiet", "--mode",	      mode, "--output",
			b->trace,  "--spool-dir", b->spool,  "--spool-limit", "1G", "--" };
	size_t n = sizeof(own) / sizeof(own[0]);

	memcpy(words, own, sizeof(own));
	while (*argv && n < 31)
		words[n++] = *argv++;
	words[n] = NULL;
	return words;
}

/* Is the trace complete, and does it hold exactly these calls? */
static bool trace_check(struct bench *b, const char *what, const char *function, uint64_t expected,
			struct reading *reading)
{
	struct err err = { 0 };

	if (reading_take(reading, b->trace, function, &err) < 0) {
		fail(b, "%s: the trace cannot be read: %s", what, err.text);
		return false;
	}
	if (!reading->complete || reading->damaged || reading->lost ||
	    reading->wanted != expected) {
		fail(b,
		     "%s: of %llu calls the trace holds %llu, lost %llu, damaged blocks %llu, %s",
		     what, (unsigned long long)expected, (unsigned long long)reading->wanted,
		     (unsigned long long)reading->lost, (unsigned long long)reading->damaged,
		     reading->complete ? "complete" : "not complete");
		return false;
	}
	return true;
}

static void cost_take(struct bench *b, const struct call *call, int thread_count, enum mode mode,
		      struct cost *cost)
{
	AUTO_FREE char *count = xprintf("%d", thread_count);
	char *argv[] = { b->load,
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

	progress(what);
	if (!probe_run(&probe, mode == BARE ? argv : under_sluice(b, names[mode], argv), NULL,
		       NULL)) {
		fail(b, "%s: did not run", what);
		probe_release(&probe);
		return;
	}
	sample_add(&cost->warm[mode], (double)probe_value(&probe, "warm_ps", 0) / 1000);
	sample_add(&cost->cold[mode], (double)probe_value(&probe, "cold_ps", 0) / 1000);
	if (mode != BARE)
		trace_check(b, what, call->function,
			    mode == TRACED ? probe_value(&probe, "calls", 0) : 0, &reading);
	unlink(b->trace);
	probe_release(&probe);
}

/* What a mode adds to the bare call, rotation by rotation. */
static struct sample added(const struct sample *with, const struct sample *bare)
{
	struct sample s = { .count = 0 };

	for (size_t i = 0; i < with->count && i < bare->count; i++)
		sample_add(&s, with->values[i] - bare->values[i]);
	return s;
}

static void cost_row(struct bench *b, unsigned call_number, int thread_count,
		     const struct cost *cost)
{
	const struct call *call = &calls[call_number];
	double bare = sample_median(&cost->warm[BARE]), traced = sample_median(&cost->warm[TRACED]);
	double bar = thread_count == 1	     ? call->bar_ns
		     : thread_count == CROWD ? call->bar_crowd_ns
					     : BAR_NONE;
	struct sample pairs = added(&cost->warm[TRACED], &cost->warm[BARE]);
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
	judge(b, what, traced - bare, bar, false, "ns");
	peers_cost(&peers, call_number, thread_count);
	table_add(&b->table, "%s", buf_text(&peers));
}

static void off_row(struct bench *b, unsigned call_number, int thread_count,
		    const struct cost *cost)
{
	const struct call *call = &calls[call_number];
	double bare = sample_median(&cost->warm[BARE]), off = sample_median(&cost->warm[OFF]);
	struct sample pairs = added(&cost->warm[OFF], &cost->warm[BARE]);
	AUTO_FREE char *what = xprintf("%s, %d thread%s, off", call->title, thread_count,
				       thread_count > 1 ? "s" : "");

	table_add(&b->table, "%s", what);
	table_add(&b->table, "%.1f", bare);
	table_add(&b->table, "%.1f", off);
	table_add(&b->table, "%+.1f", off - bare);
	table_add(&b->table, "%+.1f..%+.1f", sample_quantile(&pairs, 0.25),
		  sample_quantile(&pairs, 0.75));
	table_add(&b->table, "%s", "");
	judge(b, what, off - bare, thread_count == 1 ? call->bar_off_ns : BAR_NONE, false, "ns");
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
	figure(b, traced, sample_median(&cost->warm[TRACED]) - bare, 1);
	figure(b, off, sample_median(&cost->warm[OFF]) - bare, 1);
}

/* Rotation by rotation over all cases, the modes of a case right after each other. */
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

/* One row of a figure that has no bare counterpart. */
static void plain_row(struct bench *b, const char *what, double value, int digits, double bar,
		      bool at_least, const char *peers)
{
	table_add(&b->table, "%s", what);
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%.*f", digits, value);
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%s", "");
	table_add(&b->table, "%s", "");
	judge(b, what, value, bar, at_least, "");
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

/* Produces so many million calls a second for PACE_SECONDS; true if all of them are in the trace.
 */
static bool pace_try(struct bench *b, int millions, struct pace *pace)
{
	AUTO_FREE char *rate = xprintf("%d", millions * 1000000);
	AUTO_FREE char *what = xprintf("%d million/s for %d s", millions, PACE_SECONDS);
	AUTO_FREE char *seconds = xprintf("%d", PACE_SECONDS), *count = xprintf("%d", PACE_THREADS);
	char *argv[] = { b->load, "pace", "fwrite0", count, rate, seconds, b->memory, NULL };
	struct bench quiet = { .trace = b->trace }; /* a rate beyond the bar may fail */
	struct reading reading = { 0 };
	struct probe probe;
	uint64_t elapsed;
	bool good;

	progress(what);
	*pace = (struct pace){ .bench = b };
	good = probe_run(&probe, under_sluice(b, "trace", argv), pace_tick, pace);
	elapsed = probe_value(&probe, "elapsed_ns", 0);
	if (good && elapsed > PACE_SECONDS * UINT64_C(1000000000) + PACE_SLACK_NS) {
		fail(&quiet, "%s: the program itself took %.1f s", what, (double)elapsed / 1e9);
		good = false;
	}
	good = good &&
	       trace_check(&quiet, what, "fwrite", probe_value(&probe, "calls", 0), &reading);
	if (pace->peak_bytes > SPOOL_LIMIT_BYTES) {
		fail(&quiet, "%s: the spool took %llu bytes", what,
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

/* Upwards while it holds; downwards if not even the bar does. */
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
	plain_row(b, "collector, CPU ns/activity", best.collector_ns, 1, BAR_NONE, false, "");
	figure(b, "sustained_mps", highest, 0);
	figure(b, "spool_peak_mib", (double)best.peak_bytes / (1 << 20), 0);
	figure(b, "tail_s", best.tail_s, 1);
	figure(b, "collector_ns", best.collector_ns, 1);
}

static void reading_rows(struct bench *b, uint64_t expected)
{
	struct sample wall = { .count = 0 }, cpu = { .count = 0 };
	struct reading reading = { 0 };
	char *argv[] = { b->sluice, "report", b->trace, NULL };
	struct probe probe;
	double report;

	for (int i = 0; i < READS; i++) {
		if (!trace_check(b, "strided writes", "pwrite", expected, &reading))
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
	plain_row(b, "reading, million/CPU s", sample_median(&cpu), 1, BAR_NONE, true, "");
	plain_row(b, "sluice report, million/s", report, 1, BAR_NONE, true, "");
	figure(b, "bytes_per_activity",
	       (double)reading.file_bytes / (double)(reading.activities + !reading.activities), 2);
	figure(b, "read_mps", sample_median(&wall), 1);
	figure(b, "report_mps", report, 1);
}

static void part_trace(struct bench *b)
{
	AUTO_FREE char *count = xprintf("%d", STRIDE_CALLS);
	char *argv[] = { b->load, "stride", count, b->memory, NULL };
	struct probe probe;

	progress("strided writes");
	if (!probe_run(&probe, under_sluice(b, "trace", argv), NULL, NULL))
		fail(b, "strided writes: did not run");
	probe_release(&probe);
	reading_rows(b, STRIDE_CALLS);
	unlink(b->trace);
}

static void part_start(struct bench *b)
{
	AUTO_FREE char *count = xprintf("%d", STARTS);
	char *argv[] = { b->load, "starts", count, b->one, NULL };
	struct sample bare = { .count = 0 }, traced = { .count = 0 }, pairs;
	struct reading reading = { 0 };
	struct probe probe;
	double ms;

	progress("start and exit");
	if (!probe_run(&probe, under_sluice(b, "trace", argv), NULL, NULL))
		fail(b, "start and exit: did not run");
	for (size_t i = 0; i < STARTS; i++) {
		sample_add(&bare, (double)probe_value(&probe, "bare_us", i) / 1000);
		sample_add(&traced, (double)probe_value(&probe, "traced_us", i) / 1000);
	}
	probe_release(&probe);
	/* One write of each observed start: those without the library have none. */
	trace_check(b, "start and exit", "write", STARTS, &reading);
	unlink(b->trace);
	pairs = added(&traced, &bare);
	ms = sample_median(&traced) - sample_median(&bare);
	table_add(&b->table, "start + exit, CPU ms");
	table_add(&b->table, "%.2f", sample_median(&bare));
	table_add(&b->table, "%.2f", sample_median(&traced));
	table_add(&b->table, "%+.2f", ms);
	table_add(&b->table, "%+.2f..%+.2f", sample_quantile(&pairs, 0.25),
		  sample_quantile(&pairs, 0.75));
	table_add(&b->table, "%s", "");
	judge(b, "start + exit", ms, 3, false, "ms");
	table_add(&b->table, "%s", peers_start);
	figure(b, "start_ms", ms, 2);
}

/* Settings of the user must not change what is measured. */
static void environment_clean(const char *work)
{
	static const char *const names[] = { "LD_PRELOAD",	    "SLUICE_DISABLE",
					     "SLUICE_CONFIG",	    "SLUICE_SPOOL",
					     "SLUICE_CAPTURE_MODE", "SLUICE_CAPTURE_SKIP",
					     "SLUICE_CAPTURE_CLOCK" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("XDG_CONFIG_HOME", work, 1);
	setenv("SLUICE_ETC", "/dev/null", 1);
}

static bool bench_init(struct bench *b, const char *build)
{
	static const char *const titles[] = { "figure", ">bare",      ">ours",
					      ">added", ">quartiles", ">cold/tail",
					      ">bar",	"holds",      "peers (see below)",
					      NULL };
	char *full = realpath(build, NULL);
	const char *temporary = getenv("TMPDIR");

	if (!full)
		return false;
	*b = (struct bench){ .sluice = xprintf("%s/sluice", full),
			     .load = xprintf("%s/bench/bench_load", full),
			     .one = xprintf("%s/bench/bench_one", full),
			     .work = xprintf("%s/sluice-bench-XXXXXX",
					     temporary ? temporary : "/tmp"),
			     .memory = xstrdup("/dev/shm/sluice-bench-XXXXXX") };
	free(full);
	if (!mkdtemp(b->work) || !mkdtemp(b->memory))
		return false;
	b->spool = xprintf("%s/spool", b->memory);
	if (mkdir(b->spool, 0700) != 0)
		return false;
	b->trace = xprintf("%s/bench.sluice", b->work);
	scratch = b->work;
	scratch_memory = b->memory;
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
	environment_clean(b->work);
	table_init(&b->table, titles);
	return true;
}

static void bench_release(struct bench *b)
{
	directory_remove(b->work);
	directory_remove(b->memory);
	table_release(&b->table);
	buf_release(&b->line);
	buf_release(&b->missed);
	free(b->sluice);
	free(b->load);
	free(b->one);
	free(b->work);
	free(b->memory);
	free(b->spool);
	free(b->trace);
}

static void bench_print(struct bench *b)
{
	progress("");
	printf("CPU ns per call, median of %d rotations; bare and ours in turn. 'added' is the "
	       "difference of the\n"
	       "medians, 'quartiles' those of the differences, 'cold' what a call costs while the "
	       "spool grows.\n\n",
	       ROTATIONS);
	table_print(&b->table, stdout, 0);
	printf("\npeers: what they add, measured earlier on a machine like ours, not in this run; "
	       "see\n"
	       "docs/benchmarks.md\n");
	printf("%s", buf_text(&b->missed));
	printf("bench capture:%s failed=%u\n", buf_text(&b->line), b->failures);
}

int main(int argc, char **argv)
{
	struct bench b;
	unsigned failures;

	if (argc < 2 || !bench_init(&b, argv[1])) {
		fprintf(stderr, "bench_capture: BUILD is not usable: %s\n",
			argc < 2 ? "missing" : strerror(errno));
		return 2;
	}
	part_cost(&b);
	part_sustained(&b);
	part_trace(&b);
	part_start(&b);
	bench_print(&b);
	failures = b.failures;
	bench_release(&b);
	return failures != 0;
}
