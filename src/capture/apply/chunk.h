/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shape of chunks for a dataset, from the parameter chunk_size. Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_CHUNK_H
#define SLUICE_CAPTURE_APPLY_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#define CHUNK_RANK_MAX 32	   /* H5S_MAX_RANK */
#define CHUNK_BYTES_MAX UINT32_MAX /* HDF5 keeps it in 32 bits */

#pragma GCC visibility push(hidden)

/*
 * Computes the chunk shape for a dataset with these dimensions and elements of `element` bytes.
 * value is a shape ("1,26,327680") or a size in bytes ("1048576"); for a size, the dataset's
 * dimensions are halved, slowest first, until the chunk fits. False if the value does not suit the
 * dataset: another number of dimensions, larger ones, or too many bytes.
 */
bool chunk_shape(const char *value, int rank, const unsigned long long *dims, uint64_t element,
		 unsigned long long chunk[CHUNK_RANK_MAX]);

#pragma GCC visibility pop

#endif
