/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the chunks of HDF5 datasets are in a file. A trace has the shape of the chunks, but not
 * their places: asking HDF5 could read the file. HDF5 reads and writes a chunk as a whole, so an
 * access of exactly the bytes of a chunk shows where one is; compressed chunks have other sizes.
 * Chunks do not overlap; if such accesses do, they are not chunks, and no place is known.
 */
#ifndef SLUICE_PLOT_CHUNK_PLACES_H
#define SLUICE_PLOT_CHUNK_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/profile/profile.h"

struct chunk_places {
	uint64_t bytes;	     /* of a chunk; 0: no chunked dataset is known */
	bool has_compressed; /* a dataset of the file is compressed */
	int64_t *offsets;    /* of the chunks whose place is known, ascending */
	size_t count;
};

/* Of the dataset with the largest chunks. */
void chunk_places_init(struct chunk_places *places, const struct profile *profile, file_id file);
void chunk_places_release(struct chunk_places *places);

#endif
