/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/chunk.h"

#include <string.h>

#include "capture/apply/rules.h"

/* UINT64_MAX on overflow. */
static uint64_t product(const unsigned long long *dims, int rank)
{
	uint64_t product = 1;

	for (int i = 0; i < rank; i++)
		if (__builtin_mul_overflow(product, dims[i], &product))
			return UINT64_MAX;
	return product;
}

static bool chunk_fits(const unsigned long long *chunk, int rank, uint64_t element)
{
	uint64_t bytes;

	return !__builtin_mul_overflow(product(chunk, rank), element, &bytes) && bytes &&
	       bytes <= CHUNK_BYTES_MAX;
}

/* Reads a shape, which must not exceed the dimensions of the dataset. */
static bool shape_from_text(const char *value, int rank, const unsigned long long *dims,
			    unsigned long long *chunk)
{
	for (int i = 0; i < rank; i++) {
		uint64_t extent;

		/* "4096," is a shape with one dimension: without the comma it would be a size. */
		if (!rules_number(&value, &extent) || !extent || extent > dims[i] ||
		    (*value != (i + 1 < rank ? ',' : 0) && (rank > 1 || strcmp(value, ",") != 0)))
			return false;
		chunk[i] = extent;
		value++;
	}
	return true;
}

static void shape_from_size(uint64_t bytes, int rank, const unsigned long long *dims,
			    uint64_t element, unsigned long long *chunk)
{
	uint64_t most = bytes / element;

	memcpy(chunk, dims, (size_t)rank * sizeof(*chunk));
	for (int i = 0; i < rank; i++)
		while (chunk[i] > 1 && product(chunk, rank) > most)
			chunk[i] = chunk[i] / 2 + chunk[i] % 2;
}

bool chunk_shape(const char *value, int rank, const unsigned long long *dims, uint64_t element,
		 unsigned long long chunk[CHUNK_RANK_MAX])
{
	const char *end = value;
	uint64_t bytes;

	if (rank < 1 || rank > CHUNK_RANK_MAX || !element || !product(dims, rank))
		return false;
	if (strchr(value, ',')) {
		if (!shape_from_text(value, rank, dims, chunk))
			return false;
	} else {
		if (!rules_number(&end, &bytes) || *end || !bytes)
			return false;
		shape_from_size(bytes, rank, dims, element, chunk);
	}
	return chunk_fits(chunk, rank, element);
}
