/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads with computing in between, twice as long as a read from this device takes: so reads take a
 * third of the time, on any device and under any load. The first run, which has no fix, measures
 * that and tells those with the fix.
 */
#ifndef SLUICE_TESTS_PACED_H
#define SLUICE_TESTS_PACED_H

#include <stdint.h>
#include <time.h>

#include "fix.h"

struct pace {
	const char *file;
	int64_t read_ns; /* 0: unknown, this is the first run */
	int64_t sum_ns, reads;
};

static int64_t pace_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct pace pace_begin(const char *file)
{
	struct pace pace = { .file = file };
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		return pace;
	MUST(read(fd, &pace.read_ns, sizeof(pace.read_ns)) == sizeof(pace.read_ns));
	close(fd);
	return pace;
}

static void pace_end(const struct pace *pace)
{
	int64_t mean_ns = pace->sum_ns / pace->reads;
	int fd;

	if (pace->read_ns)
		return;
	fd = open(pace->file, O_WRONLY | O_CREAT | O_EXCL, 0644);
	MUST(fd >= 0 && write(fd, &mean_ns, sizeof(mean_ns)) == sizeof(mean_ns));
	close(fd);
}

static void paced_read(struct pace *pace, int fd, size_t bytes, off_t at)
{
	int64_t from = pace_now(), until;

	MUST(pread(fd, block, bytes, at) == (ssize_t)bytes);
	until = pace_now();
	pace->sum_ns += until - from;
	pace->reads++;
	until += 2 * (pace->read_ns ? pace->read_ns : until - from);
	while (pace_now() < until)
		;
}

#endif
