/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of annotated headers: one per wrapped function, checked and complete, so that a template
 * only has to print it. docs/reference/interfaces.md documents the marks.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_INTERFACE_H
#define SLUICE_CAPTURE_WRAPGEN_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>

#include "contract/call.h"

struct err;

#define ROW_ARGS_MAX 16
#define ROW_PASSES_MAX 2
#define INTERFACE_ROWS_MAX 4096
#define INTERFACE_TEXT_MAX (1u << 20) /* bytes of one header */

/* One row per argument mark: name, the field that it sets. Only the marks of a pair set the same
 * field. */
#define ROLE_LIST(X)          \
	X(FD, LINK)           \
	X(STREAM, LINK)       \
	X(DIRP, LINK)         \
	X(HANDLE, LINK)       \
	X(HANDLE_AT, LINK)    \
	X(MADE, HANDLE)       \
	X(VARIABLE, VARIABLE) \
	X(NAME, NAME)         \
	X(SOURCE, LINK2)      \
	X(DIRFD, LINK2)       \
	X(PATH, PATH)         \
	X(PATH2, PATH2)       \
	X(SIZE, SIZE)         \
	X(ITEM, SIZE)         \
	X(ITEMS, SIZE)        \
	X(IOV, SIZE)          \
	X(IOVCNT, SIZE)       \
	X(OFFSET, OFFSET)     \
	X(OFFSET_AT, OFFSET)  \
	X(FLAGS, FLAGS)       \
	X(MODE, MODE)

#define ROLE_ENUM(name, field) ROLE_##name,
enum role { ROLE_LIST(ROLE_ENUM) ROLE_COUNT, ROLE_NONE = ROLE_COUNT };
#undef ROLE_ENUM

/* One row per FAILS(how): name, the value in the call table (enum call_failure). */
#define FAILS_LIST(X)               \
	X(NEVER, NEVER)             \
	X(MINUS_ERRNO, MINUS_ERRNO) \
	X(NULL_ERRNO, NULL_ERRNO)   \
	X(EOF_ERRNO, EOF_ERRNO)     \
	X(IS_ERRNO, IS_ERRNO)       \
	X(SHORT_ERRNO, NEVER)       \
	X(STATUS, STATUS)           \
	X(NEGATIVE, NEGATIVE)

#define FAILS_ENUM(name, table) HOW_##name,
enum how { FAILS_LIST(FAILS_ENUM) HOW_COUNT, HOW_DEFAULT = HOW_COUNT };
#undef FAILS_ENUM

/* One row per MAKES(kind). */
#define MAKES_LIST(X) \
	X(FILE)       \
	X(NETWORK)    \
	X(OWN)        \
	X(SAME)       \
	X(HANDLE)

#define MAKES_ENUM(name) MAKES_##name,
enum makes { MAKES_LIST(MAKES_ENUM) MAKES_COUNT, MAKES_NOTHING = MAKES_COUNT };
#undef MAKES_ENUM

/* The kinds of result types. */
enum returns {
	RETURNS_VOID,
	RETURNS_SIGNED,
	RETURNS_UNSIGNED,
	RETURNS_WINT,	/* wint_t: unsigned, but fails with WEOF */
	RETURNS_STREAM, /* FILE * */
	RETURNS_DIR,	/* DIR * */
	RETURNS_POINTER,
};

struct arg {
	const char *decl; /* "const char *path" */
	const char *type; /* "const char *"; only valid if the name comes last */
	const char *name;
	enum role role;
};

/* All strings belong to the interface. A mark that is absent is NULL, ROLE_NONE etc. */
struct row {
	const char *file, *name, *type;
	const char *call;    /* the name in records: without the prefix; see interface_complete() */
	const char *library; /* the argument of LIBRARY(); NULL: libc */
	const char *library_prefix; /* the same in lower case, for the names of helpers */
	unsigned line;
	enum layer layer;
	enum call_class class;
	enum how how;
	enum makes makes;
	enum returns returns;
	bool ends, variadic, has_class;
	bool quiet;		  /* QUIET: never recorded, has no call number */
	bool leaves;		  /* LEAVES: does not return, is recorded before the call */
	bool has_twin;		  /* ALSO() or ONLY(): the function has two names */
	bool is_again;		  /* another name of a row, whose number it shares */
	const char *first, *last; /* statements around the call, whether it is recorded or not */
	const char *before, *after, *only_if, *keep_if, *forward, *implied;
	const char *error_if, *error_value;
	struct pass {
		const char *name,
			*code; /* an argument, and the expression that is passed instead */
	} passes[ROW_PASSES_MAX];
	unsigned pass_count;
	const char *field_code[FIELD_COUNT];
	struct arg args[ROW_ARGS_MAX];
	unsigned arg_count;
	struct arg rest; /* name is NULL unless REST() was given */
	const char *rest_when;
	enum field fields[FIELD_COUNT];
	unsigned field_count; /* in the order of the record, strings last */
};

/* Does the row have a call number and a row in the call table? */
static inline bool row_is_recorded(const struct row *row)
{
	return !row->quiet && !row->is_again;
}

struct interface {
	struct row *rows;
	size_t count, cap;
	const char **files; /* names of the headers read, without folders */
	size_t file_count, file_cap;
	char **texts; /* all strings of the rows */
	size_t text_count, text_cap;
};

/*
 * Adds the rows of one header. On -EINVAL, err names file, line and mistake, and the interface is
 * incomplete: it may only be released.
 */
int interface_read(struct interface *interface, const char *file, const char *text, size_t len,
		   struct err *err);

/*
 * After the last header: checks that every FORWARD() names a row, and gives the linker's names of a
 * function (__read_chk, __isoc99_fscanf, _IO_puts, __open64_2, __xstat) the name and the number of
 * the function that the program's source calls. Both rows must have the same layer, class and
 * fields.
 */
int interface_complete(struct interface *interface, struct err *err);

void interface_release(struct interface *interface);

const struct row *interface_find(const struct interface *interface, const char *name);

/* The argument with this role, REST() included; NULL if there is none. */
const struct arg *row_arg(const struct row *row, enum role role);

bool row_has(const struct row *row, enum field field);

/* Is the handle of the row a handle of its library? */
bool row_has_library_handle(const struct row *row);

#endif
