/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5: files, groups, datasets (contiguous and chunked), attributes, and both versions of calls
 * that have two. One source for serial HDF5 without MPI and for parallel HDF5, where all ranks
 * share the file and each has one row of every dataset.
 */
#include "must_h5.h"

#define N 256
#define PATH "hdf5.h5"

static hid_t file_access, collective = H5P_DEFAULT;
static int out[N], in[N];

static void begin(int *argc, char ***argv)
{
	file_access = H5_MUST(H5Pcreate(H5P_FILE_ACCESS));
#ifdef H5_HAVE_PARALLEL
	world_begin(argc, argv);
	H5_MUST(H5Pset_fapl_mpio(file_access, MPI_COMM_WORLD, MPI_INFO_NULL));
	collective = H5_MUST(H5Pcreate(H5P_DATASET_XFER));
	H5_MUST(H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE));
#else
	(void)argc, (void)argv;
#endif
	H5_MUST(H5Pset_alignment(file_access, 4096, 4096));
}

static void end(void)
{
	H5_MUST(H5Pclose(file_access));
#ifdef H5_HAVE_PARALLEL
	H5_MUST(H5Pclose(collective));
	MPI_Barrier(MPI_COMM_WORLD);
	MUST(rank || !unlink(PATH));
	MPI_Finalize();
#else
	MUST(!unlink(PATH));
#endif
}

/* The space of a dataset with the row of this rank selected. */
static hid_t row_space(void)
{
	hsize_t whole[] = { (hsize_t)ranks, N }, start[] = { (hsize_t)rank, 0 }, row[] = { 1, N };
	hid_t space = H5_MUST(H5Screate_simple(2, whole, NULL));

	H5_MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, row, NULL));
	return space;
}

static void row_write(hid_t set, int seed, hid_t transfer)
{
	hsize_t n = N;
	hid_t memory = H5_MUST(H5Screate_simple(1, &n, NULL)), space = row_space();

	numbers_make(out, N, seed);
	H5_MUST(H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, out));
	H5_MUST(H5Sclose(memory));
	H5_MUST(H5Sclose(space));
}

static void row_check(hid_t set, int seed, hid_t transfer)
{
	hsize_t n = N;
	hid_t memory = H5_MUST(H5Screate_simple(1, &n, NULL)), space = row_space();

	memset(in, 0, sizeof(in));
	H5_MUST(H5Dread(set, H5T_NATIVE_INT, memory, space, transfer, in));
	MUST(numbers_are(in, N, seed));
	H5_MUST(H5Sclose(memory));
	H5_MUST(H5Sclose(space));
}

static void contiguous(hid_t file)
{
	hid_t space = row_space();
	hid_t old = H5_MUST(H5Dcreate1(file, "old", H5T_NATIVE_INT, space, H5P_DEFAULT));
	hid_t set = H5_MUST(H5Dcreate2(file, "new", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT,
				       H5P_DEFAULT));

	row_write(old, rank, H5P_DEFAULT);
	row_write(set, ranks + rank, collective);
	H5_MUST(H5Fflush(file, H5F_SCOPE_GLOBAL));
#if !defined(H5_HAVE_PARALLEL) || !H5_VERSION_GE(1, 12, 0) /* later, not with several ranks */
	H5_MUST(H5Dflush(set));
#endif
	row_check(set, ranks + rank, collective);
	H5_MUST(H5Dclose(old));
	H5_MUST(H5Dclose(set));
	H5_MUST(H5Sclose(space));
}

static void chunked(hid_t group)
{
	hsize_t chunk[] = { 1, N / 4 }, larger[] = { (hsize_t)ranks + 1, N };
	hsize_t whole[] = { (hsize_t)ranks, N }, most[] = { H5S_UNLIMITED, N };
	hid_t layout = H5_MUST(H5Pcreate(H5P_DATASET_CREATE));
	hid_t space = H5_MUST(H5Screate_simple(2, whole, most));
	hid_t set;

	H5_MUST(H5Pset_chunk(layout, 2, chunk));
	set = H5_MUST(H5Dcreate2(group, "chunked", H5T_NATIVE_INT, space, H5P_DEFAULT, layout,
				 H5P_DEFAULT));
	row_write(set, 2 * ranks + rank, collective);
	H5_MUST(H5Dset_extent(set, larger));
	H5_MUST(H5Dset_extent(set, whole));
	row_check(set, 2 * ranks + rank, collective);
	H5_MUST(H5Dclose(set));
	H5_MUST(H5Sclose(space));
	H5_MUST(H5Pclose(layout));
}

/* All ranks write the same attributes. */
static void attributes(hid_t group)
{
	hsize_t n = N;
	hid_t space = H5_MUST(H5Screate_simple(1, &n, NULL));
	hid_t a =
		H5_MUST(H5Acreate2(group, "new", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
	hid_t b = H5_MUST(H5Acreate1(group, "old", H5T_NATIVE_INT, space, H5P_DEFAULT));

	numbers_make(out, N, 5);
	H5_MUST(H5Awrite(a, H5T_NATIVE_INT, out));
	H5_MUST(H5Awrite(b, H5T_NATIVE_INT, out));
	H5_MUST(H5Aclose(a));
	H5_MUST(H5Aclose(b));
	H5_MUST(H5Sclose(space));
	a = H5_MUST(H5Aopen(group, "new", H5P_DEFAULT));
	H5_MUST(H5Aread(a, H5T_NATIVE_INT, in));
	MUST(numbers_are(in, N, 5));
	H5_MUST(H5Aclose(a));
}

static void write_file(void)
{
	hid_t file = H5_MUST(H5Fcreate(PATH, H5F_ACC_TRUNC, H5P_DEFAULT, file_access));
	hid_t group = H5_MUST(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	hid_t inner = H5_MUST(H5Gcreate1(group, "inner", 0));

	contiguous(file);
	chunked(inner);
	attributes(group);
	H5_MUST(H5Gclose(inner));
	H5_MUST(H5Gclose(group));
	H5_MUST(H5Fclose(file));
}

static void read_file(void)
{
	hid_t file = H5_MUST(H5Fopen(PATH, H5F_ACC_RDWR, file_access));
	hid_t group = H5_MUST(H5Gopen2(file, "group", H5P_DEFAULT));
	hid_t inner = H5_MUST(H5Gopen1(group, "inner"));
	hid_t old = H5_MUST(H5Dopen1(file, "old"));
	hid_t chunks = H5_MUST(H5Dopen2(inner, "chunked", H5P_DEFAULT));

	row_check(old, rank, H5P_DEFAULT);
	H5_MUST(H5Drefresh(old));
	row_check(chunks, 2 * ranks + rank, collective);
	H5_MUST(H5Dclose(old));
	H5_MUST(H5Oclose(chunks));
	H5_MUST(H5Gclose(inner));
	H5_MUST(H5Gclose(group));
	H5_MUST(H5Fclose(file));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	write_file();
	read_file();
	end();
	return 0;
}
