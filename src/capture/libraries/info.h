/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Info: the hints of files, read and added to. Guest.
 *
 * Asks the library only about handles that a call has proved, or that look like what they should
 * be: a wrong one would end the program. A hint that cannot be written as KEY=VALUE;KEY=VALUE, or
 * does not fit into a record, is left out whole.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_INFO_H
#define SLUICE_CAPTURE_LIBRARIES_INFO_H

#include "capture/libraries/mpi.h"

struct info_text {
	size_t used;
	char text[RECORD_STRING_MAX + 1];
};

#pragma GCC visibility push(hidden)

/* Is it an info, and not the null one, as far as its value shows? */
bool info_is_one(const void *near, MPI_Info info);

/* All hints, sorted by key; "" for none, and where the call that took them has failed. */
const char *info_read(struct info_text *to, const void *near, MPI_Info info, int err);

/* Of an info that is one: is this hint set? */
bool info_has(const void *near, MPI_Info info, const char *key);

/* A copy to be changed, of no hints where info is not one. False: there is none. */
bool info_copy(const void *near, MPI_Info info, MPI_Info *copy);
bool info_set(const void *near, MPI_Info info, const char *key, const char *value);
void info_free(const void *near, MPI_Info *info);

/* One more hint in its place; false: it is left out. For info_read() and those who test it. */
bool info_text_put(struct info_text *to, const char *key, const char *value);
const char *info_text_end(struct info_text *to);

#pragma GCC visibility pop

#endif
