/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The time of a recommendation among 10,000 settings, for each method that can be selected. The
 *costs of the simulated Vesta are learned with that method for all operations, so the slowest line
 *is an upper bound for any combination. On a loaded machine, CPU time is more meaningful than wall
 *time.
 *
 *	bench_model_speed [MILLISECONDS]        exits with 1 if a recommendation takes longer
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/model/bluegene.h"
#include "lab/replica/replica.h"
#include "learn/learner.h"
#include "predict/model/hybrid/hybrid.h"
#include "store/elements.h"

enum { AGGREGATORS = 100, BUFFERS = 100, SETTINGS = AGGREGATORS * BUFFERS, TIMES = 7 };

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void settings_fill(struct settings *settings)
{
	for (uint64_t i = 0; i < SETTINGS; i++)
		settings[i] = (struct settings){ .aggregators = 1 + i / BUFFERS,
						 .buffer_bytes =
							 (8 << 20) + (i % BUFFERS) * (256 << 10) };
}

/* Returns the median of a few measurements with a clock, in seconds. */
static double recommend_time(clockid_t clock, const struct hybrid *hybrid,
			     const struct settings *settings)
{
	struct access access = { .nodes = 512, .ranks = 8192, .rank_bytes = 64 << 20 };
	static const struct settings initial;
	struct recommendation r;
	struct err err = { 0 };
	double took[TIMES];

	for (int i = 0; i < TIMES; i++) {
		double began = now(clock);

		if (hybrid_recommend(hybrid, &access, settings, SETTINGS, &initial, 0.9, &r, &err) <
		    0) {
			fprintf(stderr, "bench_model_speed: %s\n", err.text);
			exit(1);
		}
		took[i] = now(clock) - began;
		for (int j = i; j > 0 && took[j] < took[j - 1]; j--) {
			double swap = took[j];

			took[j] = took[j - 1];
			took[j - 1] = swap;
		}
	}
	return took[TIMES / 2];
}

/* A method with the slowest settings that a selection can draw. */
static const struct method {
	char *learner, *settings;
} methods[] = {
	{ "linear", "" },
	{ "neighbours", "k=25" },
	{ "rules", "" },
	{ "rules", "committees=50,neighbours=9" },
	{ "svm", "epsilon=0.001" },
	{ "forest", "" },
	{ "forest", "trees=200" },
	{ "perceptron", "hidden=200" },
};

/* Learns the costs as if the method had been selected for every operation. */
static void method_fit(struct hybrid *hybrid, const struct machine *machine,
		       const struct elements *rows, const struct method *method)
{
	struct cost_entry entry = { .learner = method->learner,
				    .settings = method->settings,
				    .recipe = "centre,scale" };
	struct costs won = { 0 };
	struct costs_plan plan = { .like = &won, .folds = 2, .seed = 1 };
	struct err err = { 0 };

	for (int i = 0; i < OPERATIONS; i++)
		won.of[i] = (struct cost){ .entries = &entry, .entry_count = 1 };
	if (hybrid_fit(hybrid, machine, rows, &plan, &err) < 0) {
		fprintf(stderr, "bench_model_speed: %s: %s\n", method->learner, err.text);
		exit(1);
	}
}

/* Returns milliseconds, for the slower rule of rounds. */
static double method_time(const struct machine *machine, const struct elements *rows,
			  const struct settings *settings, const struct method *method)
{
	struct hybrid hybrid;
	double seconds, cpu, slowest = 0;

	method_fit(&hybrid, machine, rows, method);
	for (int rounds = 0; rounds < ROUNDS_RULES; rounds++) {
		bluegene_attach(&hybrid.machine,
				&(struct bluegene_rules){ .rounds = (enum rule_rounds)rounds });
		seconds = recommend_time(CLOCK_MONOTONIC, &hybrid, settings);
		cpu = recommend_time(CLOCK_PROCESS_CPUTIME_ID, &hybrid, settings);
		printf("  %-10s %-28s rounds %-10s %6.1f, CPU %.1f\n", method->learner,
		       method->settings, rounds == ROUNDS_DOMAINS ? "domains" : "published",
		       1e3 * seconds, 1e3 * cpu);
		slowest = fmax(slowest, 1e3 * seconds);
	}
	hybrid_release(&hybrid);
	return slowest;
}

int main(int argc, char **argv)
{
	double limit = argc > 1 ? strtod(argv[1], NULL) : INFINITY, slowest = 0;
	AUTO_FREE struct settings *settings = xcalloc(SETTINGS, sizeof(*settings));
	struct elements rows = { 0 };
	struct machine machine;
	struct replica *replica;
	struct err err = { 0 };

	if (replica_open(&replica, "vesta", REPLICA_QUEUE, &err) < 0 ||
	    replica_benchmark(replica, 1, &rows, &err) < 0) {
		fprintf(stderr, "bench_model_speed: %s\n", err.text);
		return 1;
	}
	machine = *replica_machine(replica);
	bluegene_attach(&machine, NULL);
	settings_fill(settings);
	printf("recommending among %d settings, milliseconds\n", SETTINGS);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		slowest = fmax(slowest, method_time(&machine, &rows, settings, &methods[i]));
	printf("slowest: %.1f\n", slowest);
	elements_release(&rows);
	replica_close(replica);
	return slowest > limit;
}
