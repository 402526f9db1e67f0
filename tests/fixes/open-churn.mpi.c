/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each rank has a contiguous part of the file. OMPIO opens a file of its own beside it as often,
 * which comes first in the finding.
 *
 * @mpi mpich
 */
#include "fix.h"

enum { BYTES = 64 * KIB, TIMES = 60 };

static void write_piece(MPI_File fh, int i)
{
	MPI_MUST(MPI_File_write_at(fh, ((MPI_Offset)rank * TIMES + i) * BYTES, block, BYTES,
				   MPI_BYTE, MPI_STATUS_IGNORE));
}

static void program(void)
{
	MPI_Comm comm = MPI_COMM_WORLD;
	MPI_Info info = MPI_INFO_NULL;
	MPI_File fh;

	if (!rank)
		close(file_of(0));
	MPI_MUST(MPI_Barrier(comm));
#ifdef FIX
#include FIX
	for (int i = 0; i < TIMES; i++)
		write_piece(fh, i);
	MPI_MUST(MPI_File_close(&fh));
#else
	for (int i = 0; i < TIMES; i++) {
		MPI_MUST(MPI_File_open(comm, path, MPI_MODE_RDWR, info, &fh));
		write_piece(fh, i);
		MPI_MUST(MPI_File_close(&fh));
	}
#endif
}
