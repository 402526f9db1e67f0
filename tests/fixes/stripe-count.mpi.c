/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich
 * @only
 *
 * There is no Lustre here: the finding follows from the hint that the program passes.
 */
#include "fix.h"

static void program(void)
{
	MPI_Info info;
	MPI_File fh;

	MPI_MUST(MPI_Info_create(&info));
	MPI_Info_set(info, "striping_factor", "1");
#ifdef FIX
#include FIX
#endif
	fh = shared_open(info);
	for (int i = 0; i < 8; i++)
		MPI_MUST(MPI_File_write_at(fh, (MPI_Offset)(rank * 8 + i) * 8 * MIB, block, 8 * MIB,
					   MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_MUST(MPI_File_close(&fh));
	MPI_Info_free(&info);
}
