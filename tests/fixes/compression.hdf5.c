/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5 z
 * @set SLUICE_FINDINGS_TIME_PERCENT=25
 */
#include "fix.h"

#include <zlib.h>

/* Data that does not compress well takes the longest, so a quarter of the rows suffices. */
static void fill_block(void)
{
	double *numbers = (double *)block;
	unsigned state = 1;

	for (size_t i = 0; i < ROWS / 4 * COLUMNS; i++) {
		state = state * 1664525 + 1013904223;
		numbers[i] = state >> 16;
	}
}

/* Computes about as long as the bad filter takes, whatever the load of the machine. */
static void compute(void)
{
	uLongf room = compressBound(ROWS * COLUMNS * 8);
	Bytef *result = malloc(room);

	MUST(result && compress2(result, &room, (Bytef *)block, ROWS * COLUMNS * 8, 9) == Z_OK);
	free(result);
}

static void program(void)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), dataset;
	hsize_t chunk[2] = { 1, COLUMNS };

	fill_block();
	compute();
	H5_MUST(H5Pset_chunk(dcpl, 2, chunk));
#ifdef FIX
#include FIX
#else
	H5_MUST(H5Pset_deflate(dcpl, 9));
#endif
	dataset = dataset_create(file, dcpl);
	H5_MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, block));
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}
