/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The observed parallel programs measure themselves: they repeat a call in bursts and measure the
 * CPU time of the calling thread, which excludes other processes and the collector.
 */
#ifndef SLUICE_BENCH_PARALLEL_BURST_H
#define SLUICE_BENCH_PARALLEL_BURST_H

/* From the command line: CALLS BURSTS. */
struct bursts {
	int calls; /* in each burst */
	int count;
};

/* Ends the program unless both are positive numbers. */
struct bursts bursts_parse(char *const words[2]);

/*
 * Collective. A warm-up makes all the calls once, so that the spool grows to its final size, and
 * waits until the collector has read them. Then the bursts follow; all ranks start each of them
 * together. Rank 0 prints a line "burst_ps N" for each burst: the mean time of a call over the
 * ranks, in picoseconds.
 */
void bursts_run(const struct bursts *bursts, void (*call)(void *arg), void *arg);

#endif
