/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What we cost the program, as far as the program's own threads can know it: the overhead monitor
 * of the host reads it from the spool's header (cost_ticks, cost_records). Guest.
 *
 * To time every record would cost more than the record. So each time a thread takes a fresh chunk
 * it replays a few records on it before it is used, two counter reads and one record each, and
 * what that took, smoothed, is the price of all records until the next time. To it come the time
 * of changing the chunk itself and the time in hooks of plug-ins (inline/host.h). Of calls that
 * are counted and not recorded every 64th is timed and stands for 64.
 *
 * In it is not what recording does to the program's caches, nor what follows from it elsewhere: the
 * collector and the watcher have processes and clocks of their own. What a thread has done since
 * its last change of chunk is added when it ends or when the process exits; one that was killed, or
 * left by exec, has up to a chunk of records that are not in cost_records.
 */
#ifndef SLUICE_CAPTURE_RECORD_COST_H
#define SLUICE_CAPTURE_RECORD_COST_H

#include "capture/record/frame.h"

#define COST_SAMPLE 64 /* one of so many counted calls is timed */

#pragma GCC visibility push(hidden)

/* The thread has taken this chunk and not used it yet. Signals are held. */
void cost_measure(struct self *s, struct chunk *fresh);

/* Adds the lane's calls since the last time, and so many ticks besides. */
void cost_flush(struct self *s, struct lane *l, uint64_t ticks);

/* A call was counted in place of a record; its frame is still whole. */
void cost_count(struct self *s, struct frame *f);

#pragma GCC visibility pop

#endif
