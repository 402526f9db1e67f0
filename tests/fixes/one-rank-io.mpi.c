/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 */
#include "fix.h"

static void program(void)
{
	enum { bytes = 2 * MIB };
	char *part = block + bytes;
#ifdef FIX
	MPI_File fh = shared_open(MPI_INFO_NULL);
	MPI_Status status;
#include FIX
	MPI_MUST(MPI_File_close(&fh));
#else
	MUST(ranks * bytes <= (int)sizeof(block) - bytes);
	memset(part, rank, bytes);
	MPI_MUST(MPI_Gather(rank ? part : MPI_IN_PLACE, bytes, MPI_BYTE, part, bytes, MPI_BYTE, 0,
			    MPI_COMM_WORLD));
	if (!rank) {
		int fd = file_of(0);

		MUST(write(fd, part, (size_t)ranks * bytes) == ranks * bytes);
		close(fd);
	}
#endif
}
