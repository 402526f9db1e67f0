/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file of /proc or /sys that is read again and again: it stays open, and every reading begins at
 * its start. Memory grows to the size of the file once. And what is needed to take such texts apart
 * where they lie.
 */
#ifndef SLUICE_OBSERVE_STATS_PROCFILE_H
#define SLUICE_OBSERVE_STATS_PROCFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct procfile {
	int fd; /* -1: not there */
	struct buf text;
};

/* Opens root + path; a file that cannot be opened reads as NULL. */
void procfile_open(struct procfile *file, const char *root, const char *path);
void procfile_close(struct procfile *file);

/* The whole of it, valid until the next reading; NULL where it cannot be read. */
const char *procfile_read(struct procfile *file);

/* The whole of a file that is read once; the caller frees. NULL where it cannot be read. */
char *procfile_once(const char *root, const char *path);

/* The line after this one, NULL at the end. */
const char *procfile_next_line(const char *at);

/* The next number, with blanks before it; false where there is none, and *at is at the end then. */
bool procfile_number(const char **at, uint64_t *value);

/*
 * The next word of the line, without the blanks before it; its length is 0 at the end of the line.
 * *at is moved behind it.
 */
const char *procfile_word(const char **at, unsigned *length);

#endif
