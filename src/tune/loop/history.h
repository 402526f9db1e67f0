/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runs of a tuning in their order, in the store and in memory. What the store held when the
 * tuning was opened again is given back run by run, as if it had just been measured: since all that
 * is decided follows from the plan and from earlier runs, the same questions come up.
 */
#ifndef SLUICE_TUNE_LOOP_HISTORY_H
#define SLUICE_TUNE_LOOP_HISTORY_H

#include "store/studies.h"
#include "tune/trial/trial.h"

#define HISTORY_PHASES(X)                                        \
	X(DEFAULT, "default") /* without parameters, at first */ \
	X(SEARCH, "search")                                      \
	X(DRIFT, "drift") /* without parameters, in between */   \
	X(SIMPLIFY, "simplify")                                  \
	X(PROOF, "proof")                                        \
	X(PARTIAL, "partial")

#define HISTORY_ENUM(name, word) PHASE_##name,
enum history_phase { HISTORY_PHASES(HISTORY_ENUM) PHASES };
#undef HISTORY_ENUM

const char *history_phase_name(enum history_phase phase);

/* Of a run without parameters, and of one that is no point of the space. */
#define HISTORY_NO_POINT UINT64_MAX

struct history_run {
	enum history_phase phase;
	uint64_t point;
	uint64_t parameters; /* hash of their JSON */
	enum trial_state state;
	double cost; /* NAN unless good */
	double run_s, io_s, read_bytes, write_bytes;
	char digest[33];
	char *reason; /* NULL if good */
};

struct history {
	struct store *store;
	int64_t study; /* 0: not begun */
	struct history_run *runs;
	size_t count, cap;
	size_t next; /* runs that were given back or added; the rest waits */
};

void history_release(struct history *history);

/* All runs of a study that is in the store. */
int history_open(struct history *history, struct store *store, int64_t study, struct err *err);

/* Begins a study with its first run. */
int history_begin(struct history *history, struct store *store, const struct study *study,
		  const struct study_run *first, struct err *err);

/* Is the next run one of those that wait? */
const struct history_run *history_waiting(const struct history *history);

/*
 * 1 and the next run that waits; 0: none does, it has to be measured. -EBADMSG: it was of another
 * phase or other parameters, so this cannot be the same course.
 */
int history_take(struct history *history, enum history_phase phase, const char *parameters,
		 struct history_run *run, struct err *err);

/* Adds a run, which is on disk then. reason and digest of the row may be NULL. */
int history_add(struct history *history, const struct study_run *row, struct history_run *run,
		struct err *err);

#endif
