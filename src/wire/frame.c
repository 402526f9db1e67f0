/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames as bytes. Whatever is received may be hostile: see frame_decode().
 */
#include "wire/frame.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/integer.h"

#define HEAD_CHECKED offsetof(struct frame_header, head_check)

struct type_row {
	const char *name;
	uint32_t max;
};

#define ROW(name, number, max, ...) [number] = { #name, max },
static const struct type_row types[FRAME_ROWS_FIRST] = { FRAME_LIST(ROW) };
#undef ROW

static uint32_t checksum(const void *bytes, size_t n)
{
	return (uint32_t)XXH3_64bits(bytes, n);
}

/* The maximum payload of a type; -ENOMSG if there is no such type. */
static int64_t type_max(uint16_t type)
{
	if (type >= FRAME_ROWS_FIRST)
		return type <= FRAME_TYPE_MAX ? (int64_t)FRAME_PAYLOAD_MAX : -ENOMSG;
	return types[type].name ? (int64_t)types[type].max : -ENOMSG;
}

void frame_seal(struct frame_header *header, uint16_t type, uint64_t sequence, const void *payload,
		uint32_t length)
{
	*header = (struct frame_header){
		.magic = FRAME_MAGIC,
		.version = FRAME_VERSION,
		.type = type,
		.length = length,
		.sequence = sequence,
		.check = checksum(payload, length),
	};
	header->head_check = checksum(header, HEAD_CHECKED);
}

int frame_add(struct buf *out, uint16_t type, uint64_t sequence, const void *payload, size_t length)
{
	struct frame_header header;

	if (length > FRAME_PAYLOAD_MAX)
		return -EMSGSIZE;
	frame_seal(&header, type, sequence, payload, (uint32_t)length);
	buf_add(out, &header, sizeof(header));
	buf_add(out, payload, length);
	return 0;
}

/*
 * Checks as much of a header as has arrived: a client that sends something else is refused before
 * it has sent 32 bytes.
 */
static int check_header(const struct frame_header *header, size_t n, size_t limit)
{
	const uint32_t magic = FRAME_MAGIC;
	int64_t max;

	if (memcmp(header, &magic, size_min(n, sizeof(magic))) != 0)
		return -EPROTO;
	if (n < FRAME_HEADER_BYTES)
		return 0;
	/* The version is looked at first: another one may have another checksum. */
	if (header->version != FRAME_VERSION)
		return -EPROTONOSUPPORT;
	if (header->head_check != checksum(header, HEAD_CHECKED) || header->flags)
		return -EPROTO;
	max = type_max(header->type);
	if (max < 0)
		return (int)max;
	return header->length > size_min((size_t)max, limit) ? -EMSGSIZE : 0;
}

int frame_decode(struct frame *frame, const void *bytes, size_t n, size_t limit, size_t *need)
{
	struct frame_header header = { 0 };
	size_t total = FRAME_HEADER_BYTES;
	int r;

	memcpy(&header, bytes, size_min(n, sizeof(header)));
	r = check_header(&header, n, limit);
	if (r < 0)
		return r;
	if (n >= FRAME_HEADER_BYTES)
		total += header.length;
	if (need)
		*need = total;
	if (n < total)
		return 0;
	if (header.check != checksum((const uint8_t *)bytes + FRAME_HEADER_BYTES, header.length))
		return -EBADMSG;
	*frame = (struct frame){
		.type = header.type,
		.sequence = header.sequence,
		.payload = (const uint8_t *)bytes + FRAME_HEADER_BYTES,
		.length = header.length,
	};
	return (int)total;
}

const char *frame_problem(int result)
{
	switch (result) {
	case -EPROTO:
		return "the bytes are not a frame";
	case -EPROTONOSUPPORT:
		return "the frame has another version of the protocol";
	case -ENOMSG:
		return "the frame has an unknown type";
	case -EMSGSIZE:
		return "the frame is too long";
	case -EBADMSG:
		return "the payload of the frame is damaged";
	default:
		return "the frame is incomplete";
	}
}

const char *frame_type_name(uint16_t type)
{
	if (type_max(type) < 0)
		return NULL;
	return type >= FRAME_ROWS_FIRST ? "ROWS" : types[type].name;
}

size_t frame_search(const void *bytes, size_t n, uint64_t sequence)
{
	const uint32_t magic = FRAME_MAGIC;
	const uint8_t *start = bytes, *end = start + n, *at = start;

	while ((at = memmem(at, (size_t)(end - at), &magic, sizeof(magic)))) {
		struct frame frame;

		if (frame_decode(&frame, at, (size_t)(end - at), FRAME_PAYLOAD_MAX, NULL) > 0 &&
		    frame.sequence >= sequence)
			return (size_t)(at - start);
		at++;
	}
	return n;
}
