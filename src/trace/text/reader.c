/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the text form in two passes: first the facts, which may follow the activities, then the
 * activities line by line. People edit such files, so error messages give the line and what to do.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/head.h"
#include "trace/text/text.h"

#define COLUMNS_MAX 32

struct call_name {
	const char *name;
	uint16_t number;
};

struct reader {
	char *path;
	FILE *file;
	char *line;
	size_t line_cap;
	unsigned long number; /* of the current line, from 1 */
	int64_t version;
	struct head_builder builder;
	const struct fact_field *columns[COLUMNS_MAX];
	size_t column_count;
	struct call_name *calls; /* sorted by name */
	struct activity last;
	bool any;    /* `last` is valid */
	bool headed; /* the second pass is beyond the line that names the columns */
};

static void reader_free(struct reader *r)
{
	if (r->file)
		fclose(r->file);
	free(r->line);
	free(r->calls);
	free(r->path);
	free(r);
}

void text_close(void *reader)
{
	if (reader)
		reader_free(reader);
}

#define FAIL(r, err, ...) (err_set(err, EBADMSG, __VA_ARGS__), fail_at(r, err))

static int fail_at(const struct reader *r, struct err *err)
{
	err_prefix(err, "%s:%lu", r->path, r->number);
	return -EBADMSG;
}

/* Reads the next line and removes its line end. Returns 1, 0 at the end of the file, or -errno. */
static int read_line(struct reader *r, struct err *err)
{
	ssize_t n;

	errno = 0;
	n = getline(&r->line, &r->line_cap, r->file);
	if (n < 0 && ferror(r->file))
		return err_set(err, errno, "%s: cannot read: %s", r->path, strerror(errno));
	if (n < 0)
		return 0;
	r->number++;
	if ((size_t)n != strlen(r->line))
		return FAIL(r, err, "the line contains a zero byte");
	if (n && r->line[n - 1] == '\n')
		r->line[--n] = 0;
	if (n && r->line[n - 1] == '\r')
		r->line[--n] = 0;
	return 1;
}

/* Cuts the next field off *at. Returns NULL if there is none. */
static char *cut_field(char **at)
{
	char *field = *at;

	if (field)
		strsep(at, "\t");
	return field;
}

static int parse_value(struct reader *r, const struct fact_field *field, char *text, void *row,
		       struct err *err)
{
	int64_t value = 0;

	if (field->type == FACT_TEXT) {
		if (!text_unescape(text))
			return FAIL(r, err, "%s has an invalid escape; write \\\\ for a backslash",
				    field->name);
		fact_set_text(field, row, text, strlen(text));
		return 0;
	}
	if (!text_get_number(text, field->type == FACT_U64, &value))
		return FAIL(r, err, "%s is \"%.40s\"; expected a number in range", field->name,
			    text);
	if (!fact_set_number(field, row, value))
		return FAIL(r, err, "%s is out of range: %.40s", field->name, text);
	return 0;
}

static int parse_assignment(struct reader *r, const struct fact *fact, char *text, void *row,
			    struct err *err)
{
	char *value = strchr(text, '=');

	if (!value)
		return FAIL(r, err, "expected field=value, got \"%.40s\"", text);
	*value++ = 0;
	for (size_t i = 0; i < fact->count; i++)
		if (!strcmp(fact->fields[i].name, text))
			return parse_value(r, &fact->fields[i], value, row, err);
	return FAIL(r, err, "unknown field of #%s: \"%.40s\"", fact->name, text);
}

static int read_fact(struct reader *r, struct err *err)
{
	char *at = r->line + 1, *name = cut_field(&at), *field;
	const struct fact *fact = fact_by_name(name);
	union fact_row row;
	int code = 0;

	if (!fact)
		return FAIL(r, err, "unknown fact \"#%.40s\"; a comment must begin with \"# \"",
			    name);
	memset(&row, 0, sizeof(row));
	while (!code && (field = cut_field(&at)))
		code = parse_assignment(r, fact, field, &row, err);
	if (code < 0) {
		fact_release(fact, &row);
		return code;
	}
	if (fact == &fact_clock && (row.clock.tick0 || row.clock.num != row.clock.den)) {
		fact_release(fact, &row);
		return FAIL(r, err, "the clock must be in nanoseconds: tick0=0 num=1 den=1");
	}
	return head_add(&r->builder, fact, &row, err) < 0 ? fail_at(r, err) : 0;
}

static bool line_is_comment(const char *line)
{
	return !*line || !strncmp(line, "# ", 2) || !strcmp(line, "#");
}

static const struct fact_field *find_column(const char *name)
{
	for (size_t i = 0; i < fact_activity.count; i++)
		if (!strcmp(fact_activity.fields[i].name, name))
			return &fact_activity.fields[i];
	return NULL;
}

static int read_columns(struct reader *r, struct err *err)
{
	char *at = r->line, *name;
	uint64_t seen = 0, bit;

	while ((name = cut_field(&at))) {
		const struct fact_field *column = find_column(name);

		if (!column)
			return FAIL(r, err, "unknown column \"%.40s\"", name);
		bit = UINT64_C(1) << (column - fact_activity.fields);
		if (seen & bit)
			return FAIL(r, err, "duplicate column %s", name);
		seen |= bit;
		r->columns[r->column_count++] = column;
	}
	for (size_t i = 0; i < fact_activity.count; i++)
		if (!(seen >> i & 1) && fact_activity.fields[i].since <= r->version)
			return FAIL(r, err, "missing column %s", fact_activity.fields[i].name);
	return 0;
}

static int check_magic(struct reader *r, struct err *err)
{
	char *at;
	int code = read_line(r, err);

	if (code < 0)
		return code;
	at = code ? r->line : NULL;
	if (!at || strcmp(cut_field(&at), TEXT_MAGIC) || !at ||
	    !text_get_number(at, false, &r->version))
		return err_set(err, EINVAL, "%s: not a Sluice trace", r->path);
	if (r->version < 1 || r->version > TEXT_VERSION)
		return err_set(err, ENOTSUP,
			       "%s: the trace has text version %lld, but this version of Sluice "
			       "reads 1 to %d; update Sluice",
			       r->path, (long long)r->version, TEXT_VERSION);
	return 0;
}

static int load_facts(struct reader *r, struct err *err)
{
	int code = check_magic(r, err), more;

	while (!code && (more = read_line(r, err))) {
		if (more < 0)
			return more;
		if (line_is_comment(r->line))
			continue;
		if (*r->line == '#')
			code = read_fact(r, err);
		else if (!r->column_count)
			code = read_columns(r, err);
		else
			r->builder.head->activities++;
	}
	return code;
}

static int call_compare(const void *a, const void *b)
{
	const struct call_name *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->number - y->number;
}

static int name_compare(const void *key, const void *element)
{
	return strcmp(key, ((const struct call_name *)element)->name);
}

static void sort_calls(struct reader *r)
{
	const struct trace_head *head = r->builder.head;

	r->calls = xcalloc(head->call_count, sizeof(*r->calls));
	for (size_t i = 0; i < head->call_count; i++)
		r->calls[i] = (struct call_name){ head->calls[i].name, (uint16_t)i };
	qsort(r->calls, head->call_count, sizeof(*r->calls), call_compare);
}

static int start_reader(struct reader *r, struct err *err)
{
	int code = load_facts(r, err);

	if (code < 0)
		return code;
	head_finish(&r->builder);
	sort_calls(r);
	rewind(r->file);
	r->number = 0;
	return 0;
}

int text_open(void **reader, const char *path, const struct trace_filter *filter,
	      struct trace_head *head, struct err *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int code;

	(void)filter; /* trace_next() applies it; every line has to be read anyway */
	head_init(&r->builder, head);
	r->path = xstrdup(path);
	r->file = file_open_stream(path, err);
	code = r->file ? start_reader(r, err) : -EIO;
	if (code < 0) {
		reader_free(r);
		return code;
	}
	*reader = r;
	return 0;
}

static int parse_call(struct reader *r, char *text, struct activity *a, struct err *err)
{
	const struct trace_head *head = r->builder.head;
	const struct call_name *found;
	int64_t number;

	if (*text == '=') {
		if (!text_get_number(text + 1, false, &number) || number < 0 ||
		    (uint64_t)number >= head->call_count)
			return FAIL(r, err, "call \"%.40s\" is not in the call table", text);
		a->call = (uint16_t)number;
		return 0;
	}
	if (!text_unescape(text))
		return FAIL(r, err, "call has an invalid escape; write \\\\ for a backslash");
	found = bsearch(text, r->calls, head->call_count, sizeof(*found), name_compare);
	if (!found)
		return FAIL(r, err, "call \"%.40s\" has no #call line", text);
	/* The name refers to the first of several calls with the same name. */
	while (found > r->calls && !strcmp(found[-1].name, text))
		found--;
	a->call = found->number;
	return 0;
}

static int parse_column(struct reader *r, const struct fact_field *column, char *text,
			struct activity *a, struct err *err)
{
	int layer;

	if (column->type == FACT_CALL)
		return parse_call(r, text, a, err);
	if (column->type != FACT_LAYER)
		return parse_value(r, column, text, a, err);
	layer = layer_by_name(text);
	if (layer < 0)
		return FAIL(r, err, "unknown layer \"%.40s\"", text);
	a->layer = (uint8_t)layer;
	return 0;
}

/* Indices must be valid, and the given columns must agree with the present bits. */
static int check_activity(struct reader *r, const struct activity *a, unsigned given,
			  struct err *err)
{
	const struct trace_head *head = r->builder.head;

	if (a->process >= head->process_count)
		return FAIL(r, err, "process %u has no #process line", a->process);
	if (a->file >= head->file_count || a->file2 >= head->file_count)
		return FAIL(r, err, "file %u has no #file line",
			    a->file >= head->file_count ? a->file : a->file2);
	if (a->name >= head->file_count)
		return FAIL(r, err, "name %u has no #file line", a->name);
	if (a->hints >= head->file_count)
		return FAIL(r, err, "hints %u has no #file line", a->hints);
	if (a->present >> FIELD_COUNT)
		return FAIL(r, err, "present is %u, which has bits of unknown fields", a->present);
	for (size_t i = 0; i < fact_activity.count; i++) {
		int field = fact_activity.fields[i].present;

		if (field && (a->present >> field & 1) != (given >> field & 1))
			return FAIL(r, err, "%s is %s, but bit %d of present is %s",
				    fact_activity.fields[i].name,
				    given >> field & 1 ? "given" : "absent", field,
				    given >> field & 1 ? "not set" : "set");
	}
	if (r->any && activity_compare(&r->last, a) > 0)
		return FAIL(r, err,
			    "the activity starts before the previous one; sort the lines by "
			    "start_ns, process and id");
	return 0;
}

static int parse_activity(struct reader *r, struct activity *a, struct err *err)
{
	char *at = r->line, *text;
	unsigned given = 0;
	int code;

	*a = (struct activity){ .handle = -1 };
	for (size_t i = 0; i < r->column_count; i++) {
		const struct fact_field *column = r->columns[i];

		text = cut_field(&at);
		if (!text)
			return FAIL(r, err, "the line has %zu columns; expected %zu", i,
				    r->column_count);
		if (column->present && !strcmp(text, "-"))
			continue;
		given |= column->present ? 1u << column->present : 0;
		code = parse_column(r, column, text, a, err);
		if (code < 0)
			return code;
	}
	if (at)
		return FAIL(r, err, "the line has too many columns; expected %zu", r->column_count);
	code = check_activity(r, a, given, err);
	r->last = *a;
	r->any = true;
	return code;
}

ssize_t text_next(void *reader, struct activity *batch, size_t cap, struct err *err)
{
	struct reader *r = reader;
	size_t given = 0;
	int code;

	while (given < cap && (code = read_line(r, err))) {
		if (code < 0)
			return code;
		if (*r->line == '#' || line_is_comment(r->line))
			continue;
		if (!r->headed) {
			r->headed = true;
			continue;
		}
		code = parse_activity(r, &batch[given], err);
		if (code < 0)
			return code;
		given++;
	}
	return (ssize_t)given;
}
