/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 */
#include "fix.h"

/* The fill value is written when the dataset is created, then the data. */
static void program(void)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), dataset;

	H5_MUST(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY));
#ifdef FIX
#include FIX
#else
	H5_MUST(H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC));
#endif
	dataset = dataset_create(file, dcpl);
	rows_write(dataset);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}
