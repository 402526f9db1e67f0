/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/metering.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/sums_table.h"
#include "metrics/metrics.h"

#define SPEED_NAME(name, text) [SPEED_##name] = text,
static const char *const speed_names[SPEED_COUNT] = { SPEED_LIST(SPEED_NAME) };
#define CLASS_NAME(name, text, ...) [CLASS_##name] = text,
static const char *const class_names[CLASS_COUNT] = { CLASS_LIST(CLASS_NAME) };

static void add_sums(void *arg, const char *filesystem, const char *target,
		     enum call_class operation, enum speed speed, const struct sums *sums)
{
	const char *labels[] = { filesystem, target, class_names[operation], speed_names[speed] };
	struct metrics *metrics = arg;

	metrics_add(metrics, METRIC_OPERATIONS, labels, (double)sums->calls);
	metrics_add(metrics, METRIC_BYTES, labels, (double)sums->bytes);
	metrics_add(metrics, METRIC_SECONDS, labels, (double)sums->ns / NS_PER_S);
}

void metering_add_sums(struct metrics *metrics, struct sums_table *table)
{
	sums_table_drain(table, add_sums, metrics);
}

static void add_refusals(struct metering *metering, struct metrics *metrics,
			 const struct counters *counters)
{
	for (int i = 0; i < REFUSAL_COUNT; i++) {
		const char *labels[] = { refusal_names[i] };
		uint64_t now = atomic_load(&counters->refusals[i]);

		metrics_add(metrics, METRIC_REJECTED, labels,
			    (double)(now - metering->refusals[i]));
		metering->refusals[i] = now;
	}
}

static void set_forwarder(struct metering *metering, struct metrics *metrics,
			  const struct forwarder_status *now)
{
	const struct disk_queue_status *queue = &now->queue;

	metrics_set(metrics, METRIC_QUEUE_BYTES, NULL, (double)queue->bytes);
	metrics_set(metrics, METRIC_QUEUE_FRAMES, NULL, (double)(queue->durable - queue->released));
	metrics_set(metrics, METRIC_DATABASE_UP, NULL, now->is_connected);
	metrics_add(metrics, METRIC_FORWARDED, NULL,
		    (double)(now->applied - metering->last.forwarder.applied));
}

/*
 * While an alert or a verdict lasts, its gauge is 1; the gauge of an earlier cause is removed.
 * Everybody reads them, so they name no job.
 */
static void set_alert(struct metering *metering, struct metrics *metrics, const struct alert *alert)
{
	const struct alert *last = &metering->last.alert;
	const char *node[] = { "node", alert->kind }, *system[] = { "system", alert->verdict_kind };

	if (last->is_raised && (!alert->is_raised || strcmp(alert->kind, last->kind) != 0))
		metrics_forget(metrics, METRIC_ANOMALY, node[0]);
	if (strcmp(alert->verdict_kind, last->verdict_kind) != 0)
		metrics_forget(metrics, METRIC_ANOMALY, system[0]);
	if (alert->is_raised)
		metrics_set(metrics, METRIC_ANOMALY, node, 1);
	if (*alert->verdict)
		metrics_set(metrics, METRIC_ANOMALY, system, 1);
}

void metering_add_load(struct metrics *metrics, const struct load_sum *load, const char *user,
		       const char *filesystem)
{
	static const char *const names[LOAD_OPERATIONS] = { "read", "write", "other" };
	const char *job = load->is_other ? METRICS_OTHER : *load->job ? load->job : "none";

	if (load->is_gone) {
		metrics_forget(metrics, METRIC_JOB_OPERATIONS, job);
		metrics_forget(metrics, METRIC_JOB_BYTES, job);
		return;
	}
	for (int i = 0; i < LOAD_OPERATIONS; i++) {
		const char *labels[] = { job, user, filesystem, names[i] };

		if (!load->counts.calls[i])
			continue;
		metrics_add(metrics, METRIC_JOB_OPERATIONS, labels, (double)load->counts.calls[i]);
		metrics_add(metrics, METRIC_JOB_BYTES, labels, (double)load->counts.bytes[i]);
	}
}

void metering_update(struct metering *metering, struct metrics *metrics,
		     const struct status_view *view)
{
	const struct counters *counters = view->counters;

	metrics_set(metrics, METRIC_CLIENTS, NULL, (double)atomic_load(&counters->clients));
	metrics_set(metrics, METRIC_MEMORY, NULL, (double)status_resident_bytes());
	metrics_set(metrics, METRIC_MEMORY_LIMIT, NULL, (double)view->memory_limit);
	metrics_set(metrics, METRIC_RUNS, NULL, (double)view->reception.runs);
	metrics_add(metrics, METRIC_ACTIVITIES, NULL,
		    (double)(view->reception.activities - metering->last.reception.activities));
	add_refusals(metering, metrics, counters);
	if (view->has_forwarder)
		set_forwarder(metering, metrics, &view->forwarder);
	set_alert(metering, metrics, &view->alert);
	metering->last = *view;
}
