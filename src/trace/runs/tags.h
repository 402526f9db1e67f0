/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tags: short words that a user gives to a run, to find it again. They are in a small file beside
 * the trace, TRACE.tags, which names the run by its uuid: a trace that was recorded later under the
 * same name does not inherit them. The trace itself is never changed.
 *
 * The tags of a run are one text: words in alphabetical order, separated by blanks. A tag has 1 to
 * TAG_LETTERS letters, digits, periods, underscores, hyphens and colons, and starts with a letter
 * or digit; a run has at most TAGS_MAX of them. What else a file may hold is ignored.
 */
#ifndef SLUICE_TRACE_RUNS_TAGS_H
#define SLUICE_TRACE_RUNS_TAGS_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct json;

#define TAGS_SUFFIX ".tags"
#define TAGS_MAX 16
#define TAG_LETTERS 32

/* Is it a tag? If not, err says what a tag is. err may be NULL. */
bool tag_is_valid(const char *word, struct err *err);

/* The tags of a run; "" if it has none, or if they cannot be read. The caller frees them. */
char *tags_read(const char *trace, const char *uuid);

/* Is the word one of the tags? */
bool tags_has(const char *tags, const char *word);

/*
 * Steps through tags: returns the length of the first word at *tags, which it moves there, or 0 at
 * the end.
 *
 *	for (size_t n; (n = tags_next(&tags)); tags += n)
 */
size_t tags_next(const char **tags);

/* Adds the list "tags" to the open JSON object. */
void tags_json(struct json *json, const char *tags);

/*
 * Adds and removes tags; both are words separated by blanks, and a word in both is removed. Waits
 * for another process that does the same. The file has mode 0600 and appears complete or not at
 * all; a run without tags has none. Fails if a word is not a tag (-EINVAL), if there would be too
 * many (-E2BIG), or if the file cannot be written; nothing has changed then. *result, if not NULL,
 * receives the tags afterwards; the caller frees them.
 */
int tags_change(const char *trace, const char *uuid, const char *add, const char *remove,
		char **result, struct err *err);

/* Deletes the file of tags of a trace that was deleted. Other files of that name are kept. */
void tags_delete(const char *trace);

#endif
