/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich
 *
 * Hints of ROMIO.
 */
#include "fix.h"

static void program(void)
{
	MPI_File fh = shared_open(MPI_INFO_NULL);
	MPI_Datatype pieces, type = MPI_BYTE;
	char *buffer = block;
	int count = 256 * KIB;
	MPI_Status status;

	MPI_MUST(MPI_File_set_size(fh, (MPI_Offset)ranks * count));
	MPI_MUST(MPI_Type_vector(256, KIB, KIB * ranks, MPI_BYTE, &pieces));
	MPI_MUST(MPI_Type_commit(&pieces));
	MPI_MUST(MPI_File_set_view(fh, (MPI_Offset)rank * KIB, MPI_BYTE, pieces, "native",
				   MPI_INFO_NULL));
#ifdef FIX
#include FIX
#else
	MPI_File_write(fh, buffer, count, type, &status);
#endif
	MPI_MUST(MPI_File_close(&fh));
	MPI_Type_free(&pieces);
}
