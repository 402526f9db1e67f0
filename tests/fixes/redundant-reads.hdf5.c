/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 */
#include "fix.h"

static void program(void)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t dataset = dataset_create(file, H5P_DEFAULT), type = H5T_NATIVE_DOUBLE;
	hid_t dxpl = H5P_DEFAULT;
	char *data = block;

	rows_write(dataset);
#ifdef FIX
#include FIX
#else
	for (int i = 0; i < 8; i++)
		H5_MUST(H5Dread(dataset, type, H5S_ALL, H5S_ALL, dxpl, data));
#endif
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}
