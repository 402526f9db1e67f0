/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 * @prepare
 */
#include "fix.h"

static void write_row(hid_t file, hsize_t row)
{
	hid_t dataset = H5Dopen2(file, "data", H5P_DEFAULT);
	hsize_t columns = COLUMNS;

	H5_MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &columns, NULL),
			 select_block(row, 0, 1, COLUMNS), H5P_DEFAULT, block));
	H5_MUST(H5Dclose(dataset));
}

static void program(void)
{
	hid_t fapl = H5P_DEFAULT;

	if (prepares) {
		hid_t made = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);

		H5_MUST(H5Dclose(dataset_create(made, H5P_DEFAULT)));
		H5_MUST(H5Fclose(made));
		return;
	}
#ifdef FIX
#include FIX
	for (hsize_t i = 0; i < 60; i++)
		write_row(file, i % ROWS);
	H5_MUST(H5Fclose(file));
#else
	for (hsize_t i = 0; i < 60; i++) {
		hid_t file = H5Fopen(path, H5F_ACC_RDWR, fapl);

		write_row(file, i % ROWS);
		H5_MUST(H5Fclose(file));
	}
#endif
}
