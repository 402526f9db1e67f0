/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeats the same write: a run without any change in behavior.
 */
#include "prog.h"

/* alike COUNT: COUNT pwrites of 4 KiB, cyclic within 1 MiB. */
static int alike(int argc, char **argv)
{
	static char block[4096];
	int fd = file_make("alike"), count = argc > 0 ? atoi(argv[0]) : 0;

	for (int i = 0; i < count; i++)
		MUST(pwrite(fd, block, sizeof(block), (off_t)(i % 256) * 4096) == sizeof(block));
	MUST(close(fd) == 0);
	printf("%d\n", count);
	return 0;
}

CASES(CASE(alike))
