/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 * @prepare
 * @also shell
 * @replace ROWSxCOLUMNS=32x64
 * @after mv data/f.repacked data/f
 */
#include "fix.h"

/* Chunks are rows; the program reads a block of columns. */
static void program(void)
{
	hsize_t rows_per_access = ROWS, columns_per_access = 64;
	hsize_t elements = rows_per_access * columns_per_access;
	hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), file, dataset;
#ifdef FIX
#include FIX
#else
	hsize_t rows[2] = { 1, COLUMNS };

	H5_MUST(H5Pset_chunk(dcpl, 2, rows));
#endif

	if (prepares) {
		file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
		dataset = dataset_create(file, dcpl);
		H5_MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, block));
	} else {
		file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
		dataset = H5Dopen2(file, "data", H5P_DEFAULT);
		H5_MUST(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &elements, NULL),
				select_block(0, 0, rows_per_access, columns_per_access),
				H5P_DEFAULT, block));
	}
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}
