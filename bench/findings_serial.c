/* SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: findings_serial CASE bad|good FILE
 * Serial programs of the benchmark findings; see findings_work.h. FILE.in is an input that exists.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "findings_work.h"

#define INPUT (64 * MIB)

static char block[4 * MIB];

static int create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	MUST(fd >= 0);
	return fd;
}

static int input(const char *path)
{
	char name[512];
	int fd;

	snprintf(name, sizeof(name), "%s.in", path);
	fd = open(name, O_RDONLY);
	MUST(fd >= 0);
	return fd;
}

/* Pieces go to the file one by one or, as the fix says, through a stream with a large buffer. */
static void write_pieces(const char *path, size_t bytes, int count, int good)
{
	int fd = create(path);
	FILE *stream = fdopen(fd, "w");

	setvbuf(stream, NULL, _IOFBF, MIB);
	for (int i = 0; i < count; i++) {
		if (good)
			MUST(fwrite(block, 1, bytes, stream) == bytes);
		else
			MUST(write(fd, block, bytes) == (ssize_t)bytes);
	}
	fclose(stream);
}

static void read_pieces(const char *path, size_t bytes, int count, int good)
{
	int fd = input(path);
	FILE *stream = fdopen(fd, "r");

	setvbuf(stream, NULL, _IOFBF, MIB);
	for (int i = 0; i < count; i++) {
		if (good)
			MUST(fread(block, 1, bytes, stream) == bytes);
		else
			MUST(read(fd, block, bytes) == (ssize_t)bytes);
	}
	fclose(stream);
}

static void writes_1000(const char *path, int good)
{
	compute(60);
	write_pieces(path, 1000, 60000, good);
}

static void writes_100(const char *path, int good)
{
	compute(100);
	write_pieces(path, 100, 200000, good);
}

static void writes_8k(const char *path, int good)
{
	compute(20);
	write_pieces(path, 8 * KIB, 12000, good);
}

static void reads_512(const char *path, int good)
{
	compute(30);
	read_pieces(path, 512, 100000, good);
}

static void reads_4k(const char *path, int good)
{
	compute(10);
	read_pieces(path, 4 * KIB, 16000, good);
}

/* Headers and records: sizes differ, so the run itself tells what a request costs. */
static void write_mixed(const char *path, size_t small, size_t large, int groups, int per_group,
			int good)
{
	int fd = create(path);

	for (int i = 0; i < groups; i++) {
		size_t used = 0;

		for (int k = 0; k < per_group; k++) {
			if (!good)
				MUST(write(fd, block, small) == (ssize_t)small);
			else if ((used += small) + small > MIB || k + 1 == per_group)
				MUST(write(fd, block, used) == (ssize_t)used && (used = 0) == 0);
		}
		MUST(write(fd, block, large) == (ssize_t)large);
	}
	close(fd);
}

static void mixed_writes(const char *path, int good)
{
	compute(40);
	write_mixed(path, 500, 128 * KIB, 100, 600, good);
}

static void mixed_records(const char *path, int good)
{
	compute(20);
	write_mixed(path, 4000, MIB, 20, 1500, good);
}

static void mixed_reads(const char *path, int good)
{
	int fd = input(path);

	compute(20);
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < 1000 && !good; k++)
			MUST(pread(fd, block, 800, (off_t)i * MIB + k * 800) == 800);
		if (good)
			MUST(pread(fd, block, 800000, (off_t)i * MIB) == 800000);
		MUST(pread(fd, block, 256 * KIB, (off_t)(i + 20) * MIB) == 256 * KIB);
	}
}

static void read_again(const char *path, size_t bytes, int times, int good)
{
	int fd = input(path);

	for (int i = 0; i < (good ? 1 : times); i++)
		MUST(pread(fd, block, bytes, 0) == (ssize_t)bytes);
}

static void redundant_1m(const char *path, int good)
{
	compute(50);
	read_again(path, MIB, 1000, good);
}

static void redundant_64k(const char *path, int good)
{
	compute(50);
	read_again(path, 64 * KIB, 8000, good);
}

static void open_churn(const char *path, int good)
{
	int fd = create(path);

	compute(20);
	for (int i = 0; i < 20000; i++) {
		if (!good) {
			close(fd);
			fd = open(path, O_WRONLY | O_APPEND);
		}
		MUST(write(fd, block, 100) == 100);
	}
	close(fd);
}

static void stat_storm(const char *path, int good)
{
	struct stat s;

	close(create(path));
	compute(50);
	for (int i = 0; i < (good ? 1 : 60000); i++)
		MUST(stat(path, &s) == 0);
}

/* Many paths, each some times. */
static void stat_paths(const char *path, int good)
{
	char name[512];
	struct stat s;

	compute(50);
	for (int i = 0; i < (good ? 1 : 400); i++) {
		for (int k = 0; k < 100; k++) {
			snprintf(name, sizeof(name), "%s.%d", path, k);
			MUST(stat(name, &s) < 0);
		}
	}
}

static void sync_pieces(const char *path, size_t bytes, int count, int good)
{
	int fd = create(path);

	for (int step = 0; step < count; step++) {
		MUST(write(fd, block, bytes) == (ssize_t)bytes);
		if (!good || step % 100 == 0)
			MUST(fsync(fd) == 0);
	}
	close(fd);
}

static void syncs_4k(const char *path, int good)
{
	compute(100);
	sync_pieces(path, 4 * KIB, 300, good);
}

static void syncs_256k(const char *path, int good)
{
	compute(200);
	sync_pieces(path, 256 * KIB, 200, good);
}

/* Two processes hold a lock in turn while they wait for something. The fix locks other bytes. */
static void locks(const char *path, int good)
{
	pid_t pid = fork();
	int fd = open(path, O_RDWR | O_CREAT, 0644);
	struct flock l = { .l_type = F_WRLCK };

	MUST(pid >= 0 && fd >= 0);
	if (good) {
		l.l_start = pid ? 0 : 100;
		l.l_len = 100;
	}
	for (int i = 0; i < 10; i++) {
		l.l_type = F_WRLCK;
		MUST(fcntl(fd, F_SETLKW, &l) == 0);
		usleep(30000);
		l.l_type = F_UNLCK;
		MUST(fcntl(fd, F_SETLK, &l) == 0);
	}
	if (!pid)
		_exit(0);
	MUST(waitpid(pid, NULL, 0) == pid);
}

static void small_files(const char *path, int good)
{
	char name[512];
	int fd = create(path);

	compute(30);
	for (int i = 0; i < 5000; i++) {
		if (!good) {
			close(fd);
			snprintf(name, sizeof(name), "%s.%d", path, i);
			fd = create(name);
		}
		MUST(write(fd, block, KIB) == KIB);
	}
	close(fd);
}

static void stream_pieces(const char *path, size_t bytes, int count, int buffer, int good)
{
	FILE *stream = fopen(path, "w");

	MUST(stream);
	if (good || buffer == 0)
		setvbuf(stream, NULL, good ? _IOFBF : _IONBF, good ? MIB : 0);
	for (int i = 0; i < count; i++)
		MUST(fwrite(block, 1, bytes, stream) == bytes);
	fclose(stream);
}

static void unbuffered(const char *path, int good)
{
	compute(40);
	stream_pieces(path, 400, 60000, 0, good);
}

static void buffered_4k(const char *path, int good)
{
	compute(20);
	stream_pieces(path, 1500, 40000, 4096, good);
}

static void strided(const char *path, int good)
{
	int fd = input(path);

	compute(20);
	if (good)
		for (int i = 0; i < INPUT / MIB; i++)
			MUST(pread(fd, block, MIB, (off_t)i * MIB) == MIB);
	else
		for (int i = 0; i < INPUT / 2048; i++)
			MUST(pread(fd, block, 512, (off_t)i * 2048) == 512);
}

/* The input is not in the page cache; the fix has read it before the program starts. */
static void cold(const char *path, int good)
{
	int fd = input(path);

	if (!good) {
		fsync(fd);
		MUST(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
	}
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	compute(50);
	for (int i = 0; i < INPUT / (128 * KIB); i++)
		MUST(pread(fd, block, 128 * KIB, (off_t)i * 128 * KIB) == 128 * KIB);
}

static void make_input(const char *path, int good)
{
	char name[512];
	int fd;

	(void)good;
	memset(block, 1, sizeof(block));
	snprintf(name, sizeof(name), "%s.in", path);
	fd = create(name);
	for (size_t done = 0; done < INPUT; done += sizeof(block))
		MUST(write(fd, block, sizeof(block)) == (ssize_t)sizeof(block));
	MUST(fsync(fd) == 0);
	close(fd);
}

static const struct work works[] = {
	{ "writes_1000", writes_1000 },
	{ "writes_100", writes_100 },
	{ "writes_8k", writes_8k },
	{ "reads_512", reads_512 },
	{ "reads_4k", reads_4k },
	{ "mixed_writes", mixed_writes },
	{ "mixed_records", mixed_records },
	{ "mixed_reads", mixed_reads },
	{ "redundant_1m", redundant_1m },
	{ "redundant_64k", redundant_64k },
	{ "open_churn", open_churn },
	{ "stat_storm", stat_storm },
	{ "stat_paths", stat_paths },
	{ "syncs_4k", syncs_4k },
	{ "syncs_256k", syncs_256k },
	{ "locks", locks },
	{ "small_files", small_files },
	{ "unbuffered", unbuffered },
	{ "buffered_4k", buffered_4k },
	{ "strided", strided },
	{ "cold", cold },
	{ "make_input", make_input },
};

int main(int argc, char **argv)
{
	return work_run(works, sizeof(works) / sizeof(*works), argc, argv);
}
