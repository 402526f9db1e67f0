/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Command-line options as rows of a table. The parser, --help, the man pages and the shell
 * completion all read the rows (cli/manual.h, cli/completion.h), so an option is described once.
 *
 * A row names a field of the caller's args struct by its offset. option_parse() first stores the
 * defaults and then the values that the user gave. A row may include another table, so commands
 * that accept the same options share their rows. Every table accepts -h and --help implicitly.
 */
#ifndef SLUICE_BASE_OPTION_H
#define SLUICE_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/*
 * The syntax of a value and the type of the field that receives it. "Unset" is what the field holds
 * if the user gave no value and the row has no default.
 */
enum option_kind {
	OPTION_FLAG,	 /* bool; takes no value; unset: false */
	OPTION_TEXT,	 /* const char * into argv or to the default; unset: NULL */
	OPTION_COUNT,	 /* uint64_t, decimal; unset: OPTION_NONE */
	OPTION_SIZE,	 /* uint64_t bytes: 512, 64K, 1G; unset: OPTION_NONE */
	OPTION_TIME,	 /* int64_t ns: 10ms, 1.5s, 2m, 30d; a bare number is seconds; unset: 0 */
	OPTION_SPAN,	 /* struct option_span: FROM:TO, either may be missing; 0 means open */
	OPTION_CHOICE,	 /* int: index among the words of `value`, "auto|yes|no"; unset: -1 */
	OPTION_LIST,	 /* struct option_list: one item for each use of the option */
	OPTION_DIVIDER,	 /* no field, no value; the word stays among the operands, to divide them */
	OPTION_INCLUDED, /* only in rows of OPTION_INCLUDE() */
};

#define OPTION_NONE UINT64_MAX

struct option_span {
	int64_t from_ns, to_ns;
};

struct option_list {
	const char **items; /* pointers into argv; option_release() frees the array */
	size_t count;
};

/* A table ends with an empty row. */
struct option {
	char letter;	      /* 0: the option has a long form only */
	const char *name;     /* without the dashes; NULL in a row of OPTION_INCLUDE() */
	const char *value;    /* placeholder in --help; the words of a choice; NULL for a flag */
	const char *fallback; /* the default as the user would type it; NULL for none */
	const char *help;     /* one line, lower case, starts with a verb, no period */
	enum option_kind kind;
	size_t offset; /* of the field in the args struct */
};

/*
 * A row that includes all rows of another table, whose args struct is a member of ours at
 * `member_offset`. `value` carries the table, so that ordinary rows need no further field.
 */
#define OPTION_INCLUDE(table, member_offset)                                           \
	{                                                                              \
		.value = (const char *)(const void *)(table), .kind = OPTION_INCLUDED, \
		.offset = (member_offset),                                             \
	}

static inline bool option_takes_value(const struct option *row)
{
	return row->kind != OPTION_FLAG && row->kind != OPTION_DIVIDER;
}

/* Visits the rows of a table, included ones as well, in order. */
#define OPTION_DEPTH 4
struct option_walk {
	const struct option *next[OPTION_DEPTH];
	size_t base[OPTION_DEPTH];
	int depth;
	size_t offset; /* of the current row's field in the outermost args struct */
};

void option_walk_start(struct option_walk *walk, const struct option *rows);
/* The next row that is an option; NULL at the end. */
const struct option *option_walk_next(struct option_walk *walk);

enum option_order {
	OPTION_ANYWHERE,    /* options and operands may be mixed, up to "--" */
	OPTION_KEEP_DASHES, /* the same, but "--" stays among the operands, as it has a meaning */
	OPTION_STOP_FIRST,  /* the first operand ends the options, because another program's follow
			     */
};

#define OPTION_HELP_WANTED 0x40000000 /* returned instead of a number of operands */

/*
 * Parses argv[0..argc), which does not include the name of the command. Returns the number of
 * operands, moves them to the front of argv and terminates them with NULL; argv must have room for
 * that NULL, as main's has. On failure returns -EINVAL and sets err; args then holds nothing that
 * must be released.
 */
int option_parse(const struct option *rows, enum option_order order, void *args, int argc,
		 char **argv, struct err *err);

/*
 * The index of the first operand among argv[0..argc) in the order OPTION_STOP_FIRST; argc if there
 * is none. Does not check values and allocates nothing. Returns -EINVAL if option_parse() would
 * fail because of a name or a missing value, or would return OPTION_HELP_WANTED.
 */
int option_skip(const struct option *rows, int argc, char *const *argv);

/* Frees the arrays of OPTION_LIST fields. */
void option_release(const struct option *rows, void *args);

/* Parses one value as option_parse() would and stores it in *out; `name` is for the message. */
int option_value(enum option_kind kind, const char *words, const char *name, const char *text,
		 void *out, struct err *err);

/* Index of word[0..n) in a list such as "auto|yes|no", or -1. */
int option_choice(const char *words, const char *word, size_t n);

/* Copies word number `index` of such a list; copies the empty string if there is no such word. */
void option_choice_name(const char *words, int index, char *out, size_t cap);

#endif
