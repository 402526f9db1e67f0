/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich
 * @ranks 4
 *
 * Data sieving of ROMIO.
 */
#include "fix.h"

/* The pieces of the ranks are interleaved, so each rank on its own reads those of the others, too.
 */
static void program(void)
{
	MPI_File fh = shared_open(MPI_INFO_NULL);
	MPI_Datatype turns, type = MPI_BYTE;
	char *buffer = block;
	int count = MIB;
	MPI_Status status;

	MPI_MUST(MPI_File_set_size(fh, (MPI_Offset)ranks * MIB));
	MPI_MUST(MPI_Type_vector(256, 4 * KIB, 4 * KIB * ranks, MPI_BYTE, &turns));
	MPI_MUST(MPI_Type_commit(&turns));
	MPI_MUST(MPI_File_set_view(fh, (MPI_Offset)rank * 4 * KIB, MPI_BYTE, turns, "native",
				   MPI_INFO_NULL));
#ifdef FIX
#include FIX
#else
	MPI_File_read(fh, buffer, count, type, &status);
#endif
	MPI_MUST(MPI_File_close(&fh));
	MPI_Type_free(&turns);
}
