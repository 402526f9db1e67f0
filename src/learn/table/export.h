/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a whole text file, compressed if its name ends in ".gz". A file is renamed into place when
 * it is complete. "-" is standard output; devices and pipes are written directly.
 */
#ifndef SLUICE_LEARN_TABLE_EXPORT_H
#define SLUICE_LEARN_TABLE_EXPORT_H

struct err;
struct gzFile_s; /* what zlib's gzFile points to */

/*
 * Writes all of arg. The callback may ignore errors, because zlib remembers them, but may also
 * return early after one.
 */
typedef void export_fill(struct gzFile_s *file, const void *arg);

/* An existing file is left unchanged on failure. */
int export_write(const char *path, export_fill *fill, const void *arg, struct err *err);

#endif
