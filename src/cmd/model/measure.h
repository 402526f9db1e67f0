/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of `sluice model measure`: options and sources of rows (measure.c), and what is shown
 * (measure_show.c). The jobs are run by predict/model/measure/measure.h.
 */
#ifndef SLUICE_CMD_MODEL_MEASURE_H
#define SLUICE_CMD_MODEL_MEASURE_H

#include "base/term.h"
#include "cli/command.h"
#include "predict/model/costs/campaign.h"

struct store;

#define BENCH_SCHEMA "sluice.bench/1"

struct bench_args {
	const char *ranks, *buffers, *writers, *dir, *platform, *hosts, *launch, *on, *output,
		*import;
	int placement, cache, law, mpi;
	uint64_t cache_bytes, rounds, repetitions, seed;
	int64_t budget_ns;
	bool writes_only, dense, again, plan, list, forget, json;
};

struct bench {
	struct command *command;
	const struct bench_args *args;
	char *platform;
	struct store *store;
	struct campaign_wish wish;
	struct campaign campaign;
	bool is_measured;   /* here, by jobs; what follows is 0 otherwise, but for saved */
	size_t known;	    /* cells that were there */
	size_t done, saved; /* cells and rows that have come since */
	double seconds;
	struct progress progress;
};

void bench_show_plan(const struct bench *bench);
/* What there is of the platform now, and how steady it is. */
void bench_show_rows(const struct bench *bench, const struct elements *rows);
/* Of all platforms, or of the one that was named. */
int bench_show_list(struct command *command, const struct bench_args *args, struct store *store);

#endif
