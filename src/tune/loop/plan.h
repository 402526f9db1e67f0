/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything that decides the course of a tuning, kept with it as JSON so that it can be gone on
 * with after any end. The first half is what was asked for; its digest is what `--resume` finds a
 * tuning by. The second is known after the first run.
 */
#ifndef SLUICE_TUNE_LOOP_PLAN_H
#define SLUICE_TUNE_LOOP_PLAN_H

#include "params/space.h"
#include "tune/loop/cost.h"
#include "tune/trial/access_profile.h"

#define TUNING_DIGEST 33

struct tuning_plan {
	char **argv;	   /* of the program, ends with NULL; NULL on a described platform */
	char *directory;   /* where it is run */
	char *on, *kernel; /* "simulated:hopper", "vpic"; NULL: argv is run here */
	uint64_t on_ranks;
	char *fingerprint;	 /* of the program; NULL: unknown */
	char *space_text;	 /* as given; NULL: suggested after the first run */
	char *search, *settings; /* settings may be NULL */
	/* Of a model that leads the search: its file and advice_digest(); NULL: none does. */
	char *model, *model_digest;
	uint64_t seed;
	enum cost_kind objective;
	uint64_t runs;	 /* most runs to search, those of the default included */
	double seconds;	 /* most time for them; INFINITY */
	unsigned repeat; /* runs of a candidate that leads, and of the default at first */
	unsigned pairs;	 /* of the proof */
	unsigned drift;	 /* the default is run again after so many runs; 0: never */
	double slow;	 /* a candidate is ended after so many times the best's run time */
	char *verify;	 /* shell command; NULL: none */
	bool check;	 /* data must be that of the default */
	bool partial;	 /* find out what each part of the winner brings */
	enum tunable_safety allowed;

	struct tunable_context context;
	struct space space;
	struct access_profile profile; /* of the default, with a model */
};

void tuning_plan_release(struct tuning_plan *plan);

/* As users type it, quoted for a shell. */
char *tuning_plan_command(const struct tuning_plan *plan);

void tuning_plan_digest(const struct tuning_plan *plan, char digest[TUNING_DIGEST]);

/* The caller frees it. */
char *tuning_plan_write(const struct tuning_plan *plan);
int tuning_plan_read(struct tuning_plan *plan, const char *text, struct err *err);

#endif
