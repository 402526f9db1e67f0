/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts that do not fit into an int: more than 2 GiB in one call, without that much memory or
 * disk. The buffer is one block of memory that is mapped many times in a row; writes go to
 * /dev/null, and reads come from a file that is a single hole. Prints each transfer: function and
 * bytes.
 */
#include <mpi.h>

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "must.h"

#define BLOCK ((size_t)64 << 20)
#define BLOCKS 33
#define BYTES ((MPI_Count)(BLOCK * BLOCKS) - 5) /* 2 GiB + 64 MiB - 5 bytes */
#define PATH "large.dat"

static char *buffer_map(void)
{
	int fd = memfd_create("buffer", 0);
	char *at = mmap(NULL, BLOCK * BLOCKS, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	MUST(fd >= 0 && at != MAP_FAILED && !ftruncate(fd, (off_t)BLOCK));
	for (size_t i = 0; i < BLOCKS; i++)
		MUST(mmap(at + i * BLOCK, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			  0) == at + i * BLOCK);
	close(fd);
	return at;
}

static void moved_all(const char *function, const MPI_Status *status)
{
	MPI_Count count;

	MPI_MUST(MPI_Get_elements_x(status, MPI_BYTE, &count));
	MUST(count == BYTES);
	printf("%s %lld\n", function, (long long)count);
}

static void write_much(const char *buffer)
{
	MPI_File f;
	MPI_Status status;

	MPI_MUST(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &f));
	MPI_MUST(MPI_File_write_at_c(f, 0, buffer, BYTES, MPI_BYTE, &status));
	moved_all("MPI_File_write_at_c", &status);
	MPI_MUST(MPI_File_close(&f));
}

static void read_much(char *buffer)
{
	MPI_File f;
	MPI_Status status;
	MPI_Count extent;
	int fd = open(PATH, O_WRONLY | O_CREAT | O_EXCL, 0600);

	/* The last byte shows whether the whole file was read. */
	MUST(fd >= 0 && pwrite(fd, "x", 1, (off_t)BYTES - 1) == 1 && !close(fd));
	MPI_MUST(MPI_File_open(MPI_COMM_SELF, PATH, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	MPI_MUST(MPI_File_get_type_extent_c(f, MPI_DOUBLE, &extent));
	MUST(extent == (MPI_Count)sizeof(double));
	memset(buffer, 1, BLOCK);
	MPI_MUST(MPI_File_read_c(f, buffer, BYTES, MPI_BYTE, &status));
	moved_all("MPI_File_read_c", &status);
	MUST(buffer[0] == 0 && buffer[BYTES - 1] == 'x');
	MPI_MUST(MPI_File_close(&f));
	MUST(!unlink(PATH));
}

int main(int argc, char **argv)
{
	char *buffer = buffer_map();

	world_begin(&argc, &argv);
	write_much(buffer);
	read_much(buffer);
	return MPI_Finalize();
}
