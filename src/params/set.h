/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set of parameters: values of tunables, each for all files or for those that match a pattern.
 * The specific beats the general, whatever the order: a full path before a base name, a name
 * without wildcards before one with, a longer pattern before a shorter.
 */
#ifndef SLUICE_PARAMS_SET_H
#define SLUICE_PARAMS_SET_H

#include <stdio.h>

#include "params/tunable.h"

struct buf;

struct param {
	const struct tunable *tunable;
	char *value;   /* as tunable_parse() gives it */
	char *file;    /* pattern; NULL: every file */
	char *object;  /* pattern for datasets; NULL: all */
	unsigned line; /* where it was read; 0: nowhere */
};

struct param_set {
	struct param *params;
	size_t count, cap;
	char *origin; /* name of the file, or what else it came from; NULL: made here */
};

void param_set_release(struct param_set *set);
void param_set_copy(struct param_set *to, const struct param_set *from);

/* Makes NULL of a pattern that fits everything; refuses one that cannot be handed on. */
int param_pattern(const char **pattern, const char *name, struct err *err);

/* Sets a value, which tunable_parse() is given, in place of one for the same tunable, files and
 * objects. */
int param_set_put(struct param_set *set, const struct tunable *tunable, const char *value,
		  const char *file, const char *object, unsigned line, struct err *err);

/* What counts for the file and the object (NULL: none in particular); NULL: nothing does. */
const struct param *param_set_find(const struct param_set *set, const struct tunable *tunable,
				   const char *path, const char *object);

/* Equal as far as anybody could tell: order does not matter. */
bool param_set_equal(const struct param_set *a, const struct param_set *b);

/*
 * param is NULL where a file names something that is none, and the text begins with "FILE:LINE:".
 */
typedef void (*param_problem)(void *arg, const struct param *param, bool drop, const char *text);

/*
 * Checks values against each other and against the place (constraints of the catalogue). Calls
 * problem() with one sentence each; drop: the parameter must not be applied. The number of those.
 */
size_t param_set_check(const struct param_set *set, const struct tunable_context *context,
		       param_problem problem, void *arg);

/* Without the parameters that param_set_check() wants dropped. */
void param_set_prune(struct param_set *set, const struct tunable_context *context,
		     param_problem problem, void *arg);

/* The text of contract/parameters.h. -ENOSPC with a sentence where it does not fit. */
int param_set_compile(const struct param_set *set, bool application_wins,
		      char text[PARAMETERS_BYTES], struct err *err);

/* "cb_nodes=4 alignment=0,65536 striping_factor=4@sample.h5part": in one line, for people. */
void param_set_line(const struct param_set *set, struct buf *out);

/*
 * Forms. Reading recognises them by their contents. What is unknown or wrong in a file is left out
 * and told to problem() as "FILE:LINE: ..."; only a file that cannot be read as a whole, or that is
 * none of the forms, fails, and set is untouched then.
 */
struct param_form {
	const char *name, *help;
	bool (*is)(const char *text, size_t bytes); /* NULL: cannot be read */
	int (*read)(struct param_set *set, const char *name, const char *text, size_t bytes,
		    param_problem problem, void *arg, struct err *err);
	int (*write)(const struct param_set *set, struct buf *out, struct err *err);
};

/* H5Tuner's XML, JSON, a ROMIO hints file; shell lines (lfs setstripe, setfattr) are written only.
 */
extern const struct param_form param_xml, param_json, param_hints, param_shell;
extern const struct param_form *const param_forms[]; /* ends with NULL */
const struct param_form *param_form_by_name(const char *name);

int param_set_read(struct param_set *set, const char *path, param_problem problem, void *arg,
		   struct err *err);
int param_set_read_text(struct param_set *set, const char *name, const char *text, size_t bytes,
			param_problem problem, void *arg, struct err *err);

#endif
