/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab program strides FILE STRIDE_KIB SLEEP_US BLOCKS regular|embedded: repeatedly sleeps,
 * seeks forward and reads 1 KiB. "embedded" announces the next block to the kernel. Prints the time
 * per block in ns, without the sleep; the first SKIPPED blocks are a warm-up and do not count.
 * Papers: SIOX-63.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"

#define BLOCK 1024
#define SKIPPED 16

/* The time to seek, read and, if wanted, announce the next block; negative on failure. */
static long long read_block(int fd, long stride, bool embedded)
{
	long long begin = clock_now_ns();
	off_t next = lseek(fd, stride - BLOCK, SEEK_CUR) + stride;
	char block[BLOCK];

	if (read(fd, block, BLOCK) != BLOCK)
		return -1;
	if (embedded)
		posix_fadvise(fd, next, BLOCK, POSIX_FADV_WILLNEED);
	return clock_now_ns() - begin;
}

static int strides_run(struct command *command)
{
	char **argv = command->argv;
	long stride = atol(argv[1]) * 1024, sleep_us = atol(argv[2]), blocks = atol(argv[3]);
	const struct timespec pause = { sleep_us / 1000000, sleep_us % 1000000 * 1000 };
	bool embedded = strcmp(argv[4], "embedded") == 0;
	long long spent = 0, one = 0;
	int fd = open(argv[0], O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return command_fail(command, "%s: %s", argv[0], strerror(errno));
	if (stride < BLOCK || blocks <= SKIPPED) {
		close(fd);
		return command_misuse(command, "BLOCKS must be above %d, STRIDE_KIB at least 1",
				      SKIPPED);
	}
	for (long i = 0; i < blocks && one >= 0; i++) {
		nanosleep(&pause, NULL);
		one = read_block(fd, stride, embedded);
		spent += i >= SKIPPED ? one : 0;
	}
	close(fd);
	if (one < 0)
		return command_fail(command, "%s: too short for %ld blocks", argv[0], blocks);
	printf("block_ns %lld\n", spent / (blocks - SKIPPED));
	return command_finish(command);
}

const struct command_ops command_strides = {
	.name = "strides",
	.help = "read a file in strides",
	.operands = "FILE STRIDE_KIB SLEEP_US BLOCKS regular|embedded",
	.operands_min = 5,
	.operands_max = 5,
	.flags = COMMAND_HIDDEN | COMMAND_NO_JSON,
	.run = strides_run,
};
