/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program with which the parallel benchmark measures HDF5: each rank writes 4 KiB per H5Dwrite
 * into its own slab of one dataset of floats, as VPIC-IO writes a variable.
 *
 *	parallel_hdf5 collective|independent|serial FILE CALLS BURSTS
 *
 * The file is opened through MPI-IO, or with "serial" through the default driver of HDF5, by one
 *rank.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "parallel_burst.h"

#define VALUES 1024 /* of 4 bytes */

struct target {
	hid_t file, set, memory, slab, transfer;
	float values[VALUES];
};

/* Errors are printed by HDF5 itself (H5Eset_auto). */
static int64_t must(int64_t result)
{
	if (result < 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return result;
}

static void write_values(void *arg)
{
	struct target *t = arg;

	must(H5Dwrite(t->set, H5T_NATIVE_FLOAT, t->memory, t->slab, t->transfer, t->values));
}

static void target_spaces(struct target *t)
{
	hsize_t mine = VALUES, all, start;
	int rank, ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	all = mine * (hsize_t)ranks;
	start = mine * (hsize_t)rank;
	t->memory = must(H5Screate_simple(1, &mine, NULL));
	t->slab = must(H5Screate_simple(1, &all, NULL));
	must(H5Sselect_hyperslab(t->slab, H5S_SELECT_SET, &start, NULL, &mine, NULL));
}

static void target_open(struct target *t, const char *how, const char *path)
{
	hid_t access = must(H5Pcreate(H5P_FILE_ACCESS));

	/* With its default sieve buffer, a serial file would rarely write. */
	must(H5Pset_sieve_buf_size(access, 1));
	t->transfer = must(H5Pcreate(H5P_DATASET_XFER));
	if (strcmp(how, "serial") != 0) {
		must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
		must(H5Pset_dxpl_mpio(t->transfer, strcmp(how, "collective")
							   ? H5FD_MPIO_INDEPENDENT
							   : H5FD_MPIO_COLLECTIVE));
	}
	t->file = must(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
	t->set = must(H5Dcreate2(t->file, "x", H5T_NATIVE_FLOAT, t->slab, H5P_DEFAULT, H5P_DEFAULT,
				 H5P_DEFAULT));
	must(H5Pclose(access));
}

static void target_close(struct target *t)
{
	must(H5Pclose(t->transfer));
	must(H5Sclose(t->memory));
	must(H5Sclose(t->slab));
	must(H5Dclose(t->set));
	must(H5Fclose(t->file));
}

int main(int argc, char **argv)
{
	struct target target = { 0 };
	struct bursts bursts;

	MPI_Init(&argc, &argv);
	if (argc != 5) {
		fputs("parallel_hdf5: wrong arguments; bench/parallel_hdf5.c describes them\n",
		      stderr);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	bursts = bursts_parse(argv + 3);
	target_spaces(&target);
	target_open(&target, argv[1], argv[2]);
	bursts_run(&bursts, write_values, &target);
	target_close(&target);
	MPI_Finalize();
	return 0;
}
