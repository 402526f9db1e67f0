/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A burst: what the processes of a run have written to one target in one step of placement, and how
 * long the target was busy with it. It becomes training data of forecasts (run/placing_rows.h), so
 * it must be comparable with a probe, which is one write that has been stored when its time ends.
 *
 * A burst consists of transfers: one write that returns when the data is stored (O_DIRECT, O_SYNC),
 * or cached writes to a file up to the fsync() that stores them. The time in which transfers
 * overlap counts once. A burst is spoiled, and gives no data, if it has bytes whose storing was not
 * seen (a file closed without fsync(), mappings, aio), if a call failed, or if a program paused
 * between cached writes and their fsync(), because the kernel may have written meanwhile. What was
 * not synchronized may still be written for a while, so bursts of the next BURST_SPOILED_NS are
 * spoiled, too.
 *
 * All functions may run in any number of processes and threads at once, without a lock. A process
 * that is killed during a transfer keeps its burst active, so that nothing is taken from it. Times
 * are of CLOCK_MONOTONIC, in nanoseconds. Guest-safe.
 */
#ifndef SLUICE_CONTRACT_BURST_H
#define SLUICE_CONTRACT_BURST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BURST_SPOILED_NS UINT64_C(60000000000)

struct burst {
	_Atomic uint32_t active;    /* transfers under way */
	_Atomic uint32_t transfers; /* that have ended */
	_Atomic uint64_t first_ns;  /* when the first one began; 0: none did */
	_Atomic uint64_t begin_ns;  /* since when one or more are under way */
	_Atomic uint64_t last_ns;   /* when the last one ended */
	_Atomic uint64_t busy_ns, bytes;
	_Atomic uint64_t spoiled_ns; /* when it was last spoiled; 0: never */
};

/* A burst that is complete. */
struct burst_total {
	uint32_t destination; /* index in the list of the run; set by the caller */
	uint32_t transfers;
	uint64_t first_ns, last_ns, busy_ns, bytes;
};

void burst_begin(struct burst *burst, uint64_t now_ns);
/* The transfer that began has stored so many bytes. */
void burst_end(struct burst *burst, uint64_t bytes, uint64_t now_ns);
void burst_spoil(struct burst *burst, uint64_t now_ns);

/*
 * Takes what was written and begins anew. False, with nothing taken, while a transfer is under way;
 * false also if nothing was written, or if the burst is spoiled.
 */
bool burst_take(struct burst *burst, struct burst_total *total);

#endif
