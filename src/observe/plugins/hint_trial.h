/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tries hints for the accesses of one kind while a program runs. When HINT_TRIAL_ACCESSES of them
 * were measured, at least HINT_TRIAL_SPACING_NS apart because neighbors share the state of the
 * machine, the calibrated model is asked for the best settings that an open file can get. If
 * the interval of their predicted speedup lies above 1, they are worth a trial. After as many
 * accesses with them, both groups are compared (learn/math/ratio.h): the trial has failed unless
 * the accesses were faster with a probability of error below 5 %. There is one trial per kind.
 *
 * It suggests nothing itself: the caller does if hint_trial_begin() returns hints, and withdraws
 * them when the trial has failed.
 * Papers: SIOX-2.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_HINT_TRIAL_H
#define SLUICE_OBSERVE_PLUGINS_HINT_TRIAL_H

#include "learn/math/ratio.h"
#include "predict/model/hybrid/hybrid.h"

struct buf;

#define HINT_TRIAL_ACCESSES 8
#define HINT_TRIAL_SPACING_NS INT64_C(50000000)

enum hint_trial_state {
	HINT_TRIAL_WAITS,  /* too few accesses were measured */
	HINT_TRIAL_NONE,   /* the model predicts no speedup that is certain enough */
	HINT_TRIAL_RUNS,   /* hints are suggested */
	HINT_TRIAL_KEPT,   /* accesses were faster with them */
	HINT_TRIAL_FAILED, /* they were not */
};

/* Initialize with zeros. */
struct hint_trial {
	enum hint_trial_state state;
	char *hints; /* of the trial: KEY=VALUE;KEY=VALUE, sorted by key */
	struct recommendation predicted;
	/* Seconds of the last accesses before and of the first ones after the change. */
	double before[HINT_TRIAL_ACCESSES], after[HINT_TRIAL_ACCESSES];
	size_t before_count, after_count; /* before_count: of all, only the last are kept */
	int64_t next_ns;		  /* earlier accesses do not count */
	struct ratio_interval measured;	  /* before / after; if KEPT or FAILED */
};

void hint_trial_release(struct hint_trial *trial);

/* One access. Accesses are added in the order of their begin. */
struct hint_trial_access {
	int64_t begin_ns;
	double seconds;
};

/*
 * Adds an access with the hints that the file was opened with (`opened`, as recorded). Returns the
 * hints to try from now on, or NULL. This happens once at most.
 */
const char *hint_trial_before(struct hint_trial *trial, const struct hybrid *hybrid,
			      const struct access *access, const char *opened,
			      struct hint_trial_access one);

/* Ends a trial whose hints could not be suggested. */
void hint_trial_cancel(struct hint_trial *trial);

/* Adds an access with the hints of the trial. True if the trial has failed with it. */
bool hint_trial_after(struct hint_trial *trial, struct hint_trial_access one);

/* Appends what was measured: "with HINTS: median 12 ms before, 3 ms after". Nothing without any
 * access with the hints. */
void hint_trial_applied(const struct hint_trial *trial, struct buf *out);

/* Appends what was predicted and measured. The trial must have hints. */
void hint_trial_describe(const struct hint_trial *trial, const struct hybrid *hybrid,
			 struct buf *out);

/* Reads the hints of a file as settings of the model. */
int hint_settings(struct settings *settings, const struct hybrid *hybrid,
		  const struct access *access, const char *hints, struct err *err);

#endif
