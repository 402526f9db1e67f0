/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a payload for the site's database. They are refused with a message, or
 * their rows are the same after they were written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "site/rows.h"

static void require(int truth)
{
	if (!truth)
		abort();
}

/* Writes the row again, and compares what is read then. */
static void check_row(const struct schema_table *table, const struct row_value *values)
{
	struct row_value again[ROWS_COLUMNS_MAX], copy[ROWS_COLUMNS_MAX];
	char *texts[ROWS_COLUMNS_MAX] = { 0 };
	struct rows_writer writer = { 0 };
	struct rows_reader reader;

	for (size_t i = 0; i < table->count; i++) {
		copy[i] = values[i];
		if (values[i].is_set && values[i].text) {
			texts[i] = strndup(values[i].text, values[i].text_bytes);
			copy[i].text = texts[i];
		}
	}
	rows_start(&writer, "00112233445566778899aabbccddeeff");
	rows_add(&writer, table, copy);
	rows_finish(&writer);
	require(rows_open(&reader, writer.bytes.data, writer.bytes.len, NULL) == 0);
	require(rows_next_block(&reader, NULL) == 1 && reader.table == table);
	require(rows_next(&reader, again, NULL) == 1);
	for (size_t i = 0; i < table->count; i++) {
		require(again[i].is_set == values[i].is_set);
		if (!values[i].is_set)
			continue;
		require(again[i].number == values[i].number && again[i].real == values[i].real);
		require(again[i].text_bytes == values[i].text_bytes);
		require(!memcmp(again[i].text ? again[i].text : "",
				values[i].text ? values[i].text : "", values[i].text_bytes));
	}
	require(rows_next(&reader, again, NULL) == 0 && rows_next_block(&reader, NULL) == 0);
	rows_release(&writer);
	for (size_t i = 0; i < ROWS_COLUMNS_MAX; i++)
		free(texts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct row_value values[ROWS_COLUMNS_MAX];
	struct rows_reader reader;
	struct err err = { 0 };
	int r, checked = rows_check(data, size, &err);

	require(checked == 0 || (checked == -err.code && *err.text));
	r = rows_open(&reader, data, size, &err);
	while (!r && (r = rows_next_block(&reader, &err)) > 0)
		while ((r = rows_next(&reader, values, &err)) > 0)
			check_row(reader.table, values);
	require((r < 0) == (checked < 0));
	return 0;
}
