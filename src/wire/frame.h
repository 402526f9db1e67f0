/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes and decodes frames (contract/frame.h, docs/reference/protocol.md). Bytes that come from
 * elsewhere are checked completely before a caller sees any of them: magic, version, type, length,
 * both checksums. No function allocates memory because of a number that was received.
 * Papers: SIOX-29.
 */
#ifndef SLUICE_WIRE_FRAME_H
#define SLUICE_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "contract/frame.h"

struct buf;

/* A decoded frame. The payload points into the bytes that were decoded. */
struct frame {
	uint16_t type; /* enum frame_type, or rows of the site */
	uint64_t sequence;
	const uint8_t *payload;
	uint32_t length;
	/*
	 * Id of the queue that assigned the sequence, 32 hexadecimal digits; with the sequence it
	 * identifies the frame everywhere and forever. NULL for a frame of a connection. Valid as
	 * long as the queue is open.
	 */
	const char *stream;
};

/*
 * Fills in the header of a payload of at most FRAME_PAYLOAD_MAX bytes. The checksum covers what
 * `payload` holds now.
 */
void frame_seal(struct frame_header *header, uint16_t type, uint64_t sequence, const void *payload,
		uint32_t length);

/* Appends header and payload to out. Returns -EMSGSIZE, and appends nothing, if it is too long. */
int frame_add(struct buf *out, uint16_t type, uint64_t sequence, const void *payload,
	      size_t length);

/*
 * Decodes the frame at the start of n bytes. Returns its size, header included; 0 if more bytes are
 * needed, of which *need (may be NULL) receives the total, at most FRAME_HEADER_BYTES + limit; or
 *
 *   -EPROTO           the bytes are not a frame: wrong magic, or the header is damaged
 *   -EPROTONOSUPPORT  a frame of another version
 *   -ENOMSG           an unknown type
 *   -EMSGSIZE         the payload is longer than `limit` or than its type allows
 *   -EBADMSG          the payload is damaged
 *
 * A receiver cannot continue after any of them, because it does not know where the next frame
 * begins. *frame is set only if a frame was decoded; its stream is NULL.
 */
int frame_decode(struct frame *frame, const void *bytes, size_t n, size_t limit, size_t *need);

/* A sentence without a period for a result of frame_decode(). */
const char *frame_problem(int result);

/* Name of a type: "hello"; "rows" for those of the site; NULL if it is unknown. */
const char *frame_type_name(uint16_t type);

/*
 * Finds the next complete and undamaged frame whose sequence is at least `sequence`, anywhere in
 * the bytes. Returns its offset, or n if there is none. For files that were damaged.
 */
size_t frame_search(const void *bytes, size_t n, uint64_t sequence);

#endif
