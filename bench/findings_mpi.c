/* SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: findings_mpi CASE bad|good FILE
 * Parallel programs of the benchmark findings; see findings_work.h.
 */
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "findings_work.h"

static char block[4 * MIB];
static int rank, ranks;

/* Each rank writes blocks to a file of its own, several times, so that none of it needs the disk.
 */
static void write_own(const char *path, int blocks)
{
	char name[512];
	int fd;

	snprintf(name, sizeof(name), "%s.%d", path, rank);
	fd = open(name, O_WRONLY | O_CREAT, 0644);
	MUST(fd >= 0);
	for (int i = 0; i < blocks; i++)
		MUST(pwrite(fd, block, MIB, i % 16 * (off_t)MIB) == MIB);
	close(fd);
}

static void imbalance(const char *path, int good)
{
	write_own(path, good ? 2000 : rank ? 1000 : 3000);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void one_rank(const char *path, int good)
{
	if (good || !rank)
		write_own(path, good ? 2000 : 4000);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Pieces with gaps: ROMIO reads what is between them, unless it is told not to. */
static void sieving(const char *path, int good)
{
	enum { PIECES = 512, PIECE = 2 * KIB };
	MPI_Datatype type;
	MPI_Info info;
	MPI_File file;

	MPI_Info_create(&info);
	if (good)
		MPI_Info_set(info, "romio_ds_write", "disable");
	MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
	     0);
	MPI_File_set_size(file, (MPI_Offset)ranks * PIECES * PIECE);
	MPI_Type_vector(PIECES, PIECE, PIECE * ranks, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < 400; i++) {
		MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, type, "native", info);
		MUST(MPI_File_write_at(file, 0, block, PIECES * PIECE, MPI_BYTE,
				       MPI_STATUS_IGNORE) == 0);
	}
	MPI_File_close(&file);
	MPI_Type_free(&type);
	MPI_Info_free(&info);
}

static const struct work works[] = {
	{ "imbalance", imbalance },
	{ "one_rank", one_rank },
	{ "sieving", sieving },
};

int main(int argc, char **argv)
{
	int code;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	code = work_run(works, sizeof(works) / sizeof(*works), argc, argv);
	MPI_Finalize();
	return code;
}
