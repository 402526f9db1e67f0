/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The body of a wrapper, which all templates share.
 *
 * A wrapper has a C name of its own and gets the symbol's name by an asm label. So no inline
 * version, redirect, built-in or attribute of libc's declaration (a nonnull, above all) can reach
 * into its body. The straight line of a wrapper is the recorded call; everything else is one call
 * away and cold.
 */
#include "capture/wrapgen/wrapper.h"

#include <string.h>

#include "base/buf.h"
#include "capture/wrapgen/interface.h"
#include "trace/record.h"

static const char preamble[] =
	"#include <errno.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
	"#include \"capture/frame.h\"\n"
	"#include \"capture/handles.h\"\n"
	"#include \"capture/library.h\"\n"
	"#include \"capture/named.h\"\n"
	"#include \"capture/splice.h\"\n"
	"#include \"trace/calls.h\"\n\n";

/* What is called where there is no such function. Called through other types: the result is what
 * counts. */
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
	buf_puts(out,
		 "\n/* A name that is also a macro could not be a member of struct real. */\n");
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

static const char *missing_of(const struct row *row)
{
	if (row->how == HOW_IS_ERRNO || row->how == HOW_STATUS)
		return "ERRNO";
	if (row->how == HOW_NULL_ERRNO || row->how == HOW_SHORT_ERRNO ||
	    row->returns == RETURNS_UNSIGNED ||
	    (row->how == HOW_EOF_ERRNO && row->returns >= RETURNS_STREAM))
		return "NULL";
	return "MINUS";
}

/* All names as one text: an array of pointers would have to be relocated in every process. */
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
		buf_printf(out, "\t{ %zu, MISSING_%s },\n", at, missing_of(&interface->rows[i]));
		at += strlen(interface->rows[i].name) + 1;
	}
	buf_puts(out, "};\n\n");
}

/* What the real function gets for an argument: itself, or what PASS() says. */
static const char *passed(const struct row *row, const char *argument)
{
	for (unsigned i = 0; i < row->pass_count; i++)
		if (strcmp(row->passes[i].name, argument) == 0)
			return row->passes[i].code;
	return argument;
}

static void print_arguments(struct buf *out, const struct row *row)
{
	for (unsigned i = 0; i < row->arg_count; i++)
		buf_printf(out, "%s%s", i ? ", " : "", passed(row, row->args[i].name));
	if (row->forward)
		buf_puts(out, ", ap");
	if (row->rest.name)
		buf_printf(out, ", %s", row->rest.name);
}

/* The real call as an expression; table is how the function is found. */
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
 * Where most calls are none of ours, those that are have a function of their own: for the others
 * the wrapper is a test and a jump.
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

/*
 * Switched off for good: a jump to the real function, before the wrapper saves a single register.
 * Calls of libraries take too long for that to count; and FIRST counts in any case.
 */
static void print_off(struct buf *out, const struct row *row)
{
	if (row->forward || row->first || (row->library && !row->quiet))
		return;
	if (row->returns != RETURNS_VOID) {
		buf_puts(out, "\tif (unlikely(frame_is_off()))\n\t\treturn ");
		print_call(out, row, true);
		buf_puts(out, ";\n");
		return;
	}
	buf_puts(out, "\tif (unlikely(frame_is_off())) {\n\t\t");
	print_call(out, row, true);
	buf_puts(out, ";\n\t\treturn;\n\t}\n");
}

/* Of a row with FIRST and LAST: they count whether the call is recorded or not. */
static void print_bare_framed(struct buf *out, const struct row *row)
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

/* Recording is off, or this call is none of ours: the bare call. */
static void print_bare(struct buf *out, const struct row *row)
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
		print_bare_framed(out, row);
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

/* The descriptor of the row's handle as an expression; false if it has none. */
static bool print_handle(struct buf *out, const struct row *row)
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

/* A clean end leaves errno alone; where no stream keeps an error flag, only a cleared errno can
 * tell. */
static bool clears_errno(const struct row *row)
{
	return row->how == HOW_EOF_ERRNO && !row_arg(row, ROLE_STREAM) && !row->implied;
}

/* The value of a library's handle as an expression. */
static void print_named(struct buf *out, const struct row *row, const struct arg *value,
			const struct arg *at)
{
	buf_printf(out, "named_key(SPACE_%s, %s_handle%s((const void *)called, %s))", row->library,
		   row->library_prefix, value ? "" : "_at", value ? value->name : at->name);
}

/* Handles of libraries are looked up before the call: what ends may be another's afterwards. */
static void print_entry(struct buf *out, const struct row *row)
{
	if (row->library)
		buf_printf(out, "\t%s_meet((const void *)called);\n", row->library_prefix);
	if (!row_has_named(row))
		return;
	buf_puts(out, "\tuint64_t key = ");
	print_named(out, row, row_arg(row, ROLE_HANDLE), row_arg(row, ROLE_HANDLE_AT));
	buf_puts(out, ";\n\tstruct named *entry = named_find(key);\n");
	if (!row->field_code[FIELD_LINK])
		buf_puts(out, "\tuint64_t link = named_link(entry);\n");
}

static void print_ends(struct buf *out, const struct row *row)
{
	if (!row->ends)
		return;
	if (row_has_named(row)) {
		buf_puts(out, "\tnamed_take(key);\n");
		return;
	}
	buf_puts(out, "\tuint64_t link = handle_take(");
	print_handle(out, row);
	buf_puts(out, ");\n");
}

static void print_real_call(struct buf *out, const struct row *row)
{
	if (!row_has_named(row))
		print_ends(out, row);
	if (row->before)
		buf_printf(out, "\t%s\n", row->before);
	if (row_has_named(row))
		print_ends(out, row);
	if (row->has_twin)
		buf_printf(out, "\tstruct calling outer = call_begin(CALL_%s, &f);\n", row->call);
	if (clears_errno(row))
		buf_puts(out, "\tint was = errno;\n\n\terrno = 0;\n");
	if (row->forward)
		buf_printf(out, "\tva_start(ap, %s);\n", last_name(row));
	buf_putc(out, '\t');
	if (row->returns != RETURNS_VOID)
		buf_printf(out, "%s%sret = ", row->type, wrapper_space(row->type));
	print_call(out, row, true);
	buf_puts(out, ";\n");
	buf_puts(out, "\tframe_stop(&f);\n");
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

/* The test for failure that goes with a result type; EOF for integers, NULL for pointers. */
static const char *end_test(const struct row *row)
{
	if (row->returns == RETURNS_WINT)
		return "ret == WEOF";
	return row->returns >= RETURNS_STREAM ? "!ret" : "ret == -1";
}

static void print_eof_error(struct buf *out, const struct row *row)
{
	const struct arg *stream = row_arg(row, ROLE_STREAM);

	if (clears_errno(row))
		buf_printf(out,
			   "\tint err = unlikely(%s) ? errno : 0;\n\n\tif (!errno)\n\t\terrno = "
			   "was;\n",
			   end_test(row));
	else if (row->ends) /* the stream is gone */
		buf_printf(out, "\tint err = unlikely(%s) ? errno : 0;\n", end_test(row));
	else
		buf_printf(out, "\tint err = unlikely(%s) && stream_failed(%s) ? errno : 0;\n",
			   end_test(row), stream ? stream->name : row->implied);
}

static void print_error(struct buf *out, const struct row *row)
{
	if (row->error_if) {
		buf_printf(out, "\tint err = unlikely(%s) ? (%s) : 0;\n", row->error_if,
			   row->error_value);
		return;
	}
	switch (row->how) {
	case HOW_MINUS_ERRNO:
		buf_printf(out, "\tint err = unlikely(%s) ? errno : 0;\n",
			   row->returns == RETURNS_SIGNED ? "ret < 0" : "(intptr_t)ret == -1");
		break;
	case HOW_NULL_ERRNO:
		buf_puts(out, "\tint err = unlikely(!ret) ? errno : 0;\n");
		break;
	case HOW_EOF_ERRNO:
		print_eof_error(out, row);
		break;
	case HOW_IS_ERRNO:
	case HOW_STATUS:
		buf_puts(out, "\tint err = ret;\n");
		break;
	case HOW_NEGATIVE:
		buf_puts(out, "\tint err = unlikely(ret < 0) ? -1 : 0;\n");
		break;
	case HOW_SHORT_ERRNO:
		buf_printf(out,
			   "\tint err = unlikely(ret < %s) && stream_failed(%s) ? errno : 0;\n",
			   row_arg(row, ROLE_ITEMS)->name, row_arg(row, ROLE_STREAM)->name);
		break;
	default:
		buf_puts(out, "\tint err = 0;\n");
	}
}

static void print_links(struct buf *out, const struct row *row)
{
	const struct arg *second = row_arg(row, ROLE_SOURCE);

	if (!second)
		second = row_arg(row, ROLE_DIRFD);
	if (row->field_code[FIELD_LINK]) {
		buf_printf(out, "\tuint64_t link = %s;\n", row->field_code[FIELD_LINK]);
	} else if (row_has(row, FIELD_LINK) && !row->ends && !row_has_named(row)) {
		buf_puts(out, "\tuint64_t link = handle_link(");
		print_handle(out, row);
		buf_puts(out, ", err);\n");
	}
	if (second)
		buf_printf(out, "\tuint64_t link2 = handle_link(%s, err);\n", second->name);
	else if (row_has(row, FIELD_LINK2))
		buf_printf(out, "\tuint64_t link2 = %s;\n", row->field_code[FIELD_LINK2]);
}

static void print_made(struct buf *out, const struct row *row)
{
	const struct arg *at = row_arg(row, ROLE_MADE);

	if (row->makes == MAKES_NOTHING)
		return;
	if (row->makes == MAKES_HANDLE) {
		buf_printf(out,
			   "\tuint64_t made = err ? UINT64_MAX : %s_handle%s((const void *)called, "
			   "%s);\n",
			   row->library_prefix, at ? "_at" : "", at ? at->name : "ret");
		return;
	}
	buf_printf(out, "\tint made = %s;\n",
		   row->returns == RETURNS_STREAM ? "stream_fd(ret)"
		   : row->returns == RETURNS_DIR  ? "dir_fd(ret)"
						  : "ret");
}

static void print_size(struct buf *out, const struct row *row)
{
	const struct arg *size = row_arg(row, ROLE_SIZE), *item = row_arg(row, ROLE_ITEM),
			 *iov = row_arg(row, ROLE_IOV);

	if (!row_has(row, FIELD_SIZE))
		return;
	buf_puts(out, "\tuint64_t size = ");
	if (size)
		buf_printf(out, "(uint64_t)%s;\n", size->name);
	else if (item)
		buf_printf(out, "(uint64_t)%s * %s;\n", item->name, row_arg(row, ROLE_ITEMS)->name);
	else if (iov)
		buf_printf(out, "iov_bytes(%s, %s, err);\n", iov->name,
			   row_arg(row, ROLE_IOVCNT)->name);
	else
		buf_printf(out, "(uint64_t)(%s);\n", row->field_code[FIELD_SIZE]);
}

static void print_result(struct buf *out, const struct row *row)
{
	const struct arg *item = row_arg(row, ROLE_ITEM);

	if (row->field_code[FIELD_RESULT])
		buf_printf(out, "(uint64_t)(%s)", row->field_code[FIELD_RESULT]);
	else if (item)
		buf_printf(out, "(uint64_t)ret * %s", item->name);
	else if (row->returns < RETURNS_STREAM)
		buf_puts(out, "(uint64_t)ret");
	else if (row->how == HOW_MINUS_ERRNO)
		buf_puts(out, "(uint64_t)(uintptr_t)ret");
	else /* the address of a stream or an entry says nothing, and compresses badly */
		buf_puts(out, "(uint64_t)(ret != NULL)");
}

static void print_plain(struct buf *out, const struct row *row, enum field field, enum role role)
{
	const struct arg *arg = row_arg(row, role), *at = row_arg(row, ROLE_OFFSET_AT);

	if (arg)
		buf_printf(out, "(uint64_t)%s", arg->name);
	else if (row->field_code[field])
		buf_printf(out, "(uint64_t)(%s)", row->field_code[field]);
	else
		buf_printf(out, "offset_before(%s, ret, err)", at->name);
}

/* The value of a field that is one word. */
static void print_value(struct buf *out, const struct row *row, enum field field)
{
	switch (field) {
	case FIELD_RESULT:
		print_result(out, row);
		break;
	case FIELD_LINK:
		buf_puts(out, "link");
		break;
	case FIELD_LINK2:
		buf_puts(out, "link2");
		break;
	case FIELD_HANDLE:
		if (row->makes != MAKES_NOTHING)
			buf_puts(out, "(uint64_t)made");
		else
			buf_printf(out, "(uint64_t)(%s)", row->field_code[FIELD_HANDLE]);
		break;
	case FIELD_SIZE:
		buf_puts(out, "size");
		break;
	case FIELD_OFFSET:
		print_plain(out, row, field, ROLE_OFFSET);
		break;
	case FIELD_FLAGS:
		print_plain(out, row, field, ROLE_FLAGS);
		break;
	case FIELD_VARIABLE:
		print_plain(out, row, field, ROLE_VARIABLE);
		break;
	case FIELD_MODE:
		print_plain(out, row, field, ROLE_MODE);
		break;
	default: /* SPAN, COLLECTIVE: never an argument as it is */
		buf_printf(out, "(uint64_t)(%s)", row->field_code[field]);
		break;
	}
}

/* The strings of a record, in its order. */
static const struct {
	enum role role;
	const char *length; /* variable */
} strings[] = {
	{ ROLE_PATH, "path_len" },
	{ ROLE_PATH2, "path2_len" },
	{ ROLE_NAME, "name_len" },
	{ ROLE_NONE, "hints_len" },
};

#define STRINGS (sizeof(strings) / sizeof(strings[0]))

/* The variable that holds a string; NULL if the row has none. Hints are no argument. */
static const char *string_of(const struct row *row, size_t i)
{
	const struct arg *arg = row_arg(row, strings[i].role);

	if (strings[i].role == ROLE_NONE)
		return row->field_code[FIELD_HINTS] ? "hints" : NULL;
	return arg ? arg->name : NULL;
}

/* Declares the lengths of the strings; returns how many there are. */
static unsigned print_lengths(struct buf *out, const struct row *row)
{
	unsigned count = 0;

	if (row->field_code[FIELD_HINTS]) {
		buf_printf(out, "\tconst char *hints = %s;\n", row->field_code[FIELD_HINTS]);
		buf_puts(out, "\tsize_t hints_len = text_length(hints, 0);\n");
		count++;
	}
	for (size_t i = 0; i < STRINGS; i++) {
		const char *string = string_of(row, i);

		if (!string || strings[i].role == ROLE_NONE)
			continue;
		buf_printf(out, "\tsize_t %s = path_bytes(%s, %s);\n", strings[i].length, string,
			   row->library ? "err ? -1 : 0" : "err");
		count++;
	}
	return count;
}

static void print_strings(struct buf *out, const struct row *row, unsigned fixed, unsigned count)
{
	unsigned done = 0;

	for (size_t i = 0; i < STRINGS; i++) {
		const char *string = string_of(row, i);

		if (!string)
			continue;
		buf_printf(out, "\t%sframe_text(&f, ", done + 1 < count ? "uint64_t *text = " : "");
		if (done)
			buf_puts(out, "text");
		else
			buf_printf(out, "w + %u", fixed);
		buf_printf(out, ", %s, %s);\n", string, strings[i].length);
		done++;
	}
}

/* A field that code of its own computes: once, so the record's word is kept for the plug-ins. */
static void print_kept(struct buf *out, const struct row *row, enum field field, const char *name)
{
	if (row->leaves || !row->field_code[field])
		return;
	for (unsigned i = 0; i < row->field_count; i++)
		if (row->fields[i] == field)
			buf_printf(out, "\tuint64_t kept_%s = w[%u];\n", name,
				   RECORD_HEAD_WORDS + i);
}

static void print_record(struct buf *out, const struct row *row)
{
	unsigned count = print_lengths(out, row);
	unsigned fixed = RECORD_HEAD_WORDS + row->field_count - count;

	buf_printf(out, "\tunsigned words = %u", fixed);
	for (size_t i = 0; i < STRINGS; i++)
		if (string_of(row, i))
			buf_printf(out, " + text_words(%s)", strings[i].length);
	buf_printf(out, ";\n\tuint64_t *w = frame_leave(&f, CALL_%s, words, err);\n\n", row->call);
	for (unsigned i = 0; i < fixed - RECORD_HEAD_WORDS; i++) {
		buf_printf(out, "\tw[%u] = ", RECORD_HEAD_WORDS + i);
		print_value(out, row, row->fields[i]);
		buf_puts(out, ";\n");
	}
	print_strings(out, row, fixed, count);
	print_kept(out, row, FIELD_RESULT, "result");
	print_kept(out, row, FIELD_OFFSET, "offset");
	buf_puts(out, "\tframe_commit(&f, w, words);\n");
}

/* Remembers the new handle. */
static void print_opened(struct buf *out, const struct row *row)
{
	static const char *const kinds[] = { "LINK_FILE", "LINK_NETWORK", "LINK_OWN",
					     "link_kind(link)" };

	if (row->makes == MAKES_HANDLE)
		buf_printf(out,
			   "\tstruct named *opened = named_made(SPACE_%s, made, &f, err);\n\n"
			   "\t(void)opened;\n",
			   row->library);
	else if (row->makes != MAKES_NOTHING)
		buf_printf(out, "\thandle_made(made, %s, &f);\n", kinds[row->makes]);
}

#define NAME_ROW(name, ...) #name,
static const char *const layer_names[] = { LAYER_LIST(NAME_ROW) };
static const char *const class_names[] = { CLASS_LIST(NAME_ROW) };
#undef NAME_ROW

/* The descriptor as it is after the call; what has ended with its stream cannot be asked. */
static void print_told_handle(struct buf *out, const struct row *row)
{
	if (row->makes != MAKES_NOTHING && row->makes != MAKES_HANDLE)
		buf_puts(out, "made");
	else if ((row->ends && !row_arg(row, ROLE_FD)) || !print_handle(out, row))
		buf_puts(out, "-1");
}

static void print_told_link(struct buf *out, const struct row *row)
{
	if (row->makes == MAKES_HANDLE)
		buf_puts(out, "named_link(opened)");
	else if (row->makes != MAKES_NOTHING)
		buf_puts(out, "handle_peek(made)");
	else
		buf_puts(out, row_has(row, FIELD_LINK) ? "link" : "0");
}

static void print_told_field(struct buf *out, const struct row *row, enum field field,
			     const char *name)
{
	if (!row_has(row, field))
		buf_puts(out, field == FIELD_OFFSET ? "UINT64_MAX" : "0");
	else if (row->field_code[field])
		buf_printf(out, "kept_%s", name);
	else
		print_value(out, row, field);
}

/* In-line plug-ins are told; where nobody listens that is one test of a word. */
static void print_told(struct buf *out, const struct row *row)
{
	buf_printf(out, "\tif (unlikely(frame_watched(LAYER_%s, CLASS_%s)))\n",
		   layer_names[row->layer], class_names[row->class]);
	buf_printf(out, "\t\tinline_after(&f, CALL_%s, ", row->call);
	print_told_handle(out, row);
	buf_puts(out, ", ");
	print_told_link(out, row);
	buf_puts(out, row_has(row, FIELD_SIZE) ? ", size, " : ", 0, ");
	print_told_field(out, row, FIELD_OFFSET, "offset");
	buf_puts(out, ", ");
	print_told_field(out, row, FIELD_RESULT, "result");
	buf_puts(out, ", err);\n");
}

/* Calls that programs make by the million get the frame inlined; the rest share it and stay small.
 */
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

static void print_seen_head(struct buf *out, const struct row *row)
{
	buf_printf(out, "\n__attribute__((noinline)) static %s%sseen_%s(", row->type,
		   wrapper_space(row->type), row->name);
	wrapper_parameters(out, row);
	buf_printf(out, ", %s%s(*called)(", row->type, wrapper_space(row->type));
	wrapper_parameters(out, row);
	buf_puts(out, "))\n{\n");
}

/* What the library's function is replaced by, where the rest is in seen_NAME(). */
static void print_chooser(struct buf *out, const struct row *row, const char *prefix)
{
	print_head(out, row, prefix);
	buf_printf(out, "\t__typeof__(&*REAL(%s)) called = REAL(%s);\n\n", row->name, row->name);
	buf_printf(out, "\tif (likely(!(%s)))\n\t\treturn ", row->only_if);
	print_call(out, row, true);
	buf_printf(out, ";\n\treturn seen_%s(", row->name);
	print_arguments(out, row);
	buf_puts(out, ", called);\n}\n");
}

/* All that comes after the real call. */
static void print_after(struct buf *out, const struct row *row)
{
	print_error(out, row);
	print_links(out, row);
	print_made(out, row);
	print_size(out, row);
	print_record(out, row);
	print_opened(out, row);
	print_told(out, row);
	if (row->after)
		buf_printf(out, "\t%s\n", row->after);
	if (row->last)
		buf_printf(out, "\t%s\n", row->last);
	if (row->library)
		buf_puts(out, "\terrno = saved;\n");
}

/* Only the statements around the call. */
static void print_quiet(struct buf *out, const struct row *row)
{
	bool returns = row->returns != RETURNS_VOID;

	buf_printf(out, "\t%s_meet((const void *)called);\n", row->library_prefix);
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

/* The record first: there is no afterwards. */
static void print_leaving(struct buf *out, const struct row *row)
{
	bool returns = row->returns != RETURNS_VOID;

	buf_puts(out, "\tint saved = errno, err = 0;\n");
	if (returns)
		buf_printf(out, "\t%s%sret = 0;\n", row->type, wrapper_space(row->type));
	buf_puts(out, "\tframe_stop(&f);\n");
	print_size(out, row);
	print_record(out, row);
	buf_puts(out, "\terrno = saved;\n");
	buf_puts(out, returns ? "\treturn " : "\t");
	print_call(out, row, true);
	buf_puts(out, ";\n}\n");
}

void wrapper_print(struct buf *out, const struct row *row, const char *prefix)
{
	if (is_split(row))
		print_seen_head(out, row);
	else
		print_head(out, row, prefix);
	print_locals(out, row);
	print_off(out, row);
	if (row->quiet) {
		print_quiet(out, row);
		return;
	}
	print_bare(out, row);
	print_entry(out, row);
	if (row->leaves) {
		print_leaving(out, row);
		return;
	}
	print_real_call(out, row);
	print_after(out, row);
	buf_puts(out, row->returns != RETURNS_VOID ? "\treturn ret;\n}\n" : "}\n");
	if (is_split(row))
		print_chooser(out, row, prefix);
}
