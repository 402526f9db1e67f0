/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tunings and their runs. Each run is committed before the next one starts, so that a tuning that
 * was killed can be resumed without repeating a measurement.
 */
#ifndef SLUICE_STORE_STUDIES_H
#define SLUICE_STORE_STUDIES_H

#include <stdint.h>

#include "store/store.h"

struct study {
	int64_t id;
	const char *command; /* as the user gave it */
	const char
		*plan; /* JSON: everything that determines its course (space, search, seed, ...) */
	const char *digest; /* of the command and options; --resume finds the tuning by it */
	const char *state;  /* "running", "done" */
	int64_t begun_ns, changed_ns; /* time of day */
	/* Only those read from the store have what follows. */
	double gain, gain_low, gain_high; /* proved, with its 95 % interval; NAN: none */
	const char *conditions;		  /* that limit the result, in a sentence; "": none */
};

/* A run of a tuning. Runs are ordered by number. */
struct study_run {
	int64_t number;
	const char *phase;	/* history_phase_name() */
	uint64_t point;		/* number in the search space; UINT64_MAX: not in the space */
	const char *parameters; /* JSON of params/set.h */
	const char *effective;	/* KEY=VALUE;... */
	const char *state;	/* trial_state_name() */
	const char *reason;	/* why the run failed; "" if it did not */
	double cost;		/* value of the objective; NAN: none */
	double run_s, io_s, read_bytes, write_bytes;
	double foreign;	  /* share of the processors that other processes used; NAN: unknown */
	double frequency; /* of the processors, in Hz; NAN: unknown */
	const char *digest;
	const char *compared; /* as in struct knowledge */
	int64_t begun_ns;
};

typedef int (*study_seen)(void *arg, const struct study *study);
typedef int (*study_run_seen)(void *arg, const struct study_run *run);

/* Adds a tuning and its first run together, because a tuning without runs cannot be resumed. */
int study_begin(struct store *store, const struct study *study, const struct study_run *first,
		int64_t *id, struct err *err);
int study_set_state(struct store *store, int64_t id, const char *state, int64_t changed_ns,
		    struct err *err);

/* Saves what the tuning has proved; gains are NAN if it proved none. */
int study_set_result(struct store *store, int64_t id, double gain, double low, double high,
		     const char *conditions, struct err *err);

/* Adds a run, which is on disk when the function returns. Fails if the number exists. */
int study_add_run(struct store *store, int64_t id, const struct study_run *run, struct err *err);

/*
 * The functions below call `seen` for each row: runs by number, tunings from the oldest. Texts are
 * valid during the call. A result other than 0 stops. A missing tuning is -ENOENT.
 */
int study_runs(struct store *store, int64_t id, study_run_seen seen, void *arg, struct err *err);
int study_list(struct store *store, study_seen seen, void *arg, struct err *err);
int study_get(struct store *store, int64_t id, study_seen seen, void *arg, struct err *err);
/* The latest tuning with this digest (NULL: any) that is not done. */
int study_find(struct store *store, const char *digest, study_seen seen, void *arg,
	       struct err *err);
int study_forget(struct store *store, int64_t id, struct err *err);

#endif
