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

/*
 * steady BYTES PAUSE_US STOP: pwrites of BYTES with pauses until the file STOP exists. Prints
 * "ready" when it has made 1500 of them.
 */
static int steady(int argc, char **argv)
{
	int fd = file_make("steady");
	size_t bytes = argc > 2 ? (size_t)atol(argv[0]) : 0;
	char *block = calloc(1, bytes + 1);

	MUST(argc > 2 && block);
	for (long i = 0; access(argv[2], F_OK) != 0; i++) {
		MUST(pwrite(fd, block, bytes, (off_t)(i % 8) * (off_t)bytes) == (ssize_t)bytes);
		usleep((useconds_t)atol(argv[1]));
		if (i == 1500) {
			printf("ready\n");
			fflush(stdout);
		}
	}
	free(block);
	MUST(close(fd) == 0);
	return 0;
}

CASES(CASE(alike), CASE(steady))
