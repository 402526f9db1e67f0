/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The overhead of capturing in the program's own threads. The host's overhead monitor reads it from
 * the spool's header (cost_ticks, cost_records). Guest.
 *
 * Timing every record would take longer than the record itself. So whenever a thread gets a new
 * chunk, it writes a few sample records to it before use, with two clock reads each. Their smoothed
 * time is taken as the overhead of every record until the next chunk. The time for changing the
 * chunk and the time in hooks of plug-ins (inline/host.h) are added. Of calls that are counted and
 * not recorded, one in COST_SAMPLE is timed and stands for all of them.
 *
 * Overhead is CPU time. If more threads run than there are processors, a thread may be preempted
 * for many milliseconds in the middle of guest code, which is not overhead. So a change of the
 * chunk is measured by the CPU time of the thread. Reading that takes too long for single records:
 * of two samples the smaller one counts, and a sample of a counted call is limited to
 * COST_SAMPLE_MAX times the overhead of a record.
 *
 * Not included are the effects on the program's CPU caches, and the CPU time of the collector and
 * the watcher, which the host measures itself. The records since a thread's last change of chunk
 * are added when the thread ends or the process exits; if it is killed or calls exec, they are
 * missing.
 */
#ifndef SLUICE_CAPTURE_RECORD_COST_H
#define SLUICE_CAPTURE_RECORD_COST_H

#include "capture/record/frame.h"

#define COST_SAMPLE 64	   /* one in this many counted calls is timed */
#define COST_SAMPLE_MAX 16 /* a longer sample was interrupted */

#pragma GCC visibility push(hidden)

/* The CPU time of this thread in ticks. A sealed process (sandbox.h) cannot read it: always 0. */
uint64_t cost_cpu_ticks(void);

/* Measures the time of a record with a chunk that is not in use yet. Signals must be blocked. */
void cost_measure(struct self *s, struct chunk *fresh);

/* Adds the overhead of the lane's calls since the last flush, plus these ticks, to the header. */
void cost_flush(struct self *s, struct lane *l, uint64_t ticks);

/* Accounts for a call that was counted instead of recorded; its frame is still valid. */
void cost_count(struct self *s, struct frame *f);

#pragma GCC visibility pop

#endif
