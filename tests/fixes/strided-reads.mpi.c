/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 */
#include "fix.h"

/* The ranks read different parts of the file. */
static void program(void)
{
	enum { pieces = 80, piece = 64 * KIB, stride = 80 * KIB };
	MPI_File fh = shared_open(MPI_INFO_NULL);
	MPI_Offset first = (MPI_Offset)rank * pieces * stride;
	char *buffer = block;
	MPI_Status status;

	MPI_MUST(MPI_File_set_size(fh, (MPI_Offset)ranks * pieces * stride));
#ifdef FIX
	MPI_Datatype type;
#include FIX
	MPI_Type_free(&type);
#else
	for (int i = 0; i < pieces; i++)
		MPI_File_read_at(fh, first + (MPI_Offset)i * stride, buffer, piece, MPI_BYTE,
				 &status);
#endif
	MPI_MUST(MPI_File_close(&fh));
}
