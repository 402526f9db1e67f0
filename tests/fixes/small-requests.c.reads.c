/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	int fd = file_of(600 * 1000);

#ifdef FIX
#include FIX
	for (int i = 0; i < 600; i++)
		MUST(fread(block, 1, 1000, stream) == 1000);
	MUST(fclose(stream) == 0);
#else
	for (int i = 0; i < 600; i++)
		MUST(read(fd, block, 1000) == 1000);
#endif
	close(fd);
}
