/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reasoners that a watcher has: one per process that makes calls, one for its node, and one for
 * the system of all nodes of the job, which every node judges for itself from what the nodes write
 *on the board. One cycle goes up and then down: the processes judge, the node hears them and
 *judges, tells the board, the system hears all nodes and judges; what the system and the node say
 *reaches the node and the processes before their next cycle. So an anomaly of a process is known at
 *all three levels in the same cycle, on other nodes in their next.
 *
 *	h = hierarchy_new(host, board_directory, &settings);
 *	hierarchy_add_detector(h, poll, arg);        // each plug-in that has a health hook
 *	hierarchy_listen(h, listener, arg);
 *	hierarchy_seen(h, process);                  // for each process of a batch
 *	hierarchy_load(h, utilisation);              // after each poll of the statistics
 *	hierarchy_cycle(h, now_ns, &err);            // every reason.cycle
 *
 * A process that has made no call for `hold` is forgotten, so memory grows with the processes that
 * are at work, not with those that ever were.
 */
#ifndef SLUICE_OBSERVE_REASON_HIERARCHY_H
#define SLUICE_OBSERVE_REASON_HIERARCHY_H

#include "observe/reason/reasoner.h"

struct config;
struct err;
struct hierarchy;

/* What the settings say; `hold` is never less than three cycles. */
struct reasoner_settings hierarchy_settings(const struct config *config);

/* board NULL: there is one node. host is the id of the node's report. */
struct hierarchy *hierarchy_new(const char *host, const char *board,
				const struct reasoner_settings *settings);
void hierarchy_free(struct hierarchy *hierarchy);

/* Adds what a detector has seen of the process since it was last asked; false: nothing. */
typedef bool (*hierarchy_detector)(void *arg, uint32_t process, struct sluice_health *health);
void hierarchy_add_detector(struct hierarchy *hierarchy, hierarchy_detector poll, void *arg);

/* process is the index of the one who signals, -1 for node and system: see anomaly->report->role.
 */
typedef void (*hierarchy_listener)(void *arg, int32_t process, const struct anomaly *anomaly);
void hierarchy_listen(struct hierarchy *hierarchy, hierarchy_listener listen, void *arg);

/* The process has made calls. */
void hierarchy_seen(struct hierarchy *hierarchy, uint32_t process);
/* percent: cpu, network, io, memory of this node; NAN where unknown. The mean over a cycle counts.
 */
void hierarchy_load(struct hierarchy *hierarchy, const double utilisation[4]);

/*
 * One cycle; now_ns is CLOCK_REALTIME, as nodes must agree. -errno if the board cannot be written:
 * this node has judged all the same, and others do not hear of it.
 */
int hierarchy_cycle(struct hierarchy *hierarchy, int64_t now_ns, struct err *err);

/* Reports of the last cycle; of a process NULL where it is not known (any more). */
const struct health_report *hierarchy_report(const struct hierarchy *hierarchy, enum role role,
					     uint32_t process);

#endif
