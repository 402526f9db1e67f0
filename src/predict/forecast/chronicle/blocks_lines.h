/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The lines of a text from a file, a pipe or memory, one by one and numbered, and the words of a
 * line. Knows gzip.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_LINES_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct err;
struct gzFile_s;

struct lines {
	const char *name; /* in messages; must outlive this */
	struct buf line;  /* at hand, without blanks at its end; holds no zero byte */
	size_t number;	  /* of it: 1, 2, ... */
	bool is_cut;	  /* the text ends without the end of this line, or inside gzip data */

	struct gzFile_s *file; /* NULL: memory */
	char *chunk;
	const char *at, *end;
	bool is_broken; /* the gzip data ends too early */
};

int lines_open(struct lines *lines, const char *path, struct err *err); /* "-": standard input */
void lines_parse(struct lines *lines, const char *name, const char *text, size_t bytes);
void lines_close(struct lines *lines);

/* 1: line is the next one; 0: there is none; -errno. */
int lines_next(struct lines *lines, struct err *err);

/* For a message that begins with "%s:%zu: ". */
#define LINE_AT(lines) (lines)->name, (lines)->number

/*
 * The next word; NULL at the end. Blanks and commas are between words. *line is behind it, with a
 * zero byte after the word.
 */
char *word_take(char **line);

/* A word as a name, in which "%20" is a blank; what it is the name of is for the message. */
int word_name(const struct lines *lines, char *word, const char *what, char *name, size_t cap,
	      struct err *err);

/* Its number among "a|b|c"; -1: none. */
int word_choice(const char *words, const char *word);

#endif
