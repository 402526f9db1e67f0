/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/parquet/encoding.h"

#include "base/buf.h"
#include "base/integer.h"
#include "check.h"
#include "trace/container/wire.h"

#define VALUES 1000

/* Decoders that follow the specification bit by bit, independent of the encoders. */

static uint64_t get_bits(const uint8_t *bytes, size_t at, unsigned width)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++, at++)
		value |= (uint64_t)(bytes[at / 8] >> at % 8 & 1) << i;
	return value;
}

static size_t decode_runs(const struct buf *buf, unsigned width, uint32_t *values, size_t count)
{
	const uint8_t *start = (const uint8_t *)buf_text(buf);
	struct wire in = { start, start + buf->len, false };
	size_t n = 0;

	while (n < count && !in.bad) {
		uint64_t head = wire_varint(&in);
		size_t run = head & 1 ? (head >> 1) * 8 : head >> 1;
		size_t bytes = head & 1 ? (head >> 1) * width : (width + 7) / 8;
		const uint8_t *data = wire_bytes(&in, bytes);

		for (size_t i = 0; data && i < run && n < count; i++)
			values[n++] = (uint32_t)get_bits(data, head & 1 ? i * width : 0, width);
	}
	CHECK(!in.bad);
	CHECK_INT(wire_left(&in), 0);
	return n;
}

static void decode_mini(struct wire *in, uint8_t width, int64_t least, unsigned bits,
			int64_t *values, size_t count)
{
	const uint8_t *data = wire_bytes(in, (size_t)width * 4);

	for (size_t i = 0; data && i < count; i++) {
		uint64_t next = (uint64_t)values[(ssize_t)i - 1] + (uint64_t)least +
				get_bits(data, i * width, width);

		values[i] = bits == 32 ? (int32_t)(uint32_t)next : (int64_t)next;
	}
}

static size_t decode_delta(const struct buf *buf, unsigned bits, int64_t *values)
{
	const uint8_t *start = (const uint8_t *)buf_text(buf);
	struct wire in = { start, start + buf->len, false };
	size_t count, n = 1;

	CHECK_INT(wire_varint(&in), 128);
	CHECK_INT(wire_varint(&in), 4);
	count = wire_varint(&in);
	values[0] = (int64_t)unzigzag(wire_varint(&in));
	while (n < count && !in.bad) {
		int64_t least = (int64_t)unzigzag(wire_varint(&in));
		const uint8_t *widths = wire_bytes(&in, 4);

		for (int m = 0; widths && m < 4 && n < count; m++) {
			size_t some = size_min(32, count - n);

			decode_mini(&in, widths[m], least, bits, values + n, some);
			n += some;
		}
	}
	CHECK(!in.bad);
	CHECK_INT(wire_left(&in), 0);
	return count;
}

static void packed_values_start_with_the_lowest_bits(void)
{
	AUTO_BUF struct buf out = { 0 };
	uint32_t values[8];

	/* The example of the specification: 0 to 7 with 3 bits each. */
	for (uint32_t i = 0; i < 8; i++)
		values[i] = i;
	encoding_runs(&out, values, 8, 3);
	CHECK_BYTES(out.data, out.len, "\x03\x88\xc6\xfa");
}

static void equal_values_are_one_run(void)
{
	AUTO_BUF struct buf out = { 0 };
	uint32_t values[100];

	for (int i = 0; i < 100; i++)
		values[i] = 1;
	encoding_runs(&out, values, 100, 1);
	CHECK_BYTES(out.data, out.len, "\xc8\x01\x01");
}

static void nothing_is_encoded_as_nothing(void)
{
	AUTO_BUF struct buf out = { 0 };

	encoding_runs(&out, NULL, 0, 1);
	CHECK_INT(out.len, 0);
	encoding_delta(&out, NULL, 0, 64);
	CHECK_BYTES(out.data, out.len, "\x80\x01\x04\x00\x00");
}

static void widths_have_at_least_one_bit(void)
{
	CHECK_INT(encoding_width(0), 1);
	CHECK_INT(encoding_width(1), 1);
	CHECK_INT(encoding_width(2), 2);
	CHECK_INT(encoding_width(UINT64_MAX), 64);
}

static void constant_steps_need_no_bits(void)
{
	AUTO_BUF struct buf out = { 0 };
	const int64_t values[] = { 1, 2, 3, 4, 5 };

	encoding_delta(&out, values, 5, 64);
	CHECK_BYTES(out.data, out.len, "\x80\x01\x04\x05\x02\x02\x00\x00\x00\x00");
}

static void differences_are_relative_to_the_least(void)
{
	AUTO_BUF struct buf out = { 0 };
	const int64_t values[] = { 7, 5, 3, 1, 2, 3, 4, 5 };

	encoding_delta(&out, values, 8, 64);
	CHECK_BYTES(out.data, out.len,
		    "\x80\x01\x04\x08\x0e\x03\x02\x00\x00\x00\xc0\x3f\x00\x00\x00\x00\x00\x00");
}

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

/* Runs of random length, most of them short. */
static void runs_decode_to_the_same_values(void)
{
	static const unsigned widths[] = { 1, 2, 7, 8, 9, 17, 32 };
	uint32_t values[VALUES], decoded[VALUES];

	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		for (size_t count = 0; count <= VALUES; count += 1 + count / 3) {
			AUTO_BUF struct buf out = { 0 };
			uint32_t mask = (uint32_t)((UINT64_C(1) << widths[w]) - 1);
			uint32_t value = 0;

			for (size_t i = 0, left = 0; i < count; i++, left--) {
				if (!left) {
					left = 1 + next_random() % (next_random() % 4 ? 3 : 40);
					value = (uint32_t)next_random() & mask;
				}
				values[i] = value;
			}
			encoding_runs(&out, values, count, widths[w]);
			CHECK_INT(decode_runs(&out, widths[w], decoded, count), count);
			CHECK(memcmp(values, decoded, count * sizeof(*values)) == 0);
		}
	}
}

static void deltas_decode_to_the_same_values(void)
{
	int64_t values[VALUES], decoded[VALUES];

	for (unsigned bits = 32; bits <= 64; bits += 32) {
		for (size_t count = 1; count <= VALUES; count += 1 + count / 3) {
			AUTO_BUF struct buf out = { 0 };

			for (size_t i = 0; i < count; i++) {
				uint64_t value = next_random() >> next_random() % 64;

				values[i] = bits == 32 ? (int32_t)(uint32_t)value : (int64_t)value;
			}
			encoding_delta(&out, values, count, bits);
			CHECK_INT(decode_delta(&out, bits, decoded), count);
			CHECK(memcmp(values, decoded, count * sizeof(*values)) == 0);
		}
	}
}

static void extreme_differences_wrap(void)
{
	AUTO_BUF struct buf out = { 0 };
	const int64_t wide[] = { INT64_MIN, INT64_MAX, 0, INT64_MIN, -1, INT64_MAX };
	const int64_t narrow[] = { INT32_MIN, INT32_MAX, 0, INT32_MIN, -1, INT32_MAX };
	int64_t decoded[6];

	encoding_delta(&out, wide, 6, 64);
	CHECK_INT(decode_delta(&out, 64, decoded), 6);
	CHECK(memcmp(wide, decoded, sizeof(wide)) == 0);
	buf_clear(&out);
	encoding_delta(&out, narrow, 6, 32);
	CHECK_INT(decode_delta(&out, 32, decoded), 6);
	CHECK(memcmp(narrow, decoded, sizeof(narrow)) == 0);
}

TESTS(TEST(packed_values_start_with_the_lowest_bits), TEST(equal_values_are_one_run),
      TEST(nothing_is_encoded_as_nothing), TEST(widths_have_at_least_one_bit),
      TEST(constant_steps_need_no_bits), TEST(differences_are_relative_to_the_least),
      TEST(runs_decode_to_the_same_values), TEST(deltas_decode_to_the_same_values),
      TEST(extreme_differences_wrap))
