/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich
 * @ranks 4
 *
 * Hints of ROMIO.
 */
#include "fix.h"

static void program(void)
{
	const int bytes = (20 * KIB);
	MPI_Info info;
	MPI_File fh;

	MPI_MUST(MPI_Info_create(&info));
	MPI_Info_set(info, "romio_cb_write", "enable");
	MPI_Info_set(info, "cb_config_list", "*:4");
	MPI_Info_set(info, "cb_nodes", "4");
#ifdef FIX
#include FIX
#endif
	fh = shared_open(info);
	for (int i = 0; i < 60; i++)
		MPI_MUST(MPI_File_write_at_all(fh, (MPI_Offset)(i * ranks + rank) * bytes, block,
					       bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_MUST(MPI_File_close(&fh));
	MPI_Info_free(&info);
}
