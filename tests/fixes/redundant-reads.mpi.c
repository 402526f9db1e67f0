/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 */
#include "fix.h"

static void program(void)
{
	enum { bytes = MIB };
	char *data = block;
	MPI_File fh;
	MPI_Status status;

	if (!rank)
		close(file_of(bytes));
	MPI_MUST(MPI_Barrier(MPI_COMM_WORLD));
	fh = shared_open(MPI_INFO_NULL);
#ifdef FIX
#include FIX
#else
	for (int i = 0; i < 8; i++)
		MPI_MUST(MPI_File_read_at(fh, 0, data, bytes, MPI_BYTE, &status));
#endif
	MPI_MUST(MPI_File_close(&fh));
}
