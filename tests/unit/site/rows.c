/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-34, SIOX-AC-7.
 */
#include "site/rows.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

#define UUID "00112233445566778899aabbccddeeff"

static void add_note(struct rows_writer *rows, const char *value)
{
	const struct schema_table *table = schema_find("note");
	struct row_value values[ROWS_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < table->count; i++)
		values[i] = table->columns[i].type == COLUMN_TEXT ? row_text(value)
								  : row_number(-(int64_t)i);
	rows_add(rows, table, values);
}

static void add_finding(struct rows_writer *rows, double share)
{
	const struct schema_table *table = schema_find("finding");
	struct row_value values[ROWS_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < table->count; i++)
		values[i] = table->columns[i].type == COLUMN_TEXT   ? row_text("x")
			    : table->columns[i].type == COLUMN_REAL ? row_real(share)
								    : row_number(INT16_MAX);
	rows_add(rows, table, values);
}

static void what_was_written_is_read(void)
{
	struct row_value values[ROWS_COLUMNS_MAX];
	struct rows_writer rows = { 0 };
	struct rows_reader reader;
	struct err err = { 0 };

	rows_start(&rows, UUID);
	CHECK(rows_is_empty(&rows));
	add_note(&rows, "a\n\xc3\xa9");
	add_note(&rows, "");
	add_finding(&rows, 0.25);
	add_finding(&rows, NAN);
	add_note(&rows, "not UTF-8: \xff");
	rows_finish(&rows);
	CHECK(!rows_is_empty(&rows));
	CHECK_INT(rows_check(rows.bytes.data, rows.bytes.len, &err), 0);
	CHECK_INT(rows_open(&reader, rows.bytes.data, rows.bytes.len, &err), 0);
	CHECK_TEXT(reader.uuid, UUID);
	CHECK_INT(rows_next_block(&reader, &err), 1);
	CHECK_TEXT(reader.table->name, "note");
	CHECK_INT(rows_next(&reader, values, &err), 1);
	CHECK_INT(values[8].text_bytes, 4);
	CHECK(!memcmp(values[8].text, "a\n\xc3\xa9", 4));
	CHECK_INT(values[2].number, -2);
	CHECK(!values[0].is_set); /* the run is known to the database only */
	CHECK_INT(rows_next(&reader, values, &err), 1);
	CHECK_INT(values[8].text_bytes, 0);
	CHECK_INT(rows_next(&reader, values, &err), 0);
	CHECK_INT(rows_next_block(&reader, &err), 1);
	CHECK_INT(rows_next(&reader, values, &err), 1);
	CHECK(values[5].is_set && values[5].real == 0.25);
	CHECK_INT(values[4].number, INT16_MAX);
	CHECK_INT(rows_next(&reader, values, &err), 1);
	CHECK(!values[5].is_set);
	CHECK_INT(rows_next(&reader, values, &err), 0);
	CHECK_INT(rows_next_block(&reader, &err), 1);
	CHECK_INT(rows_next(&reader, values, &err), 1);
	CHECK(!memcmp(values[8].text, "not UTF-8: \\xff", values[8].text_bytes));
	CHECK_INT(rows_next(&reader, values, &err), 0);
	CHECK_INT(rows_next_block(&reader, &err), 0);
	rows_release(&rows);
}

/* A changed byte gives another valid payload or an error, but never a read beyond its end. */
static void damaged_payloads_are_refused(void)
{
	struct rows_writer rows = { 0 };
	struct err err = { 0 };
	int refused = 0;

	rows_start(&rows, UUID);
	add_note(&rows, "some text");
	add_finding(&rows, 1);
	rows_finish(&rows);
	for (size_t n = 0; n < rows.bytes.len; n++) {
		AUTO_FREE char *copy = xmalloc(n + 1);

		memcpy(copy, rows.bytes.data, n);
		if (n != 40) /* the header alone is a payload without rows */
			CHECK(rows_check(copy, n, &err) == -EBADMSG || n > 40);
	}
	for (size_t n = 0; n < rows.bytes.len; n++)
		for (int bit = 0; bit < 8; bit++) {
			AUTO_FREE char *copy = xmalloc(rows.bytes.len);
			int r;

			memcpy(copy, rows.bytes.data, rows.bytes.len);
			copy[n] ^= (char)(1 << bit);
			r = rows_check(copy, rows.bytes.len, &err);
			CHECK(r == 0 || r == -EBADMSG);
			refused += r != 0;
		}
	CHECK(refused > 300);
	rows_release(&rows);
}

static void tables_that_are_not_sent_are_refused(void)
{
	static const char payload[] = "SLR1\x09\0\0\0" UUID "\x06"
				      "source\0\0\0\0\0\0\0\0";
	struct err err = { 0 };

	CHECK_INT(rows_check(payload, sizeof(payload) - 1, &err), -EBADMSG);
	CHECK_WORDS(err.text, "unknown table");
}

static void no_table_exceeds_the_limit_of_columns(void)
{
	for (size_t i = 0; i < schema_table_count; i++)
		CHECK(schema_tables[i].count <= ROWS_COLUMNS_MAX);
}

TESTS(TEST(what_was_written_is_read), TEST(damaged_payloads_are_refused),
      TEST(tables_that_are_not_sent_are_refused), TEST(no_table_exceeds_the_limit_of_columns))
