/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5 reads the metadata of this file collectively, and only the last rank transfers so much that
 * capture takes an interest in the dataset. If this rank alone asked HDF5 about it, it would
 * receive what rank 0 sends for the next call, which is about the group.
 */
#include "must_h5.h"

#define N (64 << 10)
#define PATH "alone.h5"

static int numbers[N];

static hid_t file_make(void)
{
	hid_t access = H5_MUST(H5Pcreate(H5P_FILE_ACCESS)), file;

	H5_MUST(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
	H5_MUST(H5Pset_all_coll_metadata_ops(access, true));
	file = H5_MUST(H5Fcreate(PATH, H5F_ACC_TRUNC, H5P_DEFAULT, access));
	H5_MUST(H5Pclose(access));
	return file;
}

static hid_t set_make(hid_t group)
{
	hsize_t n = N, chunk = N / 4;
	hid_t creation = H5_MUST(H5Pcreate(H5P_DATASET_CREATE));
	hid_t space = H5_MUST(H5Screate_simple(1, &n, NULL)), set;

	H5_MUST(H5Pset_chunk(creation, 1, &chunk));
	set = H5_MUST(H5Dcreate2(group, "set", H5T_NATIVE_INT, space, H5P_DEFAULT, creation,
				 H5P_DEFAULT));
	H5_MUST(H5Pclose(creation));
	H5_MUST(H5Sclose(space));
	return set;
}

int main(int argc, char **argv)
{
	hid_t file, group, set;

	world_begin(&argc, &argv);
	file = file_make();
	group = H5_MUST(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	set = set_make(group);
	/* From now on, the metadata is clean, and HDF5 sends it before the next use. */
	H5_MUST(H5Fflush(file, H5F_SCOPE_GLOBAL));
	if (rank == ranks - 1)
		H5_MUST(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
	MUST(H5Aexists(group, "absent") == 0);
	MUST(H5Aexists(set, "absent") == 0);
	H5_MUST(H5Dclose(set));
	H5_MUST(H5Gclose(group));
	H5_MUST(H5Fclose(file));
	MPI_Barrier(MPI_COMM_WORLD);
	MUST(rank || !unlink(PATH));
	MPI_Finalize();
	return 0;
}
