/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/parquet/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "trace/container/wire.h"
#include "trace/parquet/thrift.h"

#define PAGE_MAX ((size_t)1 << 30) /* Parquet stores the size of a page in 31 bits */
#define ZSTD_LEVEL 3
#define RANGE_TEXT_MAX 256 /* bytes of a text in statistics; longer ones are omitted */

enum page_type { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { FIELD_DATA_HEADER = 5, FIELD_DICTIONARY_HEADER = 7 }; /* of a page header */

void chunk_release(struct chunk *chunk)
{
	buf_release(&chunk->bytes);
	buf_release(&chunk->min);
	buf_release(&chunk->max);
}

void chunk_scratch_release(struct chunk_scratch *scratch)
{
	free(scratch->values.numbers);
	free(scratch->values.present);
	free(scratch->levels);
	free(scratch->stamps);
	free(scratch->places);
	free(scratch->used);
	buf_release(&scratch->page);
	ZSTD_freeCCtx(scratch->zstd);
	*scratch = (struct chunk_scratch){ 0 };
}

struct parquet_values *chunk_prepare(struct chunk_scratch *scratch, size_t rows)
{
	struct parquet_values *values = &scratch->values;

	if (rows > scratch->cap) {
		scratch->cap = rows;
		values->numbers = xrealloc(values->numbers, rows, sizeof(*values->numbers));
		values->present = xrealloc(values->present, rows, sizeof(*values->present));
		scratch->levels = xrealloc(scratch->levels, rows, sizeof(*scratch->levels));
	}
	if (rows)
		memset(values->present, 1, rows);
	values->texts = NULL;
	values->text_count = 0;
	return values;
}

static void put_page_header(struct buf *out, enum page_type type, size_t raw, size_t packed,
			    size_t count, enum encoding encoding)
{
	struct thrift t = { .out = out };

	thrift_i32(&t, 1, type);
	thrift_i32(&t, 2, (int32_t)raw);
	thrift_i32(&t, 3, (int32_t)packed);
	thrift_open(&t, type == PAGE_DATA ? FIELD_DATA_HEADER : FIELD_DICTIONARY_HEADER);
	thrift_i32(&t, 1, (int32_t)count);
	thrift_i32(&t, 2, encoding);
	if (type == PAGE_DATA) {
		thrift_i32(&t, 3, ENCODING_RLE); /* definition levels */
		thrift_i32(&t, 4, ENCODING_RLE); /* repetition levels, which a flat schema lacks */
	}
	thrift_close(&t);
	thrift_close(&t);
}

/* Compresses the page of the scratch and appends it with its header. */
static int put_page(struct chunk *chunk, struct chunk_scratch *scratch, enum page_type type,
		    size_t count, enum encoding encoding)
{
	AUTO_BUF struct buf packed = { 0 };
	size_t before = chunk->bytes.len, header, n;

	if (scratch->page.len > PAGE_MAX)
		return -EFBIG;
	if (!scratch->zstd)
		scratch->zstd = ZSTD_createCCtx();
	buf_reserve(&packed, ZSTD_compressBound(scratch->page.len));
	n = ZSTD_compressCCtx(scratch->zstd, packed.data, packed.cap, buf_text(&scratch->page),
			      scratch->page.len, ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return -ENOMEM;
	put_page_header(&chunk->bytes, type, scratch->page.len, n, count, encoding);
	header = chunk->bytes.len - before;
	buf_add(&chunk->bytes, packed.data, n);
	chunk->raw_bytes += header + scratch->page.len;
	return 0;
}

/* Starts a data page: which rows have a value, if the column is nullable. */
static void put_levels(struct chunk_scratch *scratch, const struct parquet_field *field,
		       size_t rows)
{
	AUTO_BUF struct buf runs = { 0 };
	uint8_t length[4];

	buf_clear(&scratch->page);
	if (!field->nullable)
		return;
	for (size_t i = 0; i < rows; i++)
		scratch->levels[i] = scratch->values.present[i] != 0;
	encoding_runs(&runs, scratch->levels, rows, 1);
	store_u32(length, (uint32_t)runs.len);
	buf_add(&scratch->page, length, sizeof(length));
	buf_add(&scratch->page, buf_text(&runs), runs.len);
}

/* Moves the values that are present to the front. Returns their number. */
static size_t drop_nulls(struct parquet_values *values, size_t rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows; i++)
		if (values->present[i])
			values->numbers[kept++] = values->numbers[i];
	return kept;
}

static void put_range(struct buf *out, int64_t value, enum parquet_type type)
{
	uint8_t bytes[8];

	store_u64(bytes, (uint64_t)value);
	buf_clear(out);
	buf_add(out, bytes, type == PARQUET_BOOL ? 1 : type == PARQUET_INT32 ? 4 : 8);
}

static void find_number_range(struct chunk *chunk, const int64_t *numbers, size_t count,
			      enum parquet_type type)
{
	int64_t min = INT64_MAX, max = INT64_MIN;

	for (size_t i = 0; i < count; i++) {
		min = i64_min(min, numbers[i]);
		max = i64_max(max, numbers[i]);
	}
	chunk->has_range = count > 0;
	put_range(&chunk->min, min, type);
	put_range(&chunk->max, max, type);
}

static int encode_numbers(struct chunk *chunk, struct chunk_scratch *scratch,
			  const struct parquet_field *field, size_t count, size_t rows)
{
	const int64_t *numbers = scratch->values.numbers;

	find_number_range(chunk, numbers, count, field->type);
	chunk->encoding = ENCODING_PLAIN;
	if (field->type == PARQUET_BOOL) {
		encoding_pack(&scratch->page, (const uint64_t *)numbers, count, 1);
	} else if (count) {
		chunk->encoding = ENCODING_DELTA;
		encoding_delta(&scratch->page, numbers, count,
			       field->type == PARQUET_INT32 ? 32 : 64);
	}
	return put_page(chunk, scratch, PAGE_DATA, rows, chunk->encoding);
}

/* Replaces the numbers of texts by their positions in a new dictionary. Returns its size. */
static size_t make_dictionary(struct chunk_scratch *scratch, size_t count)
{
	struct parquet_values *values = &scratch->values;
	size_t size = 0;

	if (values->text_count > scratch->text_cap || scratch->stamp == UINT32_MAX) {
		free(scratch->stamps);
		free(scratch->places);
		scratch->text_cap = size_max(values->text_count, scratch->text_cap);
		scratch->stamps = xcalloc(scratch->text_cap, sizeof(*scratch->stamps));
		scratch->places = xcalloc(scratch->text_cap, sizeof(*scratch->places));
		scratch->stamp = 0;
	}
	scratch->stamp++;
	for (size_t i = 0; i < count; i++) {
		int64_t text = values->numbers[i];

		if (scratch->stamps[text] != scratch->stamp) {
			scratch->stamps[text] = scratch->stamp;
			scratch->places[text] = (uint32_t)size;
			scratch->used = xgrow(scratch->used, &scratch->used_cap, size + 1,
					      sizeof(*scratch->used));
			scratch->used[size++] = text;
		}
		scratch->levels[i] = scratch->places[text];
	}
	return size;
}

/* Writes the texts of a dictionary, which is not empty, and finds the first and the last of them.
 */
static void put_dictionary(struct chunk *chunk, struct chunk_scratch *scratch, size_t size)
{
	const char *const *texts = scratch->values.texts;
	const char *min = texts[scratch->used[0]], *max = min;

	buf_clear(&scratch->page);
	for (size_t i = 0; i < size; i++) {
		const char *text = texts[scratch->used[i]];
		uint8_t length[4];

		store_u32(length, (uint32_t)strlen(text));
		buf_add(&scratch->page, length, sizeof(length));
		buf_puts(&scratch->page, text);
		/* strcmp() compares bytes as unsigned numbers, as Parquet requires. */
		min = strcmp(text, min) < 0 ? text : min;
		max = strcmp(text, max) > 0 ? text : max;
	}
	chunk->has_range = strlen(min) <= RANGE_TEXT_MAX && strlen(max) <= RANGE_TEXT_MAX;
	buf_clear(&chunk->min);
	buf_clear(&chunk->max);
	buf_puts(&chunk->min, min);
	buf_puts(&chunk->max, max);
}

static int encode_texts(struct chunk *chunk, struct chunk_scratch *scratch,
			const struct parquet_field *field, size_t count, size_t rows)
{
	size_t size = make_dictionary(scratch, count);
	AUTO_BUF struct buf indexes = { 0 };
	unsigned width = encoding_width(size - 1);
	int r;

	buf_putc(&indexes, (char)width);
	encoding_runs(&indexes, scratch->levels, count, width);
	put_dictionary(chunk, scratch, size);
	r = put_page(chunk, scratch, PAGE_DICTIONARY, size, ENCODING_PLAIN);
	if (r < 0)
		return r;
	chunk->dictionary_bytes = chunk->bytes.len;
	chunk->encoding = ENCODING_DICTIONARY;
	put_levels(scratch, field, rows);
	buf_add(&scratch->page, indexes.data, indexes.len);
	return put_page(chunk, scratch, PAGE_DATA, rows, ENCODING_DICTIONARY);
}

int chunk_encode(struct chunk *chunk, struct chunk_scratch *scratch,
		 const struct parquet_field *field, size_t rows)
{
	size_t count;

	buf_clear(&chunk->bytes);
	chunk->dictionary_bytes = chunk->raw_bytes = 0;
	chunk->has_range = false;
	put_levels(scratch, field, rows);
	count = drop_nulls(&scratch->values, rows);
	chunk->nulls = rows - count;
	/* A column without any value needs no dictionary. */
	if (field->type == PARQUET_TEXT && count)
		return encode_texts(chunk, scratch, field, count, rows);
	return encode_numbers(chunk, scratch, field, count, rows);
}
