/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds out when calls of a process are missing from a trace. The calls of a thread are numbered in
 * the order in which they began (contract/record.h), and a call that was not recorded keeps its
 * number, so a missing number is a missing call.
 */
#ifndef SLUICE_OBSERVE_CHAIN_GAPS_H
#define SLUICE_OBSERVE_CHAIN_GAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct gaps_process {
	int64_t since_ns; /* no call that began before is missing; INT64_MAX: none is missing */
	int64_t quiet_ns; /* the earliest of the last calls of its threads */
};

struct gaps {
	struct map threads; /* by process and thread */
	struct gaps_process *processes;
	size_t process_count;
};

void gaps_init(struct gaps *gaps, size_t process_count);
void gaps_release(struct gaps *gaps);

/*
 * Enters a call. Calls come in the order of their start; those of a thread may deviate from the
 * order of their numbers by up to 64. The first number of a thread is 1, or unknown (0) in a child
 * that was forked, whose thread continues the numbers of its parent.
 */
void gaps_see(struct gaps *gaps, uint32_t process, uint64_t id, int64_t start_ns, uint64_t first);

/*
 * After the last call. Processes that have lost calls, as lost_records says, may have lost them
 * after the last call of a thread, which leaves no gap.
 */
void gaps_finish(struct gaps *gaps);
void gaps_lost(struct gaps *gaps, uint32_t process);

#endif
