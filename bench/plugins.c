/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-in benchmark measures the CPU time per call of a program, with capture only and with the
 * plug-ins catalogue, histogram, history and read_ahead. It uses 1 to 16 threads, which must not
 * make a difference. It prints one table and one closing line of figures, and exits with 1 if a
 * threshold is missed.
 * Papers: SIOX-57.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench.h"
#include "probe.h"

#define ROTATIONS 7
#define THRESHOLD_SHARE 1.25 /* time with plug-ins divided by time with capture only */

static const struct call {
	const char *title, *key,
		*calls; /* number of calls that all threads make in a loop, in total */
} calls[] = {
	{ "fwrite 0 B", "fwrite0", "400000" },
	{ "pwrite 1 B", "pwrite1", "200000" },
	{ "pread 1 B, sequential", "pread1", "200000" },
	{ "pread 1 KiB, strided", "pstride1k", "200000" },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static const int threads[] = { 1, 4, 16 };
#define THREADS (sizeof(threads) / sizeof(threads[0]))

enum mode { ALONE, PLUGINS, MODES };

/* One row: nanoseconds per call, one value per rotation. */
struct cost {
	struct sample ns[MODES];
};

static void cost_take(struct bench *b, const struct call *call, int thread_count, enum mode mode,
		      struct cost *cost)
{
	AUTO_FREE char *load = bench_program(b, "bench_load");
	AUTO_FREE char *count = xprintf("%d", thread_count);
	AUTO_FREE char *what = xprintf("%s, %d threads, %s", call->title, thread_count,
				       mode == PLUGINS ? "plug-ins" : "capture only");
	char *argv[] = {
		load,	    "calls", (char *)call->key, count, (char *)call->calls, b->memory,
		"stopping", NULL
	};
	struct probe probe;

	bench_progress(what);
	if (mode == PLUGINS)
		unsetenv("SLUICE_PLUGINS_LOAD");
	else
		setenv("SLUICE_PLUGINS_LOAD", "", 1);
	setenv("SLUICE_PLUGINS_ACT", mode == PLUGINS ? "history read_ahead" : "", 1);
	if (probe_run(&probe, bench_under_sluice(b, "trace", argv), NULL, NULL))
		sample_add(&cost->ns[mode], (double)probe_value(&probe, "warm_ps", 0) / 1000);
	else
		bench_fail(b, "%s: the program failed", what);
	probe_release(&probe);
	unlink(b->trace);
}

static void cost_row(struct bench *b, const struct call *call, int thread_count,
		     const struct cost *cost)
{
	double alone = sample_median(&cost->ns[ALONE]), with = sample_median(&cost->ns[PLUGINS]);
	struct sample pairs = sample_added(&cost->ns[PLUGINS], &cost->ns[ALONE]);
	AUTO_FREE char *what =
		xprintf("%s, %d thread%s", call->title, thread_count, thread_count > 1 ? "s" : "");
	AUTO_FREE char *key = xprintf("%s_%d", call->key, thread_count);

	table_add(&b->table, "%s", what);
	table_add(&b->table, "%.1f", alone);
	table_add(&b->table, "%.1f", with);
	table_add(&b->table, "%+.1f", with - alone);
	table_add(&b->table, "%+.1f..%+.1f", sample_quantile(&pairs, 0.25),
		  sample_quantile(&pairs, 0.75));
	table_add(&b->table, "%.2f", with / alone);
	bench_judge(b, what, with / alone, THRESHOLD_SHARE, false, "times capture only");
	bench_figure(b, key, with / alone, 2);
}

/* Each rotation runs all cases; the modes of a case follow each other directly. */
static void part_cost(struct bench *b)
{
	static struct cost costs[CALLS][THREADS];

	for (int rotation = 0; rotation < ROTATIONS; rotation++)
		for (unsigned c = 0; c < CALLS; c++)
			for (unsigned t = 0; t < THREADS; t++)
				for (enum mode m = ALONE; m < MODES; m++)
					cost_take(b, &calls[c], threads[t], m, &costs[c][t]);
	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned t = 0; t < THREADS; t++)
			cost_row(b, &calls[c], threads[t], &costs[c][t]);
}

int main(int argc, char **argv)
{
	static const char *const titles[] = { "call",	    ">capture",	  ">plug-ins",
					      ">added",	    ">quartiles", ">share",
					      ">threshold", "holds",	  NULL };
	struct bench b;

	if (argc < 2 || !bench_init(&b, "plugins", argv[1], titles)) {
		fprintf(stderr, "bench_plugins: cannot use BUILD: %s\n",
			argc < 2 ? "missing" : strerror(errno));
		return 2;
	}
	part_cost(&b);
	bench_progress("");
	printf("CPU time per call in ns, median of %d rotations: with capture only, and with the "
	       "plug-ins\n"
	       "catalogue, histogram, history and read_ahead.\n\n",
	       ROTATIONS);
	table_print(&b.table, stdout, 0);
	return bench_end(&b);
}
