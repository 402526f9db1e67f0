/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The knowledge base: the best parameters for each program, as found and proved by tuning. There is
 * one entry per program, fingerprint, arguments, ranks, size class, platform and file system. An
 * entry without parameters says that a tuning found nothing better than the default. Later tunings
 * do not replace a pinned entry.
 *
 * An entry whose runs turn out to be slower than the default is demoted (run/guard.h): it is kept,
 * but not applied any more, until it is pinned or replaced by a new tuning.
 */
#ifndef SLUICE_STORE_KNOWLEDGE_H
#define SLUICE_STORE_KNOWLEDGE_H

#include <limits.h>
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

/* Before a run, the bytes that it will transfer may be unknown. */
#define KNOWLEDGE_ANY_SIZE UINT_MAX

/* What two keys differ in. A difference of a higher value weighs more than all lower ones. */
enum knowledge_difference {
	KNOWLEDGE_SIZE = 1,
	KNOWLEDGE_ARGUMENTS = 2,
	KNOWLEDGE_RANKS = 4,
	KNOWLEDGE_FILESYSTEM = 8,
	KNOWLEDGE_CODE = 16, /* the fingerprint, or one of them is unknown */
	KNOWLEDGE_NAME = 32, /* of the program */
	KNOWLEDGE_PLATFORM = 64,
};

struct knowledge {
	int64_t id;
	struct knowledge_key key;
	const char *parameters;		  /* JSON of params/set.h; "": nothing better was found */
	const char *objective;		  /* "io", "run", "read", "write" */
	double before, after;		  /* medians of the objective in proof runs */
	double gain, gain_low, gain_high; /* before / after, with its 95 % confidence interval */
	int64_t found_ns;		  /* time of day */
	const char *study;		  /* id of the tuning as text; "" if imported */
	const char *compared;		  /* how its data was compared with that of the baseline:
					     trial.compared of tune/trial/trial.h; "": unknown */
	const char
		*conditions; /* that limit the result, such as oversubscribed cores, in a sentence;
				"": none */
	bool pinned;
	int64_t demoted_ns;	 /* time of day; 0: it is not demoted */
	const char *demoted_why; /* a clause; "" if it is not demoted */
};

/* Called for each entry. Texts are valid during the call. A result other than 0 stops. */
typedef int (*knowledge_seen)(void *arg, const struct knowledge *knowledge);

/*
 * Adds an entry or replaces the one with the same key, and takes over the baseline runs of its
 * tuning (store/entry_runs.h). Fails with -EEXIST if that one is pinned, or if it has parameters
 * and is not demoted, while the new one has none.
 */
int knowledge_put(struct store *store, const struct knowledge *knowledge, int64_t *id,
		  struct err *err);
/* Adds all entries or none. Entries that may not replace existing ones are skipped and counted in
 * *kept. */
int knowledge_put_all(struct store *store, const struct knowledge *const *list, size_t count,
		      size_t *kept, struct err *err);
int knowledge_list(struct store *store, knowledge_seen seen, void *arg, struct err *err);
int knowledge_get(struct store *store, int64_t id, knowledge_seen seen, void *arg,
		  struct err *err); /* -ENOENT */
int knowledge_forget(struct store *store, int64_t id, struct err *err);
/* Pins or unpins an entry. A demoted entry that is pinned is applied again. */
int knowledge_pin(struct store *store, int64_t id, bool pinned, struct err *err);
int knowledge_demote(struct store *store, int64_t id, int64_t time_ns, const char *why,
		     struct err *err);

/*
 * Finds the entry that fits a run best: the one with the same key, else an entry with a gain that
 * is not demoted and has the same program name or the same fingerprint. Sets *differs to what its
 * key differs in. Returns 1, 0 if there is none, or -errno.
 */
int knowledge_find(struct store *store, const struct knowledge_key *key, knowledge_seen seen,
		   void *arg, unsigned *differs, struct err *err);

/* The bytes that the last run with this key transferred, whatever its size class, according to
 * store/entry_runs.h; NAN: there is none. */
int knowledge_last_bytes(struct store *store, const struct knowledge_key *key, double *bytes,
			 struct err *err);

#endif
