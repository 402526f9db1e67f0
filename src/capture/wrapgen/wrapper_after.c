/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the part of a wrapper after the real call: error, links, record, and plug-ins.
 */
#include "capture/wrapgen/wrapper_internal.h"

#include <string.h>

#include "base/buf.h"
#include "capture/wrapgen/interface.h"
#include "contract/record.h"

/* The test for EOF, or for NULL if the result is a pointer. */
static const char *eof_test(const struct row *row)
{
	if (row->returns == RETURNS_WINT)
		return "ret == WEOF";
	return row->returns >= RETURNS_STREAM ? "!ret" : "ret == -1";
}

static void print_eof_error(struct buf *out, const struct row *row)
{
	const struct arg *stream = row_arg(row, ROLE_STREAM);

	if (wrapper_clears_errno(row))
		buf_printf(out,
			   "\tint err = unlikely(%s) ? errno : 0;\n\n\tif (!errno)\n\t\terrno = "
			   "was;\n",
			   eof_test(row));
	else if (row->ends) /* the stream is closed */
		buf_printf(out, "\tint err = unlikely(%s) ? errno : 0;\n", eof_test(row));
	else
		buf_printf(out, "\tint err = unlikely(%s) && stream_failed(%s) ? errno : 0;\n",
			   eof_test(row), stream ? stream->name : row->implied);
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
	} else if (row_has(row, FIELD_LINK) && !row->ends && !row_has_library_handle(row)) {
		buf_puts(out, "\tuint64_t link = handle_link(");
		wrapper_handle(out, row);
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

void wrapper_size(struct buf *out, const struct row *row)
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
	else /* the address of a stream or an entry has no meaning and compresses badly */
		buf_puts(out, "(uint64_t)(ret != NULL)");
}

static void print_argument_field(struct buf *out, const struct row *row, enum field field,
				 enum role role)
{
	const struct arg *arg = row_arg(row, role), *at = row_arg(row, ROLE_OFFSET_AT);

	if (arg)
		buf_printf(out, "(uint64_t)%s", arg->name);
	else if (row->field_code[field])
		buf_printf(out, "(uint64_t)(%s)", row->field_code[field]);
	else
		buf_printf(out, "offset_before(%s, ret, err)", at->name);
}

/* Prints the value of a field of one word. */
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
		print_argument_field(out, row, field, ROLE_OFFSET);
		break;
	case FIELD_FLAGS:
		print_argument_field(out, row, field, ROLE_FLAGS);
		break;
	case FIELD_VARIABLE:
		print_argument_field(out, row, field, ROLE_VARIABLE);
		break;
	case FIELD_MODE:
		print_argument_field(out, row, field, ROLE_MODE);
		break;
	default: /* SPAN and COLLECTIVE are always computed */
		buf_printf(out, "(uint64_t)(%s)", row->field_code[field]);
		break;
	}
}

/* The strings of a record, in the order of their fields. */
static const struct {
	enum field field;
	enum role role;
	const char *length;   /* name of the variable with its length */
	const char *computed; /* name of the variable with the text of FIELD() */
} strings[] = {
	{ FIELD_PATH, ROLE_PATH, "path_len", NULL },
	{ FIELD_PATH2, ROLE_PATH2, "path2_len", NULL },
	{ FIELD_NAME, ROLE_NAME, "name_len", "computed_name" },
	{ FIELD_HINTS, ROLE_NONE, "hints_len", "hints" },
};

#define STRINGS (sizeof(strings) / sizeof(strings[0]))

/* The variable of a string: computed, or an argument. NULL if the row has none. */
static const char *string_variable(const struct row *row, size_t i)
{
	const struct arg *arg = strings[i].role != ROLE_NONE ? row_arg(row, strings[i].role) : NULL;

	if (row->field_code[strings[i].field])
		return strings[i].computed;
	return arg ? arg->name : NULL;
}

/* Declares the lengths of the strings and returns their number. */
static unsigned print_lengths(struct buf *out, const struct row *row)
{
	unsigned count = 0;

	for (size_t i = 0; i < STRINGS; i++) {
		const char *string = string_variable(row, i), *code;

		if (!string)
			continue;
		code = row->field_code[strings[i].field];
		if (code)
			buf_printf(out,
				   "\tconst char *%s = %s;\n\tsize_t %s = text_length(%s, 0);\n",
				   string, code, strings[i].length, string);
		else
			buf_printf(out, "\tsize_t %s = path_bytes(%s, %s);\n", strings[i].length,
				   string, row->library ? "err ? -1 : 0" : "err");
		count++;
	}
	return count;
}

static void print_strings(struct buf *out, const struct row *row, unsigned fixed, unsigned count)
{
	unsigned done = 0;

	for (size_t i = 0; i < STRINGS; i++) {
		const char *string = string_variable(row, i);

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

/* Keeps the word of a computed field for the plug-ins, so that it is computed only once. */
static void print_kept(struct buf *out, const struct row *row, enum field field, const char *name)
{
	if (row->leaves || !row->field_code[field])
		return;
	for (unsigned i = 0; i < row->field_count; i++)
		if (row->fields[i] == field)
			buf_printf(out, "\tuint64_t kept_%s = w[%u];\n", name,
				   RECORD_HEAD_WORDS + i);
}

void wrapper_record(struct buf *out, const struct row *row)
{
	unsigned count = print_lengths(out, row);
	unsigned fixed = RECORD_HEAD_WORDS + row->field_count - count;

	buf_printf(out, "\tunsigned words = %u", fixed);
	for (size_t i = 0; i < STRINGS; i++)
		if (string_variable(row, i))
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

/* Enters the new handle into its table. */
static void print_opened(struct buf *out, const struct row *row)
{
	static const char *const kinds[] = { "LINK_FILE", "LINK_NETWORK", "LINK_OWN",
					     "link_kind(link)" };

	if (row->makes == MAKES_HANDLE)
		buf_printf(out,
			   "\tstruct handle_entry *opened = handle_table_made(SPACE_%s, made, &f, "
			   "err);\n\n"
			   "\t(void)opened;\n",
			   row->library);
	else if (row->makes != MAKES_NOTHING)
		buf_printf(out, "\thandle_made(made, %s, &f);\n", kinds[row->makes]);
}

#define NAME_ROW(name, ...) #name,
static const char *const layer_names[] = { LAYER_LIST(NAME_ROW) };
static const char *const class_names[] = { CLASS_LIST(NAME_ROW) };
#undef NAME_ROW

/* The descriptor after the call; that of a closed stream is unknown. */
static void print_plugin_handle(struct buf *out, const struct row *row)
{
	if (row->makes != MAKES_NOTHING && row->makes != MAKES_HANDLE)
		buf_puts(out, "made");
	else if ((row->ends && !row_arg(row, ROLE_FD)) || !wrapper_handle(out, row))
		buf_puts(out, "-1");
}

static void print_plugin_link(struct buf *out, const struct row *row)
{
	if (row->makes == MAKES_HANDLE)
		buf_puts(out, "handle_entry_link(opened)");
	else if (row->makes != MAKES_NOTHING)
		buf_puts(out, "handle_peek(made)");
	else
		buf_puts(out, row_has(row, FIELD_LINK) ? "link" : "0");
}

static void print_plugin_field(struct buf *out, const struct row *row, enum field field,
			       const char *name)
{
	if (!row_has(row, field))
		buf_puts(out, field == FIELD_OFFSET ? "UINT64_MAX" : "0");
	else if (row->field_code[field])
		buf_printf(out, "kept_%s", name);
	else
		print_value(out, row, field);
}

/* Calls in-line plug-ins; if none wants the call, that is one test of a word. */
static void print_plugin_call(struct buf *out, const struct row *row)
{
	buf_printf(out, "\tif (unlikely(frame_watched(LAYER_%s, CLASS_%s)))\n",
		   layer_names[row->layer], class_names[row->class]);
	buf_printf(out, "\t\tinline_after(&f, CALL_%s, ", row->call);
	print_plugin_handle(out, row);
	buf_puts(out, ", ");
	print_plugin_link(out, row);
	buf_puts(out, row_has(row, FIELD_SIZE) ? ", size, " : ", 0, ");
	print_plugin_field(out, row, FIELD_OFFSET, "offset");
	buf_puts(out, ", ");
	print_plugin_field(out, row, FIELD_RESULT, "result");
	buf_puts(out, ", err);\n");
}

void wrapper_after(struct buf *out, const struct row *row)
{
	print_error(out, row);
	print_links(out, row);
	print_made(out, row);
	wrapper_size(out, row);
	wrapper_record(out, row);
	print_opened(out, row);
	print_plugin_call(out, row);
	if (row->after)
		buf_printf(out, "\t%s\n", row->after);
	if (row->last)
		buf_printf(out, "\t%s\n", row->last);
	if (row->library)
		buf_puts(out, "\terrno = saved;\n");
}
