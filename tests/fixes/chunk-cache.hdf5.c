/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 */
#include "fix.h"

/* Each row touches 64 chunks of 64 KiB; the cache holds 16. */
static void program(void)
{
	hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dcpl = H5Pcreate(H5P_DATASET_CREATE), file,
	      dataset;
	hsize_t chunk[2] = { ROWS, 256 };

#ifdef FIX
#include FIX
#endif
	H5_MUST(H5Pset_chunk(dcpl, 2, chunk));
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
	dataset = dataset_create(file, dcpl);
	rows_write(dataset);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}
