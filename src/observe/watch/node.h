/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The node's statistics (observe/stats) as the watcher polls them, recorded as facts of the trace.
 */
#ifndef SLUICE_OBSERVE_WATCH_NODE_H
#define SLUICE_OBSERVE_WATCH_NODE_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct err;
struct fact;
struct node;

struct node_options {
	const struct config *config;
	const char *host;
	void *arg;
	/* Receives a fact_statistic before its first fact_sample. */
	void (*fact)(void *arg, const struct fact *fact, const void *row);
};

/* Returns NULL if the settings disable statistics, or NULL with err set if they are invalid. */
struct node *node_new(const struct node_options *options, struct err *err);
void node_free(struct node *node);

/*
 * Polls if a poll is due. Returns true if so, and *percent receives the utilization
 * (stats/statistics.h).
 */
bool node_poll(struct node *node, int64_t now_ns, double percent[4]);
/* Time of the next poll. */
int64_t node_due_ns(const struct node *node);

/*
 * At the end: polls a last time, so that the statistics cover the whole run, and writes the last
 * samples. Returns the CPU time of all polls.
 */
int64_t node_finish(struct node *node, int64_t now_ns);

#endif
