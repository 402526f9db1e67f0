/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A trial is one run of the program to tune under given parameters. A trial runner makes it and
 * reports the figures. The tuning loop knows nothing else of programs, launchers and models.
 *
 *   command_runner    runs a real command line under `sluice run`
 *   simulated_runner  calculates a kernel on a simulated platform
 */
#ifndef SLUICE_TUNE_TRIAL_TRIAL_H
#define SLUICE_TUNE_TRIAL_TRIAL_H

#include "params/set.h"
#include "params/space.h"

struct access_profile;
struct lockstep;

enum trial_state {
	TRIAL_GOOD,
	TRIAL_FAILED,  /* the program returned an error */
	TRIAL_CRASHED, /* a signal ended the program */
	TRIAL_SLOW,    /* the runner aborted it at the time limit */
	TRIAL_WRONG,   /* its data differs from the baseline's, or --verify failed */
	TRIAL_UNSEEN,  /* it ran, but nothing was recorded, so there are no figures */
	TRIAL_STATES,
};

struct trial {
	enum trial_state state;
	double run_s;			/* from start to end */
	double io_s;			/* open, transfer and close of the slowest rank */
	double read_bytes, write_bytes; /* of all ranks, at the highest layer */
	double read_s, write_s;		/* of the slowest rank */
	/* Share of the processors of this node that other processes used; NAN: unknown. */
	double foreign;
	double frequency; /* of the processors, in Hz; NAN: unknown */
	char digest[33];  /* of the data written; "": it was not read */
	/*
	 * How its data was compared with that of the baseline, in a line that is shown to users:
	 *
	 *   identical: WHAT        all of its data was compared
	 *   partly: WHAT           some of it was; the text says what was not, and why
	 *   verified: HOW          nothing was compared, but the verify command accepted it
	 *   not compared: WHY
	 *
	 * NULL: a run of the baseline, or one that is not good.
	 */
	char *compared;
	char *effective; /* KEY=VALUE;... as read back; may be NULL */
	char *reason;	 /* of any state but GOOD; may be NULL */
};

void trial_release(struct trial *trial);
const char *trial_state_name(enum trial_state state);

struct trial_limits {
	double seconds; /* abort the trial then; INFINITY: no limit */
	/* Nothing is recorded: a good trial has a run time, but no figures of I/O, and its data is
	 * not compared. */
	bool is_unrecorded;
};

struct trial_runner_ops {
	/* Runs one trial. Whatever the program does wrong is a state of the trial. The function
	 * itself fails only if the next trial would fail as well: the user interrupts (-EINTR), or
	 * the disk of the runner's own files is full. *trial is untouched then. */
	int (*run)(void *runner, const struct param_set *set, const struct trial_limits *limits,
		   struct trial *trial, struct err *err);
	/* Restores the user's files after the last trial, and fails if it cannot. Optional; close()
	 * does it as well, but cannot say that it failed. */
	int (*finish)(void *runner, struct err *err);
	void (*close)(void *runner);
	bool is_exact;		 /* the same parameters always cost the same: one trial is enough */
	bool can_skip_recording; /* is_unrecorded has an effect */
};

struct trial_runner {
	const struct trial_runner_ops *ops;
	void *state;			/* passed to the functions of ops */
	struct tunable_context context; /* where it runs; complete after the first good trial */
	struct space_uses uses;		/* what the program uses; likewise */
	char *program, *platform;	/* as in tune/program/identity.h */
	char *fingerprint;
	uint32_t ranks;
	uint32_t cores; /* of this node that the program may use; 0: unknown */
	/* The collective accesses of the first good trial, for models; NULL: unknown. */
	const struct access_profile *profile;
	/* Whether its independent transfers could be collective; NULL: unknown. */
	const struct lockstep *lockstep;
};

#endif
