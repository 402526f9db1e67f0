/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 */
#include "fix.h"

static void program(void)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t dataset = dataset_create(file, H5P_DEFAULT);
	hsize_t columns = COLUMNS;

	for (int step = 0; step < 120; step++) {
		H5_MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &columns, NULL),
				 select_block((hsize_t)step % ROWS, 0, 1, COLUMNS), H5P_DEFAULT,
				 block));
#ifdef FIX
#include FIX
#else
		H5Fflush(file, H5F_SCOPE_LOCAL);
#endif
	}
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}
