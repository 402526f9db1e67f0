/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Split collective calls: one call begins an operation, another one ends it.
 */
#include <mpi.h>

#include "must.h"

#define N 256
#define PATH "split.dat"

static int out[N], in[N];

static void data_expect(int seed, const MPI_Status *status)
{
	MUST(moved(status, N));
	MUST(numbers_are(in, N, seed));
	memset(in, 0, sizeof(in));
}

static void explicit_offsets(MPI_File f)
{
	MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof(out);
	MPI_Status status;

	numbers_make(out, N, rank);
	MPI_MUST(MPI_File_write_at_all_begin(f, at, out, N, MPI_INT));
	MPI_MUST(MPI_File_write_at_all_end(f, out, &status));
	MUST(moved(&status, N));
	MPI_MUST(MPI_File_read_at_all_begin(f, at, in, N, MPI_INT));
	MPI_MUST(MPI_File_read_at_all_end(f, in, &status));
	data_expect(rank, &status);
}

static void individual_pointers(MPI_File f)
{
	MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof(out);
	MPI_Status status;

	numbers_make(out, N, ranks + rank);
	MPI_MUST(MPI_File_seek(f, at, MPI_SEEK_SET));
	MPI_MUST(MPI_File_write_all_begin(f, out, N, MPI_INT));
	MPI_MUST(MPI_File_write_all_end(f, out, &status));
	MUST(moved(&status, N));
	MPI_MUST(MPI_File_seek(f, at, MPI_SEEK_SET));
	MPI_MUST(MPI_File_read_all_begin(f, in, N, MPI_INT));
	MPI_MUST(MPI_File_read_all_end(f, in, &status));
	data_expect(ranks + rank, &status);
}

/* One after the other, in the order of the ranks. */
static void shared_pointer(MPI_File f)
{
	MPI_Status status;

	numbers_make(out, N, 2 * ranks + rank);
	MPI_MUST(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	MPI_MUST(MPI_File_write_ordered_begin(f, out, N, MPI_INT));
	MPI_MUST(MPI_File_write_ordered_end(f, out, &status));
	MPI_MUST(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	MPI_MUST(MPI_File_read_ordered_begin(f, in, N, MPI_INT));
	MPI_MUST(MPI_File_read_ordered_end(f, in, &status));
	data_expect(2 * ranks + rank, &status);
	MPI_MUST(MPI_File_read_at(f, (MPI_Offset)rank * (MPI_Offset)sizeof(in), in, N, MPI_INT,
				  &status));
	data_expect(2 * ranks + rank, &status);
}

int main(int argc, char **argv)
{
	MPI_File f;

	world_begin(&argc, &argv);
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, PATH, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			       &f));
	explicit_offsets(f);
	individual_pointers(f);
	shared_pointer(f);
	MPI_MUST(MPI_File_close(&f));
	file_remove(PATH);
	return MPI_Finalize();
}
