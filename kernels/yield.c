/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting ranks give their core away. Debian's MPICH (ch4:ucx) polls without a break: with more
 * ranks than cores a barrier of four ranks on two cores takes 8 ms, because a rank that has nothing
 * to do spins until its time slice is over. None of its variables changes that. Open MPI yields by
 * itself, and this is never called there.
 *
 * It is linked into the programs rather than preloaded, so that it does not mingle with what is
 * under test.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

static unsigned (*real_progress)(void *worker);

unsigned ucp_worker_progress(void *worker);

static __attribute__((constructor)) void find_real(void)
{
	real_progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
}

/* libmpich calls the program's definition instead of libucp's. */
unsigned ucp_worker_progress(void *worker)
{
	unsigned events = real_progress(worker);

	if (!events)
		sched_yield();
	return events;
}
