/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/message.h"

#include <string.h>

const struct fact *const message_facts[MESSAGE_KINDS] = {
	[MESSAGE_FILE] = &fact_file,	       [MESSAGE_PROCESS] = &fact_process,
	[MESSAGE_CLOCK] = &fact_clock,	       [MESSAGE_NOTE] = &fact_note,
	[MESSAGE_STATISTIC] = &fact_statistic, [MESSAGE_SAMPLE] = &fact_sample,
};

enum message_kind message_kind_of(const struct fact *fact)
{
	unsigned kind = 0;

	while (kind < MESSAGE_KINDS && message_facts[kind] != fact)
		kind++;
	return kind;
}

void message_pack(struct buf *out, const struct fact *fact, const void *row)
{
	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];

		if (field->type == FACT_TEXT) {
			const char *text = fact_text(field, row);

			buf_add(out, text, strlen(text) + 1);
		} else {
			int64_t number = fact_number(field, row);

			buf_add(out, &number, sizeof(number));
		}
	}
}

/* Fields that every activity has, or most of the frequent ones. */
struct common_fields {
	int64_t start_ticks, duration_ticks;
	uint64_t id, parent, link;
	int64_t result, handle, size, offset;
	uint32_t process, file;
	int32_t error;
	uint16_t call, present;
	uint8_t layer;
	bool has_rare;
};

struct rare_fields {
	uint64_t link2, collective;
	int64_t flags, mode, span, variable;
	file_id file2, name, hints;
};

_Static_assert(sizeof(struct common_fields) + sizeof(struct rare_fields) <= MESSAGE_ACTIVITY_MAX,
	       "a packed activity exceeds MESSAGE_ACTIVITY_MAX");

#define REST_FIELDS                                                                            \
	(PRESENT(LINK2) | PRESENT(FLAGS) | PRESENT(MODE) | PRESENT(SPAN) | PRESENT(VARIABLE) | \
	 PRESENT(COLLECTIVE))

size_t message_pack_activities(void *to, const struct activity *batch, size_t n)
{
	char *at = to;

	for (const struct activity *a = batch; a < batch + n; a++) {
		bool has_rare = a->present & REST_FIELDS || a->file2 | a->name | a->hints;

		*(struct common_fields *)at = (struct common_fields){
			a->start_ns, a->duration_ns, a->id,	a->parent,  a->link, a->result,
			a->handle,   a->size,	     a->offset, a->process, a->file, a->error,
			a->call,     a->present,     a->layer,	has_rare,
		};
		at += sizeof(struct common_fields);
		if (!has_rare)
			continue;
		*(struct rare_fields *)at = (struct rare_fields){
			a->link2,    a->collective, a->flags, a->mode,	a->span,
			a->variable, a->file2,	    a->name,  a->hints,
		};
		at += sizeof(struct rare_fields);
	}
	return (size_t)(at - (char *)to);
}

const void *message_unpack_activity(const void *from, struct activity *a)
{
	const struct common_fields *s = from;
	const struct rare_fields *r = (const struct rare_fields *)(s + 1);

	*a = (struct activity){
		.start_ns = s->start_ticks, /* the receiver converts them */
		.duration_ns = s->duration_ticks,
		.id = s->id,
		.parent = s->parent,
		.link = s->link,
		.result = s->result,
		.handle = s->handle,
		.size = s->size,
		.offset = s->offset,
		.process = s->process,
		.file = s->file,
		.error = s->error,
		.call = s->call,
		.present = s->present,
		.layer = s->layer,
	};
	if (!s->has_rare)
		return r;
	a->link2 = r->link2;
	a->collective = r->collective;
	a->flags = r->flags;
	a->mode = r->mode;
	a->span = r->span;
	a->variable = r->variable;
	a->file2 = r->file2;
	a->name = r->name;
	a->hints = r->hints;
	return r + 1;
}

bool message_unpack(const struct fact *fact, const void *bytes, size_t n, void *row)
{
	const char *at = bytes, *end = at + n;

	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];
		size_t left = (size_t)(end - at);
		int64_t number;

		if (field->type == FACT_TEXT) {
			size_t length = strnlen(at, left);

			if (length == left)
				return false;
			fact_set_text(field, row, at, length);
			at += length + 1;
			continue;
		}
		if (left < sizeof(number))
			return false;
		memcpy(&number, at, sizeof(number));
		at += sizeof(number);
		if (!fact_set_number(field, row, number))
			return false;
	}
	return at == end;
}
