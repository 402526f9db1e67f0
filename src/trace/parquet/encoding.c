/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/parquet/encoding.h"

#include <string.h>

#include "base/buf.h"
#include "base/integer.h"
#include "trace/container/wire.h"

#define GROUP 8	  /* values; the unit of packed runs, and the shortest repeated run */
#define BLOCK 128 /* differences with a common minimum */
#define MINI 32	  /* of them, with a common width */

unsigned encoding_width(uint64_t largest)
{
	return largest ? 64 - (unsigned)__builtin_clzll(largest) : 1;
}

/* Collects bits and writes them in words of 64. */
struct packer {
	struct buf *out;
	unsigned __int128 bits;
	unsigned filled;
};

static void put_bits(struct packer *packer, uint64_t value, unsigned width)
{
	packer->bits |= (unsigned __int128)value << packer->filled;
	packer->filled += width;
	if (packer->filled >= 64) {
		uint64_t word = htole64((uint64_t)packer->bits);

		buf_add(packer->out, &word, sizeof(word));
		packer->bits >>= 64;
		packer->filled -= 64;
	}
}

static void flush_bits(struct packer *packer)
{
	uint64_t word = htole64((uint64_t)packer->bits);

	buf_add(packer->out, &word, (packer->filled + 7) / 8);
	*packer = (struct packer){ .out = packer->out };
}

void encoding_pack(struct buf *out, const uint64_t *values, size_t count, unsigned width)
{
	struct packer packer = { .out = out };

	for (size_t i = 0; i < count; i++)
		put_bits(&packer, values[i], width);
	flush_bits(&packer);
}

/* The last group is padded with zeros; the reader knows the number of values. */
static void put_packed_run(struct buf *out, const uint32_t *values, size_t count, unsigned width)
{
	struct packer packer = { .out = out };
	size_t groups = (count + GROUP - 1) / GROUP;

	if (!count)
		return;
	wire_add_varint(out, groups << 1 | 1);
	for (size_t i = 0; i < groups * GROUP; i++)
		put_bits(&packer, i < count ? values[i] : 0, width);
	flush_bits(&packer);
}

static void put_repeated_run(struct buf *out, uint32_t value, size_t count, unsigned width)
{
	uint32_t bytes = htole32(value);

	wire_add_varint(out, count << 1);
	buf_add(out, &bytes, (width + 7) / 8);
}

static size_t count_equal(const uint32_t *values, size_t count)
{
	size_t n = 1;

	while (n < count && values[n] == values[0])
		n++;
	return n;
}

void encoding_runs(struct buf *out, const uint32_t *values, size_t count, unsigned width)
{
	size_t from = 0; /* values from here to i are not written yet */

	for (size_t i = 0; i < count;) {
		size_t equal = count_equal(values + i, count - i);
		size_t missing = (GROUP - (i - from) % GROUP) % GROUP; /* in the last group */

		if (equal >= missing + GROUP) {
			put_packed_run(out, values + from, i + missing - from, width);
			put_repeated_run(out, values[i], equal - missing, width);
			from = i + equal;
		}
		i += equal;
	}
	if (from < count)
		put_packed_run(out, values + from, count - from, width);
}

static int64_t subtract(int64_t a, int64_t b, unsigned bits)
{
	uint64_t difference = (uint64_t)a - (uint64_t)b;

	return bits == 32 ? (int32_t)(uint32_t)difference : (int64_t)difference;
}

/* The width of 0 means that all differences equal the minimum. */
static unsigned find_width(const uint64_t *values, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all |= values[i];
	return all ? encoding_width(all) : 0;
}

/* Encodes count (1 to BLOCK) values; the one before the first is known. */
static void put_block(struct buf *out, const int64_t *values, size_t count, unsigned bits)
{
	uint64_t rest[BLOCK] = { 0 };
	uint8_t widths[BLOCK / MINI] = { 0 };
	const int64_t *before = values - 1;
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < count; i++)
		least = i64_min(least, subtract(values[i], before[i], bits));
	for (size_t i = 0; i < count; i++)
		rest[i] = (uint64_t)subtract(values[i], before[i], bits) - (uint64_t)least;
	for (size_t i = 0; i < count; i += MINI)
		widths[i / MINI] = (uint8_t)find_width(rest + i, size_min(MINI, count - i));
	wire_add_varint(out, zigzag((uint64_t)least));
	buf_add(out, widths, sizeof(widths));
	for (size_t i = 0; i < count; i += MINI)
		if (widths[i / MINI])
			encoding_pack(out, rest + i, MINI, widths[i / MINI]);
}

void encoding_delta(struct buf *out, const int64_t *values, size_t count, unsigned bits)
{
	wire_add_varint(out, BLOCK);
	wire_add_varint(out, BLOCK / MINI);
	wire_add_varint(out, count);
	wire_add_varint(out, zigzag(count ? (uint64_t)values[0] : 0));
	for (size_t i = 1; i < count; i += BLOCK)
		put_block(out, values + i, size_min(BLOCK, count - i), bits);
}
