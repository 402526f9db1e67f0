/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab program threads THREADS CALLS: each thread calls fwrite CALLS times without writing
 * anything, on a stream of its own, as in the SIOX paper. Prints the CPU time per call in ns,
 * averaged over all threads.
 * Papers: SIOX-57.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/command.h"

#define THREADS_MAX 64

static long calls;
/* The compiler must not know that nothing is written, else it removes the call. */
static const volatile size_t nothing;

static void *run(void *arg)
{
	double *ns = arg;
	FILE *f = fopen("/dev/null", "we");
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (long i = 0; f && i < calls; i++)
		fwrite("", 1, nothing, f);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	*ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) /
	      (double)calls;
	if (f)
		fclose(f);
	return NULL;
}

static int threads_run(struct command *command)
{
	pthread_t threads[THREADS_MAX];
	double ns[THREADS_MAX] = { 0 }, sum = 0;
	int count = atoi(command->argv[0]), started = 0;

	calls = atol(command->argv[1]);
	if (count < 1 || count > THREADS_MAX || calls < 1)
		return command_misuse(command, "THREADS must be from 1 to %d, CALLS at least 1",
				      THREADS_MAX);
	while (started < count && pthread_create(&threads[started], NULL, run, &ns[started]) == 0)
		started++;
	for (int i = 0; i < started; i++) {
		pthread_join(threads[i], NULL);
		sum += ns[i];
	}
	if (started < count)
		return command_fail(command, "cannot start %d threads", count);
	printf("call_ns %.1f\n", sum / count);
	return command_finish(command);
}

const struct command_ops command_threads = {
	.name = "threads",
	.help = "call fwrite from several threads",
	.operands = "THREADS CALLS",
	.operands_min = 2,
	.operands_max = 2,
	.flags = COMMAND_HIDDEN | COMMAND_NO_JSON,
	.run = threads_run,
};
