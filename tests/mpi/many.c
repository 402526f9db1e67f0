/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many ranks with a few small calls each, most of them independent: for tests of the number of
 * ranks. One collective write at the end accesses a shared file.
 */
#include <mpi.h>

#include "must.h"

#define N 16
#define ROUNDS 8
#define PATH "many.dat"

int main(int argc, char **argv)
{
	int out[N], in[N];
	MPI_Offset at;
	MPI_File f;

	world_begin(&argc, &argv);
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, PATH, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			       &f));
	for (int i = 0; i < ROUNDS; i++) {
		at = ((MPI_Offset)i * ranks + rank) * (MPI_Offset)sizeof(out);
		numbers_make(out, N, i * ranks + rank);
		MPI_MUST(MPI_File_write_at(f, at, out, N, MPI_INT, MPI_STATUS_IGNORE));
		MPI_MUST(MPI_File_read_at(f, at, in, N, MPI_INT, MPI_STATUS_IGNORE));
		MUST(numbers_are(in, N, i * ranks + rank));
	}
	at = ((MPI_Offset)ROUNDS * ranks + rank) * (MPI_Offset)sizeof(out);
	MPI_MUST(MPI_File_write_at_all(f, at, out, N, MPI_INT, MPI_STATUS_IGNORE));
	MPI_MUST(MPI_File_close(&f));
	file_remove(PATH);
	return MPI_Finalize();
}
