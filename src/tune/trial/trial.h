/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A test bed: something that runs the program to be tuned once under given parameters and says what
 * came out. The loop knows nothing else of programs, launchers and models.
 *
 *   bed_command    a real command line, started under `sluice run`
 *   bed_simulated  a kernel on a described platform
 */
#ifndef SLUICE_TUNE_TRIAL_TRIAL_H
#define SLUICE_TUNE_TRIAL_TRIAL_H

#include "params/set.h"
#include "params/space.h"

struct access_profile;

enum trial_state {
	TRIAL_GOOD,
	TRIAL_FAILED,  /* the program returned an error */
	TRIAL_CRASHED, /* a signal ended it */
	TRIAL_SLOW,    /* ended by us: it took longer than it might */
	TRIAL_WRONG,   /* its data is not what the default run wrote, or --verify said no */
	TRIAL_UNSEEN,  /* it ran, but nothing was recorded: no figure */
	TRIAL_STATES,
};

/* One run. */
struct trial {
	enum trial_state state;
	double run_s;			/* from start to end */
	double io_s;			/* open + transfer + close: the slowest rank */
	double read_bytes, write_bytes; /* of the highest layer */
	double read_s, write_s;		/* of the slowest rank */
	char digest[33];		/* of the data written, "" where it was not looked at */
	char *effective;		/* KEY=VALUE;... as read back; may be NULL */
	char *reason;			/* of any state but GOOD; may be NULL */
};

void trial_release(struct trial *trial);
const char *trial_state_name(enum trial_state state);

struct trial_limits {
	double seconds; /* end it then; INFINITY: no limit */
};

struct trial_runner_ops {
	/* Runs once. Fails only where going on makes no sense: the user interrupts (-EINTR), our
	 * own disk is full. All else is a trial. */
	int (*run)(void *runner, const struct param_set *set, const struct trial_limits *limits,
		   struct trial *trial, struct err *err);
	void (*close)(void *runner);
	bool is_exact; /* the same parameters always cost the same: once is enough */
};

struct trial_runner {
	const struct trial_runner_ops *ops;
	void *state;
	struct tunable_context context; /* where it runs; known after the first run */
	struct space_uses uses;
	char *program, *platform; /* of the knowledge base, see tune/program/identity.h */
	char *fingerprint;
	uint32_t ranks;
	/* What the first good run was seen to access, for models; NULL: nothing is known. */
	const struct access_profile *profile;
};

#endif
