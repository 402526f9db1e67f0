/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the forms of a set have in common, for the files form_*.c: telling problems with file and
 * line, and taking a parameter in by name.
 */
#ifndef SLUICE_PARAMS_FORM_H
#define SLUICE_PARAMS_FORM_H

#include "params/set.h"

#define PARAMS_SCHEMA "sluice.params/1"

/* A text on its way into a set. */
struct form_reading {
	struct param_set *set;
	const char *name; /* of the file */
	param_problem problem;
	void *arg;
};

/* "NAME:LINE: ..." to problem(); line 0: without. param NULL: it is none of the set. */
void form_tell(const struct form_reading *reading, const struct param *param, bool drop,
	       unsigned line, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Puts a parameter in, or tells why not. NULL: not. */
const struct param *form_put(const struct form_reading *reading, const char *name,
			     const char *value, const char *file, const char *object,
			     unsigned line);

/* The whole of a file of at most 1 MiB. */
int form_file_read(const char *path, struct buf *text, struct err *err);

/* jansson keeps no lines: those of the objects two brackets deep, in the order of the text. */
struct form_lines {
	const char *at, *counted; /* where the scan is, and where lines were counted to */
	int depth;
	unsigned line;
};
void form_lines_start(struct form_lines *lines, const char *text);
unsigned form_lines_next(struct form_lines *lines);

/* A value as people write it: a text, a number, a truth, or an array of these. False: none. */
struct json_t;
bool form_json_value(struct buf *out, const struct json_t *value);

int form_json_write(const struct param_set *set, struct buf *out, struct err *err);

#endif
