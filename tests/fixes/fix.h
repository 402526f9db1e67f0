/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the C programs of this folder; tests/run/libfixes.sh describes them. A program is the
 * function program(). Without the macro FIX it does what a finding is about; with it, it includes
 * the lines of the fix, as `sluice report` printed them.
 */
#ifndef SLUICE_TESTS_FIX_H
#define SLUICE_TESTS_FIX_H

#ifdef WITH_MPI
#include <mpi.h>
#endif
#ifdef WITH_HDF5
#include <hdf5.h>
#endif
#ifdef WITH_NETCDF
#include <netcdf.h>
#endif
#ifdef WITH_PNETCDF
#include <pnetcdf.h>
#endif
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../mpi/must.h"

#define KIB 1024
#define MIB (1024 * KIB)

static __attribute__((unused)) char block[8 * MIB];
static const char *path; /* of the file */
static bool prepares;	 /* the run that makes the file for the next one; see @prepare */

static void program(void);

int main(int argc, char **argv)
{
#ifdef WITH_MPI
	world_begin(&argc, &argv);
#endif
	MUST(argc == 2 || argc == 3);
	path = argv[1];
	prepares = argc == 3;
	program();
#ifdef WITH_MPI
	MPI_MUST(MPI_Finalize());
#endif
	return 0;
}

/* A file of this size without data. */
static inline int file_of(off_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	MUST(fd >= 0 && ftruncate(fd, bytes) == 0);
	return fd;
}

#ifndef WITH_MPI
/* Runs the rest of the program in two processes; returns the number of this one. */
static inline int rank_fork(void)
{
	return fork() == 0;
}

static inline void rank_join(int rank)
{
	int status;

	if (rank)
		_exit(0);
	MUST(wait(&status) > 0 && status == 0);
}
#endif

#ifdef WITH_MPI
static inline MPI_File shared_open(MPI_Info info)
{
	MPI_File file;

	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
	return file;
}
#endif

#ifdef WITH_HDF5
#define H5_MUST(call) MUST((call) >= 0)
enum { ROWS = 32, COLUMNS = 64 * 256 };

/* Selects a block of a dataset of ROWS x COLUMNS. */
static inline hid_t select_block(hsize_t r, hsize_t c, hsize_t rows, hsize_t columns)
{
	hsize_t all[2] = { ROWS, COLUMNS }, start[2] = { r, c }, count[2] = { rows, columns };
	hid_t space = H5Screate_simple(2, all, NULL);

	H5_MUST(space);
	H5_MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
	return space;
}

static inline hid_t dataset_create(hid_t file, hid_t dcpl)
{
	hsize_t all[2] = { ROWS, COLUMNS };
	hid_t dataset = H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, H5Screate_simple(2, all, NULL),
				   H5P_DEFAULT, dcpl, H5P_DEFAULT);

	H5_MUST(dataset);
	return dataset;
}

static inline void rows_write(hid_t dataset)
{
	hsize_t columns = COLUMNS;

	for (hsize_t r = 0; r < ROWS; r++)
		H5_MUST(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &columns, NULL),
				 select_block(r, 0, 1, COLUMNS), H5P_DEFAULT, block));
}
#endif
#endif
