/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The programs that benchmarks observe, in one executable. It measures itself in thread CPU time,
 * which excludes other processes and the collector. At the end it prints lines "key value" to
 * standard output.
 *
 *	load calls CALL THREADS TOTAL DIR stopping|plain
 *	load pace  CALL THREADS PER_SECOND SECONDS DIR
 *	load stride CALLS DIR
 *	load starts TIMES PROGRAM
 *	load timed PROGRAM [ARGUMENT]...
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backlog.h"

#define THREADS_MAX 64

extern char **environ;

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Each thread writes to a file of its own, so that threads do not wait for each other. */
struct target {
	int fd;
	FILE *stream;
};

static char block[4096];

static void fwrite_loop(const struct target *t, size_t bytes, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		fwrite(block, 1, bytes, t->stream);
}

static void loop_fwrite0(const struct target *t, uint64_t n)
{
	fwrite_loop(t, 0, n);
}

static void loop_fwrite1(const struct target *t, uint64_t n)
{
	fwrite_loop(t, 1, n);
}

static void loop_pwrite1(const struct target *t, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (pwrite(t->fd, block, 1, (off_t)(i % 4096)) != 1)
			die("pwrite");
}

static void loop_pwrite4k(const struct target *t, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (pwrite(t->fd, block, 4096, (off_t)(i % 256 * 4096)) != 4096)
			die("pwrite");
}

#define READ_BYTES (4 << 20) /* size of the file that is read repeatedly */

static void reads_prepare(const struct target *t)
{
	if (ftruncate(t->fd, READ_BYTES) != 0)
		die("ftruncate");
}

/* Reads the file sequentially. */
static void loop_pread1(const struct target *t, uint64_t n)
{
	reads_prepare(t);
	for (uint64_t i = 0; i < n; i++)
		if (pread(t->fd, block, 1, (off_t)(i % READ_BYTES)) != 1)
			die("pread");
}

/* Reads the file in strides, repeatedly. */
static void loop_pstride1k(const struct target *t, uint64_t n)
{
	reads_prepare(t);
	for (uint64_t i = 0; i < n; i++)
		if (pread(t->fd, block, 1024, (off_t)(i * 8192 % READ_BYTES)) != 1024)
			die("pread");
}

static const struct call {
	const char *name;
	void (*loop)(const struct target *target, uint64_t n);
} calls[] = {
	{ "fwrite0", loop_fwrite0 },
	{ "fwrite1", loop_fwrite1 },
	{ "pwrite1", loop_pwrite1 },
	{ "pwrite4k", loop_pwrite4k },
	{ "pread1", loop_pread1 },
	{ "pstride1k", loop_pstride1k },
	{ 0 },
};

static const struct call *call_by_name(const char *name)
{
	for (const struct call *c = calls; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	errno = EINVAL;
	die(name);
}

static struct target target_open(const char *dir, int number)
{
	struct target t;
	char path[4096];

	snprintf(path, sizeof(path), "%s/load.%d", dir, number);
	t.stream = fopen(path, "w+");
	if (!t.stream)
		die(path);
	t.fd = fileno(t.stream);
	return t;
}

struct worker {
	pthread_t thread;
	struct target target;
	const struct call *call;
	pthread_barrier_t *barrier;
	uint64_t n;
	uint64_t cold_ns, warm_ns;
	uint64_t begin_ns, slots; /* pace only: slots of a millisecond, with n calls in each */
};

static uint64_t timed_loop(struct worker *w)
{
	uint64_t begin = clock_read(CLOCK_THREAD_CPUTIME_ID);

	w->call->loop(&w->target, w->n);
	return clock_read(CLOCK_THREAD_CPUTIME_ID) - begin;
}

/* All threads and main() pass the barrier four times: at the begin and end of the cold and of the
 * warm loop. */
static void *worker_calls(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(w->barrier);
	w->cold_ns = timed_loop(w);
	pthread_barrier_wait(w->barrier);
	pthread_barrier_wait(w->barrier);
	w->warm_ns = timed_loop(w);
	pthread_barrier_wait(w->barrier);
	return NULL;
}

/*
 * The cold loop lets the spool grow to the size that the warm loop needs; for that, the collector
 * (the parent process) is stopped meanwhile. The warm loop starts with an empty spool and a running
 * collector.
 */
static int run_calls(char **argv)
{
	static struct worker workers[THREADS_MAX];
	int threads = atoi(argv[1]);
	uint64_t per_thread = strtoull(argv[2], NULL, 10) / (uint64_t)threads, cold = 0, warm = 0;
	bool stopping = !strcmp(argv[4], "stopping");
	const struct spool_header *spool = backlog_find();
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++) {
		workers[i] = (struct worker){ .target = target_open(argv[3], i),
					      .call = call_by_name(argv[0]),
					      .barrier = &barrier,
					      .n = per_thread };
		pthread_create(&workers[i].thread, NULL, worker_calls, &workers[i]);
	}
	if (stopping)
		kill(getppid(), SIGSTOP);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	if (stopping) {
		kill(getppid(), SIGCONT);
		if (!backlog_wait(spool))
			die("the collector does not drain the spool");
	}
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		cold += workers[i].cold_ns;
		warm += workers[i].warm_ns;
	}
	printf("calls %llu\ncold_ps %llu\nwarm_ps %llu\n",
	       (unsigned long long)per_thread * 2 * (unsigned)threads,
	       (unsigned long long)(cold * 1000 / (per_thread * (unsigned)threads)),
	       (unsigned long long)(warm * 1000 / (per_thread * (unsigned)threads)));
	return 0;
}

static void *worker_pace(void *arg)
{
	struct worker *w = arg;

	for (uint64_t slot = 1; slot <= w->slots; slot++) {
		uint64_t until = w->begin_ns + slot * 1000000;
		struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

		w->call->loop(&w->target, w->n);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
			;
	}
	return NULL;
}

static uint64_t cpu_us(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int run_pace(char **argv)
{
	static struct worker workers[THREADS_MAX];
	int threads = atoi(argv[1]);
	uint64_t slots = strtoull(argv[3], NULL, 10) * 1000;
	uint64_t per_slot = strtoull(argv[2], NULL, 10) / 1000 / (uint64_t)threads;
	uint64_t begin = clock_read(CLOCK_MONOTONIC);

	for (int i = 0; i < threads; i++) {
		workers[i] = (struct worker){ .target = target_open(argv[4], i),
					      .call = call_by_name(argv[0]),
					      .n = per_slot,
					      .begin_ns = begin,
					      .slots = slots };
		pthread_create(&workers[i].thread, NULL, worker_pace, &workers[i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	printf("calls %llu\nelapsed_ns %llu\ncpu_us %llu\n",
	       (unsigned long long)(per_slot * slots * (unsigned)threads),
	       (unsigned long long)(clock_read(CLOCK_MONOTONIC) - begin),
	       (unsigned long long)cpu_us(RUSAGE_SELF));
	return 0;
}

/*
 * Writes blocks of 1 KiB every 4 KiB, like one of four processes that share a file. It passes over
 * 64 MiB repeatedly; each pass starts one block later.
 */
static int run_stride(char **argv)
{
	const uint64_t blocks = 16384;
	uint64_t n = strtoull(argv[0], NULL, 10);
	struct target t = target_open(argv[1], 0);

	for (uint64_t i = 0; i < n; i++) {
		off_t offset = (off_t)(i % blocks * 4096 + i / blocks % 4 * 1024);

		if (pwrite(t.fd, block, 1024, offset) != 1024)
			die("pwrite");
	}
	printf("calls %llu\ncpu_us %llu\n", (unsigned long long)n,
	       (unsigned long long)cpu_us(RUSAGE_SELF));
	return 0;
}

/* Returns the CPU time of a program, user and system, from exec to exit. */
static uint64_t start_us(char **argv, char **environment)
{
	posix_spawn_file_actions_t actions;
	struct rusage u;
	int status = 0, code;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	code = posix_spawn(&pid, argv[0], &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	errno = code;
	if (code || wait4(pid, &status, 0, &u) != pid || status != 0)
		die(argv[0]);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Starts the program alternately without and with capture. This process is observed in both cases.
 */
static int run_starts(char **argv)
{
	static char *bare[4096];
	int times = atoi(argv[0]), n = 0;
	uint64_t *us = calloc((size_t)times * 2, sizeof(*us));

	for (char **e = environ; *e && n < 4095; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) != 0)
			bare[n++] = *e;
	for (int i = 0; us && i < times; i++) {
		us[2 * i] = start_us(argv + 1, bare);
		us[2 * i + 1] = start_us(argv + 1, environ);
	}
	for (int i = 0; us && i < times; i++)
		printf("bare_us %llu\ntraced_us %llu\n", (unsigned long long)us[2 * i],
		       (unsigned long long)us[2 * i + 1]);
	free(us);
	return 0;
}

/* Measures a program whose parent is not part of the benchmark, such as a rank. */
static int run_timed(char **argv)
{
	printf("cpu_us %llu\n", (unsigned long long)start_us(argv, environ));
	return 0;
}

static const struct {
	const char *name;
	int arguments; /* minimum number */
	int (*run)(char **argv);
} loads[] = {
	{ "calls", 5, run_calls },   { "pace", 5, run_pace },	{ "stride", 2, run_stride },
	{ "starts", 2, run_starts }, { "timed", 1, run_timed },
};

int main(int argc, char **argv)
{
	memset(block, 'x', sizeof(block));
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (argc >= loads[i].arguments + 2 && !strcmp(argv[1], loads[i].name))
			return loads[i].run(argv + 2);
	fputs("load: wrong arguments; bench/load.c describes them\n", stderr);
	return 2;
}
