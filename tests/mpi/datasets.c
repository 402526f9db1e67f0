/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that access HDF5 datasets badly in one respect, and well; see tests/prog/patterns.c.
 * Arguments: CASE FILE. Without MPI, only the serial cases exist.
 */
#include <hdf5.h>
#ifdef H5_HAVE_PARALLEL
#include <mpi.h>
#endif

#include "must.h"

#define ROWS 32
#define COLUMNS (64 * 256)
#define H5_MUST(call) MUST((call) >= 0)

static double row[COLUMNS];

/* Selects a block of a dataset of two dimensions. */
static hid_t select_block(hsize_t r, hsize_t c, hsize_t rows, hsize_t columns)
{
	hsize_t all[2] = { ROWS, COLUMNS }, start[2] = { r, c }, count[2] = { rows, columns };
	hid_t space = H5Screate_simple(2, all, NULL);

	H5_MUST(space);
	H5_MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
	return space;
}

static hid_t chunked_list(hsize_t rows, hsize_t columns)
{
	hid_t list = H5Pcreate(H5P_DATASET_CREATE);
	hsize_t chunk[2] = { rows, columns };

	H5_MUST(list);
	H5_MUST(H5Pset_chunk(list, 2, chunk));
	return list;
}

static hid_t create_dataset(hid_t file, hid_t list)
{
	hsize_t all[2] = { ROWS, COLUMNS };
	hid_t space = H5Screate_simple(2, all, NULL);
	hid_t dataset =
		H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);

	H5_MUST(dataset);
	H5Sclose(space);
	return dataset;
}

/* type: of the elements in memory */
static void transfer(hid_t dataset, hid_t type, hid_t space, hsize_t elements, bool writes)
{
	hid_t memory = H5Screate_simple(1, &elements, NULL);

	if (writes)
		H5_MUST(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, row));
	else
		H5_MUST(H5Dread(dataset, type, memory, space, H5P_DEFAULT, row));
	H5Sclose(memory);
	H5Sclose(space);
}

static void write_rows(hid_t dataset, hid_t type)
{
	for (hsize_t r = 0; r < ROWS; r++)
		transfer(dataset, type, select_block(r, 0, 1, COLUMNS), COLUMNS, true);
}

/* Writes all rows into chunks of the given shape. */
static void write_chunks(const char *path, hsize_t rows, hsize_t columns, size_t cache_bytes)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), file, dataset;

	H5_MUST(H5Pset_cache(access, 0, 10007, cache_bytes, 0.75));
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
	H5_MUST(file);
	dataset = create_dataset(file, chunked_list(rows, columns));
	write_rows(dataset, H5T_NATIVE_DOUBLE);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

/* Each row touches 64 chunks of 64 KiB; the cache holds 16. */
static void thrashing(const char *path)
{
	write_chunks(path, ROWS, 256, 1 << 20);
}

static void cached(const char *path)
{
	write_chunks(path, ROWS, 256, 16 << 20);
}

static void matching(const char *path)
{
	write_chunks(path, 1, COLUMNS, 1 << 20);
}

/* Reads one element of each chunk. */
static void columns(const char *path)
{
	hid_t file, dataset;

	write_chunks(path, 1, COLUMNS, 1 << 20);
	file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	dataset = H5Dopen2(file, "data", H5P_DEFAULT);
	H5_MUST(dataset);
	transfer(dataset, H5T_NATIVE_DOUBLE, select_block(0, 7, ROWS, 1), ROWS, false);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

/* Data that does not compress well takes the longest. */
static void compress_rows(const char *path, unsigned level)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t list = chunked_list(1, COLUMNS), dataset;
	unsigned state = 1;

	for (int i = 0; i < COLUMNS; i++) {
		state = state * 1664525 + 1013904223;
		row[i] = (double)(state >> 16);
	}
	if (level)
		H5_MUST(H5Pset_deflate(list, level));
	dataset = create_dataset(file, list);
	for (int times = 0; times < 2; times++)
		write_rows(dataset, H5T_NATIVE_DOUBLE);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

static void compressed(const char *path)
{
	compress_rows(path, 9);
}

static void uncompressed(const char *path)
{
	compress_rows(path, 0);
}

/* The fill value is written first, then the data. */
static void write_filled(const char *path, H5D_fill_time_t when)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t list = H5Pcreate(H5P_DATASET_CREATE), dataset;

	H5_MUST(H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY));
	H5_MUST(H5Pset_fill_time(list, when));
	dataset = create_dataset(file, list);
	write_rows(dataset, H5T_NATIVE_DOUBLE);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

static void filled(const char *path)
{
	write_filled(path, H5D_FILL_TIME_ALLOC);
}

static void unfilled(const char *path)
{
	write_filled(path, H5D_FILL_TIME_NEVER);
}

/* Writes floats, which HDF5 converts to doubles. */
static void write_floats(const char *path, hid_t list)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), dataset;

	dataset = create_dataset(file, list);
	write_rows(dataset, H5T_NATIVE_FLOAT);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

static void floats(const char *path)
{
	write_floats(path, H5P_DEFAULT);
}

static void chunks_of_floats(const char *path)
{
	write_floats(path, chunked_list(1, COLUMNS));
}

/* Reads doubles as floats. */
static void read_floats(const char *path)
{
	hid_t file, dataset;

	unfilled(path);
	file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	dataset = H5Dopen2(file, "data", H5P_DEFAULT);
	H5_MUST(dataset);
	for (hsize_t r = 0; r < ROWS; r++)
		transfer(dataset, H5T_NATIVE_FLOAT, select_block(r, 0, 1, COLUMNS), COLUMNS, false);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

#ifdef H5_HAVE_PARALLEL
/* Each rank writes its rows; type is that of the data in memory. */
static void write_shared(const char *path, hid_t type, hsize_t elements, int calls)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER);
	hid_t file, dataset, memory = H5Screate_simple(1, &elements, NULL);

	H5_MUST(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
	H5_MUST(H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE));
#if H5_VERSION_GE(1, 14, 0) /* otherwise, it can convert types in collective transfers */
	H5_MUST(H5Pset_selection_io(together, H5D_SELECTION_IO_MODE_OFF));
#endif
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
	H5_MUST(file);
	dataset = create_dataset(file, H5P_DEFAULT);
	for (int i = 0; i < calls; i++) {
		hid_t space = select_block((hsize_t)(i % 8 * ranks + rank) % ROWS,
					   (hsize_t)i / 8 * elements % COLUMNS, 1, elements);

		H5_MUST(H5Dwrite(dataset, type, memory, space, together, row));
		H5Sclose(space);
	}
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
	H5Pclose(access);
	H5Pclose(together);
	H5Sclose(memory);
}

static void shared(const char *path)
{
	write_shared(path, H5T_NATIVE_DOUBLE, COLUMNS, 8);
}

static void converted(const char *path)
{
	write_shared(path, H5T_NATIVE_LLONG, COLUMNS, 8); /* as large as a double */
}

static void shared_small(const char *path)
{
	write_shared(path, H5T_NATIVE_DOUBLE, 64, 64);
}
#endif

static const struct {
	const char *name;
	void (*run)(const char *path);
} cases[] = {
	{ "thrashing", thrashing },
	{ "cached", cached },
	{ "matching", matching },
	{ "columns", columns },
	{ "compressed", compressed },
	{ "uncompressed", uncompressed },
	{ "filled", filled },
	{ "unfilled", unfilled },
	{ "floats", floats },
	{ "chunks_of_floats", chunks_of_floats },
	{ "read_floats", read_floats },
#ifdef H5_HAVE_PARALLEL
	{ "shared", shared },
	{ "converted", converted },
	{ "shared_small", shared_small },
#endif
};

int main(int argc, char **argv)
{
#ifdef H5_HAVE_PARALLEL
	world_begin(&argc, &argv);
#endif
	MUST(argc == 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, argv[1]))
			cases[i].run(argv[2]);
#ifdef H5_HAVE_PARALLEL
	MPI_MUST(MPI_Finalize());
#endif
	return 0;
}
