/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Feeds the data of an HDF5 file to a checksum. HDF5 is loaded into the calling process and never
 * unloaded, so only the child process of digest.c calls this.
 */
#ifndef SLUICE_TUNE_TRIAL_DIGEST_HDF5_H
#define SLUICE_TUNE_TRIAL_DIGEST_HDF5_H

#include <stdbool.h>
#include <stdint.h>
#include <xxhash.h>

struct err;

/* Does the file have the signature of HDF5, at its start or after a user block? */
bool digest_is_hdf5(int fd);

/*
 * Adds the content of the file to the hash, and the number of objects that cannot be read to
 * *skipped. -ENOENT: HDF5 (1.10 or later) cannot be loaded; -EBADMSG: the file is broken.
 */
int digest_hdf5(XXH3_state_t *hash, const char *path, uint64_t *skipped, struct err *err);

#endif
