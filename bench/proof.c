/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tunes simulated programs whose true costs are known, and counts false and missed gains. Half of
 * the programs have no parameter that helps; the others have one or two, with a gain of 1.1 to 3.
 * All have seven parameters, most of them useless, some harmful. The runs have log-normal noise of
 * 5 to 60 %, outliers, drift, steps, and episodes of background load, of which the tuner sees every
 * second one as foreign load. A tuning has `--runs 24 --pairs 12`, which limit it to 60 runs in
 * total, except for the ablation, which decides nothing.
 *
 * The oracle is the limit of what can be proved: it knows the best point and spends all 60 runs on
 * pairs of it and the baseline, with the same test at the same error level. What it misses, no
 * search can prove.
 *
 *	bench_proof BUILD [SEED [TUNINGS]]
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "bench.h"
#include "learn/math/random.h"
#include "store/store.h"
#include "tune/loop/tuning.h"

#define RUNS_MOST 60
#define SEARCH_RUNS 24
#define PAIRS 12
#define FOUND_GAIN 1.3
#define FALSE_MOST 2   /* of 100 tunings */
#define FOUND_LEAST 90 /* percent */
#define OUTLIERS 0.04  /* share of runs */
#define EPISODES 0.025 /* background load that begins with a run */
#define ORACLES 4      /* oracles per program: one more or less is chance */

static const char space_text[] =
	"{\"schema\": \"sluice.space/1\", \"dimensions\": ["
	"{\"name\": \"cb_nodes\", \"values\": [null, 1, 2, 4]},"
	"{\"name\": \"cb_buffer_size\", \"values\": [null, 1048576, 4194304, 67108864]},"
	"{\"name\": \"romio_cb_write\", \"values\": [null, \"enable\", \"disable\"]},"
	"{\"name\": \"romio_cb_read\", \"values\": [null, \"enable\", \"disable\"]},"
	"{\"name\": \"romio_ds_write\", \"values\": [null, \"enable\", \"disable\"]},"
	"{\"name\": \"romio_ds_read\", \"values\": [null, \"enable\", \"disable\"]},"
	"{\"name\": \"ind_wr_buffer_size\", \"values\": [null, 1048576, 8388608]}]}";

enum { DIMENSIONS = 7, VALUES = 4 };
static const size_t value_counts[DIMENSIONS] = { 4, 4, 3, 3, 3, 3, 3 };
static const bool is_ordered[DIMENSIONS] = { true, true, false, false, false, false, true };
static const double noises[] = { 0.05, 0.1, 0.2, 0.4, 0.6 };
enum { NOISES = sizeof(noises) / sizeof(noises[0]) };

/* A program, the machine it runs on, and the state of that machine. */
struct program {
	struct trial_runner runner;
	const struct space *space;
	struct random random;
	double effects[DIMENSIONS][VALUES]; /* logarithms of cost factors */
	double gain;			    /* the highest possible */
	double noise;
	double slope, step; /* logarithms: drift per run, and at run step_at */
	size_t step_at;
	size_t run;
	size_t loaded; /* runs until the background load ends */
	double load;   /* its logarithm */
	bool is_seen;
};

struct outcome {
	double possible, noise;
	double proved; /* 0: nothing was proved */
	double truth;  /* true gain of the winner */
	double tried;  /* true gain of what was to be proved, whether it was or not */
	double oracle; /* share of the oracles that prove the highest gain */
	size_t runs, useless;
	bool is_covered; /* the interval contains the true gain */
};

/* The logarithm of the factor of a point, and the number of its parameters without effect. */
static double true_effect(const struct program *p, const struct space *space, const size_t *point,
			  size_t *useless)
{
	double sum = 0;

	for (size_t d = 0; d < DIMENSIONS; d++) {
		sum += p->effects[d][point[d]];
		if (useless && space->dimensions[d].values[point[d]])
			*useless += p->effects[d][point[d]] >= 0;
	}
	return sum;
}

static double set_effect(const struct program *p, const struct param_set *set)
{
	double sum = 0;

	for (size_t d = 0; d < DIMENSIONS; d++) {
		const struct space_dimension *dimension = &p->space->dimensions[d];
		const struct param *param = param_set_find(set, dimension->tunable, NULL, NULL);

		for (size_t v = 0; param && v < dimension->count; v++)
			if (dimension->values[v] && strcmp(dimension->values[v], param->value) == 0)
				sum += p->effects[d][v];
	}
	return sum;
}

static double machine_level(struct program *p)
{
	double level = p->slope * (double)p->run + (p->run >= p->step_at ? p->step : 0);

	if (p->loaded) {
		p->loaded--;
	} else if (random_real(&p->random) < EPISODES) {
		p->loaded = 2 + random_below(&p->random, 8);
		p->load = log(1.2 + 0.8 * random_real(&p->random));
		p->is_seen = random_below(&p->random, 2);
	}
	return level + (p->loaded ? p->load : 0);
}

static int program_run(void *state, const struct param_set *set, const struct trial_limits *limits,
		       struct trial *trial, struct err *err)
{
	struct program *p = state;
	double cost;

	(void)err;
	p->run++;
	cost = set_effect(p, set) + machine_level(p) + p->noise * random_normal(&p->random);
	if (random_real(&p->random) < OUTLIERS)
		cost += log(1.5 + 1.5 * random_real(&p->random));
	*trial = (struct trial){ .state = TRIAL_GOOD, .write_bytes = 1e6, .frequency = NAN };
	trial->io_s = trial->write_s = 10 * exp(cost);
	trial->run_s = trial->io_s + 1;
	trial->foreign = 0.1 * random_real(&p->random);
	if (p->loaded && p->is_seen)
		trial->foreign += 0.5 + 0.3 * random_real(&p->random);
	if (trial->run_s > limits->seconds) {
		trial->state = TRIAL_SLOW;
		trial->run_s = limits->seconds;
		trial->reason = xstrdup("too slow");
	}
	return 0;
}

static void program_close(void *state)
{
	(void)state;
}

static const struct trial_runner_ops program_ops = { .run = program_run, .close = program_close };

/* A value that is not the default; neighbors of a good number may be half as good. */
static void add_gain(struct program *p, size_t d, double gain)
{
	size_t v = 1 + random_below(&p->random, value_counts[d] - 1);
	bool shared = is_ordered[d] && random_below(&p->random, 2);

	p->effects[d][v] = -gain;
	if (shared && v + 1 < value_counts[d])
		p->effects[d][v + 1] = -gain / 2;
	if (shared && v > 1)
		p->effects[d][v - 1] = -gain / 2;
}

static void add_effects(struct program *p)
{
	size_t order[DIMENSIONS], helpful = 0;

	for (size_t d = 0; d < DIMENSIONS; d++)
		order[d] = d;
	random_shuffle(&p->random, order, DIMENSIONS);
	if (p->gain > 1) {
		helpful = 1 + random_below(&p->random, 2);
		add_gain(p, order[0], log(p->gain) * (helpful == 1 ? 1 : 0.65));
		if (helpful == 2)
			add_gain(p, order[1], log(p->gain) * 0.35);
	}
	/* Two others have a harmful value. */
	for (size_t i = helpful; i < helpful + 2; i++)
		p->effects[order[i]][1 + random_below(&p->random, value_counts[order[i]] - 1)] =
			log(1.1 + 0.9 * random_real(&p->random));
}

/* Every second program has no gain. Noise and gains are spread evenly. */
static void program_init(struct program *p, uint64_t seed, size_t number, size_t tunings)
{
	size_t steps = tunings / 2 / NOISES, k = number / 2 / NOISES;

	*p = (struct program){ .noise = noises[number / 2 % NOISES], .gain = 1 };
	random_stream(&p->random, seed, number);
	if (number % 2) {
		double part = ((double)k + random_real(&p->random)) / (double)(steps ? steps : 1);

		p->gain = 1.1 * pow(3 / 1.1, part);
	}
	add_effects(p);
	p->slope = 0.3 * (2 * random_real(&p->random) - 1) / RUNS_MOST;
	p->step_at = random_below(&p->random, 2 * RUNS_MOST);
	p->step = log(1.5) * (2 * random_real(&p->random) - 1);
	p->runner = (struct trial_runner){ .ops = &program_ops, .state = p };
}

static struct tuning_plan make_plan(uint64_t seed)
{
	struct tuning_plan plan = {
		.directory = xstrdup("/"),
		.space_text = xstrdup(space_text),
		.search = xstrdup("bayesian"),
		.seed = seed,
		.runs = SEARCH_RUNS,
		.seconds = INFINITY,
		.repeat = 3,
		.pairs = PAIRS,
		.drift = 5,
		.slow = 3,
	};

	plan.argv = xcalloc(2, sizeof(*plan.argv));
	plan.argv[0] = xstrdup("./program");
	return plan;
}

struct batch {
	struct bench *bench;
	uint64_t seed;
	size_t tunings;
	struct outcome *list;
	struct space space;
};

static void require(int r, const struct err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "proof: %s\n", err->text);
	exit(1);
}

static void read_outcome(const struct program *p, const struct tuning *tuning,
			 struct outcome *outcome)
{
	const struct tuning_result *result = tuning_result(tuning);

	*outcome = (struct outcome){ .possible = p->gain,
				     .noise = p->noise,
				     .truth = 1,
				     .runs = tuning_history(tuning)->count };
	outcome->tried = result->best ? exp(-true_effect(p, &tuning_plan(tuning)->space,
							 result->best->point, NULL))
				      : 1;
	if (!result->proof.holds)
		return;
	outcome->proved = result->proof.gain;
	outcome->truth = exp(-true_effect(p, &tuning_plan(tuning)->space, result->best->point,
					  &outcome->useless));
	outcome->is_covered =
		result->proof.low <= outcome->truth && outcome->truth <= result->proof.high;
}

/* Does the oracle prove the gain? */
static bool oracle_proves(struct program *p, uint64_t seed)
{
	const struct trial_limits limits = { .seconds = INFINITY };
	struct proof_plan plan = { .pairs = RUNS_MOST / 2,
				   .level = PROOF_LEVEL,
				   .sigma = p->noise };
	struct param_set nothing = { 0 };
	double costs[2][RUNS_MOST / 2];
	size_t counts[2] = { 0 };
	struct proof proof;
	struct trial trial;

	for (size_t i = 0; i < RUNS_MOST; i++) {
		bool tuned = proof_order(&plan, seed, i);

		program_run(p, &nothing, &limits, &trial, NULL);
		costs[tuned][counts[tuned]++] = trial.io_s / (tuned ? p->gain : 1);
	}
	proof_judge(&proof, &plan, costs[0], costs[1], plan.pairs);
	return proof.holds;
}

static void ask_oracles(struct batch *batch, size_t number)
{
	struct outcome *outcome = &batch->list[number];

	for (size_t k = 0; outcome->possible >= FOUND_GAIN && k < ORACLES; k++) {
		struct program program;

		program_init(&program, batch->seed, number, batch->tunings);
		program.space = &batch->space;
		random_stream(&program.random, batch->seed + number, k + 1);
		if (oracle_proves(&program, random_u64(&program.random)))
			outcome->oracle += 1.0 / ORACLES;
	}
}

static void tune_one(void *arg, size_t number, unsigned worker)
{
	struct batch *batch = arg;
	AUTO_FREE char *path = xprintf("%s/%zu.db", batch->bench->memory, number);
	struct tuning_plan plan = make_plan(batch->seed + number);
	struct tuning *tuning = NULL;
	struct store *store = NULL;
	struct program program;
	struct err err = { 0 };

	(void)worker;
	program_init(&program, batch->seed, number, batch->tunings);
	program.space = &batch->space;
	require(store_open(&store, path, &err), &err);
	require(tuning_begin(&tuning, &plan, &program.runner, store, NULL, &err), &err);
	require(tuning_run(tuning, &err), &err);
	read_outcome(&program, tuning, &batch->list[number]);
	ask_oracles(batch, number);
	tuning_close(tuning);
	tuning_plan_release(&plan);
	store_close(store);
	unlink(path);
}

/* Counts over the tunings with this noise; 0: with any. */
struct counts {
	size_t tunings, without, possible, found; /* possible: with a gain of FOUND_GAIN or more */
	size_t false_gains, proved, covered, useless, runs, runs_most;
	double share;  /* of the possible gain, in logarithms, of those found */
	double oracle; /* gains that an oracle proves, on average */
};

static bool is_found(const struct outcome *o)
{
	return o->proved > 0 && o->truth >= fmin(FOUND_GAIN, 0.95 * o->possible);
}

static void count_one(struct counts *c, const struct outcome *o)
{
	c->tunings++;
	c->runs += o->runs;
	c->runs_most = o->runs > c->runs_most ? o->runs : c->runs_most;
	c->without += o->possible <= 1;
	c->false_gains += o->proved > 0 && o->truth <= 1;
	c->proved += o->proved > 0;
	c->covered += o->is_covered;
	c->useless += o->useless;
	if (o->possible < FOUND_GAIN)
		return;
	c->possible++;
	c->oracle += o->oracle;
	if (!is_found(o))
		return;
	c->found++;
	c->share += log(o->truth) / log(o->possible);
}

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : NAN;
}

static void show_counts(struct bench *b, const struct batch *batch, double noise)
{
	struct counts c = { 0 };

	for (size_t i = 0; i < batch->tunings; i++)
		if (!(noise > 0) || batch->list[i].noise == noise)
			count_one(&c, &batch->list[i]);
	if (noise > 0)
		table_add(&b->table, "%.0f%%", 100 * noise);
	else
		table_add(&b->table, "all");
	table_add(&b->table, "%zu", c.tunings);
	table_add(&b->table, "%zu", c.false_gains);
	table_add(&b->table, "%zu of %zu", c.found, c.possible);
	table_add(&b->table, "%.1f", c.oracle);
	table_add(&b->table, "%.0f%%", percent(c.share, (double)c.found));
	table_add(&b->table, "%zu of %zu", c.covered, c.proved);
	table_add(&b->table, "%.2f", (double)c.useless / (double)(c.proved ? c.proved : 1));
	table_add(&b->table, "%.0f", (double)c.runs / (double)c.tunings);
	table_add(&b->table, "%zu", c.runs_most);
	if (noise > 0)
		return;
	bench_figure(b, "tunings", (double)c.tunings, 0);
	bench_figure(b, "false", (double)c.false_gains, 0);
	bench_figure(b, "found_percent", percent((double)c.found, (double)c.possible), 1);
	bench_figure(b, "oracle_percent", percent(c.oracle, (double)c.possible), 1);
	bench_figure(b, "oracle_share", percent((double)c.found, c.oracle), 1);
	bench_figure(b, "useless", (double)c.useless / (double)(c.proved ? c.proved : 1), 2);
	bench_figure(b, "runs_most", (double)c.runs_most, 0);
	if ((double)c.false_gains * 100 > FALSE_MOST * (double)c.tunings)
		bench_fail(b, "%zu false gains in %zu tunings, threshold %d in 100", c.false_gains,
			   c.tunings, FALSE_MOST);
	if (percent((double)c.found, (double)c.possible) < FOUND_LEAST)
		bench_fail(b, "%.0f %% of the gains of %.1f and more were found, threshold %d %%",
			   percent((double)c.found, (double)c.possible), FOUND_GAIN, FOUND_LEAST);
	if (c.runs_most > RUNS_MOST)
		bench_fail(b, "a tuning took %zu runs, threshold %d", c.runs_most, RUNS_MOST);
}

/* Lists the missed and the false gains. */
static void list_misses(const struct batch *batch)
{
	for (size_t i = 0; i < batch->tunings; i++) {
		const struct outcome *o = &batch->list[i];
		bool is_false = o->proved > 0 && o->truth <= 1;

		if (is_false || (o->possible >= FOUND_GAIN && !is_found(o)))
			printf("%s: tuning %zu, noise %.0f%%, possible gain %.2f, proved %.2f, "
			       "true gain of the candidate %.2f\n",
			       is_false ? "false" : "missed", i, 100 * o->noise, o->possible,
			       o->proved, o->tried);
	}
}

int main(int argc, char **argv)
{
	static const char *const titles[] = { ">noise",	 ">tunings",   ">false",   ">found",
					      ">oracle", ">share",     ">covered", ">useless",
					      ">runs",	 ">most runs", NULL };
	struct batch batch = { .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
			       .tunings = argc > 3 ? strtoull(argv[3], NULL, 10) : 100 };
	struct err err = { 0 };
	struct bench b;

	if (argc < 2 || !bench_init(&b, "proof", argv[1], titles)) {
		fprintf(stderr, "usage: bench_proof BUILD [SEED [TUNINGS]]\n");
		return 2;
	}
	batch.bench = &b;
	batch.list = xcalloc(batch.tunings + 1, sizeof(*batch.list));
	require(space_read_text(&batch.space, "space", space_text, strlen(space_text), &err), &err);
	parallel_for(parallel_cores(), batch.tunings, tune_one, &batch);
	for (size_t n = 0; n < NOISES; n++)
		show_counts(&b, &batch, noises[n]);
	show_counts(&b, &batch, 0);
	table_print(&b.table, stdout, 0);
	list_misses(&batch);
	space_release(&batch.space);
	free(batch.list);
	return bench_end(&b);
}
