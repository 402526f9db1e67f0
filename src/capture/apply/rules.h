/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters of the run as the guest keeps them: the text of the control page
 * (contract/parameters.h) taken apart once, when the process joins its run, and never changed
 * again. All processes of a run have the same. Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_RULES_H
#define SLUICE_CAPTURE_APPLY_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/parameters.h"

#define RULES_MAX 1024
#define RULES_PATH_BYTES 4096

struct rules {
	bool application_wins; /* a value that the program sets stays */
	unsigned count;
	struct parameters_line rule[RULES_MAX]; /* the strings point into text */
	char text[PARAMETERS_BYTES];
};

#pragma GCC visibility push(hidden)

/*
 * Of which places there are rules, a bit per enum parameters_place; RULES_ON where the page has a
 * title: then effective values are read back; RULES_ALIGN where there is a rule for alignment,
 * which is proved by datasets; RULES_SPREAD for one that puts links in the place of files. 0, and
 * nothing else is looked at, for most programs.
 */
#define RULES_ON (UINT32_C(1) << 31)
#define RULES_ALIGN (UINT32_C(1) << 30)
#define RULES_SPREAD (UINT32_C(1) << 29)
extern uint32_t rules_places;
extern struct rules rules_own;

/* Takes the page's text apart; what is not as it should be is no rule. The places. */
uint32_t rules_read(struct rules *rules, const char page[PARAMETERS_BYTES]);

/* After the process has joined a run: fills rules_own and rules_places, once. */
void rules_join(const char page[PARAMETERS_BYTES]);

/*
 * The path that rules are compared with: absolute, without "." and "..", and the same for all ranks
 * however they spell it, as far as no links are in it. A prefix of ROMIO's ("ufs:") is not part of
 * it. Always terminated; "" where it does not fit.
 */
const char *rules_path(char to[RULES_PATH_BYTES], const char *path);

/*
 * Does the pattern stand for this path, which is from rules_path()? Without a slash it is for the
 * base name; one that begins with neither a slash nor "*" for the end of the path.
 */
bool rules_fit(const char *pattern, const char *path);

/*
 * The next rule of a place for the path and the object ("" for none in particular) after `at`, NULL
 * for the first; one for each name: what an earlier rule says counts.
 */
const struct parameters_line *rules_next(const struct rules *rules,
					 const struct parameters_line *at,
					 enum parameters_place place, const char *path,
					 const char *object);

/* The rule that counts for the name; NULL: nothing is said. */
const struct parameters_line *rules_find(const struct rules *rules, enum parameters_place place,
					 const char *path, const char *object, const char *name);

/* What it says. */
const char *rules_value(const struct rules *rules, enum parameters_place place, const char *path,
			const char *object, const char *name);

/* A whole number in plain digits, moving *at behind it; false if there is none. */
bool rules_number(const char **at, uint64_t *number);

/*
 * The name with a prefix of ROMIO's before it; NULL where it has one, or they do not fit. A value
 * of "true" stands for the key itself, "false" for none.
 */
const char *rules_prefix(char to[RULES_PATH_BYTES], const char *key, const char *value,
			 const char *path);

#pragma GCC visibility pop

static inline bool rules_has(enum parameters_place place)
{
	return __builtin_expect(rules_places >> place & 1, 0);
}

#endif
