/* SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: findings_hdf5 CASE bad|good FILE
 * Programs of the benchmark findings that use HDF5; see findings_work.h.
 */
#include <hdf5.h>
#include <string.h>

#include "findings_work.h"

#define H5_MUST(call) MUST((call) >= 0)
enum { ROWS = 64, COLUMNS = 64 * 1024 };

static double numbers[ROWS * COLUMNS];

static hid_t select_block(hsize_t r, hsize_t c, hsize_t rows, hsize_t columns)
{
	hsize_t all[2] = { ROWS, COLUMNS }, start[2] = { r, c }, count[2] = { rows, columns };
	hid_t space = H5Screate_simple(2, all, NULL);

	H5_MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
	return space;
}

static hid_t create_dataset(hid_t file, hid_t list)
{
	hsize_t all[2] = { ROWS, COLUMNS };
	hid_t dataset = H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, H5Screate_simple(2, all, NULL),
				   H5P_DEFAULT, list, H5P_DEFAULT);

	H5_MUST(dataset);
	return dataset;
}

static void transfer(hid_t dataset, hid_t space, hsize_t elements, int writes)
{
	hid_t memory = H5Screate_simple(1, &elements, NULL);

	if (writes)
		H5_MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, numbers));
	else
		H5_MUST(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, numbers));
	H5Sclose(memory);
	H5Sclose(space);
}

static hid_t chunked(hsize_t rows, hsize_t columns)
{
	hid_t list = H5Pcreate(H5P_DATASET_CREATE);
	hsize_t chunk[2] = { rows, columns };

	H5_MUST(H5Pset_chunk(list, 2, chunk));
	return list;
}

/* Rows of a dataset whose chunks are columns, with a cache that is too small or large enough. */
static void rows_in_columns(const char *path, size_t cache, int reads)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), file, dataset;

	H5_MUST(H5Pset_cache(access, 0, 10007, cache, 0.75));
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
	dataset = create_dataset(file, chunked(ROWS, 512));
	if (reads)
		H5_MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
				 numbers));
	for (hsize_t r = 0; r < ROWS; r++)
		transfer(dataset, select_block(r, 0, 1, COLUMNS), COLUMNS, !reads);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

static void cache_writes(const char *path, int good)
{
	compute(100);
	rows_in_columns(path, good ? 64 * MIB : MIB, 0);
}

static void cache_reads(const char *path, int good)
{
	compute(100);
	rows_in_columns(path, good ? 64 * MIB : MIB, 1);
}

/* The fill value is written before the data. */
static void filled(const char *path, int good)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t list = H5Pcreate(H5P_DATASET_CREATE), dataset;

	compute(10);
	H5_MUST(H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY));
	H5_MUST(H5Pset_fill_time(list, good ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC));
	dataset = create_dataset(file, list);
	for (hsize_t r = 0; r < ROWS; r++)
		transfer(dataset, select_block(r, 0, 1, COLUMNS), COLUMNS, 1);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

/* Elements one by one, or many at once. */
static void elements(const char *path, int good)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t dataset = create_dataset(file, H5P_DEFAULT);

	compute(20);
	if (good)
		transfer(dataset, select_block(0, 0, 1, 20000), 20000, 1);
	else
		for (hsize_t i = 0; i < 20000; i++)
			transfer(dataset, select_block(0, i, 1, 1), 1, 1);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}

static const struct work works[] = {
	{ "cache_writes", cache_writes },
	{ "cache_reads", cache_reads },
	{ "filled", filled },
	{ "elements", elements },
};

int main(int argc, char **argv)
{
	return work_run(works, sizeof(works) / sizeof(*works), argc, argv);
}
