/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program of the read-ahead benchmark: it repeatedly sleeps, seeks forward and reads 1 KiB.
 *
 *	bench_reads FILE STRIDE_KIB SLEEP_US BLOCKS regular|embedded
 *
 * "embedded" announces the next block to the kernel. The program prints the time per block without
 * the sleep; the first SKIPPED blocks are a warm-up and do not count.
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
			fprintf(stderr, "%s: cannot read block %ld\n", argv[1], i);
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
