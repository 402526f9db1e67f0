/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/costs/rows.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "learn/math/vector.h"
#include "predict/model/operation.h"
#include "store/elements.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)

enum kind { KIND_TEXT, KIND_REAL, KIND_WHOLE };

struct column {
	const char *name;
	enum kind kind;
	size_t offset, bytes; /* bytes: capacity of a text */
	bool is_required;
};

#define TEXT_AT(field, needed) \
	KIND_TEXT, offsetof(struct element, field), sizeof(((struct element *)0)->field), needed
#define REAL_AT(field, needed) KIND_REAL, offsetof(struct element, field), 0, needed
#define WHOLE_AT(field) KIND_WHOLE, offsetof(struct element, field), 0, false

static const struct column columns[] = {
	{ "platform", TEXT_AT(platform, true) },
	{ "operation", TEXT_AT(operation, true) },
	{ "nodes", REAL_AT(nodes, true) },
	{ "cores", REAL_AT(cores, true) },
	{ "senders", REAL_AT(senders, false) },
	{ "receivers", REAL_AT(receivers, false) },
	{ "writers", REAL_AT(writers, false) },
	{ "bytes", REAL_AT(bytes, true) },
	{ "placement", TEXT_AT(placement, false) },
	{ "cache", TEXT_AT(cache, false) },
	{ "round", WHOLE_AT(round) },
	{ "repetition", WHOLE_AT(repetition) },
	{ "seconds", REAL_AT(seconds, true) },
	{ "time_ns", WHOLE_AT(time_ns) },
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void write_field(struct buf *out, const struct column *column, const struct element *row)
{
	const void *field = (const char *)row + column->offset;
	char number[NUMBER_TEXT_MAX];

	switch (column->kind) {
	case KIND_TEXT:
		buf_put_csv_cell(out, field);
		break;
	case KIND_REAL:
		number_format(*(const double *)field, number);
		buf_puts(out, number);
		break;
	case KIND_WHOLE:
		buf_printf(out, "%lld", (long long)*(const int64_t *)field);
		break;
	}
}

void rows_write(const struct elements *rows, struct buf *out)
{
	for (size_t c = 0; c < COLUMNS; c++)
		buf_printf(out, "%s%s", c ? "," : "", columns[c].name);
	buf_putc(out, '\n');
	for (size_t i = 0; i < rows->count; i++)
		for (size_t c = 0; c < COLUMNS; c++) {
			write_field(out, &columns[c], &rows->rows[i]);
			buf_putc(out, c + 1 < COLUMNS ? ',' : '\n');
		}
}

struct reader {
	const char *name, *at, *end; /* at..end: the remaining text */
	size_t line;
	const struct column *order[COLUMNS]; /* the columns of the file */
	size_t count;
	struct buf cell;
	struct err *err;
};

static int report_field(const struct reader *r, const struct column *column, const char *why)
{
	AUTO_FREE char *shown = xstrndup(buf_text(&r->cell), 40);

	for (char *c = shown; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return err_set(r->err, EINVAL, "%s:%zu: %s: \"%s\" %s", r->name, r->line,
		       column ? column->name : "first line", shown, why);
}

/* Reads the quoted part of a field, after its first quote. */
static int read_quoted(struct reader *r)
{
	while (r->at < r->end) {
		char c = *r->at++;

		if (c == '\n' || !c)
			break;
		if (c != '"') {
			buf_putc(&r->cell, c);
		} else if (r->at < r->end && *r->at == '"') {
			buf_putc(&r->cell, '"');
			r->at++;
		} else {
			return 0;
		}
	}
	return err_set(r->err, EINVAL, "%s:%zu: missing closing quote", r->name, r->line);
}

/* Reads the next field of the line into r->cell. Returns 1 if it was the last one; the newline
 * remains. */
static int next_field(struct reader *r)
{
	bool was_quoted = r->at < r->end && *r->at == '"';
	int ret;

	buf_clear(&r->cell);
	if (was_quoted) {
		r->at++;
		ret = read_quoted(r);
		if (ret < 0)
			return ret;
	}
	while (r->at < r->end && *r->at != ',' && *r->at != '\n') {
		char c = *r->at++;

		if (c == '\r' && (r->at == r->end || *r->at == '\n'))
			break;
		if (was_quoted || !c)
			return err_set(r->err, EINVAL, "%s:%zu: %s", r->name, r->line,
				       c ? "unexpected text after a closing quote"
					 : "the file contains a zero byte; it is not a text file");
		buf_putc(&r->cell, c);
	}
	if (r->at < r->end && *r->at == ',') {
		r->at++;
		return 0;
	}
	return 1;
}

/* Skips the newline and empty lines. Returns false at the end. */
static bool next_line(struct reader *r)
{
	while (r->at < r->end && (*r->at == '\n' || *r->at == '\r')) {
		r->line += *r->at == '\n';
		r->at++;
	}
	return r->at < r->end;
}

static int add_column(struct reader *r)
{
	const char *name = buf_text(&r->cell);
	size_t c = 0;

	while (c < COLUMNS && strcmp(columns[c].name, name) != 0)
		c++;
	if (c == COLUMNS)
		return report_field(r, NULL, "is not a known column");
	for (size_t i = 0; i < r->count; i++)
		if (r->order[i] == &columns[c])
			return report_field(r, NULL, "is given twice");
	r->order[r->count++] = &columns[c];
	return 0;
}

static int read_header(struct reader *r)
{
	int last = 0;

	if (!next_line(r))
		return err_set(r->err, EINVAL,
			       "%s: the file is empty; expected a line with column names", r->name);
	while (!last) {
		int ret;

		last = next_field(r);
		if (last < 0)
			return last;
		ret = add_column(r);
		if (ret < 0)
			return ret;
	}
	for (size_t c = 0; c < COLUMNS; c++) {
		size_t i = 0;

		while (i < r->count && r->order[i] != &columns[c])
			i++;
		if (i == r->count && columns[c].is_required)
			return err_set(r->err, EINVAL, "%s:%zu: missing column %s", r->name,
				       r->line, columns[c].name);
	}
	return 0;
}

static int read_text(const struct reader *r, const struct column *column, char *to)
{
	const char *text = buf_text(&r->cell);

	if (strlen(text) >= column->bytes)
		return report_field(r, column, "is too long");
	if (escape_is_needed(text))
		return report_field(r, column, "contains a control character");
	if (column->is_required && !*text)
		return report_field(r, column, "is empty");
	strcpy(to, text);
	return 0;
}

static int read_real(const struct reader *r, const struct column *column, double *to)
{
	if (!number_parse(buf_text(&r->cell), r->cell.len, to) || !isfinite(*to))
		return report_field(r, column, "is not a number");
	return *to < 0 ? report_field(r, column, "is negative") : 0;
}

static int read_whole(const struct reader *r, const struct column *column, int64_t *to)
{
	const char *text = buf_text(&r->cell);
	char *end;

	errno = 0;
	*to = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end)
		return report_field(r, column,
				    *text == '-' ? "is negative" : "is not a whole number");
	return errno ? report_field(r, column, "is too large") : 0;
}

static int read_field(const struct reader *r, const struct column *column, struct element *row)
{
	void *field = (char *)row + column->offset;

	switch (column->kind) {
	case KIND_TEXT:
		return read_text(r, column, field);
	case KIND_REAL:
		return read_real(r, column, field);
	default:
		return read_whole(r, column, field);
	}
}

/* Checks what depends on several fields. */
static int check_row(const struct reader *r, const struct element *row)
{
	if (operation_by_name(row->operation) < 0)
		return err_set(r->err, EINVAL, "%s:%zu: unknown operation \"%s\"", r->name, r->line,
			       row->operation);
	if (row->nodes < 1 || row->cores <= 0)
		return err_set(r->err, EINVAL,
			       "%s:%zu: nodes must be at least 1, and cores positive", r->name,
			       r->line);
	return 0;
}

static int read_row(struct reader *r, struct element *row)
{
	for (size_t i = 0; i < r->count; i++) {
		int last = next_field(r), ret;

		if (last < 0)
			return last;
		if (last != (i + 1 == r->count))
			return err_set(r->err, EINVAL,
				       "%s:%zu: the line has %s fields than the first line",
				       r->name, r->line, last ? "fewer" : "more");
		ret = read_field(r, r->order[i], row);
		if (ret < 0)
			return ret;
	}
	return check_row(r, row);
}

int rows_parse(struct elements *out, const char *name, const char *text, size_t bytes,
	       struct err *err)
{
	struct reader r = { .name = name, .at = text, .end = text + bytes, .line = 1, .err = err };
	size_t before = out->count;
	int ret = read_header(&r);

	while (ret >= 0 && next_line(&r)) {
		struct element row = { 0 };

		ret = read_row(&r, &row);
		if (ret >= 0)
			elements_add(out, &row);
	}
	buf_release(&r.cell);
	if (ret < 0)
		out->count = before;
	return ret < 0 ? ret : 0;
}

int rows_read(struct elements *out, const char *path, struct err *err)
{
	bool is_input = strcmp(path, "-") == 0;
	AUTO_BUF struct buf text = { 0 };
	int r = is_input ? file_read_input(&text, FILE_BYTES_MAX, err)
			 : file_read_all(&text, path, FILE_BYTES_MAX, err);

	if (r < 0)
		return r;
	return rows_parse(out, is_input ? "standard input" : path, buf_text(&text), text.len, err);
}

static int write_and_close(FILE *file, const struct buf *text)
{
	bool is_good = fwrite(text->data, 1, text->len, file) == text->len;

	return fclose(file) == 0 && is_good ? 0 : -(errno ? errno : EIO);
}

int rows_save(const struct elements *rows, const char *path, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	FILE *file;
	int ret;

	rows_write(rows, &text);
	if (strcmp(path, "-") != 0)
		return file_write_all(path, buf_text(&text), text.len, err);
	file = fdopen(dup(STDOUT_FILENO), "w");
	if (!file)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	ret = write_and_close(file, &text);
	return ret < 0 ? err_set(err, -ret, "%s: %s", path, strerror(-ret)) : 0;
}

static int number_compare(double a, double b)
{
	return (a > b) - (a < b);
}

/* Returns 0 if the rows belong to one cell. */
static int compare_cells(const struct element *a, const struct element *b)
{
	const double differences[] = {
		strcmp(a->operation, b->operation),
		number_compare(a->nodes, b->nodes),
		number_compare(a->cores, b->cores),
		number_compare(a->senders, b->senders),
		number_compare(a->receivers, b->receivers),
		number_compare(a->writers, b->writers),
		number_compare(a->bytes, b->bytes),
		strcmp(a->placement, b->placement),
		strcmp(a->cache, b->cache),
		strcmp(a->platform, b->platform),
	};

	for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
		if (differences[i] != 0)
			return differences[i] < 0 ? -1 : 1;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct element *x = *(const struct element *const *)a,
			     *y = *(const struct element *const *)b;
	int d = compare_cells(x, y);

	return d ? d : (x > y) - (x < y);
}

static int compare_first(const void *a, const void *b)
{
	const struct rows_cell *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static void compute_statistics(struct rows_cell *cell, const struct element *const *sorted)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < cell->count; i++)
		sum += sorted[i]->seconds;
	cell->mean = sum / (double)cell->count;
	for (size_t i = 0; i < cell->count; i++)
		squares += (sorted[i]->seconds - cell->mean) * (sorted[i]->seconds - cell->mean);
	cell->deviation = cell->count > 1 ? sqrt(squares / (double)(cell->count - 1)) : 0;
}

size_t rows_cells(const struct elements *rows, struct rows_cell **cells)
{
	AUTO_FREE const struct element **sorted = xcalloc(rows->count + 1, sizeof(*sorted));
	struct rows_cell *out = xcalloc(rows->count + 1, sizeof(*out));
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		sorted[i] = &rows->rows[i];
	qsort(sorted, rows->count, sizeof(*sorted), compare_rows);
	for (size_t i = 0, end; i < rows->count; i = end) {
		for (end = i + 1; end < rows->count; end++)
			if (compare_cells(sorted[i], sorted[end]) != 0)
				break;
		out[count] = (struct rows_cell){ .first = (size_t)(sorted[i] - rows->rows),
						 .count = end - i };
		compute_statistics(&out[count++], sorted + i);
	}
	qsort(out, count, sizeof(*out), compare_first);
	*cells = out;
	return count;
}

void rows_means(const struct elements *rows, struct elements *out)
{
	AUTO_FREE struct rows_cell *cells = NULL;
	size_t count = rows_cells(rows, &cells);

	for (size_t i = 0; i < count; i++) {
		struct element row = rows->rows[cells[i].first];

		row.seconds = cells[i].mean;
		elements_add(out, &row);
	}
}

static int compare_rounds(const void *a, const void *b)
{
	const struct element *x = *(struct element *const *)a, *y = *(struct element *const *)b;
	int d = compare_cells(x, y);

	if (!d)
		d = (x->round > y->round) - (x->round < y->round);
	if (!d)
		d = (x->repetition > y->repetition) - (x->repetition < y->repetition);
	return d ? d : (x > y) - (x < y);
}

void rows_number(struct elements *rows)
{
	AUTO_FREE struct element **sorted = xcalloc(rows->count + 1, sizeof(*sorted));

	for (size_t i = 0; i < rows->count; i++)
		sorted[i] = &rows->rows[i];
	qsort(sorted, rows->count, sizeof(*sorted), compare_rounds);
	for (size_t i = 1; i < rows->count; i++) {
		const struct element *before = sorted[i - 1];

		if (compare_cells(before, sorted[i]) == 0 && before->round == sorted[i]->round &&
		    sorted[i]->repetition <= before->repetition)
			sorted[i]->repetition = before->repetition + 1;
	}
}

double rows_spread(const struct elements *rows, const char *operation)
{
	AUTO_FREE struct rows_cell *cells = NULL;
	size_t count = rows_cells(rows, &cells), n = 0;
	AUTO_FREE double *ratios = xcalloc(count + 1, sizeof(*ratios));

	for (size_t i = 0; i < count; i++)
		if (cells[i].count > 1 && cells[i].mean > 0 &&
		    strcmp(rows->rows[cells[i].first].operation, operation) == 0)
			ratios[n++] = cells[i].deviation / cells[i].mean;
	return n ? vector_median(ratios, n) : NAN;
}
