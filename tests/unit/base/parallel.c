/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "check.h"

enum { PIECES = 1000, THREADS = 8 };

struct work {
	unsigned char done[PIECES]; /* not atomic, so that the thread sanitizer detects sharing */
	size_t by_worker[THREADS];
	atomic_uint unknown_workers;
	unsigned threads;
};

static void count_piece(void *arg, size_t piece, unsigned worker)
{
	struct work *work = arg;

	if (worker >= work->threads) {
		atomic_fetch_add(&work->unknown_workers, 1);
		return;
	}
	work->done[piece]++;
	work->by_worker[worker]++;
}

static void every_piece_is_done_once(void)
{
	static const unsigned threads[] = { 0, 1, 2, 3, THREADS };
	static const size_t pieces[] = { 0, 1, 2, 7, PIECES };

	for (size_t i = 0; i < 5; i++) {
		for (size_t j = 0; j < 5; j++) {
			struct work work = { .threads = threads[i] ? threads[i] : 1 };
			size_t sum = 0;

			parallel_for(threads[i], pieces[j], count_piece, &work);
			CHECK_INT(work.unknown_workers, 0);
			for (size_t k = 0; k < PIECES; k++)
				CHECK_INT(work.done[k], k < pieces[j]);
			for (size_t k = 0; k < THREADS; k++)
				sum += work.by_worker[k];
			CHECK_INT(sum, pieces[j]);
		}
	}
}

struct meeting {
	pthread_barrier_t barrier;
	pthread_t threads[2];
};

static void wait_for_the_other(void *arg, size_t piece, unsigned worker)
{
	struct meeting *meeting = arg;

	(void)worker;
	meeting->threads[piece] = pthread_self();
	pthread_barrier_wait(&meeting->barrier);
}

/* Two pieces that wait for each other finish only if they run at the same time. */
static void two_threads_work_at_the_same_time(void)
{
	struct meeting meeting;

	pthread_barrier_init(&meeting.barrier, NULL, 2);
	parallel_for(2, 2, wait_for_the_other, &meeting);
	CHECK(!pthread_equal(meeting.threads[0], meeting.threads[1]));
	pthread_barrier_destroy(&meeting.barrier);
}

static void note_thread(void *arg, size_t piece, unsigned worker)
{
	(void)piece;
	CHECK_INT(worker, 0);
	*(pthread_t *)arg = pthread_self();
}

static void one_thread_runs_in_the_caller(void)
{
	pthread_t thread;

	parallel_for(1, 5, note_thread, &thread);
	CHECK(pthread_equal(thread, pthread_self()));
	parallel_for(4, 1, note_thread, &thread);
	CHECK(pthread_equal(thread, pthread_self()));
}

static void run_nested(void *arg, size_t piece, unsigned worker)
{
	struct work work = { .threads = 2 };

	(void)piece, (void)worker;
	parallel_for(2, 50, count_piece, &work);
	for (size_t i = 0; i < 50; i++)
		atomic_fetch_add((atomic_size_t *)arg, work.done[i]);
}

static void calls_may_be_nested(void)
{
	atomic_size_t sum = 0;

	parallel_for(3, 10, run_nested, &sum);
	CHECK_INT(sum, 500);
}

static void at_least_one_cpu_is_usable(void)
{
	CHECK(parallel_cores() >= 1);
}

TESTS(TEST(every_piece_is_done_once), TEST(two_threads_work_at_the_same_time),
      TEST(one_thread_runs_in_the_caller), TEST(calls_may_be_nested),
      TEST(at_least_one_cpu_is_usable))
