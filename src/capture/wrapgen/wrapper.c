/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the part of a wrapper up to the real call; all templates share it.
 *
 * A wrapper is a C function wrap_NAME with an asm label for its symbol. So no inline version,
 * redirect, built-in or attribute (above all nonnull) of libc's declaration affects its body. The
 * straight-line code of a wrapper is the recorded call; all other cases are cold functions.
 */
#include "capture/wrapgen/wrapper.h"

#include <string.h>

#include "base/buf.h"
#include "capture/wrapgen/interface.h"
#include "capture/wrapgen/wrapper_internal.h"
#include "contract/record.h"

static const char preamble[] =
	"#include <errno.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
	"#include \"capture/record/frame.h\"\n"
	"#include \"capture/record/handles.h\"\n"
	"#include \"capture/inline/after.h\"\n"
	"#include \"capture/libraries/followed.h\"\n"
	"#include \"capture/libraries/library.h\"\n"
	"#include \"capture/record/fuse.h\"\n"
	"#include \"capture/record/handle_table.h\"\n"
	"#include \"capture/libraries/wrapper_helpers.h\"\n"
	"#include \"contract/calls.h\"\n\n";

/* Replacements for real functions that do not exist. They are called through other types; only
 * their result matters. */
static const char missing[] =
	"__attribute__((unused)) static long missing_minus(void)\n{\n"
	"\terrno = ENOSYS;\n\treturn -1;\n}\n\n"
	"__attribute__((unused)) static void *missing_null(void)\n{\n"
	"\terrno = ENOSYS;\n\treturn NULL;\n}\n\n"
	"__attribute__((unused)) static int missing_errno(void)\n{\n\treturn ENOSYS;\n}\n\n"
	"enum missing { MISSING_MINUS, MISSING_NULL, MISSING_ERRNO };\n\n"
	"__attribute__((unused)) static void *missing_stub(enum missing kind)\n{\n"
	"\tif (kind == MISSING_ERRNO)\n\t\treturn (void *)(uintptr_t)missing_errno;\n"
	"\treturn kind == MISSING_NULL ? (void *)(uintptr_t)missing_null :\n"
	"\t\t\t\t      (void *)(uintptr_t)missing_minus;\n}\n\n";

void wrapper_preamble(struct buf *out, const struct interface *interface)
{
	buf_puts(out, preamble);
	for (size_t i = 0; i < interface->file_count; i++)
		buf_printf(out, "#include \"capture/interfaces/%s\"\n", interface->files[i]);
	buf_puts(out, "\n/* The name of a macro cannot be a member of struct real. */\n");
	for (size_t i = 0; i < interface->count; i++)
		buf_printf(out, "#undef %s\n", interface->rows[i].name);
	buf_putc(out, '\n');
}

void wrapper_parameters(struct buf *out, const struct row *row)
{
	for (unsigned i = 0; i < row->arg_count; i++)
		buf_printf(out, "%s%s", i ? ", " : "", row->args[i].decl);
	if (row->variadic)
		buf_puts(out, ", ...");
	if (!row->arg_count)
		buf_puts(out, "void");
}

const char *wrapper_space(const char *type)
{
	return type[strlen(type) - 1] == '*' ? "" : " ";
}

static const char *missing_kind(const struct row *row)
{
	if (row->how == HOW_IS_ERRNO || row->how == HOW_STATUS)
		return "ERRNO";
	if (row->how == HOW_NULL_ERRNO || row->how == HOW_SHORT_ERRNO ||
	    row->returns == RETURNS_UNSIGNED ||
	    (row->how == HOW_EOF_ERRNO && row->returns >= RETURNS_STREAM))
		return "NULL";
	return "MINUS";
}

/* All names in one string: an array of pointers would have to be relocated in every process. */
static void print_names(struct buf *out, const struct interface *interface)
{
	buf_puts(out, "__attribute__((unused)) static const char real_names[] =");
	for (size_t i = 0; i < interface->count; i++)
		buf_printf(out, "\n\t\"%s\\0\"", interface->rows[i].name);
	buf_puts(out, ";\n\n");
}

void wrapper_reals(struct buf *out, const struct interface *interface)
{
	size_t at = 0;

	buf_puts(out, "struct real {\n");
	for (size_t i = 0; i < interface->count; i++) {
		const struct row *row = &interface->rows[i];

		buf_printf(out, "\t%s%s(*%s)(", row->type, wrapper_space(row->type), row->name);
		wrapper_parameters(out, row);
		buf_puts(out, ");\n");
	}
	buf_puts(out, "};\n\n");
	buf_puts(out, missing);
	print_names(out, interface);
	buf_puts(out, "/* In the order of struct real. */\n"
		      "__attribute__((unused)) static const struct {\n\tuint32_t name;\n"
		      "\tuint8_t missing;\n} real_rows[] = {\n");
	for (size_t i = 0; i < interface->count; i++) {
		buf_printf(out, "\t{ %zu, MISSING_%s },\n", at, missing_kind(&interface->rows[i]));
		at += strlen(interface->rows[i].name) + 1;
	}
	buf_puts(out, "};\n\n");
}

/* The argument of the real call: the program's, or the expression of PASS(). */
static const char *passed_argument(const struct row *row, const char *argument)
{
	for (unsigned i = 0; i < row->pass_count; i++)
		if (strcmp(row->passes[i].name, argument) == 0)
			return row->passes[i].code;
	return argument;
}

static void print_arguments(struct buf *out, const struct row *row)
{
	for (unsigned i = 0; i < row->arg_count; i++)
		buf_printf(out, "%s%s", i ? ", " : "", passed_argument(row, row->args[i].name));
	if (row->forward)
		buf_puts(out, ", ap");
	if (row->rest.name)
		buf_printf(out, ", %s", row->rest.name);
}

/* Prints the real call as an expression. known: the real function is already resolved. */
static void print_call(struct buf *out, const struct row *row, bool known)
{
	const char *target = row->forward ? row->forward : row->name;

	if (row->library)
		buf_puts(out, "called(");
	else
		buf_printf(out, known ? "KNOWN(%s)(" : "REAL(%s)(", target);
	print_arguments(out, row);
	buf_putc(out, ')');
}

static const char *last_name(const struct row *row)
{
	return row->args[row->arg_count - 1].name;
}

/*
 * If most calls are not recorded (ONLY_IF), the recorded ones get a separate function. For the
 * others the wrapper is a test and a jump.
 */
static bool is_split(const struct row *row)
{
	return row->library && row->only_if && !row->first && !row->quiet && !row->leaves;
}

static void print_locals(struct buf *out, const struct row *row)
{
	if (!row->quiet)
		buf_puts(out, "\tstruct frame f;\n");
	if (row->library && !is_split(row))
		buf_printf(out, "\t__typeof__(&*REAL(%s)) called = REAL(%s);\n", row->name,
			   row->name);
	if (row->variadic)
		buf_puts(out, "\tva_list ap;\n");
	if (row->rest.name)
		buf_printf(out, "\t%s%s%s = 0;\n", row->rest.type, wrapper_space(row->rest.type),
			   row->rest.name);
	buf_putc(out, '\n');
	if (!row->rest.name)
		return;
	buf_printf(out, "\tif (%s) {\n", row->rest_when ? row->rest_when : "1");
	buf_printf(out, "\t\tva_start(ap, %s);\n\t\t%s = va_arg(ap, %s);\n\t\tva_end(ap);\n\t}\n",
		   last_name(row), row->rest.name, row->rest.type);
}

/* Is FIRST only the measurement of placed files (capture/apply/placed.h)? */
static bool is_first_placed(const struct row *row)
{
	static const char measurement[] = "PLACED_CALL(";

	return strncmp(row->first, measurement, sizeof(measurement) - 1) == 0 &&
	       row->first[strcspn(row->first, ";") + 1] == 0;
}

/*
 * If capturing is off for good, jumps to the real function before the wrapper saves any register.
 * Not for libraries, whose calls take too long for that to matter, and not if FIRST has something
 * to do.
 */
static void print_off_test(struct buf *out, const struct row *row)
{
	const char *test = row->first ? "frame_is_off() && !placed_is_on()" : "frame_is_off()";

	if (row->forward || (row->first && !is_first_placed(row)) || (row->library && !row->quiet))
		return;
	if (row->returns != RETURNS_VOID) {
		buf_printf(out, "\tif (unlikely(%s))\n\t\treturn ", test);
		print_call(out, row, true);
		buf_puts(out, ";\n");
		return;
	}
	buf_printf(out, "\tif (unlikely(%s)) {\n\t\t", test);
	print_call(out, row, true);
	buf_puts(out, ";\n\t\treturn;\n\t}\n");
}

/* The unrecorded call of a row with FIRST and LAST, which always run. */
static void print_unrecorded_framed(struct buf *out, const struct row *row)
{
	bool returns = row->returns != RETURNS_VOID;

	buf_puts(out, "\t\t");
	if (returns)
		buf_printf(out, "%s%sret = ", row->type, wrapper_space(row->type));
	print_call(out, row, false);
	buf_puts(out, ";\n");
	if (row->last)
		buf_printf(out, "\t\t%s\n", row->last);
	buf_puts(out, returns ? "\t\treturn ret;\n\t}\n" : "\t\treturn;\n\t}\n");
}

/* The unrecorded call: capturing is off, or the call is not to be recorded. */
static void print_unrecorded(struct buf *out, const struct row *row)
{
	bool returns = row->returns != RETURNS_VOID;

	if (row->first)
		buf_printf(out, "\t%s\n", row->first);
	buf_puts(out, "\tif (");
	if (row->only_if && !is_split(row))
		buf_printf(out, "!(%s) || ", row->only_if);
	if (row->has_twin)
		buf_printf(out, "call_is_inner(CALL_%s) || ", row->call);
	buf_puts(out, "!frame_enter(&f)) {\n");
	if (row->last) {
		print_unrecorded_framed(out, row);
		return;
	}
	if (row->forward) {
		buf_printf(out, "\t\tva_start(ap, %s);\n\t\t", last_name(row));
		if (returns)
			buf_printf(out, "%s%sret = ", row->type, wrapper_space(row->type));
		print_call(out, row, false);
		buf_printf(out, ";\n\t\tva_end(ap);\n\t\treturn%s;\n\t}\n", returns ? " ret" : "");
		return;
	}
	buf_puts(out, returns ? "\t\treturn " : "\t\t");
	print_call(out, row, false);
	buf_puts(out, returns ? ";\n\t}\n" : ";\n\t\treturn;\n\t}\n");
}

bool wrapper_handle(struct buf *out, const struct row *row)
{
	const struct arg *fd = row_arg(row, ROLE_FD), *stream = row_arg(row, ROLE_STREAM),
			 *dir = row_arg(row, ROLE_DIRP);

	if (fd)
		buf_puts(out, fd->name);
	else if (stream)
		buf_printf(out, "stream_fd(%s)", stream->name);
	else if (dir)
		buf_printf(out, "dir_fd(%s)", dir->name);
	else if (row->implied)
		buf_printf(out, "stream_fd(%s)", row->implied);
	else
		return false;
	return true;
}

/* End of file does not change errno. Without a stream there is no error flag, so errno is cleared
 * to distinguish end of file from failure. */
bool wrapper_clears_errno(const struct row *row)
{
	return row->how == HOW_EOF_ERRNO && !row_arg(row, ROLE_STREAM) && !row->implied;
}

/* Prints the key of a library's handle as an expression. */
static void print_library_key(struct buf *out, const struct row *row, const struct arg *value,
			      const struct arg *at)
{
	buf_printf(out, "handle_key(SPACE_%s, %s_handle%s((const void *)called, %s))", row->library,
		   row->library_prefix, value ? "" : "_at", value ? value->name : at->name);
}

/* Looks up a library's handle before the call, because a closed handle may be reused after it. */
static void print_entry(struct buf *out, const struct row *row)
{
	if (row->library)
		buf_printf(out, "\t%s_bind((const void *)called);\n", row->library_prefix);
	if (!row_has_library_handle(row))
		return;
	buf_puts(out, "\tuint64_t key = ");
	print_library_key(out, row, row_arg(row, ROLE_HANDLE), row_arg(row, ROLE_HANDLE_AT));
	buf_puts(out, ";\n\tstruct handle_entry *entry = handle_table_find(key);\n");
	if (!row->field_code[FIELD_LINK])
		buf_puts(out, "\tuint64_t link = handle_entry_link(entry);\n");
}

static void print_ends(struct buf *out, const struct row *row)
{
	if (!row->ends)
		return;
	if (row_has_library_handle(row)) {
		buf_puts(out, "\thandle_table_take(key);\n");
		return;
	}
	buf_puts(out, "\tuint64_t link = handle_take(");
	wrapper_handle(out, row);
	buf_puts(out, ");\n");
}

/* The stream of a row, whose buffer macros use between calls (capture/libraries/followed.h). */
static const char *stream_of(const struct row *row)
{
	const struct arg *stream = row_arg(row, ROLE_STREAM);

	return stream ? stream->name : row->implied;
}

static void print_real_call(struct buf *out, const struct row *row)
{
	const char *stream = stream_of(row);

	if (stream && row->ends)
		buf_printf(out, "\tfollowed_close(%s);\n", stream);
	else if (stream)
		buf_printf(out, "\tstruct followed *followed = followed_enter(%s);\n", stream);
	if (!row_has_library_handle(row))
		print_ends(out, row);
	if (row->before)
		buf_printf(out, "\t%s\n", row->before);
	if (row_has_library_handle(row))
		print_ends(out, row);
	if (row->has_twin)
		buf_printf(out, "\tstruct calling outer = call_begin(CALL_%s, &f);\n", row->call);
	if (wrapper_clears_errno(row))
		buf_puts(out, "\tint was = errno;\n\n\terrno = 0;\n");
	if (row->forward)
		buf_printf(out, "\tva_start(ap, %s);\n", last_name(row));
	buf_putc(out, '\t');
	if (row->returns != RETURNS_VOID)
		buf_printf(out, "%s%sret = ", row->type, wrapper_space(row->type));
	print_call(out, row, true);
	buf_puts(out, ";\n");
	buf_puts(out, "\tframe_stop(&f);\n");
	if (stream && !row->ends)
		buf_printf(out, "\tif (unlikely(followed))\n\t\tfollowed_leave(followed, %s);\n",
			   stream);
	if (row->has_twin)
		buf_puts(out, "\tcall_end(outer);\n");
	if (row->library)
		buf_puts(out, "\tint saved = errno;\n");
	if (row->forward)
		buf_puts(out, "\tva_end(ap);\n");
	if (row->keep_if)
		buf_printf(out, "\tif (!(%s) && frame_drop(&f)) {\n%s\t\treturn%s;\n\t}\n",
			   row->keep_if, row->library ? "\t\terrno = saved;\n" : "",
			   row->returns != RETURNS_VOID ? " ret" : "");
}

/* Frequent calls (read, write, seek) get the frame inlined; the others stay small. */
static const char *inlining(const struct row *row)
{
	bool hot =
		row->class == CLASS_READ || row->class == CLASS_WRITE || row->class == CLASS_SEEK;

	return hot && !row->library ? "__attribute__((flatten)) " : "";
}

static void print_head(struct buf *out, const struct row *row, const char *prefix)
{
	buf_printf(out, "\nEXPORT %s%s%swrap_%s(", inlining(row), row->type,
		   wrapper_space(row->type), row->name);
	wrapper_parameters(out, row);
	buf_printf(out, ") __asm__(\"%s%s\");\n%s%swrap_%s(", prefix, row->name, row->type,
		   wrapper_space(row->type), row->name);
	wrapper_parameters(out, row);
	buf_puts(out, ")\n{\n");
}

static void print_recorded_head(struct buf *out, const struct row *row)
{
	buf_printf(out, "\n__attribute__((noinline)) static %s%srecorded_%s(", row->type,
		   wrapper_space(row->type), row->name);
	wrapper_parameters(out, row);
	buf_printf(out, ", %s%s(*called)(", row->type, wrapper_space(row->type));
	wrapper_parameters(out, row);
	buf_puts(out, "))\n{\n");
}

/* The wrapper of a split row, which calls the real function or recorded_NAME(). */
static void print_chooser(struct buf *out, const struct row *row, const char *prefix)
{
	print_head(out, row, prefix);
	buf_printf(out, "\t__typeof__(&*REAL(%s)) called = REAL(%s);\n\n", row->name, row->name);
	buf_printf(out, "\tif (likely(!(%s)))\n\t\treturn ", row->only_if);
	print_call(out, row, true);
	buf_printf(out, ";\n\treturn recorded_%s(", row->name);
	print_arguments(out, row);
	buf_puts(out, ", called);\n}\n");
}

/* The wrapper of a QUIET row: only the statements around the call. */
static void print_quiet(struct buf *out, const struct row *row)
{
	bool returns = row->returns != RETURNS_VOID;

	buf_printf(out, "\t%s_bind((const void *)called);\n", row->library_prefix);
	if (row->before)
		buf_printf(out, "\t%s\n", row->before);
	buf_putc(out, '\t');
	if (returns)
		buf_printf(out, "%s%sret = ", row->type, wrapper_space(row->type));
	print_call(out, row, true);
	buf_puts(out, ";\n\tint saved = errno;\n");
	if (row->after)
		buf_printf(out, "\t%s\n", row->after);
	buf_puts(out, "\terrno = saved;\n");
	buf_puts(out, returns ? "\treturn ret;\n}\n" : "}\n");
}

/* The wrapper of a LEAVES row writes the record before the call, which does not return. */
static void print_leaving(struct buf *out, const struct row *row)
{
	bool returns = row->returns != RETURNS_VOID;

	buf_puts(out, "\tint saved = errno, err = 0;\n");
	if (returns)
		buf_printf(out, "\t%s%sret = 0;\n", row->type, wrapper_space(row->type));
	buf_puts(out, "\tframe_stop(&f);\n");
	wrapper_size(out, row);
	wrapper_record(out, row);
	buf_puts(out, "\terrno = saved;\n");
	buf_puts(out, returns ? "\treturn " : "\t");
	print_call(out, row, true);
	buf_puts(out, ";\n}\n");
}

void wrapper_print(struct buf *out, const struct row *row, const char *prefix)
{
	if (is_split(row))
		print_recorded_head(out, row);
	else
		print_head(out, row, prefix);
	print_locals(out, row);
	print_off_test(out, row);
	if (row->quiet) {
		print_quiet(out, row);
		return;
	}
	print_unrecorded(out, row);
	print_entry(out, row);
	if (row->leaves) {
		print_leaving(out, row);
		return;
	}
	print_real_call(out, row);
	wrapper_after(out, row);
	buf_puts(out, row->returns != RETURNS_VOID ? "\treturn ret;\n}\n" : "}\n");
	if (is_split(row))
		print_chooser(out, row, prefix);
}
