/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several open files with different communicators: all ranks, a duplicate, halves by
 * MPI_Comm_split, and single ranks. The calls on them are interleaved. Then one file with two
 * handles, and one file repeatedly with communicators that differ in one rank only.
 */
#include <mpi.h>

#include "must.h"

#define N 128
#define FILES 4

struct place {
	MPI_Comm comm;
	MPI_File f;
	char path[64];
	int rank, out[N], in[N];
};

static struct place places[FILES];

static void place_open(struct place *p, MPI_Comm comm, const char *path)
{
	p->comm = comm;
	snprintf(p->path, sizeof(p->path), "%s", path);
	MPI_Comm_rank(comm, &p->rank);
	MPI_MUST(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &p->f));
}

static void place_close(struct place *p)
{
	MPI_MUST(MPI_File_close(&p->f));
	MPI_Barrier(p->comm);
	if (!p->rank)
		MPI_MUST(MPI_File_delete(p->path, MPI_INFO_NULL));
}

static MPI_Offset own_place(const struct place *p)
{
	return (MPI_Offset)p->rank * (MPI_Offset)sizeof(p->out);
}

static void open_all(MPI_Comm dup, MPI_Comm half)
{
	char path[64];

	place_open(&places[0], MPI_COMM_WORLD, "communicators.world");
	place_open(&places[1], dup, "communicators.dup");
	snprintf(path, sizeof(path), "communicators.half%d", rank % 2);
	place_open(&places[2], half, path);
	snprintf(path, sizeof(path), "communicators.self%d", rank);
	place_open(&places[3], MPI_COMM_SELF, path);
}

static void write_all(void)
{
	for (int i = 0; i < FILES; i++) {
		struct place *p = &places[i];
		MPI_Status status;

		numbers_make(p->out, N, i * ranks + rank);
		MPI_MUST(MPI_File_write_at_all(p->f, own_place(p), p->out, N, MPI_INT, &status));
		MUST(moved(&status, N));
	}
}

static void read_all(void)
{
	for (int i = FILES - 1; i >= 0; i--) {
		struct place *p = &places[i];
		MPI_Status status;

		MPI_MUST(MPI_File_read_at_all(p->f, own_place(p), p->in, N, MPI_INT, &status));
		MUST(moved(&status, N) && numbers_are(p->in, N, i * ranks + rank));
	}
}

/* The same file with a second handle, which sees the data of the first. */
static void open_twice(void)
{
	struct place *p = &places[3];
	MPI_File again;

	MPI_MUST(MPI_File_open(MPI_COMM_SELF, p->path, MPI_MODE_RDONLY, MPI_INFO_NULL, &again));
	memset(p->in, 0, sizeof(p->in));
	MPI_MUST(MPI_File_read_at(again, 0, p->in, N, MPI_INT, MPI_STATUS_IGNORE));
	MUST(numbers_are(p->in, N, 3 * ranks + rank));
	MPI_MUST(MPI_File_close(&again));
}

/* The same collectively: calls on the two handles alternate. */
static void open_twice_together(void)
{
	const char *path = "communicators.twice";
	MPI_File files[2];
	int out[N], in[N];

	for (int i = 0; i < 2; i++)
		MPI_MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
				       MPI_INFO_NULL, &files[i]));
	for (int i = 0; i < 4; i++) {
		MPI_Offset at = ((MPI_Offset)i * ranks + rank) * (MPI_Offset)sizeof(out);

		numbers_make(out, N, i * ranks + rank);
		MPI_MUST(MPI_File_write_at_all(files[i % 2], at, out, N, MPI_INT,
					       MPI_STATUS_IGNORE));
		MPI_MUST(MPI_File_sync(files[i % 2]));
		MPI_MUST(MPI_File_read_at_all(files[1 - i % 2], at, in, N, MPI_INT,
					      MPI_STATUS_IGNORE));
		MUST(numbers_are(in, N, i * ranks + rank));
	}
	MPI_MUST(MPI_File_close(&files[1]));
	MPI_MUST(MPI_File_close(&files[0]));
	file_remove(path);
}

/* All ranks but one, and then all but another one. With five or more ranks both communicators have
 * the same size and the same first, middle and last rank. */
static void open_without(int missing)
{
	const char *path = "communicators.some";
	int out[N];
	MPI_Comm some;
	struct place p;

	numbers_make(out, N, rank);
	MPI_MUST(MPI_Comm_split(MPI_COMM_WORLD, rank == missing ? MPI_UNDEFINED : 0, rank, &some));
	if (rank != missing) {
		place_open(&p, some, path);
		MPI_MUST(MPI_File_write_at_all(p.f, own_place(&p), out, N, MPI_INT,
					       MPI_STATUS_IGNORE));
		place_close(&p);
		MPI_Comm_free(&some);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Comm dup, half;

	world_begin(&argc, &argv);
	MPI_MUST(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	MPI_MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
	open_all(dup, half);
	write_all();
	read_all();
	open_twice();
	for (int i = 0; i < FILES; i++)
		place_close(&places[i]);
	open_twice_together();
	open_without(2);
	open_without(1);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&half);
	return MPI_Finalize();
}
