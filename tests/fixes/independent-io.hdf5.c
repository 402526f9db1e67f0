/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 * @libraries hdf5
 * @only
 */
#include "fix.h"

static void program(void)
{
	hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file, dataset;
	hsize_t elements = COLUMNS;
	hid_t memory = H5Screate_simple(1, &elements, NULL);

	H5_MUST(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL));
#ifdef FIX
#include FIX
#else
	hid_t dxpl = H5P_DEFAULT;
#endif
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
	dataset = dataset_create(file, H5P_DEFAULT);
	for (int i = 0; i < 60; i++) {
		hid_t space = select_block((hsize_t)(i * ranks + rank) % ROWS, 0, 1, elements);

		H5_MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, dxpl, block));
		H5Sclose(space);
	}
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
	H5Pclose(fapl);
}
