/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 * @libraries hdf5
 */
#include "fix.h"

/* The data in memory has another type than the dataset. */
static void program(void)
{
	hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dxpl = H5Pcreate(H5P_DATASET_XFER), file, dataset;
	hsize_t columns = COLUMNS;
	hid_t memory = H5Screate_simple(1, &columns, NULL);
	const char *buffer = block;

	H5_MUST(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL));
	H5_MUST(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE));
#if H5_VERSION_GE(1, 14, 0) /* otherwise, it can convert types in collective transfers */
	H5_MUST(H5Pset_selection_io(dxpl, H5D_SELECTION_IO_MODE_OFF));
#endif
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
	dataset = dataset_create(file, H5P_DEFAULT);
	for (int i = 0; i < 8; i++) {
		hid_t space = select_block((hsize_t)(i * ranks + rank) % ROWS, 0, 1, COLUMNS);
#ifdef FIX
#include FIX
#else
		H5_MUST(H5Dwrite(dataset, H5T_NATIVE_LLONG, memory, space, dxpl, buffer));
#endif
	}
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
	H5Pclose(fapl);
	H5Pclose(dxpl);
}
