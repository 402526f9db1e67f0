/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cells of a CSV text, one by one, from a file, a pipe or memory. It knows separators, quotes,
 * line ends and gzip, and nothing of columns; csv.h is what others use.
 *
 *	while ((r = cells_row(&cells)) > 0)
 *		do
 *			if ((r = cells_next(&cells)) < 0) ...
 *		while (r == CELLS_MORE);
 */
#ifndef SLUICE_LEARN_TABLE_CELLS_H
#define SLUICE_LEARN_TABLE_CELLS_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct gzFile_s;

struct cells {
	const char *name; /* in messages; must outlive this */
	char *text;	  /* of the cell, ends with a zero byte; holds no other */
	size_t len;
	bool quoted;
	size_t row_line; /* number of the line on which the row begins */
	char separator;
	int failure; /* -errno; err was set */

	struct gzFile_s *file; /* NULL: memory */
	const char *memory;
	size_t memory_bytes;
	char *buffer;	       /* of the file */
	const char *at, *end;  /* what is still to be looked at */
	size_t text_cap, line; /* line: 1, 2, ... */
	struct err *err;       /* may be NULL */
};

enum { CELLS_LAST, CELLS_MORE }; /* was it the last cell of its row? */

/* "-" is standard input. err is used by the later calls, too. */
int cells_open(struct cells *cells, const char *path, struct err *err);
void cells_parse(struct cells *cells, const char *name, const char *text, size_t n,
		 struct err *err);
void cells_close(struct cells *cells); /* accepts a zeroed one */

/* Back to the first row. */
int cells_rewind(struct cells *cells);

/* 1: there is a further row, whose cells must all be taken; 0: no. Skips empty lines. */
int cells_row(struct cells *cells);
int cells_next(struct cells *cells);

#define AUTO_CELLS __attribute__((cleanup(cells_close)))

#endif
