/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the parallel programs under observation measure themselves: the same call in bursts, in CPU
 * time of the calling thread, so that neither other processes nor the collector count.
 */
#ifndef SLUICE_BENCH_PARALLEL_BURST_H
#define SLUICE_BENCH_PARALLEL_BURST_H

/* From the command line: CALLS BURSTS. */
struct bursts {
	int calls; /* in each burst */
	int count;
};

/* Ends the program where they are no positive numbers. */
struct bursts bursts_parse(char *const words[2]);

/*
 * Collective. First all the calls once, which makes the spool as large as they need, and a pause
 * until the collector has taken them; then the bursts, each begun by all ranks together. Rank 0
 * prints a line "burst_ps N" for each burst: the time of a call, mean of the ranks.
 */
void bursts_run(const struct bursts *bursts, void (*call)(void *arg), void *arg);

#endif
