/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cells of a CSV text, one by one, from a file, a pipe or memory. This reader handles
 * separators, quotes, line ends and gzip, and knows nothing about columns; other folders use csv.h.
 *
 *	while ((r = csv_cells_row(&cells)) > 0)
 *		do
 *			if ((r = csv_cells_next(&cells)) < 0) ...
 *		while (r == CSV_CELLS_MORE);
 */
#ifndef SLUICE_LEARN_TABLE_CSV_CELLS_H
#define SLUICE_LEARN_TABLE_CSV_CELLS_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct gzFile_s;

struct csv_cells {
	const char *name; /* file name for messages; must outlive this object */
	char *text;	  /* the current cell; ends with a zero byte and holds no other */
	size_t len;
	bool quoted;
	size_t row_line; /* line on which the row begins */
	char separator;
	int failure; /* -errno of the first failure, for which err was set */

	struct gzFile_s *file; /* NULL: reading from memory */
	const char *memory;
	size_t memory_bytes;
	char *buffer;	       /* read buffer of the file */
	const char *at, *end;  /* bytes that were read but not yet parsed */
	size_t text_cap, line; /* line: number of the current line, from 1 */
	struct err *err;       /* may be NULL */
};

enum { CSV_CELLS_LAST, CSV_CELLS_MORE }; /* results of csv_cells_next() */

/* Opens a file; "-" is standard input. err is also used by all later calls. */
int csv_cells_open(struct csv_cells *cells, const char *path, struct err *err);
void csv_cells_parse(struct csv_cells *cells, const char *name, const char *text, size_t n,
		     struct err *err);
void csv_cells_close(struct csv_cells *cells); /* accepts a zeroed object */

/* Returns to the first row. */
int csv_cells_rewind(struct csv_cells *cells);

/*
 * Goes to the next row and skips empty lines. Returns 1 if there is one, whose cells must all be
 * read by csv_cells_next(), or 0 at the end.
 */
int csv_cells_row(struct csv_cells *cells);
int csv_cells_next(struct csv_cells *cells);

#define AUTO_CSV_CELLS __attribute__((cleanup(csv_cells_close)))

#endif
