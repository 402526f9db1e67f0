/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datasets from and to CSV, plain or gzip (told by the bytes when reading, by ".gz" when writing).
 *
 * The first line names the columns. The separator is a comma, semicolon, tabulator or blank,
 * whichever the first line has most of outside quotes. Quoting is that of RFC 4180. A cell that is
 * empty, NA, N/A, nan, null or - is missing. A column in which every other cell is a number is a
 * column of numbers; any other is one of texts. Memory: the table, plus 24 bytes per cell of text
 * columns while reading.
 */
#ifndef SLUICE_LEARN_DATA_CSV_H
#define SLUICE_LEARN_DATA_CSV_H

#include <stddef.h>

struct dataset;
struct err;

/* "-" is standard input. dataset is untouched on failure; err names file, line and column. */
int csv_read(struct dataset *dataset, const char *path, struct err *err);

/* The same from memory; name stands for the file in messages. The bytes may be anything. */
int csv_parse(struct dataset *dataset, const char *name, const char *text, size_t n,
	      struct err *err);

/*
 * Numbers are written with as many digits as it takes to read the same number again. The file
 * appears under its name when it is complete. "-" is standard output.
 */
int csv_write(const struct dataset *dataset, const char *path, struct err *err);

#endif
