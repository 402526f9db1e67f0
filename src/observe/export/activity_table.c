/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/export/activity_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"

void activity_names_init(struct activity_names *names, const struct trace_head *head)
{
	*names = (struct activity_names){ .head = head };
	names->files = xcalloc(head->file_count, sizeof(*names->files));
	names->calls = xcalloc(head->call_count, sizeof(*names->calls));
	names->classes = xcalloc(head->call_count, sizeof(*names->classes));
	names->ways = traffic_table(head);
	for (size_t i = 0; i < sizeof(names->layers) / sizeof(names->layers[0]); i++)
		names->layers[i] = texts_add(&names->texts, names_layer((unsigned)i));
	for (size_t i = 0; i < head->call_count; i++) {
		names->calls[i] = texts_add(&names->texts, head->calls[i].name);
		names->classes[i] = texts_add(&names->texts, names_class(head->calls[i].class));
	}
	for (size_t i = 0; i < head->file_count; i++)
		names->files[i] = texts_add(&names->texts, head->files[i]);
}

void activity_names_release(struct activity_names *names)
{
	texts_release(&names->texts);
	free(names->files);
	free(names->calls);
	free(names->classes);
	free(names->ways);
	*names = (struct activity_names){ 0 };
}

/* Returns the value, and sets *present to 0 if there is none. */
typedef int64_t get_value(const struct activity_names *names, const struct activity *a,
			  uint8_t *present);

#define UNUSED __attribute__((unused))
#define GET(name)                                                            \
	static int64_t get_##name(UNUSED const struct activity_names *names, \
				  const struct activity *a, UNUSED uint8_t *present)

/* A field that every activity has, and one that it may lack. */
#define GET_FIELD(name)                  \
	GET(name)                        \
	{                                \
		return (int64_t)a->name; \
	}
#define GET_OPTIONAL(name, field)                              \
	GET(name)                                              \
	{                                                      \
		*present = (a->present & PRESENT(field)) != 0; \
		return (int64_t)a->name;                       \
	}
/* A number of the file table; 0 is none. */
#define GET_FILE(name)                        \
	GET(name)                             \
	{                                     \
		*present = a->name != 0;      \
		return names->files[a->name]; \
	}

GET_FIELD(start_ns)
GET_FIELD(duration_ns)
GET_FIELD(process)
GET_FIELD(id)
GET_FIELD(error)
GET_FIELD(result)
GET_OPTIONAL(size, SIZE)
GET_OPTIONAL(offset, OFFSET)
GET_OPTIONAL(handle, HANDLE)
GET_OPTIONAL(flags, FLAGS)
GET_OPTIONAL(mode, MODE)
GET_OPTIONAL(span, SPAN)
GET_OPTIONAL(variable, VARIABLE)
GET_OPTIONAL(collective, COLLECTIVE)
GET_FILE(file)
GET_FILE(file2)
GET_FILE(name)
GET_FILE(hints)

GET(thread)
{
	return id_thread(a->id);
}

GET(parent)
{
	*present = a->parent != 0;
	return (int64_t)a->parent;
}

GET(layer)
{
	return names->layers[a->layer];
}

GET(function)
{
	return names->calls[a->call];
}

GET(class)
{
	return names->classes[a->call];
}

static int64_t get_bytes(const struct activity_names *names, const struct activity *a, int way,
			 uint8_t *present)
{
	*present = names->ways[a->call] >> way & 1;
	return *present ? (int64_t)traffic_bytes(a, &names->head->calls[a->call]) : 0;
}

GET(bytes_read)
{
	return get_bytes(names, a, READING, present);
}

GET(bytes_written)
{
	return get_bytes(names, a, WRITING, present);
}

static int64_t get_link_id(uint64_t link, uint8_t *present)
{
	*present = (link & ID_MASK) != 0;
	return (int64_t)(link & ID_MASK);
}

GET(link)
{
	return get_link_id(a->link, present);
}

GET(link2)
{
	return get_link_id(a->link2, present);
}

GET(link_process)
{
	uint64_t id = (uint64_t)get_link_id(a->link, present);

	return *present ? trace_find_owner(names->head, a->process, id) : 0;
}

GET(link2_process)
{
	uint64_t id = (uint64_t)get_link_id(a->link2, present);

	return *present ? trace_find_owner(names->head, a->process, id) : 0;
}

/* One row per column: name, type, whether it can be null. */
#define COLUMN_LIST(X)                \
	X(start_ns, INT64, false)     \
	X(duration_ns, INT64, false)  \
	X(process, INT64, false)      \
	X(thread, INT32, false)       \
	X(id, INT64, false)           \
	X(parent, INT64, true)        \
	X(layer, TEXT, false)         \
	X(function, TEXT, false)      \
	X(class, TEXT, false)         \
	X(error, INT32, false)        \
	X(result, INT64, false)       \
	X(bytes_read, INT64, true)    \
	X(bytes_written, INT64, true) \
	X(size, INT64, true)          \
	X(offset, INT64, true)        \
	X(file, TEXT, true)           \
	X(file2, TEXT, true)          \
	X(name, TEXT, true)           \
	X(hints, TEXT, true)          \
	X(handle, INT64, true)        \
	X(flags, INT64, true)         \
	X(mode, INT64, true)          \
	X(span, INT64, true)          \
	X(variable, INT64, true)      \
	X(collective, INT64, true)    \
	X(link, INT64, true)          \
	X(link_process, INT64, true)  \
	X(link2, INT64, true)         \
	X(link2_process, INT64, true)

#define FIELD_ROW(name, type, nullable) { #name, PARQUET_##type, nullable },
#define GET_ROW(name, type, nullable) get_##name,
static const struct parquet_field fields[] = { COLUMN_LIST(FIELD_ROW) };
static get_value *const getters[] = { COLUMN_LIST(GET_ROW) };
#undef FIELD_ROW
#undef GET_ROW

const struct parquet_schema activity_schema = { fields, sizeof(fields) / sizeof(fields[0]), 1 };

void activity_fill(const void *rows, size_t column, struct parquet_values *values)
{
	const struct activity_rows *group = rows;
	get_value *get = getters[column];

	for (size_t i = 0; i < group->count; i++)
		values->numbers[i] = get(group->names, &group->activities[i], &values->present[i]);
	values->texts = (const char *const *)group->names->texts.list;
	values->text_count = group->names->texts.count;
}
