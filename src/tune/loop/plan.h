/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan of a tuning: everything that determines its course. It is saved as JSON with the tuning,
 * so that the tuning can be resumed. The first half is the request; `--resume` finds a tuning by
 * the digest of it. The second half is known after the first run.
 * Papers: GA-11, ATE-5.
 */
#ifndef SLUICE_TUNE_LOOP_PLAN_H
#define SLUICE_TUNE_LOOP_PLAN_H

#include "params/space.h"
#include "tune/loop/cost.h"
#include "tune/trial/access_profile.h"

#define TUNING_DIGEST 33

struct tuning_plan {
	char **argv;	   /* of the program, ends with NULL; NULL on a simulated platform */
	char *directory;   /* working directory of the program */
	char *on, *kernel; /* "simulated:hopper", "vpic"; NULL: argv is run */
	uint64_t on_ranks;
	char *fingerprint;	 /* of the program; NULL: unknown */
	char *space_text;	 /* as given; NULL: derived from the first run */
	char *search, *settings; /* name, and settings or NULL */
	/* File and advice_digest() of the model that guides the search; NULL: none. */
	char *model, *model_digest;
	uint64_t seed;
	enum cost_kind objective;
	uint64_t runs;	 /* most runs of the search, including the baseline */
	double seconds;	 /* most time for them; INFINITY: no limit */
	unsigned repeat; /* repetitions of the baseline and of each new best */
	unsigned pairs;	 /* of fresh runs in the proof */
	unsigned drift;	 /* the baseline is repeated after this many runs; 0: never */
	double slow;	 /* a trial is aborted after this many times the best run time */
	char *verify;	 /* shell command; NULL: none */
	char *restore;	 /* likewise: restores files before each trial */
	char *launcher;	 /* of tune/trial/batch_job.h; NULL: runs are started directly */
	char *workdir;	 /* absolute; trials run in copies of it; NULL: in `directory` */
	bool check;	 /* the data must be identical to that of the baseline */
	bool partial;	 /* do the ablation, see tune/loop/partial.h */
	enum tunable_safety allowed;

	struct tunable_context context;
	struct space space;
	struct access_profile profile; /* of the first run; only with a model */
};

void tuning_plan_release(struct tuning_plan *plan);

/* The command as the user types it, quoted for a shell. The caller frees it. */
char *tuning_plan_command(const struct tuning_plan *plan);

void tuning_plan_digest(const struct tuning_plan *plan, char digest[TUNING_DIGEST]);

/* As JSON, which the caller frees. read leaves *plan untouched on failure. */
char *tuning_plan_write(const struct tuning_plan *plan);
int tuning_plan_read(struct tuning_plan *plan, const char *text, struct err *err);

#endif
