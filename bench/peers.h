/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The overhead of other tools. The figures were measured earlier on a machine like the development
 * machine of Sluice; benchmarks do not measure them again. See docs/reference/benchmarks.md.
 */
#ifndef SLUICE_BENCH_PEERS_H
#define SLUICE_BENCH_PEERS_H

#include "base/buf.h"

/* Appends the CPU nanoseconds that each tool adds per call. call is a number of capture.c; nothing
 * is appended unless there are 1 or 8 threads. */
void peers_cost(struct buf *out, unsigned call, int threads);

extern const char peers_off[4][32]; /* by call; recording off, 1 thread */
extern const char peers_bytes[], peers_start[];

#endif
