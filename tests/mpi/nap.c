/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lets waiting ranks sleep. Both MPIs poll while they wait, and yield in between (MPICH because of
 * kernels/yield.c). A rank that yields still takes its share of the processors, which tests that
 * run beside it need. So a rank that has done nothing but yield for a while takes short naps.
 *
 * The libraries call the program's definition instead of libc's. The kernels of the product do
 * without it, because naps would be part of the times that they measure.
 */
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define GAP_NS 20000 /* calls with less in between belong to one wait */
#define YIELDS 100   /* of a wait, before the first nap */
#define NAP_NS 100000

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int sched_yield(void)
{
	static _Thread_local int64_t last_ns;
	static _Thread_local unsigned yields;

	yields = now_ns() - last_ns < GAP_NS ? yields + 1 : 0;
	if (yields < YIELDS)
		syscall(SYS_sched_yield);
	else
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
	last_ns = now_ns();
	return 0;
}
