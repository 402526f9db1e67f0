/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules: the lines of the run's compiled parameters (contract/parameters.h). They are read from
 * the control page once, when the process joins its run, and never change. They are the same in all
 * processes of a run. Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_RULES_H
#define SLUICE_CAPTURE_APPLY_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/outcomes.h"
#include "contract/parameters.h"

#define RULES_MAX OUTCOMES_LINES
#define RULES_PATH_BYTES 4096

struct rules {
	bool application_wins;	   /* a value that the program sets is kept */
	struct outcomes *outcomes; /* where it is noted what became of the rules; NULL: nowhere */
	unsigned count;
	struct parameters_line rule[RULES_MAX]; /* the strings point into text */
	char text[PARAMETERS_BYTES];
};

#pragma GCC visibility push(hidden)

/*
 * The places for which there are rules: a bit per enum parameters_place, and
 *
 *   RULES_ON      the text has a title, so effective values are read back
 *   RULES_ALIGN   there is a rule for alignment, whose effect is seen in datasets
 *   RULES_SPREAD  there is a rule that replaces files by links
 *   RULES_CACHE   there is a rule for the chunk cache, of files or of datasets
 *   RULES_PLACED  files are placed by the backlog, so their calls are measured
 *
 * It is 0 for most programs; then nothing else is looked at.
 */
#define RULES_ON (UINT32_C(1) << 31)
#define RULES_ALIGN (UINT32_C(1) << 30)
#define RULES_SPREAD (UINT32_C(1) << 29)
#define RULES_CACHE (UINT32_C(1) << 28)
#define RULES_PLACED (UINT32_C(1) << 27)
extern uint32_t rules_places;
extern struct rules rules_own;

/* Reads the text of the control page; malformed lines are ignored. Returns the places. */
uint32_t rules_read(struct rules *rules, const char page[PARAMETERS_BYTES]);

/* After the process has joined a run: reads rules_own and rules_places, once. */
void rules_join(const char page[PARAMETERS_BYTES], struct outcomes *outcomes);

/* Notes that a parameter was applied, or was not; the reason is a word of contract/outcomes.h. */
void rules_note_applied(const struct rules *rules, const char *name);
void rules_note_refusal(const struct rules *rules, const char *name, const char *reason);

/*
 * Normalizes a path for the comparison with rules: absolute, without "." and "..", and without a
 * prefix of ROMIO ("ufs:"). So it is the same on all ranks however they write it, unless it
 * contains symbolic links. Always terminated; "" if it does not fit.
 */
const char *rules_path(char to[RULES_PATH_BYTES], const char *path);

/*
 * Does the pattern match this path, which is from rules_path()? A pattern without a slash is
 * matched against the base name; one that begins with neither a slash nor "*" against the end of
 * the path.
 */
bool rules_match(const char *pattern, const char *path);

/*
 * The absolute name of an object in a file of HDF5: that of the group ("" if it is unknown) and the
 * name in it. Always terminated; "/" if it does not fit.
 */
const char *rules_object(char to[RULES_PATH_BYTES], const char *group, const char *name);

/*
 * Does the pattern match this object, which is from rules_object(), or "" for any? A pattern
 * without a slash is matched against the last part of the name, any other against the whole name,
 * with or without a slash at its beginning.
 */
bool rules_match_object(const char *pattern, const char *object);

/*
 * The next rule after `at` (NULL: the first) that applies at this place to the path and the object
 * ("" if there is none). Returns one rule per name: the first that matches. A rule that is returned
 * counts as matched.
 */
const struct parameters_line *rules_next(const struct rules *rules,
					 const struct parameters_line *at,
					 enum parameters_place place, const char *path,
					 const char *object);

/* The first rule for this name that matches; NULL if there is none. */
const struct parameters_line *rules_find(const struct rules *rules, enum parameters_place place,
					 const char *path, const char *object, const char *name);

/* The value of that rule, or NULL. */
const char *rules_value(const struct rules *rules, enum parameters_place place, const char *path,
			const char *object, const char *name);

/* Reads a decimal number and moves *at behind it; false if there is none, or on overflow. */
bool rules_number(const char **at, uint64_t *number);

/* Reads a text that is nothing but a decimal number. */
bool rules_parse_number(const char *text, uint64_t *number);

/* Reads a text that is nothing but a number from 0 to 1 with up to 6 decimals: "0.75". */
bool rules_parse_ratio(const char *text, double *ratio);

/* Writes such a number, terminated; `to` has room for 10 bytes. */
void rules_put_ratio(char *to, double ratio);

/* Writes a decimal number, terminated, and returns its end. It has at most 20 digits. */
char *rules_put_number(char *to, uint64_t number);

/*
 * Puts a prefix of ROMIO before the path; NULL if it has one already, or if the result does not
 * fit. The prefix is the value, or the key and a colon if the value is "true"; "false" is no
 * prefix.
 */
const char *rules_prefix(char to[RULES_PATH_BYTES], const char *key, const char *value,
			 const char *path);

#pragma GCC visibility pop

static inline bool rules_has(enum parameters_place place)
{
	return __builtin_expect(rules_places >> place & 1, 0);
}

#endif
