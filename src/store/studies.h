/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tunings and their trials, kept so that nothing that was measured is measured twice: a trial is
 * committed before the next begins, and a tuning that was killed goes on where it was.
 */
#ifndef SLUICE_STORE_STUDIES_H
#define SLUICE_STORE_STUDIES_H

#include <stdint.h>

#include "store/store.h"

struct study {
	int64_t id;
	const char *command; /* as the user gave it */
	const char *plan; /* JSON: everything that decides its course (space, search, seed, ...) */
	const char *digest;	      /* of what was asked for: what --resume finds it by */
	const char *state;	      /* "running", "done" */
	int64_t begun_ns, changed_ns; /* wall clock */
};

/* What a run was for; its number in the study orders them. */
struct study_run {
	int64_t number;
	const char *phase;	/* "default", "search", "drift", "simplify", "proof", "partial" */
	uint64_t point;		/* number in the space; UINT64_MAX: not of the space */
	const char *parameters; /* JSON of params/set.h */
	const char *effective;	/* KEY=VALUE;... */
	const char *state;	/* trial_state_name() */
	const char *reason;	/* "" where it was good */
	double cost;		/* of the objective; NAN where there is none */
	double run_s, io_s, read_bytes, write_bytes;
	const char *digest;
	int64_t begun_ns;
};

typedef int (*study_seen)(void *arg, const struct study *study);
typedef int (*study_run_seen)(void *arg, const struct study_run *run);

/* Adds a tuning and its first run together: one without any run could not be gone on with. */
int study_begin(struct store *store, const struct study *study, const struct study_run *first,
		int64_t *id, struct err *err);
int study_set_state(struct store *store, int64_t id, const char *state, int64_t changed_ns,
		    struct err *err);

/* Is on disk when it returns. Adding a number twice fails. */
int study_add_run(struct store *store, int64_t id, const struct study_run *run, struct err *err);

/* Runs in their order, studies the oldest first. Non-zero of seen() stops; texts live as long as
 * the call. */
int study_runs(struct store *store, int64_t id, study_run_seen seen, void *arg, struct err *err);
int study_list(struct store *store, study_seen seen, void *arg, struct err *err);
int study_get(struct store *store, int64_t id, study_seen seen, void *arg,
	      struct err *err); /* -ENOENT */
/* The latest with this digest (NULL: any) that is not done; -ENOENT. */
int study_find(struct store *store, const char *digest, study_seen seen, void *arg,
	       struct err *err);
int study_forget(struct store *store, int64_t id, struct err *err); /* -ENOENT */

#endif
