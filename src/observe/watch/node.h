/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The node as the watcher looks at it: its statistics (observe/stats), polled in step, made facts
 * of the trace.
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
	/* A fact_statistic before its first fact_sample. */
	void (*fact)(void *arg, const struct fact *fact, const void *row);
};

/* NULL where the settings want none; with a reason in err where they ask for what there is not. */
struct node *node_new(const struct node_options *options, struct err *err);
void node_free(struct node *node);

/* Polls if it is due; true: it was, and *percent has the utilisation (stats/statistics.h). */
bool node_poll(struct node *node, int64_t now_ns, double percent[4]);
/* When the next poll is due. */
int64_t node_due_ns(const struct node *node);

/* At the end: a last poll, so that nothing is missing of what the node did, and the last samples.
 * Returns the CPU time that all polls took. */
int64_t node_finish(struct node *node, int64_t now_ns);

#endif
