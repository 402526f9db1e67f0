/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes numbers to bytes, or reads them back: the same function describes a structure for both
 * directions, so that they cannot differ. Numbers are varints. Reading beyond the end, or a number
 * outside its limits, sets `bad` and gives 0.
 */
#ifndef SLUICE_OBSERVE_PROFILE_PACK_H
#define SLUICE_OBSERVE_PROFILE_PACK_H

#include <string.h>

#include "base/buf.h"
#include "trace/container/wire.h"

struct pack {
	struct buf *out; /* NULL: reads from `in` */
	struct wire in;
};

static inline bool pack_is_reading(const struct pack *pack)
{
	return !pack->out;
}

/* Any number of 64 bits. */
static inline void pack_number(struct pack *pack, uint64_t *value)
{
	uint8_t bytes[VARINT_MAX];

	if (pack_is_reading(pack))
		*value = unzigzag(wire_varint(&pack->in));
	else
		buf_add(pack->out, bytes, (size_t)(wire_put_varint(bytes, zigzag(*value)) - bytes));
}

/* A number below the limit. */
static inline void pack_index(struct pack *pack, uint64_t *value, uint64_t limit)
{
	pack_number(pack, value);
	if (*value >= limit) {
		pack->in.bad = true;
		*value = 0;
	}
}

/* A number of elements that follow; each needs at least one byte. */
static inline void pack_count(struct pack *pack, uint64_t *count)
{
	pack_index(pack, count, pack_is_reading(pack) ? wire_left(&pack->in) + 1 : UINT64_MAX);
}

/* A text or NULL. One that was read belongs to the caller. */
void pack_text(struct pack *pack, char **text);

/*
 * The number of entries of a map. When writing, it returns the entries in the order of their keys,
 * so that equal profiles give equal bytes; the caller frees them. When reading, it returns NULL.
 */
struct map;
struct map_entry *pack_entries(struct pack *pack, const struct map *map, uint64_t *count);

/*
 * Counts, bytes and times. They are limited, so that the sums of many files cannot overflow: 2^55
 * ns are more than a year.
 */
#define PACK_MAX (INT64_C(1) << 55)
static inline void pack_words(struct pack *pack, void *words, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
		int64_t value;

		memcpy(&value, (char *)words + i, sizeof(value));
		pack_number(pack, (uint64_t *)&value);
		if (pack_is_reading(pack) && (value > PACK_MAX || value < -PACK_MAX)) {
			pack->in.bad = true;
			value = 0;
		}
		memcpy((char *)words + i, &value, sizeof(value));
	}
}

#endif
