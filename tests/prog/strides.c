/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a file in the patterns that read_ahead has to distinguish. The arguments of most cases are
 * FILE STRIDE TIMES; a block is 1 KiB. Prints the sum of all bytes.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>

#include "prog.h"

#define BLOCK 1024

static unsigned sum(const unsigned char *block)
{
	unsigned total = 0;

	for (int i = 0; i < BLOCK; i++)
		total += block[i];
	return total;
}

static int open_file(char **argv)
{
	int fd = open(argv[0], O_RDONLY);

	MUST(fd >= 0);
	return fd;
}

/* pread at 0, S, 2S, ... */
static int forward(int argc, char **argv)
{
	long stride = atol(argv[1]), times = atol(argv[2]);
	unsigned char block[BLOCK];
	unsigned total = 0;
	int fd = open_file(argv);

	(void)argc;
	for (long i = 0; i < times; i++) {
		MUST(pread(fd, block, BLOCK, i * stride) == BLOCK);
		total += sum(block);
	}
	printf("%u\n", total);
	return 0;
}

/* The same by lseek and read. */
static int seeking(int argc, char **argv)
{
	long stride = atol(argv[1]), times = atol(argv[2]);
	unsigned char block[BLOCK];
	unsigned total = 0;
	int fd = open_file(argv);

	(void)argc;
	for (long i = 0; i < times; i++) {
		MUST(read(fd, block, BLOCK) == BLOCK);
		total += sum(block);
		MUST(lseek(fd, stride - BLOCK, SEEK_CUR) == (i + 1) * stride);
	}
	printf("%u\n", total);
	return 0;
}

static int scattered(int argc, char **argv)
{
	long stride = atol(argv[1]), times = atol(argv[2]);
	unsigned char block[BLOCK];
	unsigned total = 0, at = 12345;
	int fd = open_file(argv);

	(void)argc;
	for (long i = 0; i < times; i++) {
		at = at * 1103515245u + 12345u;
		MUST(pread(fd, block, BLOCK, (at >> 8) % (unsigned)times * stride) == BLOCK);
		total += sum(block);
	}
	printf("%u\n", total);
	return 0;
}

/* Blocks of equal size over a socket, which has no positions. */
static int socketed(int argc, char **argv)
{
	long times = atol(argv[2]);
	unsigned char block[BLOCK] = "socket";
	unsigned total = 0;
	int pair[2];

	(void)argc;
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	for (long i = 0; i < times; i++) {
		MUST(write(pair[0], block, BLOCK) == BLOCK);
		MUST(read(pair[1], block, BLOCK) == BLOCK);
		total += sum(block);
	}
	printf("%u\n", total);
	return 0;
}

/* A forked child continues with another stride on the inherited descriptor. */
static int forked(int argc, char **argv)
{
	long stride = atol(argv[1]);
	unsigned char block[BLOCK];
	int status, fd = open_file(argv);
	pid_t pid;

	(void)argc;
	for (int i = 0; i < 6; i++)
		MUST(pread(fd, block, BLOCK, i * stride) == BLOCK);
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	for (int i = 0; i < 6 && !pid; i++)
		MUST(pread(fd, block, BLOCK, i * 2 * stride) == BLOCK);
	if (!pid)
		exit(0);
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	printf("%u\n", sum(block));
	return 0;
}

static void *reader(void *arg)
{
	char **argv = arg;
	long stride = atol(argv[1]), times = atol(argv[2]);
	unsigned char block[BLOCK];
	int fd = open_file(argv);

	for (long i = 0; i < times; i++)
		MUST(pread(fd, block, BLOCK, i * stride) == BLOCK);
	close(fd);
	return NULL;
}

static int threaded(int argc, char **argv)
{
	pthread_t threads[4];

	(void)argc;
	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&threads[i], NULL, reader, argv) == 0);
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	return 0;
}

CASES(CASE(forward), CASE(seeking), CASE(scattered), CASE(socketed), CASE(forked), CASE(threaded))
