/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by `sluice model measure`, which runs the benchmarks (predict/model/measure/measure.h),
 * and `sluice model data`, which manages their rows.
 */
#ifndef SLUICE_CMD_MODEL_MEASURE_H
#define SLUICE_CMD_MODEL_MEASURE_H

#include "base/term.h"
#include "cli/command.h"
#include "predict/model/costs/campaign.h"

struct store;

#define MEASURE_SCHEMA "sluice.bench/1"

/* A campaign of benchmarks, and what it has measured so far. */
struct campaign_run {
	struct command *command;
	char *platform;
	struct store *store;
	struct campaign_request wish;
	struct campaign campaign;
	size_t known;	 /* cells that the store had before */
	size_t measured; /* cells that were measured now */
	size_t rows;	 /* rows that they added to the store */
	double seconds;
	struct progress progress;
};

void measure_show_plan(const struct campaign_run *run, bool json);
/* Prints the rows of the platform and their spread. */
void measure_show_rows(const struct campaign_run *run, const struct elements *rows, bool json);
/* Lists all platforms, or the one named `only` (NULL: all). Returns an exit code. */
int measure_show_list(struct command *command, const char *only, bool json, struct store *store);

/* The name of the platform: --platform, else setting tune.platform. The caller frees. */
char *measure_platform(const struct command *command, const char *platform);

#endif
