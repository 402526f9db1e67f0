/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of `sluice tune`: tune.c parses options and runs the tuning, show.c prints
 * its result, and dry_run.c prints what would be done.
 */
#ifndef SLUICE_CMD_TUNE_TUNE_H
#define SLUICE_CMD_TUNE_TUNE_H

#include "cli/command.h"
#include "tune/loop/outcome.h"

struct tune_args {
	const char *search, *model, *space, *verify, *restore, *workdir, *launcher, *output;
	struct option_list settings;
	uint64_t runs, repeat, pairs, seed, slow;
	int64_t time_ns;
	int objective, allow;
	bool no_check, no_partial;
	const char *simulate, *kernel;
	uint64_t ranks;
	uint64_t tuning; /* to resume; OPTION_NONE: none is named */
	bool resume, dry_run, json;
};

/* The result of a tuning and what was done with it. */
struct tune_outcome {
	struct tuning_outcome what;
	int64_t study;	    /* id of the tuning */
	const char *pinned; /* why it was not stored; NULL if it was */
	const char *output; /* prefix of the written files; NULL: none */
};

void tune_show(const struct tune_outcome *outcome);
void tune_show_json(const struct tune_outcome *outcome);

/* Prints the space and the number of runs. run_s: duration of one run; NAN if unknown. */
void tune_show_dry_run(const struct tuning_plan *plan, double run_s, bool json);

#endif
