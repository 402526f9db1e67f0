/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads live for one call of parallel_for(): pieces take milliseconds, and a pool would need
 * global state.
 */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/mem.h"

struct crew {
	parallel_work *work;
	void *arg;
	size_t pieces;
	atomic_size_t next;
};

struct worker {
	struct crew *crew;
	pthread_t thread;
	unsigned number;
};

static void *worker_run(void *arg)
{
	struct worker *worker = arg;
	struct crew *crew = worker->crew;
	size_t piece;

	/* pthread_join() publishes the results. */
	while ((piece = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed)) <
	       crew->pieces)
		crew->work(crew->arg, piece, worker->number);
	return NULL;
}

void parallel_for(unsigned threads, size_t pieces, parallel_work *work, void *arg)
{
	struct crew crew = { .work = work, .arg = arg, .pieces = pieces };
	AUTO_FREE struct worker *workers = NULL;
	unsigned started = 1;

	if (threads > pieces)
		threads = (unsigned)pieces;
	if (threads < 1)
		threads = 1;
	workers = xcalloc(threads, sizeof(*workers));
	for (unsigned i = 0; i < threads; i++)
		workers[i] = (struct worker){ .crew = &crew, .number = i };
	while (started < threads &&
	       pthread_create(&workers[started].thread, NULL, worker_run, &workers[started]) == 0)
		started++;
	worker_run(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

unsigned parallel_cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}
