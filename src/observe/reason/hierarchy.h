/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reasoners of a watcher: one per process that makes calls, one for the node, and one for the
 * system of all nodes of the job. Every node computes the system's state itself from the health
 * files of all nodes (health_files.h).
 *
 * A cycle goes up and then down: the processes judge; the node receives their reports, judges, and
 * writes its health file; the system receives the reports of all nodes and judges. The reports of
 * the system and the node reach the node and the processes before their next cycle. So all three
 * levels know of an anomaly of a process in the same cycle, and other nodes in their next cycle.
 *
 *   h = hierarchy_new(host, directory, &settings);
 *   hierarchy_add_detector(h, poll, arg);        // each plug-in that has a health hook
 *   hierarchy_listen(h, listener, arg);
 *   hierarchy_seen(h, process);                  // for each process of a batch
 *   hierarchy_load(h, utilization);              // after each poll of the statistics
 *   hierarchy_cycle(h, now_ns, &err);            // every reason.cycle
 *
 * A process that has made no call for `hold` is dropped, so memory grows with the number of active
 * processes.
 * Papers: SIOX-35.
 */
#ifndef SLUICE_OBSERVE_REASON_HIERARCHY_H
#define SLUICE_OBSERVE_REASON_HIERARCHY_H

#include "observe/reason/reasoner.h"

struct config;
struct err;
struct hierarchy;

/* Settings from the configuration; `hold` is never less than three cycles. */
struct reasoner_settings hierarchy_settings(const struct config *config);

/*
 * directory holds the health files; NULL: there is only one node. host is the id of the node's
 * report.
 */
struct hierarchy *hierarchy_new(const char *host, const char *directory,
				const struct reasoner_settings *settings);
void hierarchy_free(struct hierarchy *hierarchy);

/*
 * Adds the calls of a process that a detector has graded since it was last asked. Returns false if
 * there are none.
 */
typedef bool (*hierarchy_detector)(void *arg, uint32_t process, struct sluice_health *health);
void hierarchy_add_detector(struct hierarchy *hierarchy, hierarchy_detector poll, void *arg);

/*
 * process is the index of the process with the anomaly, or -1 for the node and the system; see
 * anomaly->report->role.
 */
typedef void (*hierarchy_listener)(void *arg, int32_t process, const struct anomaly *anomaly);
void hierarchy_listen(struct hierarchy *hierarchy, hierarchy_listener listen, void *arg);

/* Marks a process as active in this cycle. */
void hierarchy_seen(struct hierarchy *hierarchy, uint32_t process);
/*
 * Adds the node's utilization in percent: cpu, network, io, memory; NAN if unknown. The mean over a
 * cycle counts.
 */
void hierarchy_load(struct hierarchy *hierarchy, const double utilization[4]);

/*
 * Runs one cycle. now_ns is CLOCK_REALTIME, because nodes must agree on it. Returns -errno if the
 * health file cannot be written; this node has judged nevertheless, but the others do not know.
 */
int hierarchy_cycle(struct hierarchy *hierarchy, int64_t now_ns, struct err *err);

/* Returns the report of the last cycle; NULL for a process that is not active. */
const struct health_report *hierarchy_report(const struct hierarchy *hierarchy, enum role role,
					     uint32_t process);

#endif
