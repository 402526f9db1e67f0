/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A request to tune a command: what the user asked for. A plan (tune/loop/plan.h) is made from it.
 */
#ifndef SLUICE_TUNE_LOOP_REQUEST_H
#define SLUICE_TUNE_LOOP_REQUEST_H

#include <signal.h>

#include "tune/loop/plan.h"

struct trial_runner;
struct config;

/* The texts must outlive the session. */
struct tuning_request {
	char *const *argv;    /* command to tune, ends with NULL; NULL: none is given */
	const char *simulate; /* simulated platform to tune a kernel on; NULL: tune argv */
	const char *kernel;
	uint64_t ranks;	      /* of the kernel */
	const char *search;   /* name */
	const char *settings; /* of the search, "KEY=VALUE,..."; NULL: defaults */
	const char *model;    /* file; NULL: none, or model.path if the search needs one */
	const char *space;    /* file; NULL: derived from the first run */
	const char *verify;   /* shell command that checks each run; NULL: none */
	const char *restore;  /* shell command that restores files before each run; NULL: none */
	const char *launcher; /* of tune/trial/batch_job.h; NULL: runs are started directly */
	const char *workdir;  /* directory; runs take place in copies of it; NULL: here */
	const char *output;   /* prefix of the files to write; NULL: none */
	uint64_t runs;	      /* most runs of the search, including the baseline */
	double max_time_s;    /* of the search; INFINITY: no limit */
	uint64_t repeat;      /* repetitions of the baseline and of each new best */
	uint64_t pairs;	      /* pairs of fresh runs that prove the winner */
	uint64_t slow;	      /* abort a trial after this many times the best run time */
	uint64_t seed;	      /* same seed and same times: same course */
	enum cost_kind objective;
	enum tunable_safety allowed;
	bool check_data; /* compare the data written with that of the baseline */
	bool partial;	 /* measure what each part of the winner contributes */
	bool resume;	 /* continue an unfinished tuning: the same, or the last if none is named */
	int64_t tuning;	 /* the id of the one to resume; 0: any */
	const volatile sig_atomic_t *stop; /* not 0: abort the running trial; NULL: never */
	/* Called a few times per second during a trial of a command. May be NULL. */
	void (*look)(void *arg);
	void *look_arg;
};

/* -EINVAL if a value is out of range or two of them do not fit together. The message begins with
 * the name of the option without its dashes. */
int tuning_request_check(const struct tuning_request *request, struct err *err);

/* Makes the first half of the plan; reads and checks the files that the request names. *plan must
 * be released also after a failure. */
int tuning_request_plan(const struct tuning_request *request, const struct config *config,
			struct tuning_plan *plan, struct err *err);

/* Opens the simulated platform of a plan, and fills in the space of the plan if none was given. */
int tuning_request_open_simulated(struct trial_runner *runner, struct tuning_plan *plan,
				  struct err *err);

/*
 * For a dry run: makes the plan with its space, or with all that could be in it if only a first run
 * would tell. Runs nothing. *run_s is the time of one run as an earlier tuning of the command
 * measured it; NAN: unknown. The caller releases the plan.
 */
int tuning_request_dry_run(const struct tuning_request *request, const struct config *config,
			   struct tuning_plan *plan, double *run_s, struct err *err);

#endif
