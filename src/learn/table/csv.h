/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datasets from and to CSV, plain or gzip (told by the bytes when reading, by ".gz" when writing).
 *
 * The first line names the columns; a number there is a name only in quotes. The separator is a
 * comma, semicolon or tabulator, whichever the first line has most of outside quotes; blanks if it
 * has none of these. Quoting is that of RFC 4180; blanks around a cell and empty lines do not
 * count. A cell that is empty, NA, N/A, nan, null or - is missing. A column in which every other
 * cell is a number is a column of numbers; any other is one of texts. Rows with one field more than
 * there are names begin with the name of the row, as R and pandas write it: that column, as any
 * without a name, is called column1 (by its place); one that has neither name nor values is left
 * out.
 *
 * The text is gone through twice, so memory is the table, the distinct texts of text columns and
 * some KiB. What cannot be read twice (a pipe) goes through a temporary file.
 */
#ifndef SLUICE_LEARN_TABLE_CSV_H
#define SLUICE_LEARN_TABLE_CSV_H

#include <stddef.h>

struct dataset;
struct err;

/* "-" is standard input. dataset is untouched on failure; err names file, line and column. */
int csv_read(struct dataset *dataset, const char *path, struct err *err);

/* The same from memory, not gzip; name stands for the file in messages. Bytes may be anything. */
int csv_parse(struct dataset *dataset, const char *name, const char *text, size_t n,
	      struct err *err);

/*
 * Numbers are written with as many digits as it takes to read the same number again, missing values
 * as NA. The file appears under its name when it is complete. "-" is standard output.
 */
int csv_write(const struct dataset *dataset, const char *path, struct err *err);

#endif
