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
