/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program with which the parallel benchmark measures MPI-IO, and MPI_Init with MPI_Finalize
 *alone.
 *
 *	parallel_mpi write FILE CALLS BURSTS	MPI_File_write_at of one byte
 *	parallel_mpi nothing
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "parallel_burst.h"

#define PLACES 4096 /* the file has one page */

struct target {
	MPI_File file;
	MPI_Offset place;
};

static void write_one(void *arg)
{
	struct target *t = arg;

	/* The default error handler of files ignores errors. */
	if (MPI_File_write_at(t->file, t->place++ % PLACES, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE) !=
	    MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void run_write(char **argv)
{
	struct bursts bursts = bursts_parse(argv + 1);
	struct target target = { 0 };

	if (MPI_File_open(MPI_COMM_WORLD, argv[0], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
			  &target.file) != MPI_SUCCESS) {
		fprintf(stderr, "parallel_mpi: cannot open %s\n", argv[0]);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	bursts_run(&bursts, write_one, &target);
	MPI_File_close(&target.file);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (argc == 5 && !strcmp(argv[1], "write")) {
		run_write(argv + 2);
	} else if (argc != 2 || strcmp(argv[1], "nothing") != 0) {
		fputs("parallel_mpi: wrong arguments; bench/parallel_mpi.c describes them\n",
		      stderr);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Finalize();
	return 0;
}
