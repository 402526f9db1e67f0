/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
#ifdef FIX
#include FIX
	for (int i = 0; i < 150; i++)
		MUST(write(fd, block, KIB) == KIB);
	close(fd);
#else
	for (int i = 0; i < 150; i++) {
		char name[256];
		int fd;

		snprintf(name, sizeof(name), "%s.%d", path, i);
		fd = open(name, O_WRONLY | O_CREAT, 0644);
		MUST(fd >= 0 && write(fd, block, KIB) == KIB);
		close(fd);
	}
#endif
}
