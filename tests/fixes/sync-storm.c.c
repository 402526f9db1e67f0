/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	int fd = file_of(0);

	for (int step = 0; step < 120; step++) {
		MUST(write(fd, block, 4 * KIB) == 4 * KIB);
#ifdef FIX
#include FIX
#else
		fsync(fd);
#endif
	}
}
