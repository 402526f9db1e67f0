/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

#include <sys/mman.h>

static void program(void)
{
#ifdef FIX
#include FIX
	for (int i = 0; i < 300; i++)
		MUST(pwrite(fd, block, KIB, 0) == KIB);
#else
	char other[256];

	snprintf(other, sizeof(other), "%s.new", path);
	close(file_of(KIB));
	for (int i = 0; i < 300; i++) {
		MUST(rename(path, other) == 0);
		MUST(rename(other, path) == 0);
	}
#endif
}
