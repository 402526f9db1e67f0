/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	int fd = file_of(MIB);

#ifdef FIX
#include FIX
	for (int i = 0; i < 8; i++)
		MUST(memcmp(data, block, MIB) == 0);
	free(data);
#else
	for (int i = 0; i < 8; i++)
		MUST(pread(fd, block, MIB, 0) == MIB);
#endif
}
