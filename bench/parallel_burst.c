/* SPDX-License-Identifier: BSD-3-Clause */
#include "parallel_burst.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "backlog.h"

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct bursts bursts_parse(char *const words[2])
{
	struct bursts b = { atoi(words[0]), atoi(words[1]) };

	if (b.calls < 1 || b.count < 1) {
		fprintf(stderr, "bench: CALLS and BURSTS must be 1 or more\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	return b;
}

static uint64_t burst(int calls, void (*call)(void *arg), void *arg)
{
	uint64_t begin;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = thread_ns();
	for (int i = 0; i < calls; i++)
		call(arg);
	return thread_ns() - begin;
}

void bursts_run(const struct bursts *bursts, void (*call)(void *arg), void *arg)
{
	const struct spool_header *spool = backlog_find();
	uint64_t *mine = calloc((size_t)bursts->count, sizeof(*mine));
	uint64_t *all = calloc((size_t)bursts->count, sizeof(*all));
	int rank, ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!mine || !all)
		MPI_Abort(MPI_COMM_WORLD, 1);
	burst(bursts->calls * bursts->count, call, arg);
	if (!backlog_wait(spool)) {
		fprintf(stderr, "bench: the collector does not drain the spool\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (int i = 0; i < bursts->count; i++)
		mine[i] = burst(bursts->calls, call, arg);
	MPI_Reduce(mine, all, bursts->count, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int i = 0; !rank && i < bursts->count; i++)
		printf("burst_ps %llu\n",
		       (unsigned long long)(all[i] * 1000 / (uint64_t)(bursts->calls * ranks)));
	free(mine);
	free(all);
}
