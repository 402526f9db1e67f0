/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/parquet/thrift.h"

#include "base/buf.h"
#include "check.h"

static void fields_are_numbered_by_their_distance(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct thrift t = { .out = &out };

	thrift_i32(&t, 1, 7);
	thrift_i64(&t, 3, -1);
	thrift_text(&t, 4, "ab");
	thrift_i32(&t, 20, 64); /* too far for the short form */
	thrift_close(&t);
	CHECK_BYTES(out.data, out.len,
		    "\x15\x0e\x26\x01\x18\x02"
		    "ab\x05\x28\x80\x01\x00");
}

static void booleans_are_part_of_the_type(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct thrift t = { .out = &out };

	thrift_bool(&t, 1, true);
	thrift_bool(&t, 2, false);
	thrift_close(&t);
	CHECK_BYTES(out.data, out.len, "\x11\x12\x00");
}

static void numbers_start_again_in_a_nested_structure(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct thrift t = { .out = &out };

	thrift_list(&t, 2, THRIFT_STRUCT, 2);
	for (int i = 0; i < 2; i++) {
		thrift_open(&t, 0);
		thrift_i32(&t, 1, i);
		thrift_close(&t);
	}
	thrift_open(&t, 3);
	thrift_i32(&t, 2, 1);
	thrift_close(&t);
	thrift_i32(&t, 4, 0);
	thrift_close(&t);
	CHECK_BYTES(out.data, out.len,
		    "\x29\x2c\x15\x00\x00\x15\x02\x00\x1c\x25\x02\x00\x15\x00\x00");
}

static void long_lists_have_their_count_in_a_varint(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct thrift t = { .out = &out };

	thrift_list(&t, 1, THRIFT_I32, 14);
	thrift_list(&t, 2, THRIFT_I32, 15);
	thrift_list(&t, 3, THRIFT_BINARY, 200);
	CHECK_BYTES(out.data, out.len, "\x19\xe5\x19\xf5\x0f\x19\xf8\xc8\x01");
}

TESTS(TEST(fields_are_numbered_by_their_distance), TEST(booleans_are_part_of_the_type),
      TEST(numbers_start_again_in_a_nested_structure),
      TEST(long_lists_have_their_count_in_a_varint))
