/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shapes of chunks for datasets that would be contiguous: the parameter chunk_size made fit. Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_CHUNK_H
#define SLUICE_CAPTURE_APPLY_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#define CHUNK_RANK_MAX 32	   /* H5S_MAX_RANK */
#define CHUNK_BYTES_MAX UINT32_MAX /* HDF5 keeps it in 32 bits */

#pragma GCC visibility push(hidden)

/*
 * The shape for a dataset of these extents, whose elements have so many bytes: as value says
 * ("1,26,327680"), or, where that is a lone number, made from a size in bytes by halving the
 * slowest extents first. False where it is none for this dataset: another number of extents, larger
 * ones, or too many bytes.
 */
bool chunk_shape(const char *value, int rank, const unsigned long long *dims, uint64_t element,
		 unsigned long long chunk[CHUNK_RANK_MAX]);

#pragma GCC visibility pop

#endif
