/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A background load that moves between storage targets. Each mover stays at one target for a while,
 * then moves to a target without a mover, or rests. At a target, its threads write as fast as
 * possible and bypass the page cache. Each move prints a line "SECONDS_SINCE_1970 MOVER TARGET" to
 * standard output; TARGET counts from 0, and -1 means rest. Forecasts are compared with these
 *lines.
 *
 *	bench_forecast_load SEED MOVERS THREADS STAY_S REST_S DIR...
 *
 * STAY_S and REST_S are means; a stay lasts at least a quarter of the mean. The program ends on
 *SIGTERM or SIGINT, or when its parent ends, and leaves no files.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define TARGETS_MAX 16
#define MOVERS_MAX 8
#define THREADS_MAX 32
#define WRITE_BYTES (1u << 20)
#define WRITES_PER_FILE 2 /* offsets that a thread writes to in turn */
#define REST_CHANCE 0.25
#define NOWHERE (-1)

static atomic_int ended;
static int fds[TARGETS_MAX];
static size_t targets, threads;
static atomic_int at[MOVERS_MAX];
static char *block;

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "bench_forecast_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void on_signal(int number)
{
	(void)number;
	atomic_store_explicit(&ended, 1, memory_order_relaxed);
}

static void sleep_s(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds,
			      .tv_nsec = (long)(1e9 * (seconds - floor(seconds))) };

	nanosleep(&t, NULL);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* SplitMix64 yields the same sequence of stays on every machine. */
static double random_share(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void *thread_main(void *arg)
{
	size_t number = (size_t)arg, mover = number / threads;
	off_t first = (off_t)number * WRITES_PER_FILE * WRITE_BYTES;

	for (uint64_t n = 0; !atomic_load_explicit(&ended, memory_order_relaxed); n++) {
		int target = atomic_load_explicit(&at[mover], memory_order_relaxed);
		off_t offset = first + (off_t)(n % WRITES_PER_FILE) * WRITE_BYTES;

		if (target == NOWHERE)
			sleep_s(0.02);
		else if (pwrite(fds[target], block, WRITE_BYTES, offset) != WRITE_BYTES)
			die("write");
	}
	return NULL;
}

/* The file never has a name, so nothing remains however the process ends. */
static int file_open(const char *directory, size_t bytes)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);

	if (fd < 0)
		die(directory);
	if (posix_fallocate(fd, 0, (off_t)bytes) != 0)
		die(directory);
	return fd;
}

static int is_free(int target, size_t movers)
{
	for (size_t i = 0; i < movers; i++) {
		if (atomic_load(&at[i]) == target)
			return 0;
	}
	return 1;
}

/* A target is free, because there are more targets than movers. */
static int target_choose(uint64_t *state, size_t movers)
{
	int target;

	do
		target = (int)(random_share(state) * (double)targets);
	while (!is_free(target, movers));
	return target;
}

static double stay_draw(uint64_t *state, double mean)
{
	return mean / 4 - 3 * mean / 4 * log1p(-random_share(state));
}

static void move(size_t mover, size_t movers, uint64_t *state)
{
	int rests = atomic_load(&at[mover]) != NOWHERE && random_share(state) < REST_CHANCE;
	int target = rests ? NOWHERE : target_choose(state, movers);

	atomic_store(&at[mover], target);
	printf("%.3f %zu %d\n", now_s(), mover, target);
	fflush(stdout);
}

static void run(uint64_t seed, size_t movers, double stay_s, double rest_s)
{
	uint64_t state = seed;
	double until[MOVERS_MAX] = { 0 };

	while (!atomic_load_explicit(&ended, memory_order_relaxed)) {
		for (size_t i = 0; i < movers; i++) {
			if (now_s() < until[i])
				continue;
			move(i, movers, &state);
			until[i] =
				now_s() +
				stay_draw(&state, atomic_load(&at[i]) == NOWHERE ? rest_s : stay_s);
		}
		sleep_s(0.05);
	}
}

int main(int argc, char **argv)
{
	pthread_t all[MOVERS_MAX * THREADS_MAX];
	size_t movers;
	int r = 1;

	if (argc < 7) {
		fprintf(stderr,
			"usage: bench_forecast_load SEED MOVERS THREADS STAY_S REST_S DIR...\n");
		return 2;
	}
	movers = strtoul(argv[2], NULL, 10);
	threads = strtoul(argv[3], NULL, 10);
	targets = (size_t)argc - 6;
	if (movers < 1 || movers > MOVERS_MAX || threads < 1 || threads > THREADS_MAX ||
	    targets <= movers || targets > TARGETS_MAX) {
		fprintf(stderr,
			"bench_forecast_load: 1 to %d movers, 1 to %d threads, more targets "
			"than movers and at most %d\n",
			MOVERS_MAX, THREADS_MAX, TARGETS_MAX);
		return 2;
	}
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (posix_memalign((void **)&block, 4096, WRITE_BYTES) != 0)
		die("memory");
	memset(block, 0x5a, WRITE_BYTES);
	for (size_t i = 0; i < targets; i++)
		fds[i] = file_open(argv[6 + i], movers * threads * WRITES_PER_FILE * WRITE_BYTES);
	for (size_t i = 0; i < movers; i++)
		atomic_store(&at[i], NOWHERE);
	for (size_t i = 0; i < movers * threads; i++) {
		r = pthread_create(&all[i], NULL, thread_main, (void *)i);
		if (r != 0)
			die("thread");
	}
	run(strtoull(argv[1], NULL, 10), movers, strtod(argv[4], NULL), strtod(argv[5], NULL));
	for (size_t i = 0; i < movers * threads; i++)
		pthread_join(all[i], NULL);
	return 0;
}
