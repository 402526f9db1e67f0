/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 */
#include "fix.h"

static void program(void)
{
	const long total = 9;
	char name[256];
	int fd;
#ifdef FIX
#include FIX
#else
	long own = rank ? 1 : total - ranks + 1;
#endif

	snprintf(name, sizeof(name), "%s.%d", path, rank);
	fd = open(name, O_WRONLY | O_CREAT, 0644);
	MUST(fd >= 0);
	for (long i = 0; i < own; i++)
		MUST(write(fd, block, MIB) == MIB);
	close(fd);
}
