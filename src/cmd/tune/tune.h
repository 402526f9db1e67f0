/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of `sluice tune` share: tune.c reads options and does the work, tune_show.c tells
 * what came out, tune_plan.c what would be done, tune_list.c what is in the store.
 */
#ifndef SLUICE_CMD_TUNE_TUNE_H
#define SLUICE_CMD_TUNE_TUNE_H

#include "cli/command.h"
#include "tune/loop/tuning.h"

#define TUNE_SCHEMA "sluice.tune/1"

struct tune_args {
	const char *search, *model, *space, *verify, *output;
	struct option_list settings;
	uint64_t runs, repeat, pairs, seed, slow;
	int64_t time_ns;
	int objective, allow;
	bool no_check, no_partial;
	const char *on, *kernel;
	uint64_t ranks;
	bool resume, plan, list, json;
	uint64_t show, forget;
};

/* What became of the winner beside the result itself. */
struct tune_outcome {
	const struct tuning *tuning;
	int64_t study, entry; /* of the knowledge base; 0: none */
	const char *pinned;   /* why there is no entry; NULL */
	const char *output;   /* prefix of the written files; NULL */
	const char *command;  /* as the user would type it */
	bool is_exact;
};

void tune_show(const struct tune_outcome *outcome);
void tune_show_json(const struct tune_outcome *outcome);

/* --plan: space, budget and how long it may take; nothing is run. run_s: of the program, NAN. */
void tune_show_plan(const struct tuning_plan *plan, double run_s, bool json);

/* --list, --show and --forget: exit codes. */
int tune_list(struct command *command, struct store *store);
int tune_show_runs(struct command *command, struct store *store, int64_t id);

#endif
