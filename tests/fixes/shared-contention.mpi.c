/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 */
#include "fix.h"

static void program(void)
{
	enum { count = 64 * KIB };
	char *buffer = block;
#ifdef FIX
	MPI_Datatype type = MPI_BYTE;
	MPI_File fh = shared_open(MPI_INFO_NULL);
	MPI_Status status;
#else
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	MUST(fd >= 0);
#endif
	for (int i = 0; i < 40; i++) {
		off_t offset = (off_t)(i * ranks + rank) * count;

#ifdef FIX
#include FIX
#else
		MUST(pwrite(fd, buffer, count, offset) == count);
#endif
	}
#ifdef FIX
	MPI_MUST(MPI_File_close(&fh));
#endif
}
