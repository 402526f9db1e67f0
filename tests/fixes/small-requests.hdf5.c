/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 */
#include "fix.h"

/* Reads 600 elements of a row, one by one. */
static void program(void)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t dataset = dataset_create(file, H5P_DEFAULT), type = H5T_NATIVE_DOUBLE;
	hid_t space = H5Dget_space(dataset), dxpl = H5P_DEFAULT, memory;
	hsize_t first[2] = { 0 }, many[2] = { 1, 600 };

	rows_write(dataset);
#ifdef FIX
	memory = H5Screate_simple(2, many, NULL);
#include FIX
#else
	many[1] = 1;
	memory = H5Screate_simple(2, many, NULL);
	for (; first[1] < 600; first[1]++) {
		H5_MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, many, NULL));
		H5_MUST(H5Dread(dataset, type, memory, space, dxpl, block));
	}
#endif
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}
