/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/sums.h"

#include <string.h>

const void *sums_check(const struct frame *frame, const uint8_t **rows, uint32_t *count)
{
	const uint8_t *at = frame->payload;
	struct sums_head head;

	if (frame->length < sizeof(head))
		return NULL;
	memcpy(&head, at, sizeof(head));
	if (!memchr(head.filesystem, 0, sizeof(head.filesystem)) ||
	    !memchr(head.target, 0, sizeof(head.target)) || head.reserved ||
	    frame->length != sizeof(head) + (uint64_t)head.rows * sizeof(struct sums_row))
		return NULL;
	at += sizeof(head);
	for (uint32_t i = 0; i < head.rows; i++) {
		const uint8_t *row = at + i * sizeof(struct sums_row);

		if (row[offsetof(struct sums_row, operation)] >= CLASS_COUNT ||
		    row[offsetof(struct sums_row, speed)] >= SPEED_COUNT)
			return NULL;
	}
	*rows = at;
	*count = head.rows;
	return frame->payload;
}
