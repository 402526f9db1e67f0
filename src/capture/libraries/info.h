/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Info: reads the hints of files and adds to them. Guest.
 *
 * The library is asked only about handles that a call has accepted, or that have the form of a
 * valid handle: an invalid one would abort the program. A hint that cannot be written as
 * KEY=VALUE;KEY=VALUE, or does not fit into a record, is left out.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_INFO_H
#define SLUICE_CAPTURE_LIBRARIES_INFO_H

#include "capture/libraries/mpi.h"

/* Hints as text: KEY=VALUE;KEY=VALUE, sorted by key. */
struct info_text {
	size_t used;
	char text[RECORD_STRING_MAX + 1];
};

#pragma GCC visibility push(hidden)

/* Does the handle look like a valid info, other than MPI_INFO_NULL? */
bool info_is_valid(const void *near, MPI_Info info);

/* Reads all hints, sorted by key. "" if there are none, or if the call that got them failed (err).
 */
const char *info_read(struct info_text *to, const void *near, MPI_Info info, int err);

/* Is the hint set in this valid info? */
bool info_has(const void *near, MPI_Info info, const char *key);

/* Does it have this value there? */
bool info_is(const void *near, MPI_Info info, const char *key, const char *value);

/* Copies its value, which is cut if it does not fit; false if it is not set. */
bool info_get(const void *near, MPI_Info info, const char *key, char *value, size_t bytes);

/* Makes a copy, which is empty if info is not valid. False on failure; else info_free() it. */
bool info_copy(const void *near, MPI_Info info, MPI_Info *copy);
bool info_set(const void *near, MPI_Info info, const char *key, const char *value);
void info_free(const void *near, MPI_Info *info);

/* Inserts a hint by its key; false if it is left out. info_text_end() completes the text. */
bool info_text_put(struct info_text *to, const char *key, const char *value);
const char *info_text_end(struct info_text *to);

#pragma GCC visibility pop

#endif
