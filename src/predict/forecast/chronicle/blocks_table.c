/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/chronicle/blocks_table.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/unit.h"
#include "predict/forecast/chronicle/blocks_lines.h"

void blocks_table_release(struct blocks_table *table)
{
	buf_release(&table->header);
	free(table->rows);
	*table = (struct blocks_table){ 0 };
}

static int parse_size(const struct lines *lines, const char *word, uint64_t *sizes, size_t count,
		      struct err *err)
{
	if (count == CHRONICLE_SIZES)
		return err_set(err, E2BIG, "%s:%zu: more than %d sizes", LINE_AT(lines),
			       CHRONICLE_SIZES);
	if (unit_parse_bytes(word, &sizes[count]) < 0 || !sizes[count])
		return err_set(err, EINVAL,
			       "%s:%zu: invalid size \"%.60s\": expected column titles such as "
			       "\"OSS id 1MB 64MB\" after Performance:",
			       LINE_AT(lines), word);
	for (size_t i = 0; i < count; i++)
		if (sizes[i] == sizes[count])
			return err_set(err, EINVAL, "%s:%zu: duplicate size %.60s", LINE_AT(lines),
				       word);
	return 0;
}

/* Parses "OSS id 1MB 64MB". Words before the first one that starts with a digit are a title. */
static int parse_columns(struct blocks_table *table, const struct lines *lines, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(buf_text(&lines->line));
	uint64_t sizes[CHRONICLE_SIZES] = { 0 };
	size_t count = 0, titles = 0;
	char *rest = copy, *word;
	int r;

	while ((word = next_word(&rest))) {
		if (!count && !isdigit((unsigned char)*word)) {
			titles++;
			continue;
		}
		r = parse_size(lines, word, sizes, count, err);
		if (r < 0)
			return r;
		count++;
	}
	if (!titles)
		return err_set(err, EINVAL,
			       "%s:%zu: expected column titles such as \"OSS id 1MB 64MB\" after "
			       "Performance:",
			       LINE_AT(lines));
	memcpy(table->sizes, sizes, count * sizeof(*sizes));
	table->size_count = count;
	return 0;
}

/* Most blocks have the same header as the previous one, so compare it first. */
int blocks_table_header(struct blocks_table *table, const struct lines *lines, struct err *err)
{
	int r;

	if (table->header.len && strcmp(buf_text(&table->header), buf_text(&lines->line)) == 0)
		return 0;
	r = parse_columns(table, lines, err);
	if (r < 0)
		return r;
	buf_clear(&table->header);
	buf_puts(&table->header, buf_text(&lines->line));
	return 0;
}

/* Parses "0.5206s". The unit is required because a truncated number would be a wrong number. */
static bool parse_seconds(const char *text, double *seconds)
{
	size_t n = strlen(text);

	return n > 1 && text[n - 1] == 's' && number_parse(text, n - 1, seconds) && *seconds >= 0 &&
	       *seconds <= (double)FLT_MAX;
}

static bool parse_cell(char *word, enum sample_method method, double *seconds, int *outcome)
{
	char *slash = strchr(word, '/');
	int named = (int)method;

	if (strcmp(word, "-") == 0) {
		*outcome = -1;
		return true;
	}
	if (slash) {
		*slash = 0;
		named = find_word(SAMPLE_METHODS, slash + 1);
	}
	*seconds = 0;
	if (strcmp(word, "full") == 0)
		*outcome = SAMPLE_FULL;
	else if (strcmp(word, "failed") == 0)
		*outcome = SAMPLE_FAILED;
	else if (parse_seconds(word + (*word == '>'), seconds))
		*outcome = *word == '>' ? SAMPLE_TIMEOUT : SAMPLE_DONE;
	else
		named = -1;
	if (named < 0)
		return false;
	*outcome |= named << SAMPLE_METHOD_SHIFT;
	return true;
}

int blocks_table_row(struct blocks_table *table, struct lines *lines, enum sample_method method,
		     struct err *err)
{
	char *rest = lines->line.data, *word = next_word(&rest), none[] = "";
	struct blocks_row row = { 0 };
	size_t count = 0;
	int r = decode_word_name(lines, word ? word : none, "target", row.target, CHRONICLE_NAME,
				 err);

	if (r < 0)
		return r;
	for (; (word = next_word(&rest)); count++) {
		if (count == table->size_count)
			return err_set(err, EINVAL, "%s:%zu: too many cells for %zu sizes",
				       LINE_AT(lines), table->size_count);
		if (!parse_cell(word, method, &row.seconds[count], &row.outcome[count]))
			return err_set(
				err, EINVAL,
				"%s:%zu: invalid cell \"%.60s\": expected a duration such as "
				"0.5206s or >30s, or full, failed or -",
				LINE_AT(lines), word);
	}
	if (count < table->size_count)
		return err_set(err, EINVAL, "%s:%zu: %zu cells for %zu sizes", LINE_AT(lines),
			       count, table->size_count);
	table->rows =
		xgrow(table->rows, &table->row_cap, table->row_count + 1, sizeof(*table->rows));
	table->rows[table->row_count++] = row;
	return 0;
}
