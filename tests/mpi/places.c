/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creates files in all ways that ranks do: a shared one by MPI-IO, one per rank by MPI-IO and by
 * POSIX, and one with O_EXCL that all ranks try to create. Checks the data. `places keep` keeps
 * shared.dat and own.RANK.dat; otherwise all files are removed.
 */
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>

#include "must.h"

#define N 1024
#define FILES 4 /* POSIX files per rank */

static int out[N], in[N];

static void shared_write(const char *path)
{
	MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof(out);
	MPI_Status status;
	MPI_File f;

	numbers_make(out, N, rank);
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, path,
			       MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	MPI_MUST(MPI_File_write_at_all(f, at, out, N, MPI_INT, &status));
	MPI_MUST(MPI_File_close(&f));
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	MPI_MUST(MPI_File_read_at_all(f, at, in, N, MPI_INT, &status));
	MUST(moved(&status, N) && numbers_are(in, N, rank));
	MPI_MUST(MPI_File_close(&f));
}

static void own_write(const char *path)
{
	MPI_Status status;
	MPI_File f;

	MPI_MUST(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			       &f));
	MPI_MUST(MPI_File_write_at(f, 0, out, N, MPI_INT, &status));
	MPI_MUST(MPI_File_read_at(f, 0, in, N, MPI_INT, &status));
	MUST(numbers_are(in, N, rank));
	MPI_MUST(MPI_File_close(&f));
}

static void posix_write(int number)
{
	struct stat st;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "posix.%d.%d.dat", rank, number);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0640);
	MUST(fd >= 0 && write(fd, out, sizeof(out)) == (ssize_t)sizeof(out) && close(fd) == 0);
	MUST(stat(path, &st) == 0 && st.st_size == (off_t)sizeof(out) && S_ISREG(st.st_mode));
	MUST((st.st_mode & 0777) == 0640);
	MUST(unlink(path) == 0 && access(path, F_OK) != 0);
}

/* One rank succeeds, the others get EEXIST. */
static void race(const char *path)
{
	int fd, won, all;

	MPI_Barrier(MPI_COMM_WORLD);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	won = fd >= 0;
	MUST(won || errno == EEXIST);
	MPI_Allreduce(&won, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MUST(all == 1);
	if (won)
		close(fd);
	file_remove(path);
	MUST(access(path, F_OK) != 0);
}

int main(int argc, char **argv)
{
	char own[64];

	world_begin(&argc, &argv);
	snprintf(own, sizeof(own), "own.%d.dat", rank);
	shared_write("shared.dat");
	own_write(own);
	for (int i = 0; i < FILES; i++) {
		posix_write(i);
		race("race.dat");
	}
	if (argc < 2) {
		file_remove("shared.dat");
		MPI_MUST(MPI_File_delete(own, MPI_INFO_NULL));
	}
	return MPI_Finalize();
}
