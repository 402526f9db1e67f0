/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that knows how many calls it has made, even if it is killed:
 *
 *   counted DIRECTORY PROCESSES CALLS PAUSE
 *
 * Each process writes one byte to offset 0, 1, 2, ... of the file data.PROCESS in the directory,
 * and after each call stores the number of calls in DIRECTORY/progress, which is mapped: the
 * kernel keeps it when the process is killed. Every 100 calls it waits PAUSE microseconds and reads
 * a byte back. At the end each process prints its number and a sum of what it has read.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic uint64_t *progress;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static char byte_of(uint64_t i)
{
	return (char)(i * 31 % 251);
}

static void work(const char *directory, int process, uint64_t calls, unsigned pause_us)
{
	char path[4096], byte;
	uint64_t sum = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/data.%d", directory, process);
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (fd < 0)
		fail(path);
	for (uint64_t i = 0; i < calls; i++) {
		byte = byte_of(i);
		if (pwrite(fd, &byte, 1, (off_t)i) != 1)
			fail("pwrite");
		atomic_store(&progress[process], i + 1);
		if (i % 100 != 99)
			continue;
		if (pread(fd, &byte, 1, (off_t)(i / 2)) != 1)
			fail("pread");
		sum = sum * 33 + (unsigned char)byte;
		if (pause_us)
			usleep(pause_us);
	}
	close(fd);
	dprintf(STDOUT_FILENO, "process %d: %llu\n", process, (unsigned long long)sum);
}

static void map_progress(const char *directory, int processes)
{
	size_t bytes = (size_t)processes * sizeof(*progress);
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/progress", directory);
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
		fail(path);
	progress = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (progress == MAP_FAILED)
		fail("mmap");
	close(fd);
}

int main(int argc, char **argv)
{
	int processes = argc == 5 ? atoi(argv[2]) : 0, failed = 0, status;

	if (processes < 1) {
		fprintf(stderr, "usage: counted DIRECTORY PROCESSES CALLS PAUSE\n");
		return 2;
	}
	map_progress(argv[1], processes);
	for (int i = 1; i < processes; i++) {
		switch (fork()) {
		case -1:
			fail("fork");
		case 0:
			work(argv[1], i, strtoull(argv[3], NULL, 10), (unsigned)atoi(argv[4]));
			exit(i);
		default:
			break;
		}
	}
	work(argv[1], 0, strtoull(argv[3], NULL, 10), (unsigned)atoi(argv[4]));
	while (wait(&status) > 0)
		failed += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
	return failed;
}
