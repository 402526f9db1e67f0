/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The knowledge base: which parameters a program is best run with, as tuning has found and proved.
 * One entry per (program, fingerprint, arguments, ranks, size class, platform, file system). What
 * is pinned is not replaced by later tunings.
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
	unsigned size_class; /* of bytes moved: outcomes_size_class() */
};

struct knowledge {
	int64_t id;
	struct knowledge_key key;
	const char *parameters;		  /* JSON of params/set.h */
	const char *objective;		  /* "io", "run", "read", "write" */
	double before, after;		  /* medians of fresh runs */
	double gain, gain_low, gain_high; /* before / after, with 95 % confidence */
	int64_t found_ns;		  /* wall clock */
	const char *study;		  /* its number in studies.h, as text; "" if imported */
	bool pinned;
};

/* Non-zero of seen() stops. Texts live as long as the call. */
typedef int (*knowledge_seen)(void *arg, const struct knowledge *knowledge);

/* Adds it, in place of what is known under the same key unless that is pinned (-EEXIST). */
int knowledge_put(struct store *store, const struct knowledge *knowledge, int64_t *id,
		  struct err *err);
/* All of them or, if that fails, none; those whose keys are pinned are left out and counted. */
int knowledge_put_all(struct store *store, const struct knowledge *const *list, size_t count,
		      size_t *pinned, struct err *err);
int knowledge_list(struct store *store, knowledge_seen seen, void *arg, struct err *err);
int knowledge_get(struct store *store, int64_t id, knowledge_seen seen, void *arg,
		  struct err *err); /* -ENOENT */
int knowledge_forget(struct store *store, int64_t id, struct err *err);
int knowledge_pin(struct store *store, int64_t id, bool pinned, struct err *err);

/*
 * What fits a run best: the same program, ranks, platform and file system; of these the same code
 * before other code, and the same arguments before others. How well: 0 nothing fits, 1 other code,
 * 2 other arguments (the size may be another), 3 all the same.
 */
int knowledge_find(struct store *store, const struct knowledge_key *key, knowledge_seen seen,
		   void *arg, struct err *err);

#endif
