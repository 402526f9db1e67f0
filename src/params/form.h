/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Helpers that the file formats of parameter sets share (form_*.c): reporting problems with file
 * and line, and setting a parameter by name.
 */
#ifndef SLUICE_PARAMS_FORM_H
#define SLUICE_PARAMS_FORM_H

#include "params/set.h"

#define PARAMS_SCHEMA "sluice.params/1"

/* A file that is being read into a set. */
struct form_reading {
	struct param_set *set;
	const char *name; /* of the file */
	param_problem problem;
	void *arg;
};

/* Calls problem() with "NAME:LINE: ..."; line 0: without a line. param NULL: the problem is not
 * about a parameter of the set. */
void form_report(const struct form_reading *reading, const struct param *param, bool drop,
		 unsigned line, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sets a parameter. On failure reports the problem and returns NULL. */
const struct param *form_set_param(const struct form_reading *reading, const char *name,
				   const char *value, const char *file, const char *object,
				   unsigned line);

/* Reads a whole file of at most 1 MiB. */
int form_read_file(const char *path, struct buf *text, struct err *err);

/* Finds the lines of the objects at nesting depth two, in the order of the text, because jansson
 * does not record lines. */
struct form_lines {
	const char *at, *counted; /* position of the scan, and of the counting of lines */
	int depth;
	unsigned line;
};
void form_lines_init(struct form_lines *lines, const char *text);
unsigned form_lines_next(struct form_lines *lines);

/* Appends a value: a string, an integer, a boolean, or an array of these. False: it is something
 * else. */
struct json_t;
bool form_json_value(struct buf *out, const struct json_t *value);

int form_json_write(const struct param_set *set, struct buf *out, struct err *err);

#endif
