/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads and writes datasets as CSV, plain or gzip. Reading detects gzip by its magic bytes; writing
 * compresses if the name ends in ".gz".
 *
 * The first line names the columns; a number in it counts as a name only if it is quoted. The
 * separator is the one of comma, semicolon and tab that occurs most often outside quotes in the
 * first line, or blanks if none of them occurs. Quoting follows RFC 4180. Blanks around a cell and
 * empty lines are ignored. A cell that is empty, NA, N/A, nan, null or - is missing. A column is
 * numeric if every other cell is a number, else it is a text column. If rows have one field more
 * than the first line, the first field is the name of the row, as R and pandas write it. That
 * column, like any other without a name, is called columnN after its position; a column with
 * neither name nor values is dropped.
 *
 * The text is read twice, so memory is the table, the distinct texts of text columns and a few KiB.
 * Input that cannot be read twice (a pipe) is copied to a temporary file.
 */
#ifndef SLUICE_LEARN_TABLE_CSV_H
#define SLUICE_LEARN_TABLE_CSV_H

#include <stddef.h>

struct dataset;
struct err;

/*
 * Reads a file; "-" is standard input. dataset is untouched on failure; err names file, line and
 * column.
 */
int csv_read(struct dataset *dataset, const char *path, struct err *err);

/*
 * Reads uncompressed text from memory; it may hold any bytes. name stands for the file in messages.
 */
int csv_parse(struct dataset *dataset, const char *name, const char *text, size_t n,
	      struct err *err);

/*
 * Writes a dataset; "-" is standard output. Each number has the fewest digits that restore it
 * exactly; missing values are written as NA. The file is renamed into place when it is complete.
 */
int csv_write(const struct dataset *dataset, const char *path, struct err *err);

#endif
