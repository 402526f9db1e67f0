/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watcher of a run: what it reports goes into the trace, and its anomalies ship the activities
 * of the flight recorder.
 */
#include "observe/collect/collector_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/collect/flight.h"
#include "observe/watch/plugins.h"
#include "observe/watch/watcher.h"
#include "trace/facts.h"

/*
 * The watcher samples until it is stopped, on a busy machine long after the run has ended. Its
 * first samples are kept even so: a run that ended before the watcher started has no others.
 */
static void add_sample(struct collector *c, const struct stat_sample *sample)
{
	bool is_late = c->duration_ns && sample->time_ns - sample->period_ns >= c->duration_ns;

	if (is_late && c->sampled_ns && c->sampled_ns != sample->time_ns)
		return;
	c->sampled_ns = sample->time_ns;
	intake_fact(&c->intake, &fact_sample, sample);
}

/* Writes what the watcher reports into the trace; refusals also become warnings. */
static void on_watcher_fact(void *arg, const struct fact *fact, const void *row)
{
	struct collector *c = arg;
	const struct note *note = row;

	if (fact == &fact_sample) {
		add_sample(c, row);
		return;
	}
	intake_fact(&c->intake, fact, row);
	if (fact != &fact_note)
		return;
	if (!strcmp(note->kind, NOTE_REFUSED))
		collector_warn(c, note->value);
	/*
	 * Several plug-ins may report the same problem, such as a missing store; it is shown once.
	 */
	if (!strcmp(note->kind, NOTE_DEGRADED) && !strcmp(note->name, NOTE_WARNING) &&
	    !strstr(c->intake.totals.warnings, note->value)) {
		AUTO_FREE char *text = xprintf("plug-in %s: %s", note->source, note->value);

		collector_warn(c, text);
	}
}

static void on_account_note(void *arg, const struct note *note)
{
	struct collector *c = arg;

	on_watcher_fact(arg, &fact_note, note);
	c->intake.totals.has_acted |= !strcmp(note->kind, NOTE_APPLIED);
}

void collector_start_watcher(struct collector *c, const struct collector_options *o)
{
	struct watcher_options options = {
		.config = o->config,
		.run = &c->run,
		.clock = &c->intake.clock,
		.begin_ns = c->begin_ns,
		.health_directory = o->board,
		.control = c->control,
		.directory = c->directory,
		.wants_detector = o->flight_ring != 0,
	};
	struct watcher_sink sink = { .arg = c, .fact = on_watcher_fact };

	if (o->flight_ring)
		c->intake.flight = flight_new((size_t)o->flight_ring);
	if (o->config && o->mode != CAPTURE_OFF)
		c->intake.watcher = watcher_start(&options, &sink);
}

static const char *acts_name(const char *plugin)
{
	const struct plugin_guest *guest = plugin_guest_find(plugin);

	return guest ? guest->acts : NULL;
}

void collector_write_accounts(struct collector *c)
{
	struct accounts_output to = { .host = c->run.host,
				      .clock = &c->intake.clock,
				      .acts = acts_name,
				      .hint_changes = atomic_load(&c->control->hint_changes),
				      .arg = c,
				      .note = on_account_note };

	accounts_report(&c->intake.accounts, c->plugins, &to);
}

static void write_flight_number(struct collector *c, const char *name, uint64_t value)
{
	char text[32];
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .host = c->run.host,
			     .source = "flight_recorder",
			     .kind = NOTE_REPORT,
			     .name = (char *)name,
			     .value = text };

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	intake_fact(&c->intake, &fact_note, &note);
}

/* Ships a last time if there was an anomaly, and reports the counts. */
static void finish_flight(struct collector *c, uint64_t anomalies)
{
	struct flight_counts counts;

	if (!c->intake.flight)
		return;
	if (anomalies != c->anomalies)
		intake_ship(&c->intake);
	counts = flight_counts(c->intake.flight);
	write_flight_number(c, "calls/seen", counts.seen);
	write_flight_number(c, "calls/shipped", counts.shipped);
	write_flight_number(c, "calls/overwritten", counts.overwritten);
	write_flight_number(c, "calls/held", counts.held);
	write_flight_number(c, "shipments", counts.shipments);
}

int64_t collector_stop_watcher(struct collector *c)
{
	struct watcher_counts counts;

	if (!c->intake.watcher) {
		finish_flight(c, 0);
		return -1;
	}
	watcher_stop(c->intake.watcher, &counts);
	c->intake.watcher = NULL;
	finish_flight(c, counts.anomalies);
	return counts.cpu_ns;
}

void collector_poll_watcher(struct collector *c)
{
	uint64_t anomalies;

	watcher_poll(c->intake.watcher);
	if (!c->intake.flight)
		return;
	anomalies = watcher_counts(c->intake.watcher).anomalies;
	if (anomalies != c->anomalies)
		intake_ship(&c->intake);
	c->anomalies = anomalies;
}
