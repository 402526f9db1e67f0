/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts the numbers of this build to names and back: layers, classes, fields, groups, and the
 * ways in which calls report failure.
 */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "trace/facts.h"

#define NAME_1(name, text, ...) text,
#define NAME_2(name, ...) #name,
static const char *const layers[] = { LAYER_LIST(NAME_1) };
static const char *const classes[] = { CLASS_LIST(NAME_1) };
static const char *const groups[] = { GROUP_LIST(NAME_1) };
static const char *const fields[] = { FIELD_LIST(NAME_2) };
#undef NAME_1
#undef NAME_2

static const char *const failures[] = {
	[FAILS_NEVER] = "never",	   [FAILS_MINUS_ERRNO] = "minus_errno",
	[FAILS_NULL_ERRNO] = "null_errno", [FAILS_EOF_ERRNO] = "eof_errno",
	[FAILS_IS_ERRNO] = "is_errno",	   [FAILS_STATUS] = "status",
	[FAILS_NEGATIVE] = "negative",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define NAME_OF(list, number) ((number) < COUNT(list) ? (list)[number] : "?")

static int find_name(const char *const *list, size_t count, const char *name, size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(list[i], name, n) && !list[i][n])
			return (int)i;
	return -1;
}

#define FIND(list, name) find_name(list, COUNT(list), name, strlen(name))

const char *layer_name(unsigned layer)
{
	return NAME_OF(layers, layer);
}

const char *field_name(unsigned field)
{
	return NAME_OF(fields, field);
}

int layer_by_name(const char *name)
{
	return FIND(layers, name);
}

int field_by_name(const char *name)
{
	return FIND(fields, name);
}

struct call_row call_row_make(const struct call_info *call, size_t number)
{
	AUTO_BUF struct buf list = { 0 };

	for (unsigned i = 0; i < call->field_count && i < CALL_FIELDS_MAX; i++) {
		if (i)
			buf_putc(&list, ' ');
		buf_puts(&list, field_name(call->fields[i]));
	}
	return (struct call_row){
		.number = (uint32_t)number,
		.name = xstrdup(call->name ? call->name : ""),
		.layer = xstrdup(NAME_OF(layers, call->layer)),
		.class = xstrdup(NAME_OF(classes, call->class)),
		.failure = xstrdup(NAME_OF(failures, call->failure)),
		.fields = buf_take(&list),
	};
}

static const char *parse_fields(const char *list, struct call_info *call)
{
	while (*list) {
		size_t n = strcspn(list, " ");
		int field = find_name(fields, COUNT(fields), list, n);

		if (field < 0 || call->field_count == CALL_FIELDS_MAX)
			return "field";
		call->fields[call->field_count++] = (uint8_t)field;
		list += n + (list[n] == ' ');
	}
	return NULL;
}

const char *call_row_parse(const struct call_row *row, struct call_info *call)
{
	int layer = FIND(layers, row->layer);
	int class = FIND(classes, row->class);
	int failure = FIND(failures, row->failure);
	struct call_info found = { 0 };
	const char *unknown;

	if (layer < 0 || class < 0 || failure < 0)
		return layer < 0 ? "layer" : class < 0 ? "class" : "failure";
	found.layer = (uint8_t)layer;
	found.class = (uint8_t) class;
	found.failure = (uint8_t)failure;
	unknown = parse_fields(row->fields, &found);
	if (!unknown)
		*call = found;
	return unknown;
}

struct aggregate_row aggregate_row_make(const struct aggregate *aggregate)
{
	return (struct aggregate_row){
		.process = aggregate->process,
		.file = aggregate->file,
		.group = xstrdup(NAME_OF(groups, aggregate->group)),
		.layer = xstrdup(NAME_OF(layers, aggregate->layer)),
		.calls = aggregate->calls,
		.errors = aggregate->errors,
		.bytes = aggregate->bytes,
		.duration_ns = aggregate->duration_ns,
		.place = aggregate->place,
	};
}

const char *aggregate_row_parse(const struct aggregate_row *row, struct aggregate *aggregate)
{
	int group = FIND(groups, row->group), layer = FIND(layers, row->layer);

	if (group < 0 || layer < 0)
		return group < 0 ? "group" : "layer";
	*aggregate = (struct aggregate){
		.process = row->process,
		.file = row->file,
		.group = (uint8_t)group,
		.layer = (uint8_t)layer,
		.calls = row->calls,
		.errors = row->errors,
		.bytes = row->bytes,
		.duration_ns = row->duration_ns,
		.place = row->place,
	};
	return NULL;
}
