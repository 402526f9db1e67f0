/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each rank has a contiguous part of the file, so that collective calls would not help.
 *
 * @mpi mpich openmpi
 */
#include "fix.h"

static void program(void)
{
	enum { count = 1000, pieces = 600 };
	MPI_File fh = shared_open(MPI_INFO_NULL);
	MPI_Offset offset = (MPI_Offset)rank * 8 * MIB;
	MPI_Datatype type = MPI_BYTE;
	MPI_Status status;

#ifdef FIX
#include FIX
#else
	for (int i = 0; i < pieces; i++, offset += count)
		MPI_MUST(MPI_File_write_at(fh, offset, block, count, type, &status));
#endif
	MPI_MUST(MPI_File_close(&fh));
}
