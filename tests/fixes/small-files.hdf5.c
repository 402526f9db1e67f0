/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 */
#include "fix.h"

static void write_record(hid_t file, const char *name, int number)
{
	hid_t type = H5T_NATIVE_INT, space = H5Screate(H5S_SCALAR);
#ifdef FIX
	hid_t dataset =
#include FIX
		;
#else
	hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
#endif

	H5_MUST(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &number));
	H5_MUST(H5Dclose(dataset));
	H5Sclose(space);
}

static void program(void)
{
	char name[256];
#ifdef FIX
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);

	for (int i = 0; i < 150; i++) {
		snprintf(name, sizeof(name), "record%d", i);
		write_record(file, name, i);
	}
	H5_MUST(H5Fclose(file));
#else
	for (int i = 0; i < 150; i++) {
		hid_t file;

		snprintf(name, sizeof(name), "%s.%d", path, i);
		file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
		write_record(file, "record", i);
		H5_MUST(H5Fclose(file));
	}
#endif
}
