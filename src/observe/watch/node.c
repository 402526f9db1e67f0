/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/node.h"

#include <stdlib.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "observe/stats/recorder.h"
#include "observe/stats/statistics.h"

struct node {
	struct statistics *statistics;
	struct recorder *recorder;
	int64_t due_ns, period_ns;
};

struct node *node_new(const struct node_options *o, struct err *err)
{
	const struct config_value *names = &o->config->values[SETTING_STATS_PROVIDERS];
	struct statistics *statistics;
	struct node *node;

	if (!config_number(o->config, SETTING_STATS_PERIOD))
		return NULL;
	if (statistics_new(&statistics, names->text, "", err) < 0) {
		err_prefix(err, "%s: stats.providers", names->origin);
		return NULL;
	}
	node = xcalloc(1, sizeof(*node));
	node->statistics = statistics;
	node->recorder = recorder_new(o->host, 0, o->fact, o->arg);
	node->period_ns = (int64_t)config_number(o->config, SETTING_STATS_PERIOD);
	statistics_network_set(statistics,
			       (double)config_number(o->config, SETTING_STATS_LINK_SPEED));
	statistics_listen(statistics, recorder_listen, node->recorder);
	return node;
}

void node_free(struct node *node)
{
	if (!node)
		return;
	statistics_free(node->statistics);
	recorder_free(node->recorder);
	free(node);
}

bool node_poll(struct node *node, int64_t now_ns, double percent[4])
{
	if (now_ns < node->due_ns)
		return false;
	statistics_poll(node->statistics, now_ns);
	statistics_utilization(node->statistics, percent);
	/* Polls keep their rhythm; a late poll is not repeated. */
	node->due_ns += node->period_ns;
	if (node->due_ns <= now_ns)
		node->due_ns = now_ns + node->period_ns;
	return true;
}

int64_t node_due_ns(const struct node *node)
{
	return node->due_ns;
}

int64_t node_finish(struct node *node, int64_t now_ns)
{
	statistics_poll(node->statistics, now_ns);
	recorder_finish(node->recorder, node->statistics);
	return statistics_cost_ns(node->statistics);
}
