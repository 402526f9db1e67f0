/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/tally/traffic.h"

/* Each round moves so many bytes, in at most so many requests. */
#define ROUND_BYTES (4 * REPLAY_LARGE)
#define ROUND_REQUESTS 4096
enum { ROUNDS = 5 };

/* Makes the requests of a round; returns their number, or -errno. */
static int make_requests(int fd, int way, char *block, uint64_t bytes, off_t total)
{
	int made = 0;

	for (off_t at = 0; at < total && made < ROUND_REQUESTS; at += (off_t)bytes, made++) {
		ssize_t n =
			way == WRITING ? pwrite(fd, block, bytes, at) : pread(fd, block, bytes, at);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return made;
}

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The time of one request: the median of some rounds. Writes go to pages that do not exist yet. */
static int time_requests(int fd, int way, char *block, uint64_t bytes, double *request_ns)
{
	off_t total = (off_t)(ROUND_BYTES / bytes * bytes);
	double times[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		int64_t started;
		int made;

		if (way == WRITING && ftruncate(fd, 0) < 0)
			return -errno;
		started = clock_thread_cpu_ns(); /* the machine may be busy */
		made = make_requests(fd, way, block, bytes, total);
		if (made < 0)
			return made;
		times[i] = (double)(clock_thread_cpu_ns() - started) / made;
	}
	qsort(times, ROUNDS, sizeof(*times), compare_numbers);
	*request_ns = times[ROUNDS / 2];
	return 0;
}

static int measure(int fd, int way, char *block, uint64_t bytes, struct replay *replay)
{
	double large_ns;
	int rc = make_requests(fd, WRITING, block, REPLAY_LARGE, (off_t)ROUND_BYTES);

	if (rc < 0)
		return rc;
	rc = time_requests(fd, way, block, bytes, &replay->request_ns);
	/* The small requests of a round may have left a shorter file. */
	if (rc >= 0 && way == READING)
		rc = make_requests(fd, WRITING, block, REPLAY_LARGE, (off_t)ROUND_BYTES);
	if (rc >= 0)
		rc = time_requests(fd, way, block, REPLAY_LARGE, &large_ns);
	if (rc >= 0)
		replay->byte_ns = large_ns / (double)REPLAY_LARGE;
	return rc;
}

int replay_measure(int way, uint64_t bytes, struct replay *replay)
{
	AUTO_FREE char *block = xcalloc(REPLAY_LARGE, 1);
	AUTO_CLOSE int fd = memfd_create("sluice-replay", MFD_CLOEXEC);
	struct replay found;
	int rc;

	if (fd < 0)
		return -errno;
	bytes = bytes < 1 ? 1 : bytes > REPLAY_LARGE ? REPLAY_LARGE : bytes;
	rc = measure(fd, way, block, bytes, &found);
	if (rc < 0)
		return rc;
	*replay = found;
	return 0;
}
