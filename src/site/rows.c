/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/rows.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"

#define MAGIC "SLR1"
#define ROWS_FIRST_VERSION 9 /* of the tables, in which payloads were introduced */
#define HEADER_BYTES (4 + 4 + ROWS_UUID_DIGITS)

struct row_value row_text(const char *text)
{
	return (struct row_value){ .is_set = true,
				   .text = text ? text : "",
				   .text_bytes = text ? strlen(text) : 0 };
}

struct row_value row_real(double real)
{
	return (struct row_value){ .is_set = !isnan(real), .real = real };
}

/* Is the column part of the payload of this version? */
static bool has_column(const struct schema_table *table, size_t column, int version)
{
	const struct schema_column *c = &table->columns[column];

	if (c->type == COLUMN_ID || c->since > version)
		return false;
	return column || strcmp(c->name, "run") != 0;
}

static size_t count_columns(const struct schema_table *table, int version)
{
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		count += has_column(table, i, version);
	return count;
}

void rows_release(struct rows_writer *writer)
{
	buf_release(&writer->bytes);
}

bool rows_is_empty(const struct rows_writer *writer)
{
	return writer->bytes.len <= HEADER_BYTES;
}

static void put_u32(struct buf *out, uint32_t value)
{
	value = htole32(value);
	buf_add(out, &value, sizeof(value));
}

void rows_start(struct rows_writer *writer, const char *uuid)
{
	/* An id that is shorter is padded; a trace may claim anything. */
	if (uuid != writer->uuid) {
		memset(writer->uuid, '0', ROWS_UUID_DIGITS);
		memcpy(writer->uuid, uuid, strnlen(uuid, ROWS_UUID_DIGITS));
		writer->uuid[ROWS_UUID_DIGITS] = '\0';
	}
	buf_clear(&writer->bytes);
	buf_add(&writer->bytes, MAGIC, 4);
	put_u32(&writer->bytes, SCHEMA_VERSION);
	buf_add(&writer->bytes, writer->uuid, ROWS_UUID_DIGITS);
	writer->table = NULL;
}

static void close_block(struct rows_writer *writer)
{
	uint32_t rows = htole32(writer->count), bytes;

	if (!writer->table)
		return;
	bytes = htole32((uint32_t)(writer->bytes.len - writer->block - 8));
	memcpy(writer->bytes.data + writer->block, &rows, 4);
	memcpy(writer->bytes.data + writer->block + 4, &bytes, 4);
	writer->table = NULL;
}

static void open_block(struct rows_writer *writer, const struct schema_table *table)
{
	size_t n = strlen(table->name);

	close_block(writer);
	buf_putc(&writer->bytes, (char)n);
	buf_add(&writer->bytes, table->name, n);
	writer->block = writer->bytes.len;
	put_u32(&writer->bytes, 0);
	put_u32(&writer->bytes, 0);
	writer->table = table;
	writer->count = 0;
}

/* Texts without zero bytes that are valid UTF-8; their end is not marked. */
static bool is_text(const unsigned char *at, size_t n)
{
	uint32_t code;

	/* escape_decode() stops at a zero byte, so that it needs one. */
	for (size_t i = 0; i < n;) {
		char piece[5] = { 0 };
		size_t length;

		if (at[i] && at[i] < 0x80) {
			i++;
			continue;
		}
		memcpy(piece, at + i, n - i < 4 ? n - i : 4);
		length = *piece ? escape_decode(piece, &code) : 0;
		if (!length || length > n - i)
			return false;
		i += length;
	}
	return true;
}

static void put_text(struct buf *out, const struct row_value *value)
{
	size_t at = out->len;
	uint32_t n;

	put_u32(out, 0);
	if (is_text((const unsigned char *)value->text, value->text_bytes))
		buf_add(out, value->text, value->text_bytes);
	else
		escape_text(out, value->text, "");
	n = htole32((uint32_t)(out->len - at - 4));
	memcpy(out->data + at, &n, 4);
}

static void put_value(struct buf *out, enum column_type type, const struct row_value *value)
{
	uint64_t bits = htole64((uint64_t)value->number);

	switch (type) {
	case COLUMN_INT16:
		buf_add(out, &bits, 2);
		break;
	case COLUMN_INT32:
		buf_add(out, &bits, 4);
		break;
	case COLUMN_ID:
	case COLUMN_INT:
		buf_add(out, &bits, 8);
		break;
	case COLUMN_REAL:
		memcpy(&bits, &value->real, 8);
		bits = htole64(bits);
		buf_add(out, &bits, 8);
		break;
	case COLUMN_TEXT:
	case COLUMN_OWNER:
		put_text(out, value);
		break;
	}
}

void rows_add(struct rows_writer *writer, const struct schema_table *table,
	      const struct row_value *values)
{
	unsigned char bits[ROWS_COLUMNS_MAX / 8] = { 0 };
	struct buf *out = &writer->bytes;
	size_t n = 0;

	if (writer->table != table)
		open_block(writer, table);
	buf_reserve(out, 256);
	for (size_t i = 0; i < table->count; i++) {
		if (!has_column(table, i, SCHEMA_VERSION))
			continue;
		if (values[i].is_set)
			bits[n / 8] |= (unsigned char)(1u << n % 8);
		n++;
	}
	buf_add(out, bits, (n + 7) / 8);
	for (size_t i = 0; i < table->count; i++)
		if (values[i].is_set && has_column(table, i, SCHEMA_VERSION))
			put_value(out, table->columns[i].type, &values[i]);
	writer->count++;
}

void rows_finish(struct rows_writer *writer)
{
	close_block(writer);
}

static int fail_invalid(struct err *err, const char *why)
{
	return err_set(err, EBADMSG, "invalid payload: %s", why);
}

static uint32_t get_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, 4);
	return le32toh(value);
}

static bool is_uuid(const unsigned char *at)
{
	for (int i = 0; i < ROWS_UUID_DIGITS; i++)
		if (!strchr("0123456789abcdef", at[i]) || !at[i])
			return false;
	return true;
}

int rows_open(struct rows_reader *reader, const void *bytes, size_t n, struct err *err)
{
	*reader = (struct rows_reader){ .at = bytes, .end = (const unsigned char *)bytes + n };
	if (n < HEADER_BYTES || memcmp(bytes, MAGIC, 4) != 0)
		return fail_invalid(err, "it does not begin with " MAGIC);
	reader->version = (int)get_u32(reader->at + 4);
	if (reader->version < ROWS_FIRST_VERSION || reader->version > SCHEMA_VERSION)
		return err_set(err, EBADMSG,
			       "invalid payload: its tables have version %d, but this version of "
			       "Sluice reads %d to %d; update Sluice",
			       reader->version, ROWS_FIRST_VERSION, SCHEMA_VERSION);
	if (!is_uuid(reader->at + 8))
		return fail_invalid(err, "the id of the run is not 32 hexadecimal digits");
	memcpy(reader->uuid, reader->at + 8, ROWS_UUID_DIGITS);
	reader->at += HEADER_BYTES;
	reader->block_end = reader->at;
	return 0;
}

int rows_next_block(struct rows_reader *reader, struct err *err)
{
	char name[64];
	size_t n, bytes;

	reader->at = reader->block_end;
	if (!reader->at || reader->at == reader->end)
		return 0;
	n = *reader->at++;
	if (n >= sizeof(name) || (size_t)(reader->end - reader->at) < n + 8)
		return fail_invalid(err, "a block is truncated");
	memcpy(name, reader->at, n);
	name[n] = '\0';
	reader->table = schema_find(name);
	if (!reader->table || !reader->table->is_sent || reader->table->since > reader->version)
		return fail_invalid(err, "unknown table");
	reader->left = get_u32(reader->at + n);
	bytes = get_u32(reader->at + n + 4);
	reader->at += n + 8;
	if (bytes > (size_t)(reader->end - reader->at))
		return fail_invalid(err, "a block is truncated");
	reader->block_end = reader->at + bytes;
	return 1;
}

static size_t size_of(enum column_type type)
{
	switch (type) {
	case COLUMN_INT16:
		return 2;
	case COLUMN_INT32:
	case COLUMN_TEXT:
	case COLUMN_OWNER:
		return 4;
	default:
		return 8;
	}
}

static bool get_value(struct rows_reader *reader, enum column_type type, struct row_value *value)
{
	size_t n = size_of(type), left = (size_t)(reader->block_end - reader->at);
	uint64_t bits = 0;

	if (left < n)
		return false;
	memcpy(&bits, reader->at, n);
	bits = le64toh(bits);
	reader->at += n;
	*value = (struct row_value){ .is_set = true };
	switch (type) {
	case COLUMN_INT16:
		value->number = (int16_t)bits;
		return true;
	case COLUMN_INT32:
		value->number = (int32_t)bits;
		return true;
	case COLUMN_REAL:
		memcpy(&value->real, &bits, 8);
		return isfinite(value->real);
	case COLUMN_TEXT:
	case COLUMN_OWNER:
		value->text = (const char *)reader->at;
		value->text_bytes = (size_t)bits;
		if (bits > left - n || !is_text(reader->at, value->text_bytes))
			return false;
		reader->at += bits;
		return true;
	default:
		value->number = (int64_t)bits;
		return true;
	}
}

int rows_next(struct rows_reader *reader, struct row_value *values, struct err *err)
{
	const struct schema_table *table = reader->table;
	const unsigned char *bits = reader->at;
	size_t columns, n = 0;

	if (!table)
		return fail_invalid(err, "it has no block");
	columns = count_columns(table, reader->version);
	if (!reader->left)
		return reader->at == reader->block_end
			       ? 0
			       : fail_invalid(err, "a block has bytes after its last row");
	if ((size_t)(reader->block_end - reader->at) < (columns + 7) / 8)
		return fail_invalid(err, "a row is truncated");
	reader->left--;
	reader->at += (columns + 7) / 8;
	for (size_t i = 0; i < table->count; i++) {
		values[i].is_set = false;
		if (!has_column(table, i, reader->version))
			continue;
		if (bits[n / 8] >> n % 8 & 1) {
			if (!get_value(reader, table->columns[i].type, &values[i]))
				return fail_invalid(err, "a value is invalid or truncated");
		} else if (!table->columns[i].nullable) {
			return fail_invalid(err, "a value is missing");
		}
		n++;
	}
	return 1;
}

int rows_check(const void *bytes, size_t n, struct err *err)
{
	struct row_value values[ROWS_COLUMNS_MAX];
	struct rows_reader reader;
	int r = rows_open(&reader, bytes, n, err);

	while (!r && (r = rows_next_block(&reader, err)) > 0)
		while ((r = rows_next(&reader, values, err)) > 0)
			;
	return r;
}
