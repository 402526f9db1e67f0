/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What other tools cost: figures measured earlier, on a machine like the one Sluice is developed
 * on, and not measured anew by a benchmark. docs/benchmarks.md says more.
 */
#ifndef SLUICE_BENCH_PEERS_H
#define SLUICE_BENCH_PEERS_H

#include "base/buf.h"

/* CPU nanoseconds added per call, as text: number of the call as in capture.c; 1 or 8 threads, else
 * empty. */
void peers_cost(struct buf *out, unsigned call, int threads);

extern const char peers_off[4][32]; /* by call; recording off, 1 thread */
extern const char peers_bytes[], peers_start[];

#endif
