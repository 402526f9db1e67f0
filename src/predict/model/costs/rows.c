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
#include "base/mem.h"
#include "base/number.h"
#include "predict/model/operation.h"
#include "store/elements.h"

enum kind { KIND_TEXT, KIND_REAL, KIND_WHOLE };

struct column {
	const char *name;
	enum kind kind;
	size_t offset, bytes; /* bytes: room of a text */
	bool is_needed;
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

/* ---- writing ---- */

static void cell_write(struct buf *out, const struct column *column, const struct element *row)
{
	const void *field = (const char *)row + column->offset;
	char number[NUMBER_TEXT_MAX];

	switch (column->kind) {
	case KIND_TEXT:
		buf_cell(out, field);
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
			cell_write(out, &columns[c], &rows->rows[i]);
			buf_putc(out, c + 1 < COLUMNS ? ',' : '\n');
		}
}

/* ---- reading ---- */

struct reader {
	const char *name, *at, *end; /* what is left of the text */
	size_t line;
	const struct column *order[COLUMNS]; /* what the file's columns are */
	size_t count;
	struct buf cell;
	struct err *err;
};

static int complain(const struct reader *r, const struct column *column, const char *why)
{
	AUTO_FREE char *shown = xstrndup(buf_text(&r->cell), 40);

	for (char *c = shown; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return err_set(r->err, EINVAL, "%s:%zu: %s: \"%s\" %s", r->name, r->line,
		       column ? column->name : "first line", shown, why);
}

/* The quoted part of a cell, after its first quote. */
static int quoted_take(struct reader *r)
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
	return err_set(r->err, EINVAL, "%s:%zu: a quote is not closed", r->name, r->line);
}

/* The next cell of the line into r->cell; 1: it was the last one. The newline is left. */
static int cell_take(struct reader *r)
{
	bool was_quoted = r->at < r->end && *r->at == '"';
	int ret;

	buf_clear(&r->cell);
	if (was_quoted) {
		r->at++;
		ret = quoted_take(r);
		if (ret < 0)
			return ret;
	}
	while (r->at < r->end && *r->at != ',' && *r->at != '\n') {
		char c = *r->at++;

		if (c == '\r' && (r->at == r->end || *r->at == '\n'))
			break;
		if (was_quoted || !c)
			return err_set(r->err, EINVAL, "%s:%zu: %s", r->name, r->line,
				       c ? "something follows a closing quote"
					 : "there is a zero byte: this is no text");
		buf_putc(&r->cell, c);
	}
	if (r->at < r->end && *r->at == ',') {
		r->at++;
		return 0;
	}
	return 1;
}

/* Steps over the newline and empty lines. False at the end. */
static bool line_next(struct reader *r)
{
	while (r->at < r->end && (*r->at == '\n' || *r->at == '\r')) {
		r->line += *r->at == '\n';
		r->at++;
	}
	return r->at < r->end;
}

static int column_take(struct reader *r)
{
	const char *name = buf_text(&r->cell);
	size_t c = 0;

	while (c < COLUMNS && strcmp(columns[c].name, name) != 0)
		c++;
	if (c == COLUMNS)
		return complain(r, NULL, "is no column of benchmarks");
	for (size_t i = 0; i < r->count; i++)
		if (r->order[i] == &columns[c])
			return complain(r, NULL, "is there twice");
	r->order[r->count++] = &columns[c];
	return 0;
}

static int head_take(struct reader *r)
{
	int last = 0;

	if (!line_next(r))
		return err_set(r->err, EINVAL, "%s: is empty: the names of columns are missing",
			       r->name);
	while (!last) {
		int ret;

		last = cell_take(r);
		if (last < 0)
			return last;
		ret = column_take(r);
		if (ret < 0)
			return ret;
	}
	for (size_t c = 0; c < COLUMNS; c++) {
		size_t i = 0;

		while (i < r->count && r->order[i] != &columns[c])
			i++;
		if (i == r->count && columns[c].is_needed)
			return err_set(r->err, EINVAL, "%s:%zu: the column %s is missing", r->name,
				       r->line, columns[c].name);
	}
	return 0;
}

static int text_read(const struct reader *r, const struct column *column, char *to)
{
	const char *text = buf_text(&r->cell);

	if (strlen(text) >= column->bytes)
		return complain(r, column, "is too long");
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			return complain(r, column, "has a control character");
	if (column->is_needed && !*text)
		return complain(r, column, "is empty");
	strcpy(to, text);
	return 0;
}

static int real_read(const struct reader *r, const struct column *column, double *to)
{
	if (!number_parse(buf_text(&r->cell), r->cell.len, to) || !isfinite(*to))
		return complain(r, column, "is no number");
	return *to < 0 ? complain(r, column, "is negative") : 0;
}

static int whole_read(const struct reader *r, const struct column *column, int64_t *to)
{
	const char *text = buf_text(&r->cell);
	char *end;

	errno = 0;
	*to = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end)
		return complain(r, column, *text == '-' ? "is negative" : "is no whole number");
	return errno ? complain(r, column, "is too large") : 0;
}

static int field_read(const struct reader *r, const struct column *column, struct element *row)
{
	void *field = (char *)row + column->offset;

	switch (column->kind) {
	case KIND_TEXT:
		return text_read(r, column, field);
	case KIND_REAL:
		return real_read(r, column, field);
	default:
		return whole_read(r, column, field);
	}
}

/* What no single field can tell. */
static int row_check(const struct reader *r, const struct element *row)
{
	if (operation_by_name(row->operation) < 0)
		return err_set(r->err, EINVAL, "%s:%zu: operation: there is no \"%s\"", r->name,
			       r->line, row->operation);
	if (row->nodes < 1 || row->cores <= 0)
		return err_set(r->err, EINVAL, "%s:%zu: nodes, cores: there are no ranks", r->name,
			       r->line);
	return 0;
}

static int row_take(struct reader *r, struct element *row)
{
	for (size_t i = 0; i < r->count; i++) {
		int last = cell_take(r), ret;

		if (last < 0)
			return last;
		if (last != (i + 1 == r->count))
			return err_set(r->err, EINVAL, "%s:%zu: has %s fields than the first line",
				       r->name, r->line, last ? "fewer" : "more");
		ret = field_read(r, r->order[i], row);
		if (ret < 0)
			return ret;
	}
	return row_check(r, row);
}

int rows_parse(struct elements *out, const char *name, const char *text, size_t bytes,
	       struct err *err)
{
	struct reader r = { .name = name, .at = text, .end = text + bytes, .line = 1, .err = err };
	size_t before = out->count;
	int ret = head_take(&r);

	while (ret >= 0 && line_next(&r)) {
		struct element row = { 0 };

		ret = row_take(&r, &row);
		if (ret >= 0)
			elements_add(out, &row);
	}
	buf_release(&r.cell);
	if (ret < 0)
		out->count = before;
	return ret < 0 ? ret : 0;
}

/* ---- files ---- */

int rows_read(struct elements *out, const char *path, struct err *err)
{
	bool is_input = strcmp(path, "-") == 0;
	AUTO_FCLOSE FILE *file = is_input ? fdopen(dup(STDIN_FILENO), "r") : fopen(path, "re");
	AUTO_BUF struct buf text = { 0 };
	size_t n;

	if (!file)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	do {
		buf_reserve(&text, 1 << 16);
		n = fread(text.data + text.len, 1, 1 << 16, file);
		text.len += n;
		text.data[text.len] = 0;
	} while (n);
	if (ferror(file))
		return err_set(err, EIO, "%s: cannot be read", path);
	return rows_parse(out, is_input ? "standard input" : path, buf_text(&text), text.len, err);
}

static int file_write(FILE *file, const struct buf *text)
{
	bool is_good = fwrite(text->data, 1, text->len, file) == text->len;

	return fclose(file) == 0 && is_good ? 0 : -(errno ? errno : EIO);
}

int rows_save(const struct elements *rows, const char *path, struct err *err)
{
	bool is_output = strcmp(path, "-") == 0;
	AUTO_FREE char *part = xprintf("%s.part", path);
	AUTO_BUF struct buf text = { 0 };
	FILE *file;
	int ret;

	rows_write(rows, &text);
	file = is_output ? fdopen(dup(STDOUT_FILENO), "w") : fopen(part, "we");
	if (!file)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	ret = file_write(file, &text);
	if (ret >= 0 && !is_output && rename(part, path) != 0)
		ret = -errno;
	if (ret >= 0)
		return 0;
	if (!is_output)
		unlink(part);
	return err_set(err, -ret, "%s: %s", path, strerror(-ret));
}

/* ---- cells ---- */

static int number_compare(double a, double b)
{
	return (a > b) - (a < b);
}

/* 0: of one cell. */
static int cell_compare(const struct element *a, const struct element *b)
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

static int row_compare(const void *a, const void *b)
{
	const struct element *x = *(const struct element *const *)a,
			     *y = *(const struct element *const *)b;
	int d = cell_compare(x, y);

	return d ? d : (x > y) - (x < y);
}

static int first_compare(const void *a, const void *b)
{
	const struct rows_cell *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static void cell_close(struct rows_cell *cell, const struct element *const *sorted)
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
	qsort(sorted, rows->count, sizeof(*sorted), row_compare);
	for (size_t i = 0, end; i < rows->count; i = end) {
		for (end = i + 1; end < rows->count; end++)
			if (cell_compare(sorted[i], sorted[end]) != 0)
				break;
		out[count] = (struct rows_cell){ .first = (size_t)(sorted[i] - rows->rows),
						 .count = end - i };
		cell_close(&out[count++], sorted + i);
	}
	qsort(out, count, sizeof(*out), first_compare);
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

static int round_compare(const void *a, const void *b)
{
	const struct element *x = *(struct element *const *)a, *y = *(struct element *const *)b;
	int d = cell_compare(x, y);

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
	qsort(sorted, rows->count, sizeof(*sorted), round_compare);
	for (size_t i = 1; i < rows->count; i++) {
		const struct element *before = sorted[i - 1];

		if (cell_compare(before, sorted[i]) == 0 && before->round == sorted[i]->round &&
		    sorted[i]->repetition <= before->repetition)
			sorted[i]->repetition = before->repetition + 1;
	}
}

static int real_compare(const void *a, const void *b)
{
	return number_compare(*(const double *)a, *(const double *)b);
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
	if (!n)
		return NAN;
	qsort(ratios, n, sizeof(*ratios), real_compare);
	return (ratios[(n - 1) / 2] + ratios[n / 2]) / 2;
}
