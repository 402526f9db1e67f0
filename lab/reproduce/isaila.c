/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice reproduce isaila: Table 2 and Figures 4 to 11 of the paper on collective I/O, on modelled
 * Vesta under both laws of contention. Figures 4 to 6 are about the machine; the rest is
 * evaluation_sheets.c.
 */
#include <errno.h>

#include "base/mem.h"
#include "base/place.h"
#include "cli/command.h"
#include "lab/reproduce/isaila.h"

#define MB 1e6
#define MIB 1048576ull

static const char *const law_names[] = { "queue", "share" };

/* ---- figure 4: rounds of two runs ---- */

void isaila_rounds(const struct replica *replica, uint64_t run, double rates[ISAILA_ROUNDS])
{
	double seconds[ISAILA_ROUNDS];

	replica_rounds(replica, 512, 544, 16 * MIB, true, run, seconds, ISAILA_ROUNDS);
	for (size_t i = 0; i < ISAILA_ROUNDS; i++)
		rates[i] = 544.0 * (double)(16 * MIB) / seconds[i] / MB;
}

double isaila_mean(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static void sheet_figure4(const struct replica *replica, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { ">round", "round", 0 },
						       { ">run 1 MB/s", "first_mb_s", 0 },
						       { ">run 2 MB/s", "second_mb_s", 0 },
						       { 0 } };
	double first[ISAILA_ROUNDS], second[ISAILA_ROUNDS];

	isaila_rounds(replica, 0, first);
	isaila_rounds(replica, 1, second);
	sheet_init(sheet, "figure4", "Figure 4: 544 writers on 512 nodes, 16 MiB each, 32 rounds",
		   columns);
	for (size_t i = 0; i < ISAILA_ROUNDS; i++) {
		sheet_number(sheet, (double)i + 1);
		sheet_number(sheet, first[i]);
		sheet_number(sheet, second[i]);
	}
	sheet_note(sheet, "Means: %.0f and %.0f MB/s.", isaila_mean(first, ISAILA_ROUNDS),
		   isaila_mean(second, ISAILA_ROUNDS));
	sheet_note(sheet, "The paper: large changes from round to round, out of phase, and a first "
			  "round well below the mean.");
}

/* ---- figures 5 and 6: nine ways to write ---- */

const uint64_t isaila_aggregators[3] = { 4, 16, 64 };
const uint64_t isaila_buffers[3] = { 8, 16, 32 };

/* HYB-9. */
static uint64_t writers_of(uint64_t nodes, uint64_t per_pset)
{
	return (per_pset + 1) * 8 * nodes / 128;
}

/* 1 GiB per writer (HYB-55). */
#define ROUNDS_MOST 128

static double later_mean(const struct replica *replica, uint64_t nodes, size_t way, bool topology)
{
	uint64_t buffer = isaila_buffers[way % 3];
	uint64_t writers = writers_of(nodes, isaila_aggregators[way / 3]);
	size_t rounds = 1024 / buffer;
	double seconds[ROUNDS_MOST];

	replica_rounds(replica, nodes, writers, buffer * MIB, topology, 0, seconds, rounds);
	return isaila_mean(seconds + 1, rounds - 1);
}

double isaila_first_ratio(const struct replica *replica, uint64_t nodes, size_t way)
{
	uint64_t writers = writers_of(nodes, isaila_aggregators[way / 3]);
	double first = 0, one;

	for (uint64_t run = 0; run < 10; run++) {
		replica_rounds(replica, nodes, writers, isaila_buffers[way % 3] * MIB, true, run,
			       &one, 1);
		first += one / 10;
	}
	return first / later_mean(replica, nodes, way, true);
}

double isaila_topology_ratio(const struct replica *replica, uint64_t nodes, size_t way)
{
	return later_mean(replica, nodes, way, false) / later_mean(replica, nodes, way, true);
}

static void sheet_ways(const struct replica *replica, struct sheet *sheet, const char *name,
		       const char *title, double (*ratio)(const struct replica *, uint64_t, size_t))
{
	static const struct sheet_column columns[] = {
		{ ">aggregators", "aggregators", 0 }, { ">buffer MiB", "buffer_mib", 0 },
		{ ">128 nodes", "nodes_128", 2 },     { ">256 nodes", "nodes_256", 2 },
		{ ">512 nodes", "nodes_512", 2 },     { 0 }
	};

	sheet_init(sheet, name, title, columns);
	for (size_t way = 0; way < 9; way++) {
		size_t hint = way / 3, buffer = way % 3;

		sheet_number(sheet, (double)isaila_aggregators[hint]);
		sheet_number(sheet, (double)isaila_buffers[buffer]);
		for (uint64_t nodes = 128; nodes <= 512; nodes *= 2)
			sheet_number(sheet, ratio(replica, nodes, way));
	}
}

static void sheet_figure5(const struct replica *replica, struct sheet *sheet)
{
	sheet_ways(replica, sheet, "figure5",
		   "Figure 5: throughput of later rounds over that of the first (HYB-AC-15)",
		   isaila_first_ratio);
	sheet_note(sheet, "The paper: clearly above 1 for few aggregators, below 1 for 64 per "
			  "pset.");
}

static void sheet_figure6(const struct replica *replica, struct sheet *sheet)
{
	sheet_ways(replica, sheet, "figure6",
		   "Figure 6: throughput by topology over uniform placement (HYB-AC-16)",
		   isaila_topology_ratio);
	sheet_note(sheet, "The paper: mostly above 1, 1.69 at most, none at 4 aggregators per node "
			  "(64 per pset).");
}

/* ---- all ---- */

static void put(struct reproduce_output *output, struct sheet *sheet, const char *law)
{
	AUTO_FREE char *title = xprintf("%s [%s]", sheet->title, law);
	AUTO_FREE char *name = xprintf("%s_%s", sheet->name, law);

	sheet->title = title;
	sheet->name = name;
	reproduce_put(output, sheet);
}

static int law_reproduce(struct reproduce_output *output, enum replica_law law, struct err *err)
{
	const struct reproduce_args *args = output->args;
	struct evaluation_plan plan = {
		.machine = "vesta",
		.law = law,
		.policy = (enum noise_policy)args->policy,
		.study = { .coverage = HYBRID_COVERAGE,
			   .repetitions = args->repetitions,
			   .budget = args->budget,
			   .folds = 10,
			   .full = args->full,
			   .seed = args->seed },
	};
	static void (*const machine_sheets[])(const struct replica *,
					      struct sheet *) = { sheet_figure4, sheet_figure5,
								  sheet_figure6 };
	struct evaluation evaluation;
	struct sheet sheet;
	int r = evaluation_open(&evaluation, &plan, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < 3; i++) {
		machine_sheets[i](evaluation.replica, &sheet);
		put(output, &sheet, law_names[law]);
	}
	for (const struct evaluation_sheet *s = evaluation_sheets; s->name; s++) {
		s->make(&evaluation, &sheet);
		put(output, &sheet, law_names[law]);
	}
	if (args->plots)
		r = isaila_plots(&evaluation, args->plots, law_names[law], err);
	evaluation_close(&evaluation);
	return r;
}

int reproduce_isaila(struct reproduce_output *output, struct err *err)
{
	const struct reproduce_args *args = output->args;
	int r = 0;

	if (!args->repetitions || args->repetitions > 1000 || !args->budget)
		return err_set(err, EINVAL, "--repetitions must be 1 to 1000, --budget 1 at least");
	if (args->plots)
		r = place_make_dir(args->plots, 0777, err);
	for (int law = 0; law < ISAILA_LAWS && r >= 0; law++)
		if (args->law == ISAILA_LAWS || args->law == law)
			r = law_reproduce(output, (enum replica_law)law, err);
	return r;
}
