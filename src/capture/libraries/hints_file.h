/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hints file of ROMIO, through which users and sites set hints for unmodified programs: the
 * file that ROMIO_HINTS names, or else /etc/romio-hints. Guest.
 *
 * ROMIO reads it at the first opening of a file, on rank 0, and uses the hints that the info of an
 * opening does not contain. A line is "KEY VALUE"; "#" at its beginning starts a comment.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_HINTS_FILE_H
#define SLUICE_CAPTURE_LIBRARIES_HINTS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define HINTS_FILE_BYTES 4096 /* ROMIO ignores the rest */

#pragma GCC visibility push(hidden)

/* Reads the file, once, before the real MPI_Init. Keeps errno. */
void hints_file_load(void);

/* Is there a file, or is ROMIO_HINTS set? */
bool hints_file_is_given(void);

/* A hash of the contents, never 0. */
uint64_t hints_file_hash(void);

/* Does the file set this hint? */
bool hints_file_has(const char *key);

/* Does a text of this form set the hint? */
bool hints_file_text_has(const char *text, const char *key);

#pragma GCC visibility pop

#endif
