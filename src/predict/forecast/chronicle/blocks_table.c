/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/chronicle/blocks_table.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "base/number.h"
#include "predict/forecast/chronicle/blocks_lines.h"

void blocks_table_release(struct blocks_table *table)
{
	buf_release(&table->header);
	free(table->rows);
	*table = (struct blocks_table){ 0 };
}

static int size_read(const struct lines *lines, const char *word, uint64_t *sizes, size_t count,
		     struct err *err)
{
	if (count == CHRONICLE_SIZES)
		return err_set(err, E2BIG, "%s:%zu: has more than %d sizes", LINE_AT(lines),
			       CHRONICLE_SIZES);
	if (unit_parse_bytes(word, &sizes[count]) < 0 || !sizes[count])
		return err_set(err, EINVAL,
			       "%s:%zu: \"%.60s\" is no size such as 64MB: the line after "
			       "Performance: names the columns, as \"OSS id 1MB 64MB\"",
			       LINE_AT(lines), word);
	for (size_t i = 0; i < count; i++)
		if (sizes[i] == sizes[count])
			return err_set(err, EINVAL, "%s:%zu: has the size %.60s twice",
				       LINE_AT(lines), word);
	return 0;
}

/* "OSS id 1MB 64MB": words before the first that begins with a digit are a title. */
static int columns_read(struct blocks_table *table, const struct lines *lines, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(buf_text(&lines->line));
	uint64_t sizes[CHRONICLE_SIZES] = { 0 };
	size_t count = 0, titles = 0;
	char *rest = copy, *word;
	int r;

	while ((word = word_take(&rest))) {
		if (!count && !isdigit((unsigned char)*word)) {
			titles++;
			continue;
		}
		r = size_read(lines, word, sizes, count, err);
		if (r < 0)
			return r;
		count++;
	}
	if (!titles)
		return err_set(err, EINVAL,
			       "%s:%zu: the line after Performance: names the columns, as \"OSS id "
			       "1MB 64MB\"",
			       LINE_AT(lines));
	memcpy(table->sizes, sizes, count * sizeof(*sizes));
	table->size_count = count;
	return 0;
}

/* The header is mostly that of the block before. */
int blocks_table_header(struct blocks_table *table, const struct lines *lines, struct err *err)
{
	int r;

	if (table->header.len && strcmp(buf_text(&table->header), buf_text(&lines->line)) == 0)
		return 0;
	r = columns_read(table, lines, err);
	if (r < 0)
		return r;
	buf_clear(&table->header);
	buf_puts(&table->header, buf_text(&lines->line));
	return 0;
}

/* "0.5206s", ">30s"; with the unit, as a number that was cut off would be another number. */
static bool seconds_parse(const char *text, double *seconds)
{
	size_t n = strlen(text);

	return n > 1 && text[n - 1] == 's' && number_parse(text, n - 1, seconds) && *seconds >= 0 &&
	       *seconds <= (double)FLT_MAX;
}

static bool cell_parse(char *word, enum sample_method method, double *seconds, int *outcome)
{
	char *slash = strchr(word, '/');
	int named = (int)method;

	if (strcmp(word, "-") == 0) {
		*outcome = -1;
		return true;
	}
	if (slash) {
		*slash = 0;
		named = word_choice(SAMPLE_METHODS, slash + 1);
	}
	*seconds = 0;
	if (strcmp(word, "full") == 0)
		*outcome = SAMPLE_FULL;
	else if (strcmp(word, "failed") == 0)
		*outcome = SAMPLE_FAILED;
	else if (seconds_parse(word + (*word == '>'), seconds))
		*outcome = *word == '>' ? SAMPLE_TIMEOUT : SAMPLE_DONE;
	else
		named = -1;
	if (named < 0)
		return false;
	*outcome |= named << 4;
	return true;
}

int blocks_table_row(struct blocks_table *table, struct lines *lines, enum sample_method method,
		     struct err *err)
{
	char *rest = lines->line.data, *word = word_take(&rest), none[] = "";
	struct blocks_row row = { 0 };
	size_t count = 0;
	int r = word_name(lines, word ? word : none, "target", row.target, CHRONICLE_NAME, err);

	if (r < 0)
		return r;
	for (; (word = word_take(&rest)); count++) {
		if (count == table->size_count)
			return err_set(err, EINVAL,
				       "%s:%zu: has more cells than the table has sizes (%zu)",
				       LINE_AT(lines), table->size_count);
		if (!cell_parse(word, method, &row.seconds[count], &row.outcome[count]))
			return err_set(
				err, EINVAL,
				"%s:%zu: \"%.60s\" is no cell: write seconds with their unit "
				"as 0.5206s, >30s, full, failed or -",
				LINE_AT(lines), word);
	}
	if (count < table->size_count)
		return err_set(err, EINVAL, "%s:%zu: has %zu cells where the table has %zu sizes",
			       LINE_AT(lines), count, table->size_count);
	table->rows =
		xgrow(table->rows, &table->row_cap, table->row_count + 1, sizeof(*table->rows));
	table->rows[table->row_count++] = row;
	return 0;
}
