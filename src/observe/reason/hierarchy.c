/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-66.
 */
#include "observe/reason/hierarchy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/map.h"
#include "base/mem.h"
#include "observe/reason/health_files.h"

#define HOLD_CYCLES 3

/* An active process, with what its reasoner's callbacks need. */
struct member {
	struct hierarchy *hierarchy;
	struct reasoner *reasoner;
	const struct health_report *report; /* report of the last cycle; NULL before the first */
	uint32_t process;
	bool is_seen; /* made calls since the last cycle */
	int64_t seen_ns;
};

struct hierarchy {
	struct reasoner_settings settings;
	char *directory;
	struct {
		hierarchy_detector poll;
		void *arg;
	} * detectors;
	size_t detector_count, detector_cap;
	struct {
		hierarchy_listener listen;
		void *arg;
	} * listeners;
	size_t listener_count, listener_cap;
	struct member **members; /* in order of their first call */
	size_t member_count, member_cap;
	struct map by_process; /* the same members by process + 1 */
	struct reasoner *node, *system;
	const struct health_report *node_report, *system_report;
	struct {
		double sum;
		unsigned polls; /* polls since the last cycle */
	} load[4];
	double utilization[4]; /* mean of the last cycle with polls */
};

struct reasoner_settings hierarchy_settings(const struct config *config)
{
	struct reasoner_settings out = reasoner_defaults;
	int64_t cycle_ns = (int64_t)config_number(config, SETTING_HEALTH_INTERVAL);

	out.observations = config_number(config, SETTING_HEALTH_MIN_CALLS);
	out.slow_share = (double)config_number(config, SETTING_HEALTH_SLOW_PERCENT) / 100;
	out.load_percent = (double)config_number(config, SETTING_HEALTH_BUSY_PERCENT);
	if (out.hold_ns < HOLD_CYCLES * cycle_ns)
		out.hold_ns = HOLD_CYCLES * cycle_ns;
	return out;
}

static void notify_listeners(const struct hierarchy *h, int32_t process,
			     const struct anomaly *anomaly)
{
	for (size_t i = 0; i < h->listener_count; i++)
		h->listeners[i].listen(h->listeners[i].arg, process, anomaly);
}

static void on_shared_anomaly(void *arg, const struct anomaly *anomaly)
{
	notify_listeners(arg, -1, anomaly);
}

static void on_process_anomaly(void *arg, const struct anomaly *anomaly)
{
	const struct member *member = arg;

	notify_listeners(member->hierarchy, (int32_t)member->process, anomaly);
}

/* Detectors expect to be asked only about processes that made calls. */
static bool poll_process(void *arg, struct sluice_health *health)
{
	const struct member *member = arg;
	const struct hierarchy *h = member->hierarchy;
	bool any = false;

	for (size_t i = 0; member->is_seen && i < h->detector_count; i++)
		any |= h->detectors[i].poll(h->detectors[i].arg, member->process, health);
	return any;
}

struct hierarchy *hierarchy_new(const char *host, const char *directory,
				const struct reasoner_settings *rules)
{
	struct hierarchy *h = xcalloc(1, sizeof(*h));

	h->settings = rules ? *rules : reasoner_defaults;
	h->directory = xstrdup(directory);
	h->node = reasoner_new(ROLE_NODE, host, &h->settings);
	h->system = reasoner_new(ROLE_SYSTEM, role_names[ROLE_SYSTEM], &h->settings);
	reasoner_add_listener(h->node, on_shared_anomaly, h);
	reasoner_add_listener(h->system, on_shared_anomaly, h);
	for (size_t i = 0; i < 4; i++)
		h->utilization[i] = NAN;
	return h;
}

static void member_free(struct member *member)
{
	reasoner_free(member->reasoner);
	free(member);
}

void hierarchy_free(struct hierarchy *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->member_count; i++)
		member_free(h->members[i]);
	free(h->members);
	map_release(&h->by_process);
	reasoner_free(h->node);
	reasoner_free(h->system);
	free(h->detectors);
	free(h->listeners);
	free(h->directory);
	free(h);
}

void hierarchy_add_detector(struct hierarchy *h, hierarchy_detector poll, void *arg)
{
	h->detectors =
		xgrow(h->detectors, &h->detector_cap, h->detector_count + 1, sizeof(*h->detectors));
	h->detectors[h->detector_count].poll = poll;
	h->detectors[h->detector_count++].arg = arg;
}

void hierarchy_listen(struct hierarchy *h, hierarchy_listener listen, void *arg)
{
	h->listeners =
		xgrow(h->listeners, &h->listener_cap, h->listener_count + 1, sizeof(*h->listeners));
	h->listeners[h->listener_count].listen = listen;
	h->listeners[h->listener_count++].arg = arg;
}

static struct member *member_new(struct hierarchy *h, uint32_t process)
{
	struct member *member = xcalloc(1, sizeof(*member));
	char id[32];

	snprintf(id, sizeof(id), "%s %u", role_names[ROLE_PROCESS], process);
	member->hierarchy = h;
	member->process = process;
	member->reasoner = reasoner_new(ROLE_PROCESS, id, &h->settings);
	reasoner_add_detector(member->reasoner, poll_process, member);
	reasoner_add_listener(member->reasoner, on_process_anomaly, member);
	h->members = xgrow(h->members, &h->member_cap, h->member_count + 1, sizeof(*h->members));
	h->members[h->member_count++] = member;
	map_put(&h->by_process, (uint64_t)process + 1, member);
	return member;
}

void hierarchy_seen(struct hierarchy *h, uint32_t process)
{
	struct member *member = map_get(&h->by_process, (uint64_t)process + 1);

	if (!member)
		member = member_new(h, process);
	member->is_seen = true;
}

void hierarchy_load(struct hierarchy *h, const double utilization[4])
{
	for (size_t i = 0; i < 4; i++) {
		if (isnan(utilization[i]))
			continue;
		h->load[i].sum += utilization[i];
		h->load[i].polls++;
	}
}

/*
 * A short peak of load does not explain a second of slow calls, so the mean over the cycle counts.
 */
static void average_load(struct hierarchy *h)
{
	for (size_t i = 0; i < 4; i++) {
		if (h->load[i].polls)
			h->utilization[i] = h->load[i].sum / h->load[i].polls;
		h->load[i].sum = 0;
		h->load[i].polls = 0;
	}
	reasoner_load(h->node, h->utilization);
	for (size_t i = 0; i < h->member_count; i++)
		reasoner_load(h->members[i]->reasoner, h->utilization);
}

static void cycle_processes(struct hierarchy *h, int64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->member_count; i++) {
		struct member *member = h->members[i];

		if (member->is_seen)
			member->seen_ns = now_ns;
		if (now_ns - member->seen_ns > h->settings.hold_ns) {
			map_remove(&h->by_process, (uint64_t)member->process + 1);
			member_free(member);
			continue;
		}
		h->members[kept++] = member;
		member->report = reasoner_cycle(member->reasoner, now_ns);
		member->is_seen = false;
		reasoner_hear(h->node, member->report);
	}
	h->member_count = kept;
}

static int exchange_reports(struct hierarchy *h, struct err *err)
{
	struct health_report *reports = NULL;
	size_t count;
	int ret = health_files_write(h->directory, h->node_report, err);

	count = health_files_read(h->directory, &reports);
	for (size_t i = 0; i < count; i++) {
		/* Our own state is known already. */
		if (strcmp(reports[i].id, h->node_report->id) != 0)
			reasoner_hear(h->system, &reports[i]);
	}
	free(reports);
	return ret;
}

int hierarchy_cycle(struct hierarchy *h, int64_t now_ns, struct err *err)
{
	int ret = 0;

	average_load(h);
	cycle_processes(h, now_ns);
	h->node_report = reasoner_cycle(h->node, now_ns);
	reasoner_hear(h->system, h->node_report);
	if (h->directory)
		ret = exchange_reports(h, err);
	h->system_report = reasoner_cycle(h->system, now_ns);
	reasoner_hear(h->node, h->system_report);
	for (size_t i = 0; i < h->member_count; i++)
		reasoner_hear(h->members[i]->reasoner, h->node_report);
	return ret;
}

const struct health_report *hierarchy_report(const struct hierarchy *h, enum role role,
					     uint32_t process)
{
	const struct member *member = map_get(&h->by_process, (uint64_t)process + 1);

	if (role == ROLE_NODE)
		return h->node_report;
	if (role == ROLE_SYSTEM)
		return h->system_report;
	return member ? member->report : NULL;
}
