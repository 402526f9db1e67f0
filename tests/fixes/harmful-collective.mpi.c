/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 */
#include "fix.h"

static void program(void)
{
	enum { pieces = 60, count = KIB };
	MPI_File fh = shared_open(MPI_INFO_NULL);
	MPI_Datatype turns, type = MPI_BYTE;
	char *buffer = block;
	MPI_Status status;

	MPI_MUST(MPI_Type_vector(pieces, count, count * ranks, MPI_BYTE, &turns));
	MPI_MUST(MPI_Type_commit(&turns));
	MPI_MUST(MPI_File_set_view(fh, (MPI_Offset)rank * count, MPI_BYTE, turns, "native",
				   MPI_INFO_NULL));
#ifdef FIX
#include FIX
#else
	for (int i = 0; i < pieces; i++)
		MPI_File_write_all(fh, buffer + i * count, count, type, &status);
#endif
	MPI_MUST(MPI_File_close(&fh));
	MPI_Type_free(&turns);
}
