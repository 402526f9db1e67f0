/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
#ifdef FIX
#include FIX
	for (int i = 0; i < 600; i++)
		MUST(fwrite(block, 1, 1000, stream) == 1000);
	MUST(fclose(stream) == 0);
#else
	int fd = file_of(0);

	for (int i = 0; i < 600; i++)
		MUST(write(fd, block, 1000) == 1000);
#endif
}
