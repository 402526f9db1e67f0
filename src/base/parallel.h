/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a function on many pieces of work with several threads. Threads take one piece at a time, so
 * that pieces of unequal size balance. The result of a piece must depend on its number only.
 */
#ifndef SLUICE_BASE_PARALLEL_H
#define SLUICE_BASE_PARALLEL_H

#include <stddef.h>

/* Called once per piece. worker is 0 to threads - 1 and selects data that belongs to one thread. */
typedef void parallel_work(void *arg, size_t piece, unsigned worker);

/*
 * Returns when all pieces are done. With one thread or one piece the work runs in the caller. If
 * fewer threads can be created than requested, those do all the work.
 */
void parallel_for(unsigned threads, size_t pieces, parallel_work *work, void *arg);

/* Number of CPUs that this process may use (its affinity mask). */
unsigned parallel_cores(void);

#endif
