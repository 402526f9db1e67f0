/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	enum { pieces = 80, stride = 96 * KIB };
	char *buffer = block;
	off_t first = 0;
	int fd = file_of((off_t)pieces * stride);

#ifdef FIX
#include FIX
#else
	for (int i = 0; i < pieces; i++)
		MUST(pread(fd, buffer, 64 * KIB, first + (off_t)i * stride) == 64 * KIB);
#endif
}
