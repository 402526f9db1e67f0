/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @mpi mpich openmpi
 * @ranks more
 */
#include "fix.h"

static void program(void)
{
	char name[256];
	int fd;

	snprintf(name, sizeof(name), "%s.%d", path, rank);
	fd = open(name, O_WRONLY | O_CREAT, 0644);
	MUST(fd >= 0 && write(fd, block, MIB) == MIB);
	close(fd);
}
