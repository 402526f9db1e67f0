/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runs of a tuning in order, in the store and in memory. A resumed tuning replays the runs of
 * the store one by one, as if they had just been measured. All decisions follow from the plan and
 * the earlier runs, so the same runs are requested again.
 */
#ifndef SLUICE_TUNE_LOOP_HISTORY_H
#define SLUICE_TUNE_LOOP_HISTORY_H

#include "store/studies.h"
#include "tune/trial/trial.h"

#define HISTORY_PHASES(X)                                                 \
	X(DEFAULT, "default") /* the baseline: runs without parameters */ \
	X(SEARCH, "search")                                               \
	X(DRIFT, "drift") /* the baseline again, during the search */     \
	X(SIMPLIFY, "simplify")                                           \
	X(PROOF, "proof")                                                 \
	X(UNRECORDED, "unrecorded") /* the same without recording */      \
	X(PARTIAL, "partial")

#define HISTORY_ENUM(name, word) PHASE_##name,
enum history_phase { HISTORY_PHASES(HISTORY_ENUM) PHASES };
#undef HISTORY_ENUM

const char *history_phase_name(enum history_phase phase);

/* The point of a run without parameters, or of one outside the space. */
#define HISTORY_NO_POINT UINT64_MAX

struct history_run {
	enum history_phase phase;
	uint64_t point;
	uint64_t parameters; /* hash of their JSON */
	enum trial_state state;
	double cost; /* NAN unless the run is good */
	double run_s, io_s, read_bytes, write_bytes;
	double foreign;	  /* share of the processors that other processes used; NAN: unknown */
	double frequency; /* of the processors, in Hz; NAN: unknown */
	char *reason;	  /* NULL if the run is good */
	char *compared;	  /* as in struct trial; NULL: unknown */
};

struct history {
	struct store *store;
	int64_t study; /* id in the store; 0: not started */
	struct history_run *runs;
	size_t count, cap;
	size_t next; /* runs that were replayed or added; the rest waits to be replayed */
};

void history_release(struct history *history);

/* Reads all runs of a study from the store. */
int history_open(struct history *history, struct store *store, int64_t study, struct err *err);

/* Starts a study with its first run. */
int history_begin(struct history *history, struct store *store, const struct study *study,
		  const struct study_run *first, struct err *err);

/* The next run to replay; NULL: all were replayed. */
const struct history_run *history_next_replay(const struct history *history);

/*
 * Returns 1 and the next run to replay, or 0 if the run has to be measured. -EBADMSG: the stored
 * run is of another phase or has other parameters, so this is not the same course.
 */
int history_replay(struct history *history, enum history_phase phase, const char *parameters,
		   struct history_run *run, struct err *err);

/* Adds a run to the store and to memory. It is on disk when the function returns. reason and digest
 * of the row may be NULL. */
int history_add(struct history *history, const struct study_run *row, struct history_run *run,
		struct err *err);

#endif
