/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parallel benchmark measures the overhead of recording for a program that uses MPI-IO and
 * HDF5, under each MPI that is named. Baseline and observed runs are interleaved, and their order
 * alternates. It prints one table and one closing line of figures, and exits with 1 if a threshold
 * is missed. docs/reference/benchmarks.md describes how each figure is measured.
 * Papers: SIOX-59.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench.h"
#include "probe.h"

#define ROTATIONS 9
#define START_PAIRS 25
#define VPIC_PAIRS 31
#define RANKS 4
#define VPIC_PARTICLES "1048576" /* per rank: 128 MiB per step in total */
#define VPIC_STEPS 4
#define VPIC_VARIABLES 8

#define THRESHOLD_WRITE_NS 120
#define THRESHOLD_HDF5_PERCENT 2
#define THRESHOLD_START_MS 10
#define THRESHOLD_VPIC_PERCENT 2

/* A call whose overhead is measured. */
static const struct call {
	const char *title, *key;
	const char *program, *how;
	const char *function,
		*beneath; /* functions that the trace must hold once per call, or NULL */
	int ranks, calls, bursts;
	double threshold_ns, threshold_percent;
} calls[] = {
	{ "MPI_File_write_at 1 B, 1 rank", "write_at", "parallel_mpi", "write", "MPI_File_write_at",
	  "pwrite", 1, 5000, 40, THRESHOLD_WRITE_NS, THRESHOLD_NONE },
	{ "H5Dwrite 4 KiB, collective, 4 ranks", "h5_collective_4", "parallel_hdf5", "collective",
	  "H5Dwrite", NULL, RANKS, 40, 25, THRESHOLD_NONE, THRESHOLD_NONE },
	{ "H5Dwrite 4 KiB, collective, 1 rank", "h5_collective_1", "parallel_hdf5", "collective",
	  "H5Dwrite", NULL, 1, 1000, 40, THRESHOLD_NONE, THRESHOLD_NONE },
	{ "H5Dwrite 4 KiB, independent, 4 ranks", "h5_independent_4", "parallel_hdf5",
	  "independent", "H5Dwrite", NULL, RANKS, 1000, 40, THRESHOLD_NONE, THRESHOLD_NONE },
	{ "H5Dwrite 4 KiB, independent, 1 rank", "h5_independent_1", "parallel_hdf5", "independent",
	  "H5Dwrite", NULL, 1, 1000, 40, THRESHOLD_NONE, THRESHOLD_NONE },
	{ "H5Dwrite 4 KiB, no MPI-IO, 1 rank", "h5_serial_1", "parallel_hdf5", "serial", "H5Dwrite",
	  NULL, 1, 2000, 40, THRESHOLD_NONE, THRESHOLD_HDF5_PERCENT },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

enum mode { BARE, OURS, MODES };

struct pairs {
	struct sample of[MODES];
};

/* One MPI: its name, its launcher, and the directory of the programs that were built for it. */
struct mpi {
	const char *name;
	char *launcher, *programs;
};

static bool mpi_has(const struct mpi *mpi, const char *program)
{
	AUTO_FREE char *path = xprintf("%s/%s", mpi->programs, program);

	return access(path, X_OK) == 0;
}

/* Runs words, which end with NULL, with the given number of ranks; words[0] is a path. */
static bool ranks_run(struct bench *b, const struct mpi *mpi, int ranks, char *const *words,
		      enum mode mode, const char *what, struct probe *probe)
{
	AUTO_FREE char *count = xprintf("%d", ranks);
	char *argv[16] = { mpi->launcher, "-n", count };
	size_t n = 3;

	while (*words && n < sizeof(argv) / sizeof(argv[0]) - 1)
		argv[n++] = *words++;
	bench_progress(what);
	if (probe_run(probe, mode == OURS ? bench_under_sluice(b, "trace", argv) : argv, NULL,
		      NULL))
		return true;
	bench_fail(b, "%s, %s: the program failed", what, mode == OURS ? "observed" : "baseline");
	return false;
}

/* The order of a pair alternates, so that after-effects of the first run affect both modes. */
static enum mode turn(int pair, int place)
{
	return (pair + place) % 2 ? OURS : BARE;
}

/* Other processes can only slow a burst down, so the lower quartile is used. */
static double burst_ns(const struct probe *probe, int bursts)
{
	struct sample s = { .count = 0 };

	for (int i = 0; i < bursts; i++)
		sample_add(&s, (double)probe_value(probe, "burst_ps", (size_t)i) / 1000);
	return sample_quantile(&s, 0.25);
}

static void call_trace_check(struct bench *b, const struct call *call, const char *what)
{
	uint64_t expected = 2 * (uint64_t)call->ranks * (uint64_t)(call->calls * call->bursts);
	struct reading reading;

	if (bench_trace_check(b, what, call->function, expected, &reading) && call->beneath)
		bench_trace_check(b, what, call->beneath, expected, &reading);
	unlink(b->trace);
}

static void call_take(struct bench *b, const struct mpi *mpi, const struct call *call,
		      enum mode mode, struct pairs *pairs)
{
	AUTO_FREE char *what = xprintf("%s, %s", mpi->name, call->title);
	AUTO_FREE char *program = xprintf("%s/%s", mpi->programs, call->program);
	AUTO_FREE char *file = xprintf("%s/file", b->memory);
	AUTO_FREE char *count = xprintf("%d", call->calls), *bursts = xprintf("%d", call->bursts);
	char *words[] = { program, (char *)call->how, file, count, bursts, NULL };
	struct probe probe;

	if (ranks_run(b, mpi, call->ranks, words, mode, what, &probe)) {
		sample_add(&pairs->of[mode], burst_ns(&probe, call->bursts));
		if (mode == OURS)
			call_trace_check(b, call, what);
	}
	probe_release(&probe);
	unlink(file);
}

/* The factor that converts an added value to percent of the baseline. */
static double percent_of(const struct pairs *pairs)
{
	double bare = sample_median(&pairs->of[BARE]);

	return bare > 0 ? 100 / bare : 0;
}

/* Fills the cells up to "of baseline"; returns the median of the added values. */
static double pairs_row(struct bench *b, const char *what, const struct pairs *pairs, int digits)
{
	struct sample added = sample_added(&pairs->of[OURS], &pairs->of[BARE]);
	double more = sample_median(&added);

	table_add(&b->table, "%s", what);
	table_add(&b->table, "%.*f", digits, sample_median(&pairs->of[BARE]));
	table_add(&b->table, "%.*f", digits, sample_median(&pairs->of[OURS]));
	table_add(&b->table, "%+.*f", digits, more);
	table_add(&b->table, "%+.*f..%+.*f", digits, sample_quantile(&added, 0.25), digits,
		  sample_quantile(&added, 0.75));
	table_add(&b->table, "%+.1f %%", more * percent_of(pairs));
	return more;
}

/*
 * Fills the cells "threshold" and "holds" for an added value; scale converts it to the unit of the
 * threshold. A median whose uncertainty exceeds the threshold proves nothing and does not pass.
 */
static void pairs_judge(struct bench *b, const char *what, const struct pairs *pairs, double scale,
			double threshold, const char *unit)
{
	struct sample added = sample_added(&pairs->of[OURS], &pairs->of[BARE]);
	double spread = sample_quantile(&added, 0.75) - sample_quantile(&added, 0.25);
	/* The standard error of the median of a normal distribution with these quartiles. */
	double error = added.count ? 0.93 * spread / sqrt((double)added.count) : 0;

	if (threshold == THRESHOLD_NONE || error * scale <= threshold) {
		bench_judge(b, what, sample_median(&added) * scale, threshold, false, unit);
		return;
	}
	table_add(&b->table, "<= %g", threshold);
	table_add(&b->table, "UNSURE");
	bench_fail(b,
		   "%s has an uncertainty of +-%.1f %s, the threshold is %g: the load of the "
		   "machine is too high",
		   what, error * scale, unit, threshold);
}

static void figure_of(struct bench *b, const struct mpi *mpi, const char *key, const char *unit,
		      double value, int digits)
{
	AUTO_FREE char *name = xprintf("%s_%s_%s", mpi->name, key, unit);

	bench_figure(b, name, value, digits);
}

static void call_row(struct bench *b, const struct mpi *mpi, const struct call *call,
		     const struct pairs *pairs)
{
	AUTO_FREE char *what = xprintf("%s, %s", mpi->name, call->title);
	AUTO_FREE char *shown = xprintf("%s, ns", what);
	double ns = pairs_row(b, shown, pairs, 1), per_cent = percent_of(pairs);

	if (call->threshold_percent != THRESHOLD_NONE)
		pairs_judge(b, what, pairs, per_cent, call->threshold_percent, "%");
	else
		pairs_judge(b, what, pairs, 1, call->threshold_ns, "ns");
	figure_of(b, mpi, call->key, "ns", ns, 1);
	figure_of(b, mpi, call->key, "percent", ns * per_cent, 2);
}

static void part_calls(struct bench *b, const struct mpi *mpi)
{
	struct pairs pairs[CALLS] = { 0 };

	for (int rotation = 0; rotation < ROTATIONS; rotation++)
		for (size_t c = 0; c < CALLS; c++)
			for (int place = 0; place < MODES && mpi_has(mpi, calls[c].program);
			     place++)
				call_take(b, mpi, &calls[c], turn(rotation, place), &pairs[c]);
	for (size_t c = 0; c < CALLS; c++)
		if (pairs[c].of[OURS].count)
			call_row(b, mpi, &calls[c], &pairs[c]);
}

/* The time of ranks: each is measured by a parent of its own. The rest is the launcher and the
 * collector. */
static void start_take(struct bench *b, const struct mpi *mpi, enum mode mode, struct pairs *ranks,
		       struct pairs *rest)
{
	AUTO_FREE char *what = xprintf("%s, start + finalize", mpi->name);
	AUTO_FREE char *load = bench_program(b, "bench_load");
	AUTO_FREE char *program = xprintf("%s/parallel_mpi", mpi->programs);
	char *words[] = { load, "timed", program, "nothing", NULL };
	struct probe probe;
	double us = 0;

	if (ranks_run(b, mpi, RANKS, words, mode, what, &probe)) {
		struct reading reading;

		for (size_t i = 0; i < RANKS; i++)
			us += (double)probe_value(&probe, "cpu_us", i);
		sample_add(&ranks->of[mode], us / RANKS / 1000);
		sample_add(&rest->of[mode], ((double)probe.cpu_us - us) / 1000);
		if (mode == OURS)
			bench_trace_check(b, what, "MPI_Finalize", RANKS, &reading);
	}
	probe_release(&probe);
	unlink(b->trace);
}

static void part_start(struct bench *b, const struct mpi *mpi)
{
	AUTO_FREE char *what = xprintf("%s, start + finalize, %d ranks", mpi->name, RANKS);
	AUTO_FREE char *shown = xprintf("%s, CPU ms per rank", what);
	AUTO_FREE char *besides = xprintf("%s, collector and launcher, CPU ms", mpi->name);
	struct pairs ranks = { 0 }, rest = { 0 };
	double ms;

	for (int pair = 0; pair < START_PAIRS; pair++)
		for (int place = 0; place < MODES; place++)
			start_take(b, mpi, turn(pair, place), &ranks, &rest);
	ms = pairs_row(b, shown, &ranks, 2);
	pairs_judge(b, what, &ranks, 1, THRESHOLD_START_MS, "ms");
	figure_of(b, mpi, "start", "ms", ms, 2);
	ms = pairs_row(b, besides, &rest, 2);
	pairs_judge(b, besides, &rest, 1, THRESHOLD_NONE, "ms");
	figure_of(b, mpi, "collector", "ms", ms, 2);
}

static void vpic_take(struct bench *b, const struct mpi *mpi, enum mode mode, struct pairs *pairs)
{
	AUTO_FREE char *what = xprintf("%s, VPIC-IO", mpi->name);
	AUTO_FREE char *program = xprintf("%s/vpic_io", mpi->programs);
	AUTO_FREE char *file = xprintf("%s/vpic.h5", b->memory), *steps = xprintf("%d", VPIC_STEPS);
	char *words[] = { program, "--particles", VPIC_PARTICLES, "--steps",
			  steps,   "--file",	  file,		  NULL };
	struct reading reading;
	struct probe probe;

	if (ranks_run(b, mpi, RANKS, words, mode, what, &probe)) {
		sample_add(&pairs->of[mode], probe_word(&probe, "seconds") * 1000);
		if (mode == OURS)
			bench_trace_check(b, what, "H5Dwrite", RANKS * VPIC_STEPS * VPIC_VARIABLES,
					  &reading);
	}
	probe_release(&probe);
	unlink(file);
	unlink(b->trace);
}

static void part_vpic(struct bench *b, const struct mpi *mpi)
{
	AUTO_FREE char *what = xprintf("%s, VPIC-IO, %d ranks, I/O time", mpi->name, RANKS);
	AUTO_FREE char *shown = xprintf("%s, ms", what);
	struct pairs pairs = { 0 };
	double ms;

	if (!mpi_has(mpi, "vpic_io"))
		return;
	for (int pair = 0; pair < VPIC_PAIRS; pair++)
		for (int place = 0; place < MODES; place++)
			vpic_take(b, mpi, turn(pair, place), &pairs);
	ms = pairs_row(b, shown, &pairs, 1);
	pairs_judge(b, what, &pairs, percent_of(&pairs), THRESHOLD_VPIC_PERCENT, "%");
	figure_of(b, mpi, "vpic", "percent", ms * percent_of(&pairs), 2);
}

static void mpi_measure(struct bench *b, const char *name)
{
	struct mpi mpi = { .name = name,
			   .launcher = xprintf("mpiexec.%s", name),
			   .programs = xprintf("%s/mpi/%s", b->build, name) };

	part_calls(b, &mpi);
	part_start(b, &mpi);
	part_vpic(b, &mpi);
	free(mpi.launcher);
	free(mpi.programs);
}

static void table_show(const struct bench *b)
{
	bench_progress("");
	printf("Runs without and with Sluice are interleaved. 'added' is the median of the "
	       "differences of "
	       "pairs,\n'quartiles' are those of the differences. Calls: CPU time of the calling "
	       "thread "
	       "in ns.\nThe thresholds of H5Dwrite and VPIC-IO are in percent of the "
	       "baseline.\n\n");
	table_print(&b->table, stdout, 0);
}

int main(int argc, char **argv)
{
	static const char *const titles[] = { "figure",	    ">baseline",  ">sluice",
					      ">added",	    ">quartiles", ">of baseline",
					      ">threshold", "holds",	  NULL };
	struct bench b;

	if (argc < 3) {
		fputs("bench_parallel: no MPI was found; install mpich or openmpi, then "
		      "build "
		      "again\n",
		      stderr);
		return 2;
	}
	if (!bench_init(&b, "parallel", argv[1], titles)) {
		fprintf(stderr, "bench_parallel: %s: cannot use the build tree: %s\n", argv[1],
			strerror(errno));
		return 2;
	}
	for (int i = 2; i < argc; i++)
		mpi_measure(&b, argv[i]);
	table_show(&b);
	return bench_end(&b);
}
