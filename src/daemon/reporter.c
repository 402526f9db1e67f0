/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/reporter.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/accounts.h"
#include "daemon/forwarder.h"
#include "daemon/metering.h"
#include "daemon/observer.h"
#include "metrics/metrics.h"
#include "site/report.h"

static void report_end(const struct reporter *reporter, int64_t now_ns)
{
	forwarder_report_anomaly(
		reporter->forwarder,
		&(struct report_anomaly){ .node = observer_node(reporter->observer),
					  .target = "",
					  .owner = "",
					  .job = "",
					  .cause = "",
					  .detail = "",
					  .started_ns = reporter->started_ns,
					  .ended_ns = now_ns });
}

void reporter_start(struct reporter *reporter, int64_t now_ns)
{
	reporter->reported_ns = now_ns;
	reporter->is_idle = true;
	if (!reporter->forwarder)
		return;
	report_end(reporter, now_ns);
	forwarder_report_loads(reporter->forwarder, NULL, 0, now_ns);
}

/* Replaces what was reported of the same alert before. */
static void report_alert(struct reporter *reporter)
{
	struct observer_anomaly seen = observer_anomaly(reporter->observer);
	AUTO_FREE char *owner = seen.has_job ? accounts_user_name(seen.user) : NULL;
	struct report_anomaly anomaly = { .node = observer_node(reporter->observer),
					  .target = seen.target,
					  .owner = owner ? owner : "",
					  .job = seen.has_job ? seen.job : "",
					  .cause = seen.cause,
					  .detail = seen.reason,
					  .started_ns = reporter->started_ns,
					  .value = seen.value };

	reporter->has_target = *seen.target;
	forwarder_report_anomaly(reporter->forwarder, &anomaly);
}

/* An alert is reported when it is raised, when its file system becomes known, and when it ends. */
static void follow_alert(struct reporter *reporter, int64_t now_ns, bool has_changed)
{
	bool is_raised = observer_alert(reporter->observer)->is_raised;

	if (has_changed && !is_raised) {
		report_end(reporter, now_ns);
	} else if (has_changed) {
		reporter->started_ns = now_ns;
		report_alert(reporter);
	} else if (is_raised && !reporter->has_target &&
		   *observer_anomaly(reporter->observer).target) {
		report_alert(reporter);
	}
}

static struct report_load rate_of(struct reporter *reporter, const struct load_sum *sum,
				  const char *owner, double seconds)
{
	const struct load_counts *counts = &sum->counts;

	return (struct report_load){
		.owner = sum->is_other ? "" : owner,
		.job = sum->is_other ? "" : sum->job,
		.target = sum->is_other ? "" : observer_target(reporter->observer, sum->place),
		.bytes_read = (double)counts->bytes[LOAD_READ] / seconds,
		.bytes_written = (double)counts->bytes[LOAD_WRITE] / seconds,
		.operations = (double)(counts->calls[LOAD_READ] + counts->calls[LOAD_WRITE] +
				       counts->calls[LOAD_OTHER]) /
			      seconds,
	};
}

/* An idle node says so once, unless it has an alert: then the site waits to hear of it. */
static void report_loads(struct reporter *reporter, int64_t now_ns)
{
	AUTO_FREE struct load_sum *sums = xcalloc(LOAD_ENTRIES, sizeof(*sums));
	struct report_load loads[LOAD_ENTRIES];
	char *owners[LOAD_ENTRIES] = { NULL };
	double seconds = (double)(now_ns - reporter->reported_ns) / NS_PER_S;
	size_t count = observer_loads(reporter->observer, LOAD_REPORT, now_ns, sums);

	reporter->cycles = 0;
	reporter->reported_ns = now_ns;
	if (!count && reporter->is_idle && !observer_alert(reporter->observer)->is_raised)
		return;
	for (size_t i = 0; i < count; i++) {
		owners[i] = accounts_user_name(sums[i].user);
		loads[i] = rate_of(reporter, &sums[i], owners[i], seconds > 0 ? seconds : 1);
	}
	reporter->is_idle = !count;
	forwarder_report_loads(reporter->forwarder, loads, count, now_ns);
	for (size_t i = 0; i < count; i++)
		free(owners[i]);
}

static void meter_loads(struct reporter *reporter, int64_t now_ns)
{
	AUTO_FREE struct load_sum *sums = xcalloc(LOAD_ENTRIES, sizeof(*sums));
	size_t count = observer_loads(reporter->observer, LOAD_METRICS, now_ns, sums);

	for (size_t i = 0; i < count && reporter->metrics; i++) {
		AUTO_FREE char *user = accounts_user_name(sums[i].user);

		metering_add_load(reporter->metrics, &sums[i],
				  sums[i].is_other ? METRICS_OTHER : user,
				  observer_mount(reporter->observer, sums[i].place));
	}
}

void reporter_cycle(struct reporter *reporter, int64_t now_ns, bool has_changed)
{
	struct forwarder_verdict verdict;

	meter_loads(reporter, now_ns);
	if (!reporter->forwarder) {
		/* Nobody else reads them. */
		struct load_sum *unused = xcalloc(LOAD_ENTRIES, sizeof(*unused));

		observer_loads(reporter->observer, LOAD_REPORT, now_ns, unused);
		free(unused);
		return;
	}
	/* What is loaded now belongs to the evidence of an anomaly. */
	if (++reporter->cycles >= REPORTER_CYCLES || has_changed)
		report_loads(reporter, now_ns);
	follow_alert(reporter, now_ns, has_changed);
	verdict = forwarder_verdict(reporter->forwarder);
	observer_judge(reporter->observer, verdict.kind, verdict.detail);
}
