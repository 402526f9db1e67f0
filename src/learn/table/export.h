/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A text that leaves us as a whole: plain, or compressed where the name ends in ".gz". A file
 * appears under its name when it is complete; "-" is standard output, and devices and pipes are
 * written to as they are.
 */
#ifndef SLUICE_LEARN_TABLE_EXPORT_H
#define SLUICE_LEARN_TABLE_EXPORT_H

struct err;
struct gzFile_s; /* gzFile of zlib points to one */

/*
 * Writes all of arg. It need not look after errors, which zlib keeps, but may return early where
 * there was one.
 */
typedef void export_fill(struct gzFile_s *file, const void *arg);

/* What went wrong leaves an earlier file of that name as it was. */
int export_write(const char *path, export_fill *fill, const void *arg, struct err *err);

#endif
