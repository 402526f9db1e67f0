/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The experiment of the read-ahead benchmark (SIOX-63): in a loop sleep, seek forward, read 1 KiB.
 *
 *	bench_reads FILE STRIDE_KIB SLEEP_US BLOCKS regular|embedded
 *
 * embedded tells the kernel itself of the next block. Prints the time per block, without the sleep
 * and without the first SKIPPED blocks, in which no variant is what it is for.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 1024
#define SKIPPED 16

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	long stride, sleep_us, blocks;
	long long spent = 0;
	int fd, embedded;
	char block[BLOCK];

	if (argc != 6) {
		fputs("usage: bench_reads FILE STRIDE_KIB SLEEP_US BLOCKS regular|embedded\n",
		      stderr);
		return 2;
	}
	stride = atol(argv[2]) * 1024;
	sleep_us = atol(argv[3]);
	blocks = atol(argv[4]);
	embedded = strcmp(argv[5], "embedded") == 0;
	fd = open(argv[1], O_RDONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	for (long i = 0; i < blocks; i++) {
		struct timespec pause = { sleep_us / 1000000, sleep_us % 1000000 * 1000 };
		off_t next;
		long long begin;

		nanosleep(&pause, NULL);
		begin = now_ns();
		next = lseek(fd, stride - BLOCK, SEEK_CUR) + stride;
		if (read(fd, block, BLOCK) != BLOCK) {
			fprintf(stderr, "%s: block %ld cannot be read\n", argv[1], i);
			return 1;
		}
		if (embedded)
			posix_fadvise(fd, next, BLOCK, POSIX_FADV_WILLNEED);
		if (i >= SKIPPED)
			spent += now_ns() - begin;
	}
	printf("block_ns %lld\n", spent / (blocks - SKIPPED));
	return 0;
}
