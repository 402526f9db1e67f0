/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads numbered lines from a file, a pipe or memory, and splits lines into words. Decompresses
 * gzip data.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_LINES_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct err;
struct gzFile_s;

struct lines {
	const char *name; /* for messages; must outlive the struct */
	struct buf line;  /* current line without trailing blanks; contains no zero byte */
	size_t number;	  /* of the current line, from 1 */
	bool is_cut;	  /* the text ends without a newline, or within gzip data */

	struct gzFile_s *file; /* NULL: memory */
	char *chunk;
	const char *at, *end;
	bool is_broken; /* the gzip data ends too early */
};

int lines_open(struct lines *lines, const char *path, struct err *err); /* "-": standard input */
void lines_parse(struct lines *lines, const char *name, const char *text, size_t bytes);
void lines_close(struct lines *lines);

/* Returns 1 and sets `line`, 0 at the end, or -errno. */
int lines_next(struct lines *lines, struct err *err);

/* The arguments of a message that starts with "%s:%zu: ". */
#define LINE_AT(lines) (lines)->name, (lines)->number

/*
 * Returns the next word, or NULL at the end. Blanks and commas separate words. Terminates the word
 * with a zero byte and moves *line past it.
 */
char *next_word(char **line);

/* Decodes a name, in which "%20" is a blank. `what` describes the name in messages. */
int decode_word_name(const struct lines *lines, char *word, const char *what, char *name,
		     size_t cap, struct err *err);

/* The index of a word in a list such as "a|b|c", or -1. */
int find_word(const char *words, const char *word);

#endif
