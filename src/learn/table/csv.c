/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading goes through the cells twice: the first time finds out how many rows there are and which
 * columns are texts, the second fills a table of the right size. All errors of form show up the
 * first time. The cells come from cells.h, which knows bytes and quotes.
 */
#include "learn/table/csv.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/table/cells.h"
#include "learn/table/dataset.h"
#include "learn/table/export.h"
#include "learn/table/lexicon.h"
#include "base/number.h"

static bool cell_missing(const struct cells *cells)
{
	static const char *const words[] = { "", "-", "NA", "N/A", "nan", "null" };

	if (cells->len > 4)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(cells->text, words[i]) == 0)
			return true;
	}
	return false;
}

/* ---- the first time ---- */

struct survey {
	char **names; /* width of them once the survey is complete; NULL: leave the column out */
	size_t named; /* names in the first line */
	size_t width; /* fields per row */
	size_t rows;
	bool *valued, *texts; /* per field: has a value at all; has one that is not a number */
};

static void survey_release(struct survey *survey)
{
	for (size_t i = 0; i < survey->width; i++)
		free(survey->names[i]);
	free(survey->names);
	free(survey->valued);
	free(survey->texts);
}

#define AUTO_SURVEY __attribute__((cleanup(survey_release)))

static int survey_names(struct survey *survey, struct cells *cells, struct err *err)
{
	bool numbers = true;
	size_t cap = 0;
	double number;
	int r;

	if (cells_row(cells) <= 0)
		return cells->failure ? cells->failure
				      : err_set(err, ENODATA,
						"%s: is empty: the first line must "
						"name the columns",
						cells->name);
	do {
		r = cells_next(cells);
		if (r < 0)
			return r;
		survey->names = xgrow(survey->names, &cap, survey->width + 2, sizeof(char *));
		survey->names[survey->width++] = xstrdup(cells->text);
		numbers &= !cells->quoted && number_parse(cells->text, cells->len, &number);
	} while (r == CELLS_MORE);
	if (numbers)
		return err_set(err, EINVAL,
			       "%s:1: the first line must name the columns, but it holds numbers: "
			       "put a line of names before it, or quotes around names like these",
			       cells->name);
	survey->named = survey->width;
	return 0;
}

/* A row has as many fields as there are names, or all have one more: the name of the row. */
static int survey_width(struct survey *survey, const struct cells *cells, size_t fields,
			struct err *err)
{
	if (!survey->rows && survey->names && fields == survey->named + 1)
		survey->names[survey->width++] = xstrdup("");
	if (fields == survey->width)
		return 0;
	return err_set(err, EINVAL,
		       "%s:%zu: %zu field%s where %s has %zu: look for a missing or a spare '%c', "
		       "or for text that needs quotes",
		       cells->name, cells->row_line, fields, fields == 1 ? "" : "s",
		       survey->width == survey->named ? "the first line" : "the row before",
		       survey->width, cells->separator);
}

static int survey_row(struct survey *survey, struct cells *cells, struct err *err)
{
	size_t field = 0;
	double number;
	int r;

	do {
		r = cells_next(cells);
		if (r < 0)
			return r;
		if (field <= survey->named && !cell_missing(cells)) {
			survey->valued[field] = true;
			survey->texts[field] = survey->texts[field] ||
					       !number_parse(cells->text, cells->len, &number);
		}
		field++;
	} while (r == CELLS_MORE);
	r = survey_width(survey, cells, field, err);
	survey->rows++;
	return r;
}

static bool name_taken(const struct survey *survey, const char *name)
{
	for (size_t i = 0; i < survey->width; i++) {
		if (survey->names[i] && strcmp(survey->names[i], name) == 0)
			return true;
	}
	return false;
}

static void survey_christen(struct survey *survey)
{
	/* The spare field of all rows is in front, unless it is just a separator at the end. */
	if (survey->width > survey->named && survey->valued[survey->named]) {
		char *unnamed = survey->names[survey->named];

		memmove(survey->names + 1, survey->names, survey->named * sizeof(char *));
		survey->names[0] = unnamed;
	}
	for (size_t i = 0; i < survey->width; i++) {
		AUTO_BUF struct buf name = { 0 };

		if (*survey->names[i])
			continue;
		free(survey->names[i]);
		survey->names[i] = NULL;
		if (!survey->valued[i])
			continue;
		buf_printf(&name, "column%zu", i + 1);
		while (name_taken(survey, buf_text(&name)))
			buf_putc(&name, '_');
		survey->names[i] = buf_take(&name);
	}
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int survey_unique(const struct survey *survey, const char *file, struct err *err)
{
	AUTO_FREE char **sorted = xcalloc(survey->width, sizeof(*sorted));
	size_t count = 0;

	for (size_t i = 0; i < survey->width; i++) {
		if (survey->names[i])
			sorted[count++] = survey->names[i];
	}
	if (!count)
		return err_set(err, ENODATA, "%s: has neither names nor values", file);
	qsort(sorted, count, sizeof(*sorted), name_compare);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(sorted[i - 1], sorted[i]) == 0)
			return err_set(err, EINVAL, "%s:1: two columns are called \"%.80s\"", file,
				       sorted[i]);
	}
	return 0;
}

static int survey_make(struct survey *survey, struct cells *cells, struct err *err)
{
	int r = survey_names(survey, cells, err);

	if (r < 0)
		return r;
	survey->valued = xcalloc(survey->width + 1, sizeof(bool));
	survey->texts = xcalloc(survey->width + 1, sizeof(bool));
	while ((r = cells_row(cells)) > 0) {
		r = survey_row(survey, cells, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	survey_christen(survey);
	return survey_unique(survey, cells->name, err);
}

/* ---- the second time ---- */

struct filling {
	struct dataset dataset;
	struct lexicon *lexicons; /* per column; unused for numbers */
	size_t width;
	size_t *column_of; /* per field; SIZE_MAX: left out */
};

static void filling_release(struct filling *filling)
{
	for (size_t i = 0; i < filling->width; i++)
		lexicon_release(&filling->lexicons[i]);
	free(filling->lexicons);
	free(filling->column_of);
	dataset_release(&filling->dataset);
}

#define AUTO_FILLING __attribute__((cleanup(filling_release)))

static void filling_init(struct filling *filling, const struct survey *survey)
{
	AUTO_FREE const char **names = xcalloc(survey->width, sizeof(*names));
	size_t width = 0;

	filling->column_of = xcalloc(survey->width, sizeof(*filling->column_of));
	for (size_t i = 0; i < survey->width; i++) {
		filling->column_of[i] = survey->names[i] ? width : SIZE_MAX;
		if (survey->names[i])
			names[width++] = survey->names[i];
	}
	dataset_init(&filling->dataset, survey->rows, width, names);
	filling->lexicons = xcalloc(width, sizeof(*filling->lexicons));
	filling->width = width;
}

/* False where it is not what the survey has seen. */
static bool fill_cell(struct filling *filling, const struct survey *survey,
		      const struct cells *cells, double *row, size_t field)
{
	size_t column;

	if (field >= survey->width)
		return false;
	column = filling->column_of[field];
	if (column == SIZE_MAX || cell_missing(cells))
		return true;
	if (!survey->texts[field])
		return number_parse(cells->text, cells->len, &row[column]);
	row[column] = (double)lexicon_number(&filling->lexicons[column], cells->text, cells->len);
	return true;
}

static int fill_row(struct filling *filling, const struct survey *survey, struct cells *cells,
		    size_t row, struct err *err)
{
	bool good = row < survey->rows;
	double *values = dataset_row(&filling->dataset, good ? row : 0);
	size_t field = 0;
	int r;

	do {
		r = cells_next(cells);
		if (r < 0)
			return r;
		good = good && fill_cell(filling, survey, cells, values, field);
		field++;
	} while (r == CELLS_MORE);
	if (!good || field != survey->width)
		return err_set(err, EAGAIN, "%s: has changed while it was read", cells->name);
	return 0;
}

/* Texts become the column's levels, sorted, and its values the numbers of these. */
static void levels_settle(struct dataset *dataset, size_t index, struct lexicon *lexicon)
{
	struct column *column = &dataset->columns[index];
	AUTO_FREE size_t *settled = NULL;

	column->level_count = lexicon->count;
	column->levels = lexicon_take(lexicon, &settled);
	for (size_t i = 0; i < dataset->rows; i++) {
		double *value = &dataset_row(dataset, i)[index];

		if (!isnan(*value))
			*value = (double)settled[(size_t)*value];
	}
}

static int cells_fill(struct dataset *dataset, const struct survey *survey, struct cells *cells,
		      struct err *err)
{
	AUTO_FILLING struct filling filling = { 0 };
	size_t rows = 0;
	int r;

	filling_init(&filling, survey);
	/* The line of names. */
	for (r = cells_row(cells); r > 0 && (r = cells_next(cells)) == CELLS_MORE;)
		;
	while (r >= 0 && (r = cells_row(cells)) > 0)
		r = fill_row(&filling, survey, cells, rows++, err);
	if (r < 0)
		return r;
	if (rows != survey->rows)
		return err_set(err, EAGAIN, "%s: has changed while it was read", cells->name);
	for (size_t i = 0; i < survey->width; i++) {
		size_t column = filling.column_of[i];

		if (column != SIZE_MAX && survey->texts[i])
			levels_settle(&filling.dataset, column, &filling.lexicons[column]);
	}
	*dataset = filling.dataset;
	filling.dataset = (struct dataset){ 0 };
	return 0;
}

static int dataset_scan(struct dataset *dataset, struct cells *cells, struct err *err)
{
	AUTO_SURVEY struct survey survey = { 0 };
	int r = survey_make(&survey, cells, err);

	if (r >= 0)
		r = cells_rewind(cells);
	return r < 0 ? r : cells_fill(dataset, &survey, cells, err);
}

int csv_read(struct dataset *dataset, const char *path, struct err *err)
{
	AUTO_CELLS struct cells cells = { 0 };
	int r = cells_open(&cells, path, err);

	return r < 0 ? r : dataset_scan(dataset, &cells, err);
}

int csv_parse(struct dataset *dataset, const char *name, const char *text, size_t n,
	      struct err *err)
{
	AUTO_CELLS struct cells cells = { 0 };

	cells_parse(&cells, name, text, n, err);
	return dataset_scan(dataset, &cells, err);
}

/* ---- writing ---- */

/*
 * A name must not look like a number, nor a text like the mark that some put before all text, nor
 * a table like a file of gzip.
 */
static bool text_plain(const char *text)
{
	double number;

	return *text && *text != '\xef' && *text != '\x1f' && !text[strcspn(text, ",;\t \"\r\n")] &&
	       !number_parse(text, strlen(text), &number);
}

static void text_write(gzFile file, const char *text)
{
	if (text_plain(text)) {
		gzputs(file, text);
		return;
	}
	gzputc(file, '"');
	for (; *text; text++) {
		if (*text == '"')
			gzputc(file, '"');
		gzputc(file, *text);
	}
	gzputc(file, '"');
}

static void value_write(gzFile file, const struct column *column, double value)
{
	char text[NUMBER_TEXT_MAX];

	if (isnan(value)) {
		gzputs(file, "NA");
	} else if (column->levels) {
		text_write(file, column->levels[(size_t)value]);
	} else {
		number_format(value, text);
		gzputs(file, text);
	}
}

static void table_write(gzFile file, const void *arg)
{
	const struct dataset *dataset = arg;

	for (size_t i = 0; i < dataset->width; i++) {
		if (i)
			gzputc(file, ',');
		text_write(file, dataset->columns[i].name);
	}
	gzputc(file, '\n');
	for (size_t i = 0; i < dataset->rows; i++) {
		for (size_t j = 0; j < dataset->width; j++) {
			if (j)
				gzputc(file, ',');
			value_write(file, &dataset->columns[j], dataset_row(dataset, i)[j]);
		}
		gzputc(file, '\n');
	}
}

int csv_write(const struct dataset *dataset, const char *path, struct err *err)
{
	return export_write(path, table_write, dataset, err);
}
