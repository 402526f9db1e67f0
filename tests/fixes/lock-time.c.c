/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @set SLUICE_FINDINGS_MIN_TIME=100ms
 * @set SLUICE_FINDINGS_TIME_PERCENT=10
 *
 * Both processes hold their lock for half a second.
 */
#include "fix.h"

static void program(void)
{
	int rank = rank_fork(), fd = open(path, O_RDWR | O_CREAT, 0644);
	off_t offset = rank * KIB, bytes = KIB;

	MUST(fd >= 0);
	if (rank)
		usleep(100000); /* the parent is the first */
#ifdef FIX
#include FIX
#else
	struct flock l = { .l_type = F_WRLCK };

	MUST(fcntl(fd, F_SETLKW, &l) == 0);
#endif
	MUST(pwrite(fd, block, (size_t)bytes, offset) == bytes);
	usleep(500000);
	close(fd);
	rank_join(rank);
}
