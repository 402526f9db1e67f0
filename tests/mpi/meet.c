/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that synchronize often: collective opens, writes and closes of one file, with pauses of
 * different lengths in between, so that the ranks arrive at different times.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define ROUNDS 5
#define WRITES 4

static int rank;

static void must(int code, const char *what)
{
	if (code == MPI_SUCCESS)
		return;
	fprintf(stderr, "rank %d: %s failed\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 99);
}

static void round_make(int round)
{
	char bytes[512] = { 0 };
	MPI_File f;

	usleep((useconds_t)((rank * 7 + round * 3) % 11 * 500));
	must(MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			   &f),
	     "MPI_File_open");
	for (int i = 0; i < WRITES; i++)
		must(MPI_File_write_at_all(f, rank * (MPI_Offset)sizeof(bytes), bytes,
					   sizeof(bytes), MPI_BYTE, MPI_STATUS_IGNORE),
		     "MPI_File_write_at_all");
	must(MPI_File_close(&f), "MPI_File_close");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < ROUNDS; i++)
		round_make(i);
	MPI_Finalize();
	return 0;
}
