/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-36.
 */
#include "observe/reason/reasoner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/unit.h"

const char *const role_names[ROLES] = { "process", "node", "system" };
const char *const health_names[HEALTH_STATES] = { "unknown", "good", "abnormally good", "bad" };

/*
 * By its quantiles, a detector grades 1 % of the calls as very slow when everything is normal; five
 * times that share is not normal. Calls become fast when data are in the page cache, which is worth
 * reporting only if most calls are fast.
 */
const struct reasoner_settings reasoner_defaults = {
	.observations = 20,
	.slow_share = 0.05,
	.fast_share = 0.5,
	.lost_share = 0.5,
	.load_percent = 90,
	.hold_ns = 5000000000,
};

struct neighbor {
	struct health_report report;
	bool was_bad; /* state in the previous cycle: a bad neighbor is reported once */
};

struct reasoner {
	enum role role;
	struct reasoner_settings settings;
	struct {
		reasoner_detector poll;
		void *arg;
	} * detectors;
	size_t detector_count, detector_cap;
	struct {
		reasoner_listener listen;
		void *arg;
	} * listeners;
	size_t listener_count, listener_cap;
	struct neighbor *neighbors;
	size_t neighbor_count, neighbor_cap;
	double utilization[4];
	struct health_report report; /* report of the last cycle */
	int64_t judged_ns;	     /* time of the last cycle with enough calls to judge */
	int64_t cycled_ns;
	enum health_state signaled; /* state last reported to listeners, as long as it lasts */
};

/* Input of the rules. */
struct view {
	const struct reasoner_settings *settings;
	struct sluice_health health;
	uint64_t calls;
	double cycle_ns;		 /* elapsed time, summed over processes; 0: unknown */
	double load;			 /* highest percentage; NAN: unknown */
	const struct health_report *bad; /* a bad lower neighbor; a new one if there is one */
	size_t bad_count;
	bool bad_is_new;
};

struct reasoner *reasoner_new(enum role role, const char *id,
			      const struct reasoner_settings *settings)
{
	struct reasoner *r = xcalloc(1, sizeof(*r));

	r->role = role;
	r->settings = settings ? *settings : reasoner_defaults;
	r->report.role = (uint8_t)role;
	r->report.rule = RULE_FEW;
	snprintf(r->report.id, sizeof(r->report.id), "%s", id);
	for (size_t i = 0; i < 4; i++)
		r->utilization[i] = NAN;
	return r;
}

void reasoner_free(struct reasoner *reasoner)
{
	if (!reasoner)
		return;
	free(reasoner->detectors);
	free(reasoner->listeners);
	free(reasoner->neighbors);
	free(reasoner);
}

void reasoner_add_detector(struct reasoner *r, reasoner_detector poll, void *arg)
{
	r->detectors =
		xgrow(r->detectors, &r->detector_cap, r->detector_count + 1, sizeof(*r->detectors));
	r->detectors[r->detector_count].poll = poll;
	r->detectors[r->detector_count++].arg = arg;
}

void reasoner_add_listener(struct reasoner *r, reasoner_listener listen, void *arg)
{
	r->listeners =
		xgrow(r->listeners, &r->listener_cap, r->listener_count + 1, sizeof(*r->listeners));
	r->listeners[r->listener_count].listen = listen;
	r->listeners[r->listener_count++].arg = arg;
}

static bool is_below(const struct reasoner *r, const struct health_report *report)
{
	return report->role + 1 == (int)r->role;
}

void reasoner_hear(struct reasoner *r, const struct health_report *report)
{
	bool is_above = report->role == (int)r->role + 1;
	size_t i = 0;

	if (!is_above && !is_below(r, report))
		return;
	while (i < r->neighbor_count && (r->neighbors[i].report.role != report->role ||
					 strcmp(r->neighbors[i].report.id, report->id) != 0))
		i++;
	if (i == r->neighbor_count) {
		r->neighbors = xgrow(r->neighbors, &r->neighbor_cap, i + 1, sizeof(*r->neighbors));
		r->neighbors[r->neighbor_count++] = (struct neighbor){ 0 };
	}
	r->neighbors[i].report = *report;
}

void reasoner_load(struct reasoner *r, const double utilization[4])
{
	memcpy(r->utilization, utilization, sizeof(r->utilization));
}

/* Memory does not count, because it is meant to be full. */
static double highest_load(const double utilization[4])
{
	return fmax(utilization[0], fmax(utilization[1], utilization[2]));
}

static void drop_stale_neighbors(struct reasoner *r, int64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->neighbor_count; i++) {
		int64_t age_ns = now_ns - r->neighbors[i].report.time_ns;

		/* The clocks of nodes may differ in both directions. */
		if (age_ns <= r->settings.hold_ns && age_ns >= -r->settings.hold_ns)
			r->neighbors[kept++] = r->neighbors[i];
	}
	r->neighbor_count = kept;
}

static void health_add(struct sluice_health *sum, const struct sluice_health *more)
{
	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		sum->counts[i] += more->counts[i];
	sum->excess_ns += more->excess_ns;
}

/* Returns the calls of a neighbor, with slow calls that its load explains counted as normal. */
static struct sluice_health unexplained_health(const struct health_report *report)
{
	struct sluice_health health = report->health;

	if (report->rule == RULE_LOADED) {
		health.counts[SLUICE_NORMAL] +=
			health.counts[SLUICE_SLOW] + health.counts[SLUICE_VERY_SLOW];
		health.counts[SLUICE_SLOW] = health.counts[SLUICE_VERY_SLOW] = 0;
		health.excess_ns = 0;
	}
	return health;
}

static void add_lower_neighbor(struct reasoner *r, struct neighbor *neighbor, struct view *view)
{
	const struct health_report *report = &neighbor->report;
	struct sluice_health blamed = unexplained_health(report);
	bool is_bad = report->state == HEALTH_BAD, is_new = is_bad && !neighbor->was_bad;

	health_add(&r->report.health, &blamed);
	neighbor->was_bad = is_bad;
	view->bad_count += is_bad;
	if (is_bad && (!view->bad || (is_new && !view->bad_is_new)))
		view->bad = report;
	view->bad_is_new |= is_new;
}

/* Polls the detectors, adds up the reports of lower neighbors, and fills the view. */
static void gather_view(struct reasoner *r, int64_t now_ns, struct view *view)
{
	size_t members = 0;

	r->report.health = (struct sluice_health){ 0 };
	for (size_t i = 0; i < r->detector_count; i++)
		r->detectors[i].poll(r->detectors[i].arg, &r->report.health);
	view->load = highest_load(r->utilization);
	for (size_t i = 0; i < r->neighbor_count; i++) {
		const struct health_report *report = &r->neighbors[i].report;

		if (is_below(r, report)) {
			add_lower_neighbor(r, &r->neighbors[i], view);
			members++;
		} else if (r->role == ROLE_PROCESS) {
			view->load = fmax(view->load, highest_load(report->utilization));
		}
	}
	view->health = r->report.health;
	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		view->calls += view->health.counts[i];
	if (r->cycled_ns && now_ns > r->cycled_ns)
		view->cycle_ns = (double)(now_ns - r->cycled_ns) * (double)(members ? members : 1);
}

static bool exceeds_share(const struct view *view, enum sluice_speed speed, double share)
{
	return view->calls >= view->settings->observations &&
	       (double)view->health.counts[speed] > share * (double)view->calls;
}

static bool is_time_lost(const struct view *view)
{
	return view->cycle_ns > 0 && view->health.counts[SLUICE_VERY_SLOW] > 0 &&
	       (double)view->health.excess_ns > view->settings->lost_share * view->cycle_ns;
}

static bool has_too_few_calls(const struct view *view)
{
	return view->calls < view->settings->observations && !is_time_lost(view) && !view->bad;
}

static bool is_slow(const struct view *view)
{
	return exceeds_share(view, SLUICE_VERY_SLOW, view->settings->slow_share) ||
	       is_time_lost(view);
}

static bool is_loaded(const struct view *view)
{
	return is_slow(view) && view->load > view->settings->load_percent;
}

static bool is_fast(const struct view *view)
{
	return exceeds_share(view, SLUICE_VERY_FAST, view->settings->fast_share);
}

static bool has_bad_neighbor(const struct view *view)
{
	return view->bad != NULL;
}

static bool always(const struct view *view)
{
	(void)view;
	return true;
}

static void describe_slow(const struct view *view, struct buf *out)
{
	char lost[UNIT_TEXT];

	buf_printf(out,
		   "%" PRIu64 " of %" PRIu64 " calls were very slow; slow calls took %s "
		   "more than usual",
		   view->health.counts[SLUICE_VERY_SLOW], view->calls,
		   unit_ns(lost, view->health.excess_ns));
}

static void describe_fast(const struct view *view, struct buf *out)
{
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " calls were very fast",
		   view->health.counts[SLUICE_VERY_FAST], view->calls);
}

static void describe_neighbor(const struct view *view, struct buf *out)
{
	buf_printf(out, "%s", view->bad->id);
	if (view->bad_count > 1)
		buf_printf(out, " and %zu more", view->bad_count - 1);
	buf_puts(out, view->bad_count > 1 ? " are bad" : " is bad");
}

enum signal_when { SIGNAL_NEVER, SIGNAL_ALWAYS, SIGNAL_NEW };

struct rule {
	bool (*holds)(const struct view *view);
	enum health_state state;
	enum signal_when signal;
	void (*describe)(const struct view *view, struct buf *out);
};

static const struct rule rules[HEALTH_RULES] = {
	[RULE_FEW] = { has_too_few_calls, HEALTH_UNKNOWN, SIGNAL_NEVER, NULL },
	[RULE_LOADED] = { is_loaded, HEALTH_GOOD, SIGNAL_NEVER, NULL },
	[RULE_SLOW] = { is_slow, HEALTH_BAD, SIGNAL_ALWAYS, describe_slow },
	[RULE_FAST] = { is_fast, HEALTH_ABNORMALLY_GOOD, SIGNAL_ALWAYS, describe_fast },
	[RULE_NEIGHBOR] = { has_bad_neighbor, HEALTH_BAD, SIGNAL_NEW, describe_neighbor },
	[RULE_NONE] = { always, HEALTH_GOOD, SIGNAL_NEVER, NULL },
};
const char *const rule_names[HEALTH_RULES] = {
	[RULE_FEW] = "few",   [RULE_LOADED] = "loaded",	    [RULE_SLOW] = "slow",
	[RULE_FAST] = "fast", [RULE_NEIGHBOR] = "neighbor", [RULE_NONE] = "none",
};

static void signal_listeners(struct reasoner *r, const struct view *view, const struct rule *rule,
			     bool is_new)
{
	AUTO_BUF struct buf reason = { 0 };

	rule->describe(view, &reason);
	for (size_t i = 0; i < r->listener_count; i++) {
		struct anomaly anomaly = { &r->report, buf_text(&reason), is_new };

		r->listeners[i].listen(r->listeners[i].arg, &anomaly);
	}
}

/* Sets the state by the rule; with too few calls the last state is kept for a while. */
static void update_report(struct reasoner *r, enum health_rule rule, int64_t now_ns)
{
	bool is_held =
		rule == RULE_FEW && r->judged_ns && now_ns - r->judged_ns <= r->settings.hold_ns;

	if (rule != RULE_FEW)
		r->judged_ns = now_ns;
	if (!is_held)
		r->report.state = (uint8_t)rules[rule].state;
	r->report.rule = (uint8_t)rule;
	r->report.time_ns = now_ns;
	memcpy(r->report.utilization, r->utilization, sizeof(r->utilization));
}

/*
 * Decides whether to report this cycle's state, and whether it is new. A state that persists across
 * cycles without calls is not new.
 */
static bool should_signal(struct reasoner *r, const struct view *view, bool *is_new)
{
	enum health_state state = r->report.state;
	enum signal_when when = rules[r->report.rule].signal;
	bool was_signaled = r->signaled == state;

	if (!was_signaled)
		r->signaled = HEALTH_UNKNOWN;
	if (when == SIGNAL_NEVER || (when == SIGNAL_NEW && !view->bad_is_new))
		return false;
	*is_new = !was_signaled || when == SIGNAL_NEW;
	r->signaled = state;
	return true;
}

const struct health_report *reasoner_cycle(struct reasoner *r, int64_t now_ns)
{
	struct view view = { .settings = &r->settings };
	enum health_rule rule = 0;
	bool is_new;

	drop_stale_neighbors(r, now_ns);
	gather_view(r, now_ns, &view);
	while (!rules[rule].holds(&view))
		rule++;
	update_report(r, rule, now_ns);
	r->cycled_ns = now_ns;
	if (should_signal(r, &view, &is_new))
		signal_listeners(r, &view, &rules[rule], is_new);
	return &r->report;
}
