/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One open file with many descriptors: duplicates made in all ways, by parent and child. Each is
 * used for one write, whose size identifies it. Without MPI.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "must.h"

#define PATH "inherits.dat"

static void put(int fd, size_t bytes)
{
	static const char zeros[64];

	MUST(fd >= 0 && write(fd, zeros, bytes) == (ssize_t)bytes);
}

static void child(int fd)
{
	put(fd, 6);
	put(dup(fd), 7);
	_exit(0);
}

int main(void)
{
	int fd = open(PATH, O_RDWR | O_CREAT | O_TRUNC, 0644), copy, status;
	pid_t pid;

	put(fd, 1);
	copy = dup(fd);
	put(copy, 2);
	/* A duplicate of a duplicate stays valid after both are closed. */
	MUST(dup2(copy, 100) == 100 && !close(copy));
	put(100, 3);
	put(fcntl(100, F_DUPFD, 200), 4);
	MUST(dup3(fd, 101, O_CLOEXEC) == 101 && !close(fd));
	put(101, 5);
	fflush(NULL);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		child(101);
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	/* The number of a closed file is reused for another one. */
	fd = open(PATH ".other", O_RDWR | O_CREAT | O_TRUNC, 0644);
	put(fd, 8);
	MUST(!unlink(PATH) && !unlink(PATH ".other"));
	return 0;
}
