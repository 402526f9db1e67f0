/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes waiting ranks yield their core. Debian's MPICH (ch4:ucx) polls continuously: with more
 * ranks than cores, a barrier of four ranks on two cores takes 8 ms, because a waiting rank spins
 * until its time slice ends. No setting of MPICH changes that. Open MPI yields by itself and does
 * not call this function.
 *
 * The function is linked into the programs rather than preloaded, so that it does not interfere
 * with the preloaded library under test.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

static unsigned (*real_progress)(void *worker);

unsigned ucp_worker_progress(void *worker);

static __attribute__((constructor)) void find_real_progress(void)
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
