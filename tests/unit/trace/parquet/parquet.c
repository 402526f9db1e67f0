/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of files. tests/run/export_duckdb.sh reads files with a query engine.
 */
#include "trace/parquet/parquet.h"

#include <errno.h>
#include <zstd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "trace/container/wire.h"

static const struct parquet_field fields[] = {
	{ "number", PARQUET_INT64, false },
	{ "text", PARQUET_TEXT, true },
};
static const struct parquet_schema schema = { fields, 2, 1 };
static const struct parquet_pair pairs[] = { { "key", "value" }, { NULL, NULL } };

/* Row i: 100 + i; "ab" in every even row if there are texts, else null. */
static void fill(const void *arg, size_t column, struct parquet_values *values)
{
	static const char *const texts[] = { "unused", "ab" };
	const struct parquet_rows *rows = arg;

	for (size_t i = 0; i < rows->count; i++) {
		values->numbers[i] = column ? 1 : 100 + (int64_t)i;
		values->present[i] = !column || i % 2 == 0;
	}
	values->texts = texts;
	values->text_count = 2;
}

static void write_rows(const char *name, const size_t *counts, struct buf *content)
{
	struct parquet_encoder *encoder = parquet_encoder_new(2);
	AUTO_FREE char *path = check_path(name);
	struct parquet file;
	struct err err = { 0 };

	parquet_init(&file, path, &schema);
	for (; *counts; counts++) {
		struct parquet_rows rows = { .count = *counts, .fill = fill };

		rows.arg = &rows;
		REQUIRE(parquet_add(&file, encoder, &rows, &err) == 0);
	}
	REQUIRE(parquet_finish(&file, pairs, &err) == 0);
	REQUIRE(file_read_all(content, path, 0, &err) == 0);
	CHECK_INT(content->len, file.bytes);
	parquet_release(&file);
	parquet_encoder_free(encoder);
}

static size_t footer_bytes(const struct buf *content)
{
	return load_u32((const uint8_t *)content->data + content->len - 8);
}

static void an_empty_file_has_magic_and_footer_only(void)
{
	AUTO_BUF struct buf content = { 0 };
	/* version 2; schema of 3 elements; no row; no group; one pair; writer; orders */
	static const char footer[] =
		"\x15\x04\x19\x3c\x48\x06schema\x15\x04\x00"
		"\x15\x04\x25\x00\x18\x06number\x00"
		"\x15\x0c\x25\x02\x18\x04text\x25\x00\x4c\x1c\x00\x00\x00"
		"\x16\x00\x19\x0c\x19\x1c\x18\x03key\x18\x05value\x00\x18\x14sluice "
		"version " SLUICE_VERSION "\x19\x2c\x1c\x00\x00\x1c\x00\x00\x00";

	write_rows("empty", (size_t[]){ 0 }, &content);
	CHECK_BYTES(content.data + 4, footer_bytes(&content), footer);
	CHECK(memcmp(content.data, "PAR1", 4) == 0);
	CHECK(memcmp(content.data + content.len - 4, "PAR1", 4) == 0);
	CHECK_INT(content.len, 4 + footer_bytes(&content) + 8);
}

/* Unpacks the page at *at and moves on. The sizes in its header are single bytes, doubled. */
static size_t unpack_page(const uint8_t **at, size_t header, uint8_t *out, size_t cap)
{
	size_t packed = (*at)[5] / 2, n = ZSTD_decompress(out, cap, *at + header, packed);

	REQUIRE(!ZSTD_isError(n));
	CHECK_INT(n, (*at)[3] / 2);
	*at += header + packed;
	return n;
}

static void pages_hold_levels_and_values(void)
{
	AUTO_BUF struct buf content = { 0 };
	const uint8_t *at;
	uint8_t page[256];

	write_rows("pages", (size_t[]){ 4, 0 }, &content);
	at = (const uint8_t *)content.data + 4;
	/* A data page of 4 values with encodings 5, 3 and 3: 100 to 103 as differences. */
	CHECK_BYTES(at + 6, 11, "\x2c\x15\x08\x15\x0a\x15\x06\x15\x06\x00\x00");
	CHECK_BYTES(page, unpack_page(&at, 17, page, sizeof(page)),
		    "\x80\x01\x04\x04\xc8\x01\x02\x00\x00\x00\x00");
	/* A dictionary page with one text; then a data page with levels 1, 0, 1, 0. */
	CHECK_BYTES(at + 6, 7, "\x4c\x15\x02\x15\x00\x00\x00");
	CHECK_BYTES(page, unpack_page(&at, 13, page, sizeof(page)),
		    "\x02\x00\x00\x00"
		    "ab");
	CHECK_BYTES(at + 6, 11, "\x2c\x15\x08\x15\x10\x15\x06\x15\x06\x00\x00");
	CHECK_BYTES(page, unpack_page(&at, 17, page, sizeof(page)),
		    "\x02\x00\x00\x00\x03\x05\x01\x03\x00");
}

static void an_existing_file_is_not_touched(void)
{
	AUTO_BUF struct buf content = { 0 }, after = { 0 };
	AUTO_FREE char *path = check_path("exists");
	struct parquet file;
	struct err err = { 0 };

	write_rows("exists", (size_t[]){ 1, 0 }, &content);
	parquet_init(&file, path, &schema);
	CHECK_INT(parquet_finish(&file, pairs, &err), -EEXIST);
	parquet_release(&file);
	REQUIRE(file_read_all(&after, path, 0, &err) == 0);
	CHECK(after.len == content.len && memcmp(after.data, content.data, after.len) == 0);
}

static void rows_are_counted_over_groups(void)
{
	AUTO_BUF struct buf content = { 0 };
	const char *footer;

	/* The second group is large enough for threads, and has several blocks of differences. */
	write_rows("groups", (size_t[]){ 3, 20000, 0 }, &content);
	footer = content.data + content.len - 8 - footer_bytes(&content);
	/* Field 3: 20003 rows; field 4: a list of 2 groups. */
	CHECK(memmem(footer, footer_bytes(&content), "\x16\xc6\xb8\x02\x19\x2c", 6));
	CHECK(content.len < 2000);
}

TESTS(TEST(an_empty_file_has_magic_and_footer_only), TEST(pages_hold_levels_and_values),
      TEST(an_existing_file_is_not_touched), TEST(rows_are_counted_over_groups))
