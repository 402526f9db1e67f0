/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a tuning says about its result: the verdict in a sentence, and everything as JSON. `sluice
 * tune` and the web application show the same words.
 */
#ifndef SLUICE_TUNE_LOOP_OUTCOME_H
#define SLUICE_TUNE_LOOP_OUTCOME_H

#include "tune/loop/tuning.h"

struct buf;
struct json;

#define TUNE_SCHEMA "sluice.tune/1"

/* The result of a tuning and what was done with it. */
struct tuning_outcome {
	const struct tuning *tuning;
	int64_t entry;	     /* id in the knowledge base; 0: not stored */
	const char *command; /* as the user would type it */
	bool is_exact;	     /* simulated: there is no noise */
};

/* Is there a winner that was proved and may be saved? */
bool tuning_has_winner(const struct tuning *tuning);

/* The command line that was tuned, with the arguments of the winner. The caller frees it. */
char *tuning_winner_command(const struct tuning *tuning);

/*
 * "2.31 times faster (95 % interval 2.05 to 2.60): I/O 1.42 s -> 614 ms, 5 interleaved pairs of
 * runs; data identical: 2 files, 1.50 GiB", or that nothing was confirmed, and why.
 */
void outcome_verdict(const struct tuning_outcome *outcome, struct buf *out);

/* Parameters of the best candidate that were dropped because they have no effect. The caller
 * releases the set. */
void outcome_dropped(const struct tuning_outcome *outcome, struct param_set *dropped);

/* Writes the members of an object of TUNE_SCHEMA; the caller has opened it. */
void outcome_json(const struct tuning_outcome *outcome, struct json *json);

#endif
