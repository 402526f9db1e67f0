/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of the NOTE_COST notes about the overhead of recording. The collector writes them
 * (observe/collect/overhead.h) and reports read them.
 */
#ifndef SLUICE_OBSERVE_TALLY_OVERHEAD_NOTES_H
#define SLUICE_OBSERVE_TALLY_OVERHEAD_NOTES_H

#define OVERHEAD_SOURCE "overhead"

/* Per process: time in ns summed over threads, and its share of the run time (0.01 is 1 %). */
#define OVERHEAD_GUEST_NS "guest_ns"
#define OVERHEAD_GUEST_SHARE "guest_share"
/* Per process: the part of guest_ns that in-line plug-ins took. */
#define OVERHEAD_INLINE_NS "inline_ns"
/* Per node: CPU time in ns. */
#define OVERHEAD_COLLECTOR_NS "collector_ns"
#define OVERHEAD_WATCHER_NS "watcher_ns"

/* NOTE_NODE, per node: number of its processors. */
#define NODE_PROCESSORS "processors"

#endif
