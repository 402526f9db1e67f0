/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks write interleaved columns of a table by independent transfers, row by row, and read them
 * back: `lockstep MODE FILE`. lockstep.h lists the modes; in another one, `kinds`, all ranks do the
 * same and then read datasets of other kinds.
 */
#include <hdf5.h>

#include "lockstep.h"

#define H5_MUST(call) must_h5((call), __LINE__, #call)

static hid_t must_h5(hid_t result, int line, const char *what)
{
	if (result < 0)
		must_fail(__FILE__, line, what, "failed");
	return result;
}

static int number_of(int row, int column)
{
	return number_at(row, column);
}

/* Selects the columns of one rank in a row; the memory holds only these. */
static hid_t select_part(hid_t space, int row, int of)
{
	hsize_t start[] = { (hsize_t)row, (hsize_t)of }, stride[] = { 1, (hsize_t)ranks };
	hsize_t count[] = { 1, COLUMNS };

	H5_MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL));
	return space;
}

static void write_part(const void *table, int row, int of)
{
	const hid_t dataset = *(const hid_t *)table;
	const hsize_t columns = COLUMNS;
	hid_t memory = H5_MUST(H5Screate_simple(1, &columns, NULL));
	hid_t space = select_part(H5_MUST(H5Dget_space(dataset)), row, of);
	int numbers[COLUMNS];

	for (int i = 0; i < COLUMNS; i++)
		numbers[i] = number_of(row, of + i * ranks);
	H5_MUST(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, numbers));
	H5_MUST(H5Sclose(space));
	H5_MUST(H5Sclose(memory));
}

static hid_t make_table(hid_t file, const char *name)
{
	hsize_t size[] = { ROUNDS, (hsize_t)(COLUMNS * ranks) };
	hid_t space = H5_MUST(H5Screate_simple(2, size, NULL));
	hid_t table = H5_MUST(H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT,
					 H5P_DEFAULT, H5P_DEFAULT));

	H5_MUST(H5Sclose(space));
	return table;
}

static void write_tables(const char *mode, hid_t file)
{
	hid_t tables[2] = { make_table(file, "table"), -1 };

	if (is_mode(mode, "order"))
		tables[1] = make_table(file, "other");
	write_rows(mode, write_part, (const void *[]){ &tables[0], &tables[1] });
	H5_MUST(H5Dclose(tables[0]));
	if (is_mode(mode, "order"))
		H5_MUST(H5Dclose(tables[1]));
}

static void read_table(hid_t file, hid_t memory, hid_t list, bool is_shared)
{
	hid_t table = H5_MUST(H5Dopen2(file, "table", H5P_DEFAULT));
	int numbers[COLUMNS];
	H5FD_mpio_xfer_t mode;

	for (int row = 0; row < ROUNDS; row++) {
		hid_t space = select_part(H5_MUST(H5Dget_space(table)), row, rank);

		if (is_shared)
			begin_row(row);
		H5_MUST(H5Dread(table, H5T_NATIVE_INT, memory, space, list, numbers));
		H5_MUST(H5Sclose(space));
		for (int i = 0; i < COLUMNS; i++)
			MUST(numbers[i] == number_of(row, rank + i * ranks));
	}
	/* The program's own list is never changed. */
	H5_MUST(H5Pget_dxpl_mpio(list, &mode));
	MUST(mode == H5FD_MPIO_INDEPENDENT);
	H5_MUST(H5Dclose(table));
}

/* All ranks read a dataset that was never written, and that has the size of the table. */
static void read_kind(hid_t file, const char *name, H5D_layout_t layout, bool is_filtered)
{
	const hsize_t size[] = { ROUNDS, (hsize_t)(COLUMNS * ranks) }, chunk[] = { 1, COLUMNS };
	hid_t list = H5_MUST(H5Pcreate(H5P_DATASET_CREATE)), dataset;
	hid_t space = H5_MUST(H5Screate_simple(2, size, NULL));
	int *numbers = malloc(size[0] * size[1] * sizeof(*numbers));

	MUST(numbers);
	H5_MUST(H5Pset_layout(list, layout));
	if (layout == H5D_CHUNKED)
		H5_MUST(H5Pset_chunk(list, 2, chunk));
	if (is_filtered)
		H5_MUST(H5Pset_shuffle(list));
	dataset = H5_MUST(
		H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT));
	numbers[0] = numbers[size[0] * size[1] - 1] = 1;
	H5_MUST(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
	MUST(numbers[0] == 0 && numbers[size[0] * size[1] - 1] == 0);
	free(numbers);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Sclose(space));
	H5_MUST(H5Pclose(list));
}

static void read_kinds(hid_t file)
{
	read_kind(file, "chunked", H5D_CHUNKED, false);
	read_kind(file, "filtered", H5D_CHUNKED, true);
	read_kind(file, "compact", H5D_COMPACT, false);
}

int main(int argc, char **argv)
{
	const char *mode, *path;
	hsize_t columns = COLUMNS;
	hid_t shared, list, file, memory;

	world_begin(&argc, &argv);
	MUST(argc == 3);
	mode = current_mode(argv[1]);
	path = argv[2];
	shared = H5_MUST(H5Pcreate(H5P_FILE_ACCESS));
	H5_MUST(H5Pset_fapl_mpio(shared, MPI_COMM_WORLD, MPI_INFO_NULL));
	list = H5_MUST(H5Pcreate(H5P_DATASET_XFER));
	H5_MUST(H5Pset_dxpl_mpio(list, H5FD_MPIO_INDEPENDENT));
	memory = H5_MUST(H5Screate_simple(1, &columns, NULL));

	file = H5_MUST(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, shared));
	write_tables(mode, file);
	if (is_mode(mode, "kinds"))
		read_kinds(file);
	H5_MUST(H5Fclose(file));
	file = H5_MUST(H5Fopen(path, H5F_ACC_RDONLY, shared));
	read_table(file, memory, list, true);
	H5_MUST(H5Fclose(file));

	/* The same file without MPI-IO: a collective transfer would be an error. */
	if (rank == 0) {
		file = H5_MUST(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
		read_table(file, memory, list, false);
		H5_MUST(H5Fclose(file));
	}
	H5_MUST(H5Pclose(shared));
	H5_MUST(H5Pclose(list));
	H5_MUST(H5Sclose(memory));
	MPI_MUST(MPI_Finalize());
	return 0;
}
