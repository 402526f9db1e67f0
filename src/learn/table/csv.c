/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the cells twice (csv_cells.h): the first pass counts the rows and finds the text columns,
 * the second fills a table of the right size. All format errors are found in the first pass.
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
#include "base/number.h"
#include "learn/table/csv_cells.h"
#include "learn/table/dataset.h"
#include "learn/table/export.h"
#include "learn/table/lexicon.h"

static bool cell_is_missing(const struct csv_cells *cells)
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

struct survey {
	char **names; /* width names after the first pass; NULL: drop the column */
	size_t named; /* number of names in the first line */
	size_t width; /* number of fields per row */
	size_t rows;
	bool *valued, *texts; /* per field: has any value; has a value that is not a number */
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

static int read_names(struct survey *survey, struct csv_cells *cells, struct err *err)
{
	bool numbers = true;
	size_t cap = 0;
	double number;
	int r;

	if (csv_cells_row(cells) <= 0)
		return cells->failure ? cells->failure
				      : err_set(err, ENODATA,
						"%s is empty: the first line must "
						"name the columns",
						cells->name);
	do {
		r = csv_cells_next(cells);
		if (r < 0)
			return r;
		survey->names = xgrow(survey->names, &cap, survey->width + 2, sizeof(char *));
		survey->names[survey->width++] = xstrdup(cells->text);
		numbers &= !cells->quoted && number_parse(cells->text, cells->len, &number);
	} while (r == CSV_CELLS_MORE);
	if (numbers)
		return err_set(err, EINVAL,
			       "%s:1: the first line must name the columns but holds numbers: "
			       "insert a line of names before it, or quote such names",
			       cells->name);
	survey->named = survey->width;
	return 0;
}

/* Each row has as many fields as there are names, or each has one more: the name of the row. */
static int check_width(struct survey *survey, const struct csv_cells *cells, size_t fields,
		       struct err *err)
{
	if (!survey->rows && survey->names && fields == survey->named + 1)
		survey->names[survey->width++] = xstrdup("");
	if (fields == survey->width)
		return 0;
	return err_set(err, EINVAL,
		       "%s:%zu: %zu field%s, but %s has %zu: look for a missing or an extra '%c', "
		       "or for text that needs quotes",
		       cells->name, cells->row_line, fields, fields == 1 ? "" : "s",
		       survey->width == survey->named ? "the first line" : "the row before",
		       survey->width, cells->separator);
}

static int survey_row(struct survey *survey, struct csv_cells *cells, struct err *err)
{
	size_t field = 0;
	double number;
	int r;

	do {
		r = csv_cells_next(cells);
		if (r < 0)
			return r;
		if (field <= survey->named && !cell_is_missing(cells)) {
			survey->valued[field] = true;
			survey->texts[field] = survey->texts[field] ||
					       !number_parse(cells->text, cells->len, &number);
		}
		field++;
	} while (r == CSV_CELLS_MORE);
	r = check_width(survey, cells, field, err);
	survey->rows++;
	return r;
}

static bool name_is_taken(const struct survey *survey, const char *name)
{
	for (size_t i = 0; i < survey->width; i++) {
		if (survey->names[i] && strcmp(survey->names[i], name) == 0)
			return true;
	}
	return false;
}

static void name_unnamed_columns(struct survey *survey)
{
	/* The additional field is the first one, unless it comes from a trailing separator. */
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
		while (name_is_taken(survey, buf_text(&name)))
			buf_putc(&name, '_');
		survey->names[i] = buf_take(&name);
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_unique_names(const struct survey *survey, const char *file, struct err *err)
{
	AUTO_FREE char **sorted = xcalloc(survey->width, sizeof(*sorted));
	size_t count = 0;

	for (size_t i = 0; i < survey->width; i++) {
		if (survey->names[i])
			sorted[count++] = survey->names[i];
	}
	if (!count)
		return err_set(err, ENODATA, "%s has neither column names nor values", file);
	qsort(sorted, count, sizeof(*sorted), compare_names);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(sorted[i - 1], sorted[i]) == 0)
			return err_set(err, EINVAL, "%s:1: two columns are named \"%.80s\"", file,
				       sorted[i]);
	}
	return 0;
}

static int survey_init(struct survey *survey, struct csv_cells *cells, struct err *err)
{
	int r = read_names(survey, cells, err);

	if (r < 0)
		return r;
	survey->valued = xcalloc(survey->width + 1, sizeof(bool));
	survey->texts = xcalloc(survey->width + 1, sizeof(bool));
	while ((r = csv_cells_row(cells)) > 0) {
		r = survey_row(survey, cells, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	name_unnamed_columns(survey);
	return check_unique_names(survey, cells->name, err);
}

struct filling {
	struct dataset dataset;
	struct lexicon *lexicons; /* per column; unused for numeric columns */
	size_t width;
	size_t *column_of; /* column of each field; SIZE_MAX: dropped */
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

/* Returns false if the cell differs from the first pass. */
static bool fill_cell(struct filling *filling, const struct survey *survey,
		      const struct csv_cells *cells, double *row, size_t field)
{
	size_t column;

	if (field >= survey->width)
		return false;
	column = filling->column_of[field];
	if (column == SIZE_MAX || cell_is_missing(cells))
		return true;
	if (!survey->texts[field])
		return number_parse(cells->text, cells->len, &row[column]);
	row[column] = (double)lexicon_number(&filling->lexicons[column], cells->text, cells->len);
	return true;
}

static int fill_row(struct filling *filling, const struct survey *survey, struct csv_cells *cells,
		    size_t row, struct err *err)
{
	bool good = row < survey->rows;
	double *values = dataset_row(&filling->dataset, good ? row : 0);
	size_t field = 0;
	int r;

	do {
		r = csv_cells_next(cells);
		if (r < 0)
			return r;
		good = good && fill_cell(filling, survey, cells, values, field);
		field++;
	} while (r == CSV_CELLS_MORE);
	if (!good || field != survey->width)
		return err_set(err, EAGAIN, "%s changed while it was read", cells->name);
	return 0;
}

/* Sorts the texts of a column into its levels and renumbers its values. */
static void sort_levels(struct dataset *dataset, size_t index, struct lexicon *lexicon)
{
	struct column *column = &dataset->columns[index];
	AUTO_FREE size_t *renumbered = NULL;

	column->level_count = lexicon->count;
	column->levels = lexicon_take(lexicon, &renumbered);
	for (size_t i = 0; i < dataset->rows; i++) {
		double *value = &dataset_row(dataset, i)[index];

		if (!isnan(*value))
			*value = (double)renumbered[(size_t)*value];
	}
}

static int fill_dataset(struct dataset *dataset, const struct survey *survey,
			struct csv_cells *cells, struct err *err)
{
	AUTO_FILLING struct filling filling = { 0 };
	size_t rows = 0;
	int r;

	filling_init(&filling, survey);
	/* Skip the line of names. */
	for (r = csv_cells_row(cells); r > 0 && (r = csv_cells_next(cells)) == CSV_CELLS_MORE;)
		;
	while (r >= 0 && (r = csv_cells_row(cells)) > 0)
		r = fill_row(&filling, survey, cells, rows++, err);
	if (r < 0)
		return r;
	if (rows != survey->rows)
		return err_set(err, EAGAIN, "%s changed while it was read", cells->name);
	for (size_t i = 0; i < survey->width; i++) {
		size_t column = filling.column_of[i];

		if (column != SIZE_MAX && survey->texts[i])
			sort_levels(&filling.dataset, column, &filling.lexicons[column]);
	}
	*dataset = filling.dataset;
	filling.dataset = (struct dataset){ 0 };
	return 0;
}

static int read_dataset(struct dataset *dataset, struct csv_cells *cells, struct err *err)
{
	AUTO_SURVEY struct survey survey = { 0 };
	int r = survey_init(&survey, cells, err);

	if (r >= 0)
		r = csv_cells_rewind(cells);
	return r < 0 ? r : fill_dataset(dataset, &survey, cells, err);
}

int csv_read(struct dataset *dataset, const char *path, struct err *err)
{
	AUTO_CSV_CELLS struct csv_cells cells = { 0 };
	int r = csv_cells_open(&cells, path, err);

	return r < 0 ? r : read_dataset(dataset, &cells, err);
}

int csv_parse(struct dataset *dataset, const char *name, const char *text, size_t n,
	      struct err *err)
{
	AUTO_CSV_CELLS struct csv_cells cells = { 0 };

	csv_cells_parse(&cells, name, text, n, err);
	return read_dataset(dataset, &cells, err);
}

/*
 * Texts that need quotes: names that look like numbers, a leading byte order mark, and a table that
 * would begin like a gzip file.
 */
static bool is_plain_text(const char *text)
{
	double number;

	return *text && *text != '\xef' && *text != '\x1f' && !text[strcspn(text, ",;\t \"\r\n")] &&
	       !number_parse(text, strlen(text), &number);
}

static void write_text(gzFile file, const char *text)
{
	if (is_plain_text(text)) {
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

static void write_value(gzFile file, const struct column *column, double value)
{
	char text[NUMBER_TEXT_MAX];

	if (isnan(value)) {
		gzputs(file, "NA");
	} else if (column->levels) {
		write_text(file, column->levels[(size_t)value]);
	} else {
		number_format(value, text);
		gzputs(file, text);
	}
}

static void write_table(gzFile file, const void *arg)
{
	const struct dataset *dataset = arg;

	for (size_t i = 0; i < dataset->width; i++) {
		if (i)
			gzputc(file, ',');
		write_text(file, dataset->columns[i].name);
	}
	gzputc(file, '\n');
	for (size_t i = 0; i < dataset->rows; i++) {
		for (size_t j = 0; j < dataset->width; j++) {
			if (j)
				gzputc(file, ',');
			write_value(file, &dataset->columns[j], dataset_row(dataset, i)[j]);
		}
		gzputc(file, '\n');
	}
}

int csv_write(const struct dataset *dataset, const char *path, struct err *err)
{
	return export_write(path, write_table, dataset, err);
}
