/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the items of an HDF5 file. HDF5 is loaded into the calling process and never unloaded, so
 * only the child process of digest.c calls this.
 */
#ifndef SLUICE_TUNE_CONTENT_DIGEST_HDF5_H
#define SLUICE_TUNE_CONTENT_DIGEST_HDF5_H

#include <stdbool.h>

struct err;
struct item_writer;

/* Does the file have the signature of HDF5, at its start or after a user block? */
bool digest_is_hdf5(int fd);

/* -ENOENT: HDF5 (1.10 or later) cannot be loaded; -EBADMSG: the file is broken. The items of the
 * objects before the damage are written. */
int digest_hdf5(struct item_writer *writer, const char *path, struct err *err);

#endif
