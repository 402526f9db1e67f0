/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes files with several kinds of communicators, with or without hints: `hinted MS
 * KEY=VALUE...`. A write takes at least MS milliseconds, so a test decides which hints are slow.
 * The program checks that its own info is unchanged, whatever hints a file is opened with.
 */
#include <mpi.h>

#include <time.h>

#include "must.h"

#define NUMBERS 1024

static MPI_Info info = MPI_INFO_NULL;
static int hint_count, slow_ms;

static void hints_make(char **hints)
{
	if (!*hints)
		return;
	MPI_MUST(MPI_Info_create(&info));
	for (; *hints; hints++, hint_count++) {
		char *equals = strchr(*hints, '=');

		MUST(equals);
		*equals = 0;
		MPI_MUST(MPI_Info_set(info, *hints, equals + 1));
	}
}

static void info_check(void)
{
	int n = 0;

	if (info != MPI_INFO_NULL)
		MPI_MUST(MPI_Info_get_nkeys(info, &n));
	MUST(n == hint_count);
}

static void write_slowly(MPI_File file, int member)
{
	struct timespec pause = { slow_ms / 1000, slow_ms % 1000 * 1000000L };
	MPI_Offset at = (MPI_Offset)member * NUMBERS * (MPI_Offset)sizeof(int);
	int numbers[NUMBERS], back[NUMBERS];
	MPI_Request request;
	MPI_Status status;

	numbers_make(numbers, NUMBERS, rank);
	MPI_MUST(MPI_File_iwrite_at(file, at, numbers, NUMBERS, MPI_INT, &request));
	nanosleep(&pause, NULL);
	MPI_MUST(MPI_Wait(&request, &status));
	MPI_MUST(MPI_File_read_at(file, at, back, NUMBERS, MPI_INT, &status));
	MUST(moved(&status, NUMBERS) && numbers_are(back, NUMBERS, rank));
}

static void write_file(MPI_Comm comm, const char *path)
{
	MPI_File file;
	int member;

	MPI_Comm_rank(comm, &member);
	MPI_MUST(MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
	info_check();
	write_slowly(file, member);
	MPI_MUST(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
	MPI_Comm half;
	MPI_File file;
	char path[64];

	world_begin(&argc, &argv);
	MUST(argc > 1);
	slow_ms = atoi(argv[1]);
	hints_make(argv + 2);

	write_file(MPI_COMM_WORLD, "world.dat");
	write_file(MPI_COMM_WORLD, rank % 2 ? "./world.dat" : "world.dat");
	snprintf(path, sizeof(path), "self.dat.%d", rank);
	write_file(MPI_COMM_SELF, path);
	MPI_MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
	snprintf(path, sizeof(path), "half%d.dat", rank % 2);
	write_file(half, path);
	MPI_MUST(MPI_Comm_free(&half));
	/* A kind of file that only such slow runs have. */
	snprintf(path, sizeof(path), "kind.x%d", slow_ms);
	write_file(MPI_COMM_WORLD, path);
	/* Invalid handles must cause an error and not abort the program. */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MUST(MPI_File_open(MPI_COMM_NULL, "none.dat", MPI_MODE_RDONLY, info, &file) != MPI_SUCCESS);
	MUST(MPI_File_open(MPI_COMM_SELF, "missing.dat", MPI_MODE_RDONLY, info, &file) !=
	     MPI_SUCCESS);
	info_check();
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
	MPI_Finalize();
	return 0;
}
