/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Command-line options as rows of a table. The parser, --help, the man page and the shell
 * completions all read the rows (cli/manual.h writes the texts), so an option is said once.
 *
 * A row names a field of the caller's args struct by its offset; option_parse() fills the defaults
 * in and then what the user gave. -h and --help belong to every table without being in it.
 */
#ifndef SLUICE_BASE_OPTION_H
#define SLUICE_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* What a value looks like, and the type of the field that takes it. */
enum option_kind {
	OPTION_FLAG,   /* bool; takes no value */
	OPTION_TEXT,   /* const char *, points into argv or at the default; NULL when neither */
	OPTION_COUNT,  /* uint64_t, decimal; OPTION_NONE when neither given nor defaulted */
	OPTION_SIZE,   /* uint64_t bytes: 512, 64K, 1G; OPTION_NONE as above */
	OPTION_TIME,   /* int64_t ns: 10ms, 1.5s, 2m; a bare number is seconds; 0 when neither */
	OPTION_SPAN,   /* struct option_span: FROM:TO, either may be missing; 0 there means open */
	OPTION_CHOICE, /* int, index among the words of `value`: "auto|yes|no"; -1 when neither */
	OPTION_LIST,   /* struct option_list: one item each time the option is given */
};

#define OPTION_NONE UINT64_MAX

struct option_span {
	int64_t from_ns, to_ns;
};

struct option_list {
	const char **items; /* point into argv; the array is freed by option_release() */
	size_t count;
};

/* A table ends with a row without a name. */
struct option {
	char letter;          /* 0: the long form only */
	const char *name;     /* without the dashes */
	const char *value;    /* its name in --help; the words of a choice; NULL for a flag */
	const char *fallback; /* the default as the user would type it; NULL for none */
	const char *help;     /* one line, lower case, no full stop */
	enum option_kind kind;
	size_t offset;
};

enum option_order {
	OPTION_ANYWHERE,   /* options and operands may be mixed, until "--" */
	OPTION_STOP_FIRST, /* the first operand ends the options: another program's begin there */
};

#define OPTION_HELP_WANTED 0x40000000 /* returned instead of a number of operands */

/*
 * Reads argv[0..argc), which does not include the name of the command. Returns the number of
 * operands and moves them to the front of argv, followed by NULL; argv must have room for that
 * NULL, as main's has. On failure returns -EINVAL with a sentence for the user in err; args then
 * holds nothing to release.
 */
int option_parse(const struct option *rows, enum option_order order, void *args, int argc,
		 char **argv, struct err *err);

/* Frees the arrays of OPTION_LIST fields. */
void option_release(const struct option *rows, void *args);

/* Reads one value as option_parse() would. `out` is the field; name is for the message. */
int option_value(enum option_kind kind, const char *words, const char *name, const char *text,
		 void *out, struct err *err);

/* Index of word[0..n) in a list such as "auto|yes|no", or -1. */
int option_choice(const char *words, const char *word, size_t n);

/* Copies word number `index` of such a list; the empty string where there is none. */
void option_choice_name(const char *words, int index, char *out, size_t cap);

#endif
