/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the text form, twice: first its facts, which may stand behind the activities, then the
 * activities, line by line. People edit such files, so a mistake is named with its line and what to
 * do about it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
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
	unsigned long number; /* of the line */
	int64_t version;
	struct head_maker maker;
	const struct fact_field *columns[COLUMNS_MAX];
	size_t column_count;
	struct call_name *calls; /* by name */
	struct activity last;
	bool any;    /* last is one */
	bool headed; /* the line that names the columns was passed, in the second reading */
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

/* The next line without its end: 1, 0 at the end of the file, -errno. */
static int line_get(struct reader *r, struct err *err)
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
		return FAIL(r, err, "the line has a zero byte in it");
	if (n && r->line[n - 1] == '\n')
		r->line[--n] = 0;
	if (n && r->line[n - 1] == '\r')
		r->line[--n] = 0;
	return 1;
}

/* Cuts the next field off *at. NULL when there is none. */
static char *field_cut(char **at)
{
	char *field = *at;

	if (field)
		strsep(at, "\t");
	return field;
}

static int value_get(struct reader *r, const struct fact_field *field, char *text, void *row,
		     struct err *err)
{
	int64_t value = 0;

	if (field->type == FACT_TEXT) {
		if (!text_unescape(text))
			return FAIL(r, err, "%s has a backslash that begins no escape: write \\\\",
				    field->name);
		fact_set_text(field, row, text, strlen(text));
		return 0;
	}
	if (!text_get_number(text, field->type == FACT_U64, &value))
		return FAIL(r, err, "%s is \"%.40s\", which is not a number that fits", field->name,
			    text);
	if (!fact_set_number(field, row, value))
		return FAIL(r, err, "%s is %.40s, which is out of range", field->name, text);
	return 0;
}

static int assignment_get(struct reader *r, const struct fact *fact, char *text, void *row,
			  struct err *err)
{
	char *value = strchr(text, '=');

	if (!value)
		return FAIL(r, err, "\"%.40s\" is not of the form field=value", text);
	*value++ = 0;
	for (size_t i = 0; i < fact->count; i++)
		if (!strcmp(fact->fields[i].name, text))
			return value_get(r, &fact->fields[i], value, row, err);
	return FAIL(r, err, "#%s has no field \"%.40s\"", fact->name, text);
}

static int fact_get(struct reader *r, struct err *err)
{
	char *at = r->line + 1, *name = field_cut(&at), *field;
	const struct fact *fact = fact_by_name(name);
	union fact_row row;
	int code = 0;

	if (!fact)
		return FAIL(r, err, "no fact is called \"#%.40s\"; a comment begins with \"# \"",
			    name);
	memset(&row, 0, sizeof(row));
	while (!code && (field = field_cut(&at)))
		code = assignment_get(r, fact, field, &row, err);
	if (code < 0) {
		fact_release(fact, &row);
		return code;
	}
	if (fact == &fact_clock && (row.clock.tick0 || row.clock.num != row.clock.den)) {
		fact_release(fact, &row);
		return FAIL(r, err, "the clock must be in nanoseconds: tick0=0 num=1 den=1");
	}
	return head_take(&r->maker, fact, &row, err) < 0 ? fail_at(r, err) : 0;
}

static bool line_is_comment(const char *line)
{
	return !*line || !strncmp(line, "# ", 2) || !strcmp(line, "#");
}

static const struct fact_field *column_find(const char *name)
{
	for (size_t i = 0; i < fact_activity.count; i++)
		if (!strcmp(fact_activity.fields[i].name, name))
			return &fact_activity.fields[i];
	return NULL;
}

static int columns_get(struct reader *r, struct err *err)
{
	char *at = r->line, *name;
	uint64_t seen = 0, bit;

	while ((name = field_cut(&at))) {
		const struct fact_field *column = column_find(name);

		if (!column)
			return FAIL(r, err, "no column is called \"%.40s\"", name);
		bit = UINT64_C(1) << (column - fact_activity.fields);
		if (seen & bit)
			return FAIL(r, err, "column %s is there twice", name);
		seen |= bit;
		r->columns[r->column_count++] = column;
	}
	for (size_t i = 0; i < fact_activity.count; i++)
		if (!(seen >> i & 1) && fact_activity.fields[i].since <= r->version)
			return FAIL(r, err, "column %s is missing", fact_activity.fields[i].name);
	return 0;
}

static int magic_check(struct reader *r, struct err *err)
{
	char *at;
	int code = line_get(r, err);

	if (code < 0)
		return code;
	at = code ? r->line : NULL;
	if (!at || strcmp(field_cut(&at), TEXT_MAGIC) || !at ||
	    !text_get_number(at, false, &r->version))
		return err_set(err, EINVAL, "%s: not a Sluice trace", r->path);
	if (r->version < 1 || r->version > TEXT_VERSION)
		return err_set(
			err, ENOTSUP,
			"%s: text version %lld, but this Sluice reads up to %d: use a newer one",
			r->path, (long long)r->version, TEXT_VERSION);
	return 0;
}

static int facts_load(struct reader *r, struct err *err)
{
	int code = magic_check(r, err), more;

	while (!code && (more = line_get(r, err))) {
		if (more < 0)
			return more;
		if (line_is_comment(r->line))
			continue;
		if (*r->line == '#')
			code = fact_get(r, err);
		else if (!r->column_count)
			code = columns_get(r, err);
		else
			r->maker.head->activities++;
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

static void calls_sort(struct reader *r)
{
	const struct trace_head *head = r->maker.head;

	r->calls = xcalloc(head->call_count, sizeof(*r->calls));
	for (size_t i = 0; i < head->call_count; i++)
		r->calls[i] = (struct call_name){ head->calls[i].name, (uint16_t)i };
	qsort(r->calls, head->call_count, sizeof(*r->calls), call_compare);
}

static int reader_start(struct reader *r, struct err *err)
{
	int code = facts_load(r, err);

	if (code < 0)
		return code;
	head_settle(&r->maker);
	calls_sort(r);
	rewind(r->file);
	r->number = 0;
	return 0;
}

int text_open(void **reader, const char *path, const struct trace_filter *filter,
	      struct trace_head *head, struct err *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int code;

	(void)filter; /* every line has to be read anyway */
	head_init(&r->maker, head);
	r->path = xstrdup(path);
	r->file = fopen(path, "re");
	if (!r->file)
		code = err_set(err, errno, "%s: %s", path, strerror(errno));
	else
		code = reader_start(r, err);
	if (code < 0) {
		reader_free(r);
		return code;
	}
	*reader = r;
	return 0;
}

static int call_get(struct reader *r, char *text, struct activity *a, struct err *err)
{
	const struct trace_head *head = r->maker.head;
	const struct call_name *found;
	int64_t number;

	if (*text == '=') {
		if (!text_get_number(text + 1, false, &number) || number < 0 ||
		    (uint64_t)number >= head->call_count)
			return FAIL(r, err, "call \"%.40s\" is not in the table of calls", text);
		a->call = (uint16_t)number;
		return 0;
	}
	if (!text_unescape(text))
		return FAIL(r, err, "call has a backslash that begins no escape: write \\\\");
	found = bsearch(text, r->calls, head->call_count, sizeof(*found), name_compare);
	if (!found)
		return FAIL(r, err, "call \"%.40s\" has no #call line", text);
	/* Of calls with the same name the first is meant. */
	while (found > r->calls && !strcmp(found[-1].name, text))
		found--;
	a->call = found->number;
	return 0;
}

static int column_value(struct reader *r, const struct fact_field *column, char *text,
			struct activity *a, struct err *err)
{
	int layer;

	if (column->type == FACT_CALL)
		return call_get(r, text, a, err);
	if (column->type != FACT_LAYER)
		return value_get(r, column, text, a, err);
	layer = layer_by_name(text);
	if (layer < 0)
		return FAIL(r, err, "layer \"%.40s\" is unknown", text);
	a->layer = (uint8_t)layer;
	return 0;
}

/* Indices must lie within their tables, and the columns must agree with the present mask. */
static int activity_check(struct reader *r, const struct activity *a, unsigned given,
			  struct err *err)
{
	const struct trace_head *head = r->maker.head;

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
		return FAIL(r, err, "present is %u, which names fields that do not exist",
			    a->present);
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
			    "starts before the activity above: sort the lines by start_ns, "
			    "process and id");
	return 0;
}

static int activity_get(struct reader *r, struct activity *a, struct err *err)
{
	char *at = r->line, *text;
	unsigned given = 0;
	int code;

	*a = (struct activity){ .handle = -1 };
	for (size_t i = 0; i < r->column_count; i++) {
		const struct fact_field *column = r->columns[i];

		text = field_cut(&at);
		if (!text)
			return FAIL(r, err, "the line has %zu columns instead of %zu", i,
				    r->column_count);
		if (column->present && !strcmp(text, "-"))
			continue;
		given |= column->present ? 1u << column->present : 0;
		code = column_value(r, column, text, a, err);
		if (code < 0)
			return code;
	}
	if (at)
		return FAIL(r, err, "the line has more than %zu columns", r->column_count);
	code = activity_check(r, a, given, err);
	r->last = *a;
	r->any = true;
	return code;
}

ssize_t text_next(void *reader, struct activity *batch, size_t cap, struct err *err)
{
	struct reader *r = reader;
	size_t given = 0;
	int code;

	while (given < cap && (code = line_get(r, err))) {
		if (code < 0)
			return code;
		if (*r->line == '#' || line_is_comment(r->line))
			continue;
		if (!r->headed) {
			r->headed = true;
			continue;
		}
		code = activity_get(r, &batch[given], err);
		if (code < 0)
			return code;
		given++;
	}
	return (ssize_t)given;
}
