/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	close(file_of(0));
#ifdef FIX
#include FIX
	for (int i = 0; i < 60; i++)
		MUST(write(fd, block, 64 * KIB) == 64 * KIB);
	close(fd);
#else
	for (int i = 0; i < 60; i++) {
		int fd = open(path, O_RDWR | O_APPEND);

		MUST(fd >= 0 && write(fd, block, 64 * KIB) == 64 * KIB);
		close(fd);
	}
#endif
}
