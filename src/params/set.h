/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set of parameters: values of tunables, each for all files or for files that match a pattern.
 * The more specific pattern wins, whatever the order: a full path before a base name, a name
 * without wildcards before one with wildcards, a longer pattern before a shorter one.
 */
#ifndef SLUICE_PARAMS_SET_H
#define SLUICE_PARAMS_SET_H

#include <stdio.h>

#include "params/tunable.h"

struct buf;

struct param {
	const struct tunable *tunable;
	char *value;   /* in the form of tunable_parse() */
	char *file;    /* pattern; NULL: all files */
	char *object;  /* pattern of datasets; NULL: all datasets */
	unsigned line; /* of the file it was read from; 0: not from a file */
};

struct param_set {
	struct param *params;
	size_t count, cap;
	char *origin; /* name of the file or other source; NULL: none */
	/* The command line with the arguments of the set, quoted for a shell; NULL: unknown. */
	char *command;
};

void param_set_release(struct param_set *set);
void param_set_copy(struct param_set *to, const struct param_set *from);

/* Sets *pattern to NULL if it matches everything. Fails if the guest cannot represent the pattern.
 */
int param_pattern(const char **pattern, const char *name, struct err *err);

/* Parses and sets a value. It replaces the value for the same tunable, files and objects. */
int param_set_put(struct param_set *set, const struct tunable *tunable, const char *value,
		  const char *file, const char *object, unsigned line, struct err *err);
/* The same for "NAME=VALUE". */
int param_set_put_text(struct param_set *set, const char *text, struct err *err);

/* Returns the parameter that applies to the file and the object (NULL: an unspecified one), or
 * NULL. */
const struct param *param_set_find(const struct param_set *set, const struct tunable *tunable,
				   const char *path, const char *object);

/* Removes all parameters of a layer. */
void param_set_remove_layer(struct param_set *set, enum tunable_layer layer);

/* True if both sets have the same effect; the order does not matter. */
bool param_set_equal(const struct param_set *a, const struct param_set *b);

/*
 * Receives a problem as one sentence; drop: the parameter must not be applied. param is NULL if a
 * file names an unknown parameter; the text begins with "FILE:LINE:" then.
 */
typedef void (*param_problem)(void *arg, const struct param *param, bool drop, const char *text);

/*
 * Checks values against each other and against the environment (constraints.h), and reports each
 * problem. Returns the number of parameters that must not be applied.
 */
size_t param_set_check(const struct param_set *set, const struct tunable_context *context,
		       param_problem problem, void *arg);

/* Checks the set and removes the parameters that must not be applied. */
void param_set_prune(struct param_set *set, const struct tunable_context *context,
		     param_problem problem, void *arg);

/* Writes the text that the guest reads (contract/parameters.h), without variables and arguments.
 * -ENOSPC: it does not fit. */
int param_set_compile(const struct param_set *set, bool application_wins,
		      char text[PARAMETERS_BYTES], struct err *err);

/*
 * Reads back what param_set_compile() wrote, in order to check it. Fails with -EINVAL if a line is
 * not one that it writes; the set is untouched then.
 */
int param_set_decompile(struct param_set *set, const char *text, struct err *err);

/* "cb_nodes=4 alignment=0,65536 striping_factor=4@sample.h5part": one line for people. */
void param_set_line(const struct param_set *set, struct buf *out);

/*
 * A file format. Reading recognizes the format by the contents. Unknown parameters and invalid
 * values are skipped and reported to problem() as "FILE:LINE: ...". Reading fails only if the whole
 * file is unreadable or in an unknown format; the set is untouched then.
 */
struct param_form {
	const char *name, *help;
	bool (*is)(const char *text, size_t bytes); /* NULL: the format is write-only */
	int (*read)(struct param_set *set, const char *name, const char *text, size_t bytes,
		    param_problem problem, void *arg, struct err *err);
	int (*write)(const struct param_set *set, struct buf *out, struct err *err);
};

/* H5Tuner XML, JSON, ROMIO hints file, and shell commands (write-only). */
extern const struct param_form param_xml, param_json, param_hints, param_shell;
extern const struct param_form *const param_forms[]; /* ends with NULL */
const struct param_form *param_form_by_name(const char *name);

/* Instead of a path, the parameters themselves: "cb_nodes=4 striping_factor=4@sample.h5part". */
int param_set_read(struct param_set *set, const char *path, param_problem problem, void *arg,
		   struct err *err);
int param_set_read_text(struct param_set *set, const char *name, const char *text, size_t bytes,
			param_problem problem, void *arg, struct err *err);

#endif
