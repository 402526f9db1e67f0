/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @set SLUICE_FINDINGS_MIN_TIME=100ms
 * @set SLUICE_FINDINGS_TIME_PERCENT=1
 *
 * Both processes hold their lock for half a second, the parent first.
 */
#include "fix.h"

#include "../prog/asleep.h"

/* The child begins when its parent has its lock, and tells that. */
static void begin_second(const int turn[2], const int begun[2])
{
	pid_t own = getpid();
	char byte;

	MUST(read(turn[0], &byte, 1) == 1);
	MUST(write(begun[1], &own, sizeof(own)) == sizeof(own));
}

/* The parent goes on when the child waits for the lock, or, with a lock of its own, for its end. */
static void await_second(const int turn[2], const int begun[2])
{
	pid_t child;

	MUST(write(turn[1], "", 1) == 1);
	MUST(read(begun[0], &child, sizeof(child)) == sizeof(child));
	await_sleep(child);
}

static void program(void)
{
	int turn[2], begun[2], rank, fd;
	off_t offset, bytes = KIB;

	MUST(pipe(turn) == 0 && pipe(begun) == 0);
	rank = rank_fork();
	offset = rank * KIB;
	fd = open(path, O_RDWR | O_CREAT, 0644);
	MUST(fd >= 0);
	if (rank)
		begin_second(turn, begun);
#ifdef FIX
#include FIX
#else
	struct flock l = { .l_type = F_WRLCK };

	MUST(fcntl(fd, F_SETLKW, &l) == 0);
#endif
	MUST(pwrite(fd, block, (size_t)bytes, offset) == bytes);
	if (!rank)
		await_second(turn, begun);
	usleep(500000);
	close(fd);
	rank_join(rank);
}
