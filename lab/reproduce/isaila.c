/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab reproduce isaila: Table 2 and Figures 4 to 11, on a simulation of Vesta with two
 * models of contention.
 * Papers: HYB-54 to HYB-56.
 */
#include "lab/reproduce/isaila.h"

#include "base/mem.h"
#include "base/place.h"

#define MIB 1048576ull
#define REPEAT_MAX 1000
#define FOLDS 10

/* Figure 4. */
#define FIGURE4_NODES 512
#define FIGURE4_WRITERS 544
#define FIGURE4_BUFFER (16 * MIB)

/* Figures 5 and 6. */
#define WRITER_MIB 1024 /* written by each writer */
#define ROUNDS_MAX 128
#define FIRST_ROUND_RUNS 10

struct isaila_args {
	const char *plots; /* NULL: none */
	uint64_t seed, repeat, candidates;
	int contention, policy;
	bool full, json;
};

#define FIELD(name) offsetof(struct isaila_args, name)

enum { CONTENTION_BOTH = REPLICA_SHARE + 1 };

static const struct option isaila_options[] = {
	{ 0, "contention", REPLICA_CONTENTION_WORDS "|both", "both",
	  "set the contention model of the simulated storage", OPTION_CHOICE, FIELD(contention) },
	{ 0, "repeat", "N", "10", "repeat each study N times", OPTION_COUNT, FIELD(repeat) },
	{ 0, "candidates", "N", "10", "try N candidate models per method; the paper used 30",
	  OPTION_COUNT, FIELD(candidates) },
	{ 0, "policy", NOISE_POLICY_WORDS, "allow",
	  "set the treatment of times that noise makes negative", OPTION_CHOICE, FIELD(policy) },
	{ 0, "full", NULL, NULL, "select methods again in each repetition; takes hours",
	  OPTION_FLAG, FIELD(full) },
	REPRODUCE_PLOTS(isaila_args),
	REPRODUCE_SEED(isaila_args),
	REPRODUCE_JSON(isaila_args),
	{ 0 }
};

#undef FIELD

void isaila_rounds(const struct replica *replica, uint64_t run, double rates[ISAILA_ROUNDS])
{
	double seconds[ISAILA_ROUNDS];

	replica_rounds(replica, FIGURE4_NODES, FIGURE4_WRITERS, FIGURE4_BUFFER, true, run, seconds,
		       ISAILA_ROUNDS);
	for (size_t i = 0; i < ISAILA_ROUNDS; i++)
		rates[i] = (double)(FIGURE4_WRITERS * FIGURE4_BUFFER) / seconds[i] / REPRODUCE_MB;
}

double isaila_mean(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static void make_figure4(const struct replica *replica, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { ">round", "round", 0 },
						       { ">~run 1 MB/s", "first_mb_s", 0 },
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
	sheet_note(sheet,
		   "Paper: the rate varies strongly from round to round, the two runs are out of "
		   "phase, and the first round is well below the mean.");
}

const uint64_t isaila_aggregators[ISAILA_LEVELS] = { 4, 16, 64 };
const uint64_t isaila_buffers[ISAILA_LEVELS] = { 8, 16, 32 };

/* The hint counts the aggregators besides the one on each bridge node; a bridge serves 16 nodes. */
static uint64_t count_writers(uint64_t nodes, uint64_t per_pset)
{
	return (per_pset + 1) * nodes / 16;
}

/* Mean seconds of the rounds after the first. */
static double mean_later_round(const struct replica *replica, uint64_t nodes, size_t way,
			       bool topology)
{
	uint64_t buffer = isaila_buffers[way % ISAILA_LEVELS];
	uint64_t writers = count_writers(nodes, isaila_aggregators[way / ISAILA_LEVELS]);
	size_t rounds = WRITER_MIB / buffer;
	double seconds[ROUNDS_MAX];

	replica_rounds(replica, nodes, writers, buffer * MIB, topology, 0, seconds, rounds);
	return isaila_mean(seconds + 1, rounds - 1);
}

double isaila_first_ratio(const struct replica *replica, uint64_t nodes, size_t way)
{
	uint64_t writers = count_writers(nodes, isaila_aggregators[way / ISAILA_LEVELS]);
	double first = 0, one;

	for (uint64_t run = 0; run < FIRST_ROUND_RUNS; run++) {
		replica_rounds(replica, nodes, writers, isaila_buffers[way % ISAILA_LEVELS] * MIB,
			       true, run, &one, 1);
		first += one / FIRST_ROUND_RUNS;
	}
	return first / mean_later_round(replica, nodes, way, true);
}

double isaila_topology_ratio(const struct replica *replica, uint64_t nodes, size_t way)
{
	return mean_later_round(replica, nodes, way, false) /
	       mean_later_round(replica, nodes, way, true);
}

static void make_ways(const struct replica *replica, struct sheet *sheet, const char *name,
		      const char *title, double (*ratio)(const struct replica *, uint64_t, size_t))
{
	static const struct sheet_column columns[] = {
		{ ">aggregators", "aggregators", 0 }, { ">buffer MiB", "buffer_mib", 0 },
		{ ">~128 nodes", "nodes_128", 2 },    { ">256 nodes", "nodes_256", 2 },
		{ ">512 nodes", "nodes_512", 2 },     { 0 }
	};

	sheet_init(sheet, name, title, columns);
	for (size_t way = 0; way < ISAILA_WAYS; way++) {
		size_t hint = way / ISAILA_LEVELS, buffer = way % ISAILA_LEVELS;

		sheet_number(sheet, (double)isaila_aggregators[hint]);
		sheet_number(sheet, (double)isaila_buffers[buffer]);
		for (uint64_t nodes = 128; nodes <= 512; nodes *= 2)
			sheet_number(sheet, ratio(replica, nodes, way));
	}
}

static void make_figure5(const struct replica *replica, struct sheet *sheet)
{
	make_ways(replica, sheet, "figure5",
		  "Figure 5: throughput of later rounds divided by that of the first round",
		  isaila_first_ratio);
	sheet_note(sheet, "Paper: clearly above 1 for few aggregators, below 1 for 64 per pset.");
}

static void make_figure6(const struct replica *replica, struct sheet *sheet)
{
	make_ways(replica, sheet, "figure6",
		  "Figure 6: throughput of placement by topology divided by that of uniform "
		  "placement",
		  isaila_topology_ratio);
	sheet_note(sheet,
		   "Paper: mostly above 1, at most 1.69; about 1 for 64 aggregators per pset "
		   "(4 per node).");
}

static void add_sheet(struct reproduce_output *output, struct sheet *sheet, const char *contention)
{
	AUTO_FREE char *title = xprintf("%s [%s]", sheet->title, contention);
	AUTO_FREE char *name = xprintf("%s_%s", sheet->name, contention);

	sheet->title = title;
	sheet->name = name;
	reproduce_add_modelled(output, sheet);
}

static int reproduce_with(struct reproduce_output *output, const struct isaila_args *args,
			  enum replica_contention contention, struct err *err)
{
	static const char *const names[] = { "queue", "share" };
	static void (*const machine_sheets[])(const struct replica *,
					      struct sheet *) = { make_figure4, make_figure5,
								  make_figure6 };
	const struct evaluation_plan plan = {
		.machine = "vesta",
		.contention = contention,
		.policy = (enum noise_policy)args->policy,
		.study = { .coverage = HYBRID_COVERAGE,
			   .repetitions = args->repeat,
			   .budget = args->candidates,
			   .folds = FOLDS,
			   .full = args->full,
			   .seed = args->seed },
	};
	struct evaluation evaluation;
	struct sheet sheet;
	int r = evaluation_open(&evaluation, &plan, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(machine_sheets) / sizeof(*machine_sheets); i++) {
		machine_sheets[i](evaluation.replica, &sheet);
		add_sheet(output, &sheet, names[contention]);
	}
	for (const struct evaluation_sheet *s = evaluation_sheets; s->name; s++) {
		evaluation_make_sheet(&evaluation, s, &sheet);
		add_sheet(output, &sheet, names[contention]);
	}
	if (args->plots)
		r = isaila_plots(&evaluation, args->plots, names[contention], err);
	evaluation_close(&evaluation);
	return r;
}

static int isaila_run(struct command *command)
{
	const struct isaila_args *args = command->args;
	struct reproduce_output output;
	struct err err = { 0 };
	int r = 0;

	if (!args->repeat || args->repeat > REPEAT_MAX)
		return command_misuse(command, "--repeat must be from 1 to %d", REPEAT_MAX);
	if (!args->candidates)
		return command_misuse(command, "--candidates must be at least 1");
	if (args->plots && place_make_dir(args->plots, 0777, &err) < 0)
		return command_fail(command, "%s", err.text);
	reproduce_start(&output, args->json, args->seed, NULL);
	for (int i = REPLICA_QUEUE; i <= REPLICA_SHARE && r >= 0; i++)
		if (args->contention == CONTENTION_BOTH || args->contention == i)
			r = reproduce_with(&output, args, (enum replica_contention)i, &err);
	return reproduce_finish(command, &output, r, &err);
}

const struct command_ops command_isaila = {
	.name = "isaila",
	.help = "reproduce the prediction of collective I/O (Isaila et al., 2015)",
	.about =
		"Computes Table 2 and Figures 4 to 11 of the paper on a simulation of the Blue "
		"Gene/Q system Vesta, under two models of storage contention, queue and share. The "
		"hybrid model learns from benchmarks of the simulated machine and is compared with "
		"a "
		"black box, with random settings and with the optimum. This takes minutes.\n\n"
		"  sluice lab reproduce isaila --contention queue\n"
		"  sluice lab reproduce isaila --plots figures",
	.options = isaila_options,
	.args_bytes = sizeof(struct isaila_args),
	.run = isaila_run,
};
