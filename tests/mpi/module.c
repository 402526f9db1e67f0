/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A module that is linked with its own HDF5, to be loaded by loader.c; built once per flavor of
 * HDF5. The file stays open between its functions.
 */
#include <hdf5.h>

#include "module.h"

static hid_t file, set;

int module_begin(const char *path, unsigned long long numbers)
{
	hsize_t length = numbers;
	hid_t space = H5Screate_simple(1, &length, NULL), plain = H5Pcreate(H5P_DATASET_CREATE);

	/* Time stamps would make the files of two runs differ. */
	H5Pset_obj_track_times(plain, 0);
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	set = H5Dcreate2(file, path, H5T_NATIVE_INT, space, H5P_DEFAULT, plain, H5P_DEFAULT);
	return set < 0 || H5Sclose(space) < 0 || H5Pclose(plain) < 0;
}

int module_write(const int *numbers)
{
	return H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0;
}

int module_end(void)
{
	return H5Dclose(set) < 0 || H5Fclose(file) < 0;
}
