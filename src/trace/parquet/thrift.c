/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/parquet/thrift.h"

#include <string.h>

#include "base/buf.h"
#include "trace/container/wire.h"

#define SHORT_MAX 15 /* smaller differences and counts share a byte with the type */

static void put_field(struct thrift *thrift, int field, enum thrift_type type)
{
	int *last = &thrift->last[thrift->depth];

	if (!field)
		return;
	if (field > *last && field - *last <= SHORT_MAX) {
		buf_putc(thrift->out, (char)((field - *last) << 4 | (int)type));
	} else {
		buf_putc(thrift->out, (char)type);
		wire_add_varint(thrift->out, zigzag((uint64_t)field));
	}
	*last = field;
}

void thrift_bool(struct thrift *thrift, int field, bool truth)
{
	put_field(thrift, field, truth ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_i32(struct thrift *thrift, int field, int32_t value)
{
	put_field(thrift, field, THRIFT_I32);
	wire_add_varint(thrift->out, zigzag((uint64_t)(int64_t)value));
}

void thrift_i64(struct thrift *thrift, int field, int64_t value)
{
	put_field(thrift, field, THRIFT_I64);
	wire_add_varint(thrift->out, zigzag((uint64_t)value));
}

void thrift_binary(struct thrift *thrift, int field, const void *bytes, size_t n)
{
	put_field(thrift, field, THRIFT_BINARY);
	wire_add_varint(thrift->out, n);
	buf_add(thrift->out, bytes, n);
}

void thrift_text(struct thrift *thrift, int field, const char *text)
{
	thrift_binary(thrift, field, text, strlen(text));
}

void thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t count)
{
	put_field(thrift, field, THRIFT_LIST);
	if (count < SHORT_MAX) {
		buf_putc(thrift->out, (char)(count << 4 | type));
		return;
	}
	buf_putc(thrift->out, (char)(SHORT_MAX << 4 | (int)type));
	wire_add_varint(thrift->out, count);
}

void thrift_open(struct thrift *thrift, int field)
{
	put_field(thrift, field, THRIFT_STRUCT);
	thrift->last[++thrift->depth] = 0;
}

void thrift_close(struct thrift *thrift)
{
	buf_putc(thrift->out, 0);
	thrift->depth--;
}
