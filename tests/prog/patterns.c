/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that each do one thing badly, and the same done well. `sluice report` must find exactly
 * the one. The first argument of all cases is the name of a file, which a case may also use as the
 * prefix of further names. For some cases, a second one says how often to do it.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "asleep.h"
#include "prog.h"

#define KIB 1024
#define MIB (1024 * KIB)

static char block[MIB];

static int times(int argc, char **argv, int otherwise)
{
	return argc > 1 ? atoi(argv[1]) : otherwise;
}

static void write_pieces(int fd, size_t bytes, int count)
{
	for (int i = 0; i < count; i++)
		MUST(write(fd, block, bytes) == (ssize_t)bytes);
}

static int small_writes(int argc, char **argv)
{
	(void)argc;
	write_pieces(file_make(argv[0]), 1000, 600);
	return 0;
}

static int large_writes(int argc, char **argv)
{
	(void)argc;
	write_pieces(file_make(argv[0]), MIB, 4);
	return 0;
}

/* A file of this size without data. */
static int sparse_file(const char *path, off_t bytes)
{
	int fd = file_make(path);

	MUST(ftruncate(fd, bytes) == 0);
	return fd;
}

static int small_reads(int argc, char **argv)
{
	int fd = sparse_file(argv[0], 600 * 1000);

	(void)argc;
	for (int i = 0; i < 600; i++)
		MUST(read(fd, block, 1000) == 1000);
	return 0;
}

static int large_reads(int argc, char **argv)
{
	int fd = sparse_file(argv[0], 4 * MIB);

	(void)argc;
	for (int i = 0; i < 4; i++)
		MUST(read(fd, block, MIB) == MIB);
	return 0;
}

/* Block numbers in an order without a pattern. */
static off_t shuffled(int i)
{
	return (off_t)((i * 37 + i * i % 5 * 8) % 101);
}

static int random_reads(int argc, char **argv)
{
	int fd = sparse_file(argv[0], 101 * 256 * KIB);

	(void)argc;
	for (int i = 0; i < 80; i++)
		MUST(pread(fd, block, 128 * KIB, shuffled(i) * 256 * KIB) == 128 * KIB);
	return 0;
}

static int random_writes(int argc, char **argv)
{
	int fd = file_make(argv[0]);

	(void)argc;
	for (int i = 0; i < 80; i++)
		MUST(pwrite(fd, block, 64 * KIB, shuffled(i) * 256 * KIB) == 64 * KIB);
	return 0;
}

static int strided_reads(int argc, char **argv)
{
	int fd = sparse_file(argv[0], 80 * 256 * KIB);

	(void)argc;
	for (int i = 0; i < 80; i++)
		MUST(pread(fd, block, 64 * KIB, (off_t)i * 256 * KIB) == 64 * KIB);
	return 0;
}

static int backward_reads(int argc, char **argv)
{
	int fd = sparse_file(argv[0], 80 * 128 * KIB);

	(void)argc;
	for (int i = 79; i >= 0; i--)
		MUST(pread(fd, block, 64 * KIB, (off_t)i * 128 * KIB) == 64 * KIB);
	return 0;
}

static int redundant_reads(int argc, char **argv)
{
	int fd = sparse_file(argv[0], MIB), count = times(argc, argv, 8);

	for (int i = 0; i < count; i++)
		MUST(pread(fd, block, MIB, 0) == MIB);
	return 0;
}

static void make_files(const char *prefix, int count, size_t bytes)
{
	char name[256];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s.%d", prefix, i);
		int fd = file_make(name);

		write_pieces(fd, bytes, 1);
		close(fd);
	}
}

static int small_files(int argc, char **argv)
{
	(void)argc;
	make_files(argv[0], 150, KIB);
	return 0;
}

static int few_files(int argc, char **argv)
{
	(void)argc;
	make_files(argv[0], 20, KIB);
	return 0;
}

static int open_churn(int argc, char **argv)
{
	int count = times(argc, argv, 60);

	for (int i = 0; i < count; i++) {
		int fd = open(argv[0], O_WRONLY | O_CREAT | O_APPEND, 0644);

		MUST(fd >= 0);
		write_pieces(fd, 64 * KIB, 1);
		close(fd);
	}
	return 0;
}

static int open_once(int argc, char **argv)
{
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_APPEND, 0644);

	MUST(fd >= 0);
	write_pieces(fd, 64 * KIB, times(argc, argv, 60));
	return 0;
}

static int stats(int argc, char **argv)
{
	int count = times(argc, argv, 600);
	struct stat s;

	close(file_make(argv[0]));
	for (int i = 0; i < count; i++)
		MUST(stat(argv[0], &s) == 0);
	return 0;
}

/* Asks for a file that does not exist, as programs that wait for one do. */
static int missing_stats(int argc, char **argv)
{
	struct stat s;

	(void)argc;
	for (int i = 0; i < 600; i++)
		MUST(stat(argv[0], &s) < 0);
	return 0;
}

static int one_stat(int argc, char **argv)
{
	struct stat s;

	(void)argc;
	write_pieces(file_make(argv[0]), MIB, 2);
	MUST(stat(argv[0], &s) == 0);
	return 0;
}

static int directories(int argc, char **argv)
{
	(void)argc;
	for (int i = 0; i < 300; i++) {
		MUST(mkdir(argv[0], 0755) == 0);
		MUST(rmdir(argv[0]) == 0);
	}
	return 0;
}

static int renames(int argc, char **argv)
{
	char other[256];

	(void)argc;
	snprintf(other, sizeof(other), "%s.other", argv[0]);
	close(file_make(argv[0]));
	for (int i = 0; i < 300; i++) {
		MUST(rename(argv[0], other) == 0);
		MUST(rename(other, argv[0]) == 0);
	}
	return 0;
}

static int syncs(int argc, char **argv)
{
	int fd = file_make(argv[0]), count = times(argc, argv, 120);

	for (int i = 0; i < count; i++) {
		write_pieces(fd, 4 * KIB, 1);
		MUST(fsync(fd) == 0);
	}
	return 0;
}

static int one_sync(int argc, char **argv)
{
	int fd = file_make(argv[0]), count = times(argc, argv, 1);

	write_pieces(fd, 4 * KIB, count);
	MUST(fsync(fd) == 0);
	return 0;
}

/* A child waits for the given time in ms, and longer, for a lock that its parent holds. */
static int locks(int argc, char **argv)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = file_make(argv[0]), pipes[2];
	char byte;
	pid_t pid;

	MUST(pipe(pipes) == 0);
	MUST(fcntl(fd, F_SETLK, &lock) == 0);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		MUST(write(pipes[1], "x", 1) == 1);
		MUST(fcntl(fd, F_SETLKW, &lock) == 0);
		_exit(0);
	}
	MUST(read(pipes[0], &byte, 1) == 1);
	await_sleep(pid);
	pause_ms(times(argc, argv, 0));
	lock.l_type = F_UNLCK;
	MUST(fcntl(fd, F_SETLK, &lock) == 0);
	return child_code(pid);
}

static int mapped(int argc, char **argv)
{
	int fd = sparse_file(argv[0], 4 * MIB);
	char *data = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	(void)argc;
	MUST(data != MAP_FAILED);
	data[MIB] = 1;
	return 0;
}

static void write_stream(FILE *stream, size_t piece, size_t bytes)
{
	MUST(stream);
	for (size_t done = 0; done < bytes; done += piece)
		MUST(fwrite(block, 1, piece, stream) == piece);
	MUST(fclose(stream) == 0);
}

static int stream_small(int argc, char **argv)
{
	(void)argc;
	write_stream(fopen(argv[0], "w"), 1000, 17 * MIB);
	return 0;
}

static int stream_unbuffered(int argc, char **argv)
{
	FILE *stream = fopen(argv[0], "w");

	(void)argc;
	MUST(stream && setvbuf(stream, NULL, _IONBF, 0) == 0);
	write_stream(stream, 1000, 2 * MIB);
	return 0;
}

static int stream_buffered(int argc, char **argv)
{
	FILE *stream = fopen(argv[0], "w");

	(void)argc;
	MUST(stream && setvbuf(stream, NULL, _IOFBF, MIB) == 0);
	write_stream(stream, 1000, 17 * MIB);
	return 0;
}

static int stream_large(int argc, char **argv)
{
	(void)argc;
	write_stream(fopen(argv[0], "w"), MIB, 17 * MIB);
	return 0;
}

static int stream_short(int argc, char **argv)
{
	(void)argc;
	write_stream(fopen(argv[0], "w"), 100, 100 * KIB);
	return 0;
}

/* Two processes write `count` pieces each: piece i of process p begins at first(p) + i * step. */
static int write_together(const char *path, size_t bytes, int count, off_t apart, off_t step)
{
	pid_t pid = fork();
	off_t first = pid ? 0 : apart;
	int fd = open(path, O_WRONLY | O_CREAT, 0644); /* each its own, so that each has an order */

	MUST(pid >= 0 && fd >= 0);
	for (int i = 0; i < count; i++)
		MUST(pwrite(fd, block, bytes, first + i * step) == (ssize_t)bytes);
	if (!pid)
		_exit(0);
	return child_code(pid);
}

/* The same through one handle that the child inherits: the accesses come in any order. */
static int inherited(int argc, char **argv)
{
	int fd = file_make(argv[0]);
	pid_t pid = fork();
	off_t first = pid ? 0 : 40 * 128 * KIB;

	(void)argc;
	MUST(pid >= 0);
	for (int i = 0; i < 40; i++) {
		MUST(pwrite(fd, block, 128 * KIB, first + (off_t)i * 128 * KIB) == 128 * KIB);
		sched_yield();
	}
	if (!pid)
		_exit(0);
	return child_code(pid);
}

/* Lines that are passed to the kernel at once, but not forced to storage. */
static int flushes(int argc, char **argv)
{
	FILE *stream = fopen(argv[0], "w");

	(void)argc;
	MUST(stream);
	for (int i = 0; i < 150; i++)
		MUST(fprintf(stream, "line %d\n", i) > 0 && fflush(stream) == 0);
	MUST(fclose(stream) == 0);
	return 0;
}

static int interleaved(int argc, char **argv)
{
	(void)argc;
	return write_together(argv[0], 64 * KIB, 40, 64 * KIB, 128 * KIB);
}

static int unaligned(int argc, char **argv)
{
	(void)argc;
	return write_together(argv[0], 100000, 30, 30 * 100000, 100000);
}

static int aligned(int argc, char **argv)
{
	(void)argc;
	return write_together(argv[0], 128 * KIB, 30, 30 * 128 * KIB, 128 * KIB);
}

CASES(CASE(small_writes), CASE(large_writes), CASE(small_reads), CASE(large_reads),
      CASE(random_reads), CASE(random_writes), CASE(strided_reads), CASE(backward_reads),
      CASE(redundant_reads), CASE(small_files), CASE(few_files), CASE(open_churn), CASE(open_once),
      CASE(stats), CASE(missing_stats), CASE(one_stat), CASE(directories), CASE(renames),
      CASE(syncs), CASE(one_sync), CASE(locks), CASE(mapped), CASE(stream_small),
      CASE(stream_unbuffered), CASE(stream_buffered), CASE(stream_large), CASE(stream_short),
      CASE(interleaved), CASE(inherited), CASE(flushes), CASE(unaligned), CASE(aligned))
