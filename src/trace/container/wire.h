/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes numbers as bytes: little-endian words, and varints (7 bits per byte, lowest bits first;
 * the top bit says that another byte follows). Reading never exceeds the input: it sets `bad` and
 * returns zeros, so that a decoder can check for errors once at the end.
 */
#ifndef SLUICE_TRACE_CONTAINER_WIRE_H
#define SLUICE_TRACE_CONTAINER_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

#define VARINT_MAX 10 /* bytes of the longest varint */

struct wire {
	const uint8_t *at, *end;
	bool bad; /* the input ended too early or had an invalid varint */
};

static inline size_t wire_left(const struct wire *in)
{
	return (size_t)(in->end - in->at);
}

/* The next n bytes, or NULL if fewer are left. */
static inline const uint8_t *wire_bytes(struct wire *in, size_t n)
{
	const uint8_t *here = in->at;

	if (wire_left(in) < n) {
		in->bad = true;
		in->at = in->end;
		return NULL;
	}
	in->at += n;
	return here;
}

static inline uint64_t wire_varint(struct wire *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		uint8_t byte = *in->at++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
	in->bad = true;
	return 0;
}

/* Writes to `to`, which has room for VARINT_MAX bytes. Returns the end of the varint. */
static inline uint8_t *wire_put_varint(uint8_t *to, uint64_t value)
{
	while (value >= 128) {
		*to++ = (uint8_t)(value | 128);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

static inline void wire_add_varint(struct buf *out, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];

	buf_add(out, bytes, (size_t)(wire_put_varint(bytes, value) - bytes));
}

/* Maps small numbers of either sign to small unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t zigzag(uint64_t value)
{
	return value << 1 ^ (0 - (value >> 63));
}

static inline uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

static inline uint64_t load_u64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return le64toh(value);
}

static inline uint32_t load_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}

static inline uint16_t load_u16(const uint8_t *from)
{
	return (uint16_t)(from[0] | from[1] << 8);
}

static inline void store_u64(uint8_t *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
}

static inline void store_u32(uint8_t *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
}

static inline void store_u16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

#endif
