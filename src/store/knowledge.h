/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The knowledge base: the best parameters for each program, as found and proved by tuning. There is
 * one entry per program, fingerprint, arguments, ranks, size class, platform and file system. Later
 * tunings do not replace a pinned entry.
 */
#ifndef SLUICE_STORE_KNOWLEDGE_H
#define SLUICE_STORE_KNOWLEDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct knowledge_key {
	const char *program, *fingerprint, *arguments;
	const char *platform, *filesystem;
	uint32_t ranks;
	unsigned size_class; /* of the bytes transferred, see outcomes_size_class() */
};

struct knowledge {
	int64_t id;
	struct knowledge_key key;
	const char *parameters;		  /* JSON of params/set.h */
	const char *objective;		  /* "io", "run", "read", "write" */
	double before, after;		  /* medians of the objective in proof runs */
	double gain, gain_low, gain_high; /* before / after, with its 95 % confidence interval */
	int64_t found_ns;		  /* time of day */
	const char *study;		  /* id of the tuning as text; "" if imported */
	const char *compared;		  /* how its data was compared with that of the baseline:
					     trial.compared of tune/trial/trial.h; "": unknown */
	bool pinned;
};

/* Called for each entry. Texts are valid during the call. A result other than 0 stops. */
typedef int (*knowledge_seen)(void *arg, const struct knowledge *knowledge);

/* Adds an entry or replaces the one with the same key. Fails with -EEXIST if that one is pinned. */
int knowledge_put(struct store *store, const struct knowledge *knowledge, int64_t *id,
		  struct err *err);
/* Adds all entries or none. Entries whose keys are pinned are skipped and counted in *pinned. */
int knowledge_put_all(struct store *store, const struct knowledge *const *list, size_t count,
		      size_t *pinned, struct err *err);
int knowledge_list(struct store *store, knowledge_seen seen, void *arg, struct err *err);
int knowledge_get(struct store *store, int64_t id, knowledge_seen seen, void *arg,
		  struct err *err); /* -ENOENT */
int knowledge_forget(struct store *store, int64_t id, struct err *err);
int knowledge_pin(struct store *store, int64_t id, bool pinned, struct err *err);

/*
 * Finds the best entry for a run. Program, ranks, platform and file system must match; entries with
 * the same fingerprint are preferred, then entries with the same arguments. Returns how well the
 * entry matches: 0 no entry, 1 other fingerprint, 2 other arguments, 3 all the same. The size class
 * may differ.
 */
int knowledge_find(struct store *store, const struct knowledge_key *key, knowledge_seen seen,
		   void *arg, struct err *err);

#endif
