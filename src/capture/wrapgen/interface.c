/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of all headers: lookup, ownership, and the checks that complete a row.
 */
#include "capture/wrapgen/interface.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/wrapgen/parse.h"

static const struct {
	const char *name;
	enum field field;
} roles[] = {
#define ROLE_ROW(name, field) { #name, FIELD_##field },
	ROLE_LIST(ROLE_ROW)
#undef ROLE_ROW
};

static const char *const field_names[] = {
#define FIELD_ROW(name, attribute) #name,
	FIELD_LIST(FIELD_ROW)
#undef FIELD_ROW
};

/* Marks that need each other. */
static const struct {
	enum role one, other;
} role_pairs[] = {
	{ ROLE_ITEM, ROLE_ITEMS },
	{ ROLE_IOV, ROLE_IOVCNT },
};

/* Names of variables in wrappers, which arguments must not have. */
static const char *const reserved_names[] = {
	"f",	     "w",	 "ret",	  "err",       "was",	"link",	  "link2",
	"made",	     "size",	 "words", "text",      "ap",	"real",	  "path_len",
	"path2_len", "name_len", "hints", "hints_len", "entry", "called", "opened",
	"saved",     "outer",	 "key",	  "followed",
};

const struct row *interface_find(const struct interface *interface, const char *name)
{
	for (size_t i = 0; i < interface->count; i++) {
		if (strcmp(interface->rows[i].name, name) == 0)
			return &interface->rows[i];
	}
	return NULL;
}

void interface_release(struct interface *interface)
{
	for (size_t i = 0; i < interface->text_count; i++)
		free(interface->texts[i]);
	free(interface->texts);
	free(interface->files);
	free(interface->rows);
	*interface = (struct interface){ 0 };
}

const struct arg *row_arg(const struct row *row, enum role role)
{
	for (unsigned i = 0; i < row->arg_count; i++) {
		if (row->args[i].role == role)
			return &row->args[i];
	}
	return row->rest.name && row->rest.role == role ? &row->rest : NULL;
}

bool row_has(const struct row *row, enum field field)
{
	for (unsigned i = 0; i < row->field_count; i++) {
		if (row->fields[i] == field)
			return true;
	}
	return false;
}

static unsigned string_count(const struct row *row)
{
	unsigned count = 0;

	for (unsigned i = 0; i < row->field_count; i++)
		count += row->fields[i] >= FIELD_PATH;
	return count;
}

#define FAIL(row, ...) row_fail(row, err, __VA_ARGS__)

__attribute__((format(printf, 3, 4))) static int row_fail(const struct row *row, struct err *err,
							  const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(err, EINVAL, "%s:%u: %s(): %s", row->file, row->line, row->name, text);
}

static bool roles_are_paired(enum role a, enum role b)
{
	for (size_t i = 0; i < sizeof(role_pairs) / sizeof(role_pairs[0]); i++) {
		if ((a == role_pairs[i].one && b == role_pairs[i].other) ||
		    (b == role_pairs[i].one && a == role_pairs[i].other))
			return true;
	}
	return false;
}

/* Rejects two arguments, or an argument and FIELD(), that set the same field. */
static int check_field_conflicts(const struct row *row, const struct arg *arg, unsigned before,
				 struct err *err)
{
	enum field field = roles[arg->role].field;

	if (row->field_code[field])
		return FAIL(row, "both %s '%s' and FIELD(%s, ...) set the field %s",
			    roles[arg->role].name, arg->name, field_names[field],
			    field_names[field]);
	for (unsigned i = 0; i < before; i++) {
		const struct arg *first = &row->args[i];

		if (first->role == ROLE_NONE || roles[first->role].field != field ||
		    roles_are_paired(first->role, arg->role))
			continue;
		return FAIL(row, "both %s '%s' and %s '%s' set the field %s",
			    roles[first->role].name, first->name, roles[arg->role].name, arg->name,
			    field_names[field]);
	}
	return 0;
}

static int check_names(const struct row *row, const struct arg *arg, unsigned before,
		       struct err *err)
{
	for (size_t i = 0; i < sizeof(reserved_names) / sizeof(reserved_names[0]); i++) {
		if (strcmp(arg->name, reserved_names[i]) == 0)
			return FAIL(
				row,
				"the name '%s' is reserved for the wrapper; rename the argument",
				arg->name);
	}
	for (unsigned i = 0; i < before; i++) {
		if (strcmp(arg->name, row->args[i].name) == 0)
			return FAIL(row, "two arguments are called '%s'", arg->name);
	}
	return 0;
}

static int check_args(const struct row *row, struct err *err)
{
	for (unsigned i = 0; i < row->arg_count + (row->rest.name != NULL); i++) {
		const struct arg *arg = i < row->arg_count ? &row->args[i] : &row->rest;
		int error = check_names(row, arg, i, err);

		if (!error && arg->role != ROLE_NONE)
			error = check_field_conflicts(row, arg, i, err);
		if (error)
			return error;
	}
	for (size_t i = 0; i < sizeof(role_pairs) / sizeof(role_pairs[0]); i++) {
		if (!row_arg(row, role_pairs[i].one) != !row_arg(row, role_pairs[i].other))
			return FAIL(row, "%s and %s must be used together",
				    roles[role_pairs[i].one].name, roles[role_pairs[i].other].name);
	}
	return 0;
}

static bool has_handle(const struct row *row)
{
	return row->implied || row_arg(row, ROLE_FD) || row_arg(row, ROLE_STREAM) ||
	       row_arg(row, ROLE_DIRP) || row_has_library_handle(row);
}

bool row_has_library_handle(const struct row *row)
{
	return row_arg(row, ROLE_HANDLE) || row_arg(row, ROLE_HANDLE_AT);
}

/* Checks the marks that only functions of libraries have, and those that they lack. */
static int check_library(const struct row *row, struct err *err)
{
	bool named = row_has_library_handle(row) || row_arg(row, ROLE_MADE) ||
		     row->makes == MAKES_HANDLE;

	if (!row->library && (named || row->quiet || row->leaves))
		return FAIL(row, "HANDLE, MADE, QUIET and LEAVES are for functions of a LIBRARY()");
	if (row->library && (row->variadic || row->implied || row_arg(row, ROLE_FD) ||
			     row_arg(row, ROLE_STREAM) || row_arg(row, ROLE_DIRP)))
		return FAIL(
			row,
			"a function of a LIBRARY() cannot have FD, STREAM, DIRP, IMPLIED or '...'");
	if (row_arg(row, ROLE_MADE) && row->makes != MAKES_HANDLE)
		return FAIL(row, "MADE needs MAKES(HANDLE)");
	if (row->quiet && (row->has_class || row->keep_if || row->leaves))
		return FAIL(row, "QUIET cannot be combined with CALL, KEEP_IF or LEAVES: there is "
				 "no record");
	if ((row->first || row->last) &&
	    (row->forward || row->quiet || row->leaves || row->keep_if))
		return FAIL(row, "FIRST and LAST cannot be combined with FORWARD, QUIET, LEAVES or "
				 "KEEP_IF");
	if (row->leaves && (row->keep_if || row->ends || row->makes != MAKES_NOTHING))
		return FAIL(row, "LEAVES cannot be combined with KEEP_IF, ENDS or MAKES: there is "
				 "no result");
	return 0;
}

static bool has_argument(const struct row *row, const char *name)
{
	for (unsigned i = 0; i < row->arg_count; i++)
		if (strcmp(row->args[i].name, name) == 0)
			return true;
	return false;
}

static int check_marks(const struct row *row, struct err *err)
{
	for (unsigned i = 0; i < row->pass_count; i++)
		if (!has_argument(row, row->passes[i].name))
			return FAIL(row, "PASS: there is no argument '%s'", row->passes[i].name);
	if (!row->has_class && !row->quiet)
		return FAIL(row, "missing CALL(class) before the prototype");
	if (row->variadic && !row->forward && !row->rest.name)
		return FAIL(row, "'...' needs FORWARD(v-function) or REST(type name, when)");
	if (!row->variadic && (row->forward || row->rest.name))
		return FAIL(row, "FORWARD and REST require '...'");
	if (row->forward && row->rest.name)
		return FAIL(row, "FORWARD and REST cannot be combined");
	if (row->variadic && !row->arg_count)
		return FAIL(row, "'...' needs an argument before it");
	if (row->implied &&
	    (row_arg(row, ROLE_FD) || row_arg(row, ROLE_STREAM) || row_arg(row, ROLE_DIRP)))
		return FAIL(row, "both IMPLIED and an argument set the handle");
	if (row->implied && row->field_code[FIELD_LINK])
		return FAIL(row, "both IMPLIED and FIELD(LINK, ...) set the handle");
	if (row->makes != MAKES_NOTHING && row->field_code[FIELD_HANDLE])
		return FAIL(row, "both MAKES and FIELD(HANDLE, ...) set the field HANDLE");
	if (row->ends && !has_handle(row))
		return FAIL(row, "ENDS needs a handle: mark an argument FD, STREAM or DIRP");
	if (row->makes == MAKES_SAME && !has_handle(row))
		return FAIL(row, "MAKES(SAME) needs a handle: mark an argument FD, STREAM or DIRP");
	if (row->makes != MAKES_NOTHING && row->makes != MAKES_HANDLE &&
	    row->returns != RETURNS_SIGNED && row->returns != RETURNS_STREAM &&
	    row->returns != RETURNS_DIR)
		return FAIL(row, "MAKES needs a result of type int, FILE * or DIR *, not '%s'",
			    row->type);
	return 0;
}

static int check_how(const struct row *row, struct err *err)
{
	bool pointer = row->returns >= RETURNS_STREAM;

	if (row->returns == RETURNS_VOID && row->how != HOW_NEVER)
		return FAIL(row, "FAILS: a void function cannot report failure");
	if (row->how == HOW_NULL_ERRNO && !pointer)
		return FAIL(row, "FAILS(NULL_ERRNO) needs a pointer as result, not '%s'",
			    row->type);
	if ((row->how == HOW_IS_ERRNO || row->how == HOW_STATUS || row->how == HOW_NEGATIVE) &&
	    row->returns != RETURNS_SIGNED && !row->error_if)
		return FAIL(row, "FAILS(%s) needs an int as result, not '%s'",
			    row->how == HOW_IS_ERRNO ? "IS_ERRNO"
			    : row->how == HOW_STATUS ? "STATUS"
						     : "NEGATIVE",
			    row->type);
	if (row->how == HOW_MINUS_ERRNO && row->returns != RETURNS_SIGNED &&
	    row->returns != RETURNS_POINTER)
		return FAIL(row, "FAILS(MINUS_ERRNO) needs a signed result or a void *, not '%s'",
			    row->type);
	if (row->how == HOW_EOF_ERRNO && row->returns == RETURNS_UNSIGNED)
		return FAIL(row, "FAILS(EOF_ERRNO) does not work with a result of type '%s'",
			    row->type);
	if (row->how == HOW_SHORT_ERRNO &&
	    (!row_arg(row, ROLE_ITEMS) || !row_arg(row, ROLE_STREAM)))
		return FAIL(row, "FAILS(SHORT_ERRNO) needs ITEMS and a STREAM");
	return 0;
}

static enum how default_how(const struct row *row)
{
	switch (row->returns) {
	case RETURNS_SIGNED:
		return HOW_MINUS_ERRNO;
	case RETURNS_WINT:
		return HOW_EOF_ERRNO;
	case RETURNS_STREAM:
	case RETURNS_DIR:
	case RETURNS_POINTER:
		return HOW_NULL_ERRNO;
	default:
		return HOW_NEVER;
	}
}

static bool row_sets_field(const struct row *row, enum field field)
{
	if (row->field_code[field])
		return true;
	if (field == FIELD_RESULT)
		return row->returns != RETURNS_VOID;
	if (field == FIELD_HANDLE && row->makes != MAKES_NOTHING)
		return true;
	if (field == FIELD_LINK && row->implied)
		return true;
	for (int role = 0; role < ROLE_COUNT; role++) {
		if (roles[role].field == field && row_arg(row, (enum role)role))
			return true;
	}
	return false;
}

int row_complete(struct row *row, struct err *err)
{
	int error;

	if (row->error_if && row->how != HOW_DEFAULT)
		return FAIL(row, "ERROR and FAILS cannot be combined");
	if (row->how == HOW_DEFAULT)
		row->how = row->error_if ? HOW_STATUS : default_how(row);
	error = check_marks(row, err);
	if (!error)
		error = check_library(row, err);
	if (!error)
		error = check_args(row, err);
	if (!error)
		error = check_how(row, err);
	if (error)
		return error;
	for (int field = 0; field < FIELD_COUNT; field++) {
		if (row_sets_field(row, (enum field)field))
			row->fields[row->field_count++] = (enum field)field;
	}
	if (row->field_count > CALL_FIELDS_MAX)
		return FAIL(row, "%u fields exceed the limit of %d", row->field_count,
			    CALL_FIELDS_MAX);
	if (string_count(row) > 2)
		return FAIL(row, "%u strings exceed the limit of 2", string_count(row));
	return 0;
}

static bool rows_are_alike(const struct row *a, const struct row *b)
{
	return a->layer == b->layer && a->class == b->class && a->how == b->how &&
	       a->field_count == b->field_count &&
	       memcmp(a->fields, b->fields, a->field_count * sizeof(a->fields[0])) == 0;
}

/* The row of the function that has this linker's name; NULL if the name is a function of its own.
 */
static const struct row *find_source(const struct interface *interface, const char *name)
{
	static const char *const prefixes[] = { "__isoc99_", "__isoc23_", "_IO_", "__" };
	static const char *const suffixes[] = { "_chk", "_2" };
	const struct row *found;
	char text[64], *x;
	size_t length = 0;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]) && !length; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			length = strlen(prefixes[i]);
	if (!length || snprintf(text, sizeof(text), "%s", name + length) >= (int)sizeof(text))
		return NULL;
	length = strlen(text);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t end = strlen(suffixes[i]);

		if (length > end && strcmp(text + length - end, suffixes[i]) == 0)
			text[length - end] = 0;
	}
	found = interface_find(interface, text);
	x = found ? NULL : strchr(text, 'x'); /* __fxstat: fstat with a version */
	if (x) {
		memmove(x, x + 1, strlen(x));
		found = interface_find(interface, text);
	}
	return found;
}

int interface_complete(struct interface *interface, struct err *err)
{
	for (size_t i = 0; i < interface->count; i++) {
		struct row *row = &interface->rows[i];
		const struct row *source = row->library ? NULL : find_source(interface, row->name);

		if (row->forward && !interface_find(interface, row->forward))
			return FAIL(row, "FORWARD(%s): there is no row for this function",
				    row->forward);
		if (!source)
			continue;
		if (!rows_are_alike(row, source))
			return FAIL(row,
				    "layer, class, failure or fields differ from those of %s()",
				    source->name);
		row->call = source->call;
		row->is_again = true;
	}
	return 0;
}
