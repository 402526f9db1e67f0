/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shared file pointer: each call accesses the next piece of the file, whichever rank makes it.
 */
#include <mpi.h>

#include "must.h"

#define N 64
#define PATH "shared.dat"

static int out[N], in[N];

/* Which piece a rank gets is undefined, but each piece must be complete and exist once. */
static void pieces_expect(const int *piece, int seed_of_rank_0)
{
	int *owners = calloc((size_t)ranks, sizeof(int)), owner = 0;

	MUST(owners);
	while (owner < ranks && !numbers_are(piece, N, seed_of_rank_0 + owner))
		owner++;
	MUST(owner < ranks);
	MPI_Allgather(&owner, 1, MPI_INT, owners, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++)
		for (int j = 0; j < i; j++)
			MUST(owners[i] != owners[j]);
	free(owners);
}

static void rewind_all(MPI_File f)
{
	MPI_Offset at;

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_MUST(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	MPI_MUST(MPI_File_get_position_shared(f, &at));
	MUST(at == 0);
	MPI_Barrier(MPI_COMM_WORLD);
	memset(in, 0, sizeof(in));
}

static void blocking(MPI_File f)
{
	MPI_Status status;

	numbers_make(out, N, rank);
	rewind_all(f);
	MPI_MUST(MPI_File_write_shared(f, out, N, MPI_INT, &status));
	MUST(moved(&status, N));
	rewind_all(f);
	MPI_MUST(MPI_File_read_shared(f, in, N, MPI_INT, &status));
	MUST(moved(&status, N));
	pieces_expect(in, 0);
}

static void non_blocking(MPI_File f)
{
	MPI_Request request;
	MPI_Status status;

	numbers_make(out, N, ranks + rank);
	rewind_all(f);
	MPI_MUST(MPI_File_iwrite_shared(f, out, N, MPI_INT, &request));
	MPI_MUST(MPI_Wait(&request, &status));
	rewind_all(f);
	MPI_MUST(MPI_File_iread_shared(f, in, N, MPI_INT, &request));
	MPI_MUST(MPI_Wait(&request, &status));
	pieces_expect(in, ranks);
}

static void ordered(MPI_File f)
{
	MPI_Status status;
	MPI_Offset at;

	numbers_make(out, N, 2 * ranks + rank);
	rewind_all(f);
	MPI_MUST(MPI_File_write_ordered(f, out, N, MPI_INT, &status));
	MUST(moved(&status, N));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_MUST(MPI_File_get_position_shared(f, &at));
	MUST(at == (MPI_Offset)ranks * (MPI_Offset)sizeof(out));
	rewind_all(f);
	MPI_MUST(MPI_File_read_ordered(f, in, N, MPI_INT, &status));
	MUST(moved(&status, N) && numbers_are(in, N, 2 * ranks + rank));
}

int main(int argc, char **argv)
{
	MPI_File f;

	world_begin(&argc, &argv);
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, PATH, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			       &f));
	/* The pointer is in units of etypes; the default etype is a byte. */
	blocking(f);
	non_blocking(f);
	ordered(f);
	MPI_MUST(MPI_File_close(&f));
	file_remove(PATH);
	return MPI_Finalize();
}
