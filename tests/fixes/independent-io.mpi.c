/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 */
#include "fix.h"

static void program(void)
{
	enum { count = 64 * KIB };
	MPI_File fh = shared_open(MPI_INFO_NULL);
	MPI_Datatype type = MPI_BYTE;
	char *buffer = block;
	MPI_Status status;

	for (int i = 0; i < 60; i++) {
		MPI_Offset offset = (MPI_Offset)(i * ranks + rank) * count;

#ifdef FIX
#include FIX
#else
		MPI_File_write_at(fh, offset, buffer, count, type, &status);
#endif
	}
	MPI_MUST(MPI_File_close(&fh));
}
