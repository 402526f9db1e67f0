/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What history makes of what it has learnt: which set of hints is the best for files of an
 * extension that are opened to read, to write, or both; and how the guests are told.
 *
 * A set is compared with the defaults (no hints) on what both were seen doing: the same operation
 * with accesses of the same size class, at least `learn` times each. The time that the defaults
 * took is set against what the set would take for the same bytes, going by all it has moved: a mean
 * of rates would be that of the fastest. It must be better
 * by `margin`, and what was compared must be at least half of what the defaults were seen doing;
 * else, and when sets are equally good, the defaults stay. Sets with a hint that is not safe
 * (contract/hints.h) are never chosen.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_ANSWERS_H
#define SLUICE_OBSERVE_PLUGINS_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct store;

/* The options of [plugin.history]; see history.h. */
struct history_options {
	bool by_user, by_extension;
	uint64_t learn;
	double margin, explore; /* shares of 1 */
	char **sets;		/* each sorted by key */
	size_t set_count;
	char *store; /* path; NULL where none is set */
};

/* get gives the text of an option, or NULL. On failure there is nothing to release. */
typedef const char *(*history_option)(void *arg, const char *key);
int history_options_read(struct history_options *options, history_option get, void *arg,
			 struct err *err);
void history_options_release(struct history_options *options);

struct answer {
	char *extension; /* "*" for any */
	char mode;	 /* as hints_mode() */
	char *hints;
	double gain; /* how many times as fast as the defaults */
};

struct answers {
	struct answer *best;
	size_t count;
	uint64_t opens, explored; /* of the user, in earlier runs */
	uint64_t *seen;		  /* how often each of the sets was seen */
};

/* From the store; there need be none yet. On failure there is nothing to release. */
int answers_make(struct answers *answers, const struct history_options *options, const char *user,
		 struct err *err);
void answers_release(struct answers *answers);

/* The hints for a file; NULL: the defaults. */
const char *answers_find(const struct answers *answers, const char *extension, char mode);

/* Writes what guests read, see contract/hints.h. */
int answers_write(const struct answers *answers, const struct history_options *options,
		  const char *path, struct err *err);

/* Sorts a set by key; NULL where it is none, or one that must not be given: err says why. */
char *answers_set(const char *text, struct err *err);

#endif
