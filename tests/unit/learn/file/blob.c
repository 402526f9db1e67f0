/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/file/blob.h"

#include <math.h>

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"

static void bytes_are_little_endian(void)
{
	static const unsigned char expected[] = { 0x44, 0x33, 0x22, 0x11, 0x08, 0x07, 0x06,
						  0x05, 0x04, 0x03, 0x02, 0x01, 0,    0,
						  0,	0,    0,    0,	  0xf8, 0x3f, 2,
						  0,	0,    0,    0,	  0,	0,    0,
						  'h',	'i',  0,    0,	  0x80, 0x3e };
	AUTO_BUF struct buf buf = { 0 };
	float quarter = 0.25f;

	blob_put_u32(&buf, 0x11223344);
	blob_put_u64(&buf, 0x0102030405060708u);
	blob_put_real(&buf, 1.5);
	blob_put_text(&buf, "hi");
	blob_put_floats(&buf, &quarter, 1);
	CHECK_INT(buf.len, sizeof(expected));
	CHECK(memcmp(buf.data, expected, sizeof(expected)) == 0);
}

static void values_are_read_in_the_order_they_were_written(void)
{
	static const double reals[] = { 0.1, -0.0, INFINITY, 5e-324 };
	static const float floats[] = { 0.1f, -3e38f };
	static const uint32_t numbers[] = { 0, UINT32_MAX, 7 };
	AUTO_BUF struct buf buf = { 0 };
	AUTO_FREE char *text = NULL, *none = NULL;
	double taken_reals[4];
	float taken_floats[2];
	uint32_t taken_numbers[3];
	struct blob blob;

	blob_put_u64(&buf, UINT64_MAX);
	blob_put_reals(&buf, reals, 4);
	blob_put_floats(&buf, floats, 2);
	blob_put_u32s(&buf, numbers, 3);
	blob_put_text(&buf, "name");
	blob_put_text(&buf, NULL);
	blob_init(&blob, buf.data, buf.len);
	CHECK(blob_take_u64(&blob) == UINT64_MAX);
	blob_take_reals(&blob, taken_reals, 4);
	CHECK(memcmp(reals, taken_reals, sizeof(reals)) == 0);
	blob_take_floats(&blob, taken_floats, 2);
	CHECK(memcmp(floats, taken_floats, sizeof(floats)) == 0);
	blob_take_u32s(&blob, taken_numbers, 3);
	CHECK(memcmp(numbers, taken_numbers, sizeof(numbers)) == 0);
	text = blob_take_text(&blob);
	none = blob_take_text(&blob);
	CHECK_TEXT(text, "name");
	CHECK_TEXT(none, "");
	CHECK(blob_ok(&blob));
	CHECK(blob.at == blob.end);
}

static void reader_stays_failed_and_yields_zeros(void)
{
	static const unsigned char bytes[] = { 1, 2, 3, 4, 5, 6 };
	double reals[2] = { 7, 7 };
	float floats[2] = { 7, 7 };
	uint32_t numbers[2] = { 7, 7 };
	AUTO_FREE char *text = NULL;
	struct blob blob;

	blob_init(&blob, bytes, sizeof(bytes));
	CHECK(blob_take_u64(&blob) <= UINT32_MAX);
	CHECK(!blob_ok(&blob));
	/* Two bytes remain, but none of them is returned. */
	CHECK_INT(blob_take_u32(&blob), 0);
	CHECK(blob_take_real(&blob) == 0);
	blob_take_reals(&blob, reals, 2);
	blob_take_floats(&blob, floats, 2);
	blob_take_u32s(&blob, numbers, 2);
	CHECK(reals[0] == 0);
	CHECK(reals[1] == 0);
	CHECK(floats[1] == 0);
	CHECK(numbers[1] == 0);
	CHECK_INT(blob_take_count(&blob, 0), 0);
	text = blob_take_text(&blob);
	CHECK_TEXT(text, "");
	CHECK(!blob_expect(&blob, false));
	CHECK(blob_expect(&blob, true));
	CHECK(!blob_ok(&blob));
}

static void a_count_is_bounded_by_the_remaining_bytes(void)
{
	AUTO_BUF struct buf buf = { 0 };
	struct blob blob;

	blob_put_u64(&buf, 3);
	blob_put_reals(&buf, (double[]){ 1, 2, 3 }, 3);
	blob_init(&blob, buf.data, buf.len);
	CHECK_INT(blob_take_count(&blob, 8), 3);
	CHECK(blob_ok(&blob));
	blob_init(&blob, buf.data, buf.len - 1);
	CHECK_INT(blob_take_count(&blob, 8), 0);
	CHECK(!blob_ok(&blob));
	buf_clear(&buf);
	blob_put_u64(&buf, UINT64_MAX / 8 + 1);
	blob_put_u64(&buf, 0);
	blob_init(&blob, buf.data, buf.len);
	CHECK_INT(blob_take_count(&blob, 16), 0);
	CHECK(!blob_ok(&blob));
}

static void finite_means_finite(void)
{
	AUTO_BUF struct buf buf = { 0 };
	double values[2];
	struct blob blob;

	blob_put_reals(&buf, (double[]){ 1, 2, NAN, 3, -INFINITY }, 5);
	blob_init(&blob, buf.data, buf.len);
	blob_take_finite(&blob, values, 2);
	CHECK(blob_ok(&blob));
	CHECK(values[0] == 1);
	CHECK(values[1] == 2);
	blob_take_finite(&blob, values, 2);
	CHECK(!blob_ok(&blob));
	blob_init(&blob, buf.data + 24, 16);
	blob_take_finite(&blob, values, 2);
	CHECK(!blob_ok(&blob));
}

TESTS(TEST(bytes_are_little_endian), TEST(values_are_read_in_the_order_they_were_written),
      TEST(reader_stays_failed_and_yields_zeros), TEST(a_count_is_bounded_by_the_remaining_bytes),
      TEST(finite_means_finite))
