/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file of /proc or /sys that is read repeatedly. It stays open, and each read starts at the
 * beginning. The buffer grows to the size of the file once. The parsing functions work on the text
 * in place.
 */
#ifndef SLUICE_OBSERVE_STATS_PROCFILE_H
#define SLUICE_OBSERVE_STATS_PROCFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct procfile {
	int fd; /* -1: the file does not exist */
	struct buf text;
};

/* Opens root + path. If that fails, procfile_read() returns NULL. */
void procfile_open(struct procfile *file, const char *root, const char *path);
void procfile_close(struct procfile *file);

/* Reads the whole file. The text is valid until the next read; NULL on failure. */
const char *procfile_read(struct procfile *file);

/* Reads a whole file once. The caller frees the text; NULL on failure. */
char *procfile_once(const char *root, const char *path);

/* Returns the next line, or NULL at the end. */
const char *procfile_next_line(const char *at);

/*
 * Parses the next number after blanks. Returns false and leaves *at behind the blanks if there is
 * none.
 */
bool procfile_number(const char **at, uint64_t *value);

/*
 * Returns the next word of the line, without the blanks before it, and moves *at behind it. The
 * length is 0 at the end of the line.
 */
const char *procfile_word(const char **at, unsigned *length);

#endif
