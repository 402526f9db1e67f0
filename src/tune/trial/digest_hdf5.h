/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The data of an HDF5 file as a stream of bytes for a checksum. HDF5 is loaded into this process
 * and never unloaded: for the process that digest.c starts, not for others.
 */
#ifndef SLUICE_TUNE_TRIAL_DIGEST_HDF5_H
#define SLUICE_TUNE_TRIAL_DIGEST_HDF5_H

#include <stdbool.h>
#include <stdint.h>
#include <xxhash.h>

struct err;

/* Does the file begin like one? User blocks are looked behind. */
bool digest_is_hdf5(int fd);

/*
 * Adds what the file holds to the hash, and to *skipped what cannot be looked at. -ENOENT: HDF5
 * (1.10 or later) cannot be loaded; -EBADMSG: the file is broken.
 */
int digest_hdf5(XXH3_state_t *hash, const char *path, uint64_t *skipped, struct err *err);

#endif
