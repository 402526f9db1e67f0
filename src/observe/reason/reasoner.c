/* SPDX-License-Identifier: BSD-3-Clause */
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
 * By its quantiles a detector calls 1 % of the calls very slow where all is well; five times that
 * is something else. Calls become fast when data are in memory, which is no news unless it is most.
 */
const struct reasoner_settings reasoner_defaults = {
	.observations = 20,
	.slow_share = 0.05,
	.fast_share = 0.5,
	.lost_share = 0.5,
	.load_percent = 90,
	.hold_ns = 5000000000,
};

struct neighbour {
	struct health_report report;
	bool was_bad; /* when we last looked: a bad one is told of once */
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
	struct neighbour *neighbours;
	size_t neighbour_count, neighbour_cap;
	double utilisation[4];
	struct health_report report; /* of the last cycle */
	int64_t judged_ns;	     /* when there was enough to judge */
	int64_t cycled_ns;
	enum health_state told; /* what listeners were last told, as long as it lasts */
};

/* What the rules look at. */
struct view {
	const struct reasoner_settings *settings;
	struct sluice_health health;
	uint64_t calls;
	double cycle_ns; /* time that has passed for all processes together; 0: not known */
	double load;	 /* the highest percentage; NAN: not known */
	const struct health_report *bad; /* a lower neighbour; one that is new if there is one */
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
		r->utilisation[i] = NAN;
	return r;
}

void reasoner_free(struct reasoner *reasoner)
{
	if (!reasoner)
		return;
	free(reasoner->detectors);
	free(reasoner->listeners);
	free(reasoner->neighbours);
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
	while (i < r->neighbour_count && (r->neighbours[i].report.role != report->role ||
					  strcmp(r->neighbours[i].report.id, report->id) != 0))
		i++;
	if (i == r->neighbour_count) {
		r->neighbours =
			xgrow(r->neighbours, &r->neighbour_cap, i + 1, sizeof(*r->neighbours));
		r->neighbours[r->neighbour_count++] = (struct neighbour){ 0 };
	}
	r->neighbours[i].report = *report;
}

void reasoner_load(struct reasoner *r, const double utilisation[4])
{
	memcpy(r->utilisation, utilisation, sizeof(r->utilisation));
}

/* Memory is meant to be full. */
static double load_of(const double utilisation[4])
{
	return fmax(utilisation[0], fmax(utilisation[1], utilisation[2]));
}

static void forget_stale(struct reasoner *r, int64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->neighbour_count; i++) {
		int64_t age_ns = now_ns - r->neighbours[i].report.time_ns;

		/* Clocks of nodes may differ a little: either way. */
		if (age_ns <= r->settings.hold_ns && age_ns >= -r->settings.hold_ns)
			r->neighbours[kept++] = r->neighbours[i];
	}
	r->neighbour_count = kept;
}

static void health_add(struct sluice_health *sum, const struct sluice_health *more)
{
	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		sum->counts[i] += more->counts[i];
	sum->excess_ns += more->excess_ns;
}

/* What of a neighbour's counts is held against us. */
static struct sluice_health health_blamed(const struct health_report *report)
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

static void look_below(struct reasoner *r, struct neighbour *neighbour, struct view *view)
{
	const struct health_report *report = &neighbour->report;
	struct sluice_health blamed = health_blamed(report);
	bool is_bad = report->state == HEALTH_BAD, is_new = is_bad && !neighbour->was_bad;

	health_add(&r->report.health, &blamed);
	neighbour->was_bad = is_bad;
	view->bad_count += is_bad;
	if (is_bad && (!view->bad || (is_new && !view->bad_is_new)))
		view->bad = report;
	view->bad_is_new |= is_new;
}

/* Polls the detectors and looks at the neighbours; the report gets the sum. */
static void look(struct reasoner *r, int64_t now_ns, struct view *view)
{
	size_t members = 0;

	r->report.health = (struct sluice_health){ 0 };
	for (size_t i = 0; i < r->detector_count; i++)
		r->detectors[i].poll(r->detectors[i].arg, &r->report.health);
	view->load = load_of(r->utilisation);
	for (size_t i = 0; i < r->neighbour_count; i++) {
		const struct health_report *report = &r->neighbours[i].report;

		if (is_below(r, report)) {
			look_below(r, &r->neighbours[i], view);
			members++;
		} else if (r->role == ROLE_PROCESS) {
			view->load = fmax(view->load, load_of(report->utilisation));
		}
	}
	view->health = r->report.health;
	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		view->calls += view->health.counts[i];
	if (r->cycled_ns && now_ns > r->cycled_ns)
		view->cycle_ns = (double)(now_ns - r->cycled_ns) * (double)(members ? members : 1);
}

static bool is_share(const struct view *view, enum sluice_speed speed, double share)
{
	return view->calls >= view->settings->observations &&
	       (double)view->health.counts[speed] > share * (double)view->calls;
}

static bool is_time_lost(const struct view *view)
{
	return view->cycle_ns > 0 && view->health.counts[SLUICE_VERY_SLOW] > 0 &&
	       (double)view->health.excess_ns > view->settings->lost_share * view->cycle_ns;
}

static bool is_few(const struct view *view)
{
	return view->calls < view->settings->observations && !is_time_lost(view) && !view->bad;
}

static bool is_slow(const struct view *view)
{
	return is_share(view, SLUICE_VERY_SLOW, view->settings->slow_share) || is_time_lost(view);
}

static bool is_loaded(const struct view *view)
{
	return is_slow(view) && view->load > view->settings->load_percent;
}

static bool is_fast(const struct view *view)
{
	return is_share(view, SLUICE_VERY_FAST, view->settings->fast_share);
}

static bool is_neighbour(const struct view *view)
{
	return view->bad != NULL;
}

static bool is_any(const struct view *view)
{
	(void)view;
	return true;
}

static void say_slow(const struct view *view, struct buf *out)
{
	char lost[UNIT_TEXT];

	buf_printf(out,
		   "%" PRIu64 " of %" PRIu64 " calls were very slow; slow calls took %s "
		   "more than usual",
		   view->health.counts[SLUICE_VERY_SLOW], view->calls,
		   unit_ns(lost, view->health.excess_ns));
}

static void say_fast(const struct view *view, struct buf *out)
{
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " calls were very fast",
		   view->health.counts[SLUICE_VERY_FAST], view->calls);
}

static void say_neighbour(const struct view *view, struct buf *out)
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
	void (*say)(const struct view *view, struct buf *out);
};

static const struct rule rules[HEALTH_RULES] = {
	[RULE_FEW] = { is_few, HEALTH_UNKNOWN, SIGNAL_NEVER, NULL },
	[RULE_LOADED] = { is_loaded, HEALTH_GOOD, SIGNAL_NEVER, NULL },
	[RULE_SLOW] = { is_slow, HEALTH_BAD, SIGNAL_ALWAYS, say_slow },
	[RULE_FAST] = { is_fast, HEALTH_ABNORMALLY_GOOD, SIGNAL_ALWAYS, say_fast },
	[RULE_NEIGHBOUR] = { is_neighbour, HEALTH_BAD, SIGNAL_NEW, say_neighbour },
	[RULE_NONE] = { is_any, HEALTH_GOOD, SIGNAL_NEVER, NULL },
};
const char *const rule_names[HEALTH_RULES] = {
	[RULE_FEW] = "few",   [RULE_LOADED] = "loaded",	      [RULE_SLOW] = "slow",
	[RULE_FAST] = "fast", [RULE_NEIGHBOUR] = "neighbour", [RULE_NONE] = "none",
};

static void signal_listeners(struct reasoner *r, const struct view *view, const struct rule *rule,
			     bool is_new)
{
	AUTO_BUF struct buf reason = { 0 };

	rule->say(view, &reason);
	for (size_t i = 0; i < r->listener_count; i++) {
		struct anomaly anomaly = { &r->report, buf_text(&reason), is_new };

		r->listeners[i].listen(r->listeners[i].arg, &anomaly);
	}
}

/* The state that the rule leaves; too little evidence keeps the last one for a while. */
static void settle(struct reasoner *r, enum health_rule rule, int64_t now_ns)
{
	bool is_held =
		rule == RULE_FEW && r->judged_ns && now_ns - r->judged_ns <= r->settings.hold_ns;

	if (rule != RULE_FEW)
		r->judged_ns = now_ns;
	if (!is_held)
		r->report.state = (uint8_t)rules[rule].state;
	r->report.rule = (uint8_t)rule;
	r->report.time_ns = now_ns;
	memcpy(r->report.utilisation, r->utilisation, sizeof(r->utilisation));
}

/* Is this cycle's judgement to be signalled, and is it news? What lasts over cycles without calls
 * is none. */
static bool is_signal(struct reasoner *r, const struct view *view, bool *is_new)
{
	enum health_state state = r->report.state;
	enum signal_when when = rules[r->report.rule].signal;
	bool is_told = r->told == state;

	if (!is_told)
		r->told = HEALTH_UNKNOWN;
	if (when == SIGNAL_NEVER || (when == SIGNAL_NEW && !view->bad_is_new))
		return false;
	*is_new = !is_told || when == SIGNAL_NEW;
	r->told = state;
	return true;
}

const struct health_report *reasoner_cycle(struct reasoner *r, int64_t now_ns)
{
	struct view view = { .settings = &r->settings };
	enum health_rule rule = 0;
	bool is_new;

	forget_stale(r, now_ns);
	look(r, now_ns, &view);
	while (!rules[rule].holds(&view))
		rule++;
	settle(r, rule, now_ns);
	r->cycled_ns = now_ns;
	if (is_signal(r, &view, &is_new))
		signal_listeners(r, &view, &rules[rule], is_new);
	return &r->report;
}
