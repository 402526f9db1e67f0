/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The same work on many pieces by several threads. Pieces are handed out one by one, so unequal
 * ones balance. What a piece yields must depend on its number only.
 */
#ifndef SLUICE_BASE_PARALLEL_H
#define SLUICE_BASE_PARALLEL_H

#include <stddef.h>

/* Called once per piece; worker is 0 .. threads - 1, for what a thread keeps between pieces. */
typedef void parallel_work(void *arg, size_t piece, unsigned worker);

/*
 * Returns when all pieces are done. One thread or one piece: runs in the caller. Threads that
 * cannot be made are done without.
 */
void parallel_for(unsigned threads, size_t pieces, parallel_work *work, void *arg);

/* Cores that this process may use. */
unsigned parallel_cores(void);

#endif
