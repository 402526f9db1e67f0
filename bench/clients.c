/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many client processes of the daemon, each at a steady rate:
 *
 *   bench_clients PROCESSES RATE SECONDS one|many DIRECTORY
 *
 * Starts the processes in the environment that it finds, waits for them, and prints one line:
 * calls, seconds, CPU seconds of all processes. With `many`, each process is a job of its own
 * (SLURM_JOB_ID), so that each is a run; with `one`, they form one run. All begin at the same time.
 * A process writes one byte to its own file RATE times per second, in slots of 10 ms. If it is
 * late, it goes on without waiting, so the number of calls is always PROCESSES * RATE * SECONDS.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOTS_PER_S 100
#define START_NS 3000000000u /* until all processes have started */

extern char **environ;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "bench_clients: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* client RATE SECONDS PATH BEGIN: what a process does */
static int run_client(char **argv)
{
	uint64_t per_slot = strtoull(argv[0], NULL, 10) / SLOTS_PER_S;
	uint64_t slots = strtoull(argv[1], NULL, 10) * SLOTS_PER_S;
	uint64_t begin = strtoull(argv[3], NULL, 10);
	int fd = open(argv[2], O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (fd < 0)
		fail(argv[2]);
	for (uint64_t slot = 0; slot < slots; slot++) {
		sleep_until(begin + slot * (1000000000u / SLOTS_PER_S));
		for (uint64_t i = 0; i < per_slot; i++)
			if (pwrite(fd, "x", 1, (off_t)(i % 4096)) != 1)
				fail("pwrite");
	}
	return 0;
}

static void start_client(int number, char **argv, uint64_t begin)
{
	char path[4096], at[32], job[32];
	char *arguments[] = {
		(char *)"/proc/self/exe", (char *)"client", argv[2], argv[3], path, at, NULL
	};
	pid_t pid;

	snprintf(path, sizeof(path), "%s/client.%d", argv[5], number);
	snprintf(at, sizeof(at), "%llu", (unsigned long long)begin);
	snprintf(job, sizeof(job), "%d", !strcmp(argv[4], "many") ? number + 1 : 1);
	setenv("SLURM_JOB_ID", job, 1);
	errno = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ);
	if (errno)
		fail("posix_spawn");
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
	uint64_t begin = now_ns() + START_NS;
	int status, processes;
	struct rusage used;

	if (argc == 6 && !strcmp(argv[1], "client"))
		return run_client(argv + 2);
	processes = argc == 6 ? atoi(argv[1]) : 0;
	if (processes < 1) {
		fprintf(stderr, "usage: bench_clients PROCESSES RATE SECONDS one|many DIRECTORY\n");
		return 2;
	}
	for (int i = 0; i < processes; i++)
		start_client(i, argv, begin);
	while (wait(&status) > 0)
		if (status != 0)
			return 1;
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%llu %.3f %.3f\n",
	       (unsigned long long)(strtoull(argv[2], NULL, 10) / SLOTS_PER_S * SLOTS_PER_S *
				    strtoull(argv[3], NULL, 10) * (unsigned)processes),
	       (double)(now_ns() - begin) * 1e-9,
	       seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
	return 0;
}
