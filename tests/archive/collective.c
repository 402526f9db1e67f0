/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ranks write and read a shared file by collective calls, for the archive of earlier formats.
 */
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, values[256];
	MPI_File file;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 256; i++)
		values[i] = rank;
	MPI_File_open(MPI_COMM_WORLD, "shared.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
		      &file);
	MPI_File_write_at_all(file, (MPI_Offset)(rank * sizeof(values)), values, 256, MPI_INT,
			      MPI_STATUS_IGNORE);
	MPI_File_read_at_all(file, (MPI_Offset)((1 - rank) * sizeof(values)), values, 256, MPI_INT,
			     MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	MPI_Finalize();
	return values[0] != 1 - rank;
}
