/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/unit.h"
#include "observe/collect/collector.h"
#include "run/figures.h"
#include "run/known.h"
#include "store/entry_runs.h"
#include "store/knowledge.h"
#include "trace/format.h"
#include "tune/loop/cost.h"

/* Longer traces are not read again after the run. A run that the user did not ask to be compared
 * must end soon. */
#define ACTIVITIES_APPLIED 10000000
#define ACTIVITIES_DEFAULT 1000000

struct comparison {
	const struct config *config;
	char *const *argv;
	const char *trace;
	struct store *store;
	struct buf *said;
	enum figures_origin origin;
	int64_t applied; /* entry whose parameters the run had; 0: none */
	struct known known;
	enum cost_kind objective;
};

/* The size of a run that failed is unknown: it is assumed to be that of the entry. */
static double assumed_bytes(const struct known *known)
{
	return ldexp(2, 2 * (int)known->size_class);
}

static bool was_ended_by_user(int exit_status)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (exit_status == 128 + signals[i])
			return true;
	return exit_status < 0;
}

/* Users who did not ask for parameters need not know. */
static void say_not_compared(const struct comparison *c, const char *why)
{
	if (config_choice(c->config, SETTING_TUNE_APPLY) == CONFIG_APPLY_APPLY)
		buf_printf(c->said,
			   COLLECTOR_NOTICE "the run was not compared with the default: %s\n", why);
}

/* Makes a row of the figures. False: the run cannot be compared. */
static bool make_run(const struct comparison *c, const struct figures *figures,
		     struct entry_run *run)
{
	*run = (struct entry_run){ .is_applied = c->applied != 0,
				   .cost = cost_of(c->objective, &figures->trial),
				   .bytes = figures->bytes,
				   .time_ns = clock_realtime_ns() };
	if (figures->exit_status && (!c->applied || was_ended_by_user(figures->exit_status))) {
		say_not_compared(c, "it did not run to its end");
		return false;
	}
	if (figures->exit_status) {
		run->cost = INFINITY;
		run->bytes = assumed_bytes(&c->known);
		return true;
	}
	if (figures->flaw || isnan(run->cost)) {
		say_not_compared(c, figures->flaw ? figures->flaw : "it transferred no data");
		return false;
	}
	/* run/unapplied.h says why. */
	if (c->applied && figures->ignored == figures->requested) {
		say_not_compared(c, "no parameter had an effect");
		return false;
	}
	return true;
}

/* "I/O 614 ms with the parameters of entry 3; 1.32 s to 1.60 s in 8 runs without them" */
static void say_costs(const struct comparison *c, const struct entry_run *run)
{
	const struct guard *g = &c->known.guard;
	struct buf *out = c->said;

	buf_puts(out, COLLECTOR_NOTICE);
	if (isinf(run->cost)) {
		buf_printf(out, "the program failed with the parameters of entry %" PRId64,
			   c->known.id);
	} else {
		buf_printf(out, "%s ", cost_label(c->objective));
		cost_text(c->objective, run->cost, out);
		buf_printf(out, " with the parameters of entry %" PRId64, c->known.id);
	}
	if (g->baseline_runs) {
		buf_puts(out, "; ");
		cost_text(c->objective, g->low, out);
		buf_puts(out, " to ");
		cost_text(c->objective, g->high, out);
		buf_printf(out, " in %zu run%s without them", g->baseline_runs,
			   g->baseline_runs == 1 ? "" : "s");
	}
	if (g->is_last_lost)
		buf_printf(out, ": slower than all of these%s",
			   c->known.is_pinned ? "" : ", so the next run will be a control");
	buf_putc(out, '\n');
}

/* "2 of the last 5 runs were slower than all of the last 8 runs without parameters" */
static char *demotion_reason(const struct guard *g)
{
	if (g->losses >= GUARD_LOSSES)
		return xprintf("%zu of the last %zu runs with it failed or were slower than all of "
			       "the last %zu runs without parameters",
			       g->losses, g->applied_runs, g->baseline_runs);
	return xprintf("the last %zu runs with it were slower than runs without parameters in the "
		       "same period",
		       g->applied_runs);
}

static int demote(const struct comparison *c, struct err *err)
{
	AUTO_FREE char *why = demotion_reason(&c->known.guard);
	int64_t id = c->known.id;
	int r;

	if (c->known.is_pinned) {
		buf_printf(c->said,
			   "entry %" PRId64 " is still applied because it is pinned, but %s\n", id,
			   why);
		return 0;
	}
	r = knowledge_demote(c->store, id, clock_realtime_ns(), why, err);
	if (r >= 0)
		buf_printf(c->said,
			   "entry %" PRId64
			   " is demoted and will not be applied any more: %s; tune "
			   "again, or apply it regardless with 'sluice kb pin %" PRId64 "'\n",
			   id, why, id);
	return r;
}

/* Adds the run to those of the entry, and judges them. */
static int judge_run(struct comparison *c, const struct entry_run *run, struct err *err)
{
	bool fits = known_fits_size(&c->known, run->bytes);
	char size[UNIT_TEXT];
	int r = entry_runs_add(c->store, c->known.id, run, err);

	if (r < 0)
		return r;
	if (!fits && c->applied)
		buf_printf(c->said,
			   "entry %" PRId64
			   " was found with another amount of data than the %s of this "
			   "run; it will not be applied until a run has that size again\n",
			   c->known.id, unit_bytes(size, run->bytes));
	r = fits ? known_judge(&c->known, c->store, err) : 0;
	if (r < 0 || !fits)
		return r;
	if (run->is_applied)
		say_costs(c, run);
	return guard_demotes(&c->known.guard) ? demote(c, err) : 0;
}

/* Finds the entry that the run belongs to. False: there is none. */
static bool find_entry(struct comparison *c, double bytes, struct err *err)
{
	int kind;

	known_release(&c->known);
	if (known_find_in(&c->known, c->store, c->config, c->argv, bytes, err) < 0)
		return false;
	if (c->known.state == KNOWN_NOTHING || !*c->known.parameters || c->known.demoted_ns ||
	    c->known.differs & ~(unsigned)KNOWLEDGE_SIZE ||
	    (c->applied && c->applied != c->known.id))
		return false;
	kind = option_choice(COST_WORDS, c->known.objective, strlen(c->known.objective));
	c->objective = (enum cost_kind)kind;
	return kind >= 0;
}

static int compare(struct comparison *c, struct err *err)
{
	struct figures figures = { 0 };
	struct entry_run run;
	int r;

	/* The trace is read only if there is an entry for the run. */
	if (!find_entry(c, NAN, err))
		return -err->code;
	r = figures_read(&figures, c->trace, c->applied ? ACTIVITIES_APPLIED : ACTIVITIES_DEFAULT,
			 err);
	if (r < 0)
		return r;
	if (!c->applied && !figures.flaw && !find_entry(c, figures.bytes, err))
		return -err->code;
	return make_run(c, &figures, &run) ? judge_run(c, &run, err) : 0;
}

/* Finds out what acted on the run. */
static int read_origin(struct comparison *c, struct err *err)
{
	struct trace trace;
	int r = trace_open(&trace, c->trace, NULL, err);

	if (r < 0)
		return r;
	c->origin = figures_origin(&trace.head, &c->applied);
	trace_close(&trace);
	return 0;
}

void comparison_make(const struct config *config, char *const *argv, const char *trace,
		     struct buf *said)
{
	struct comparison c = { .config = config, .argv = argv, .trace = trace, .said = said };
	struct err err = { 0 };
	int r;

	if (config_choice(config, SETTING_TUNE_APPLY) == CONFIG_APPLY_OFF ||
	    store_open_existing(&c.store, config_text(config, SETTING_STORE_PATH), NULL) < 0)
		return;
	r = read_origin(&c, &err);
	if (r >= 0 && c.origin != FIGURES_OTHER)
		r = compare(&c, &err);
	if (r < 0)
		say_not_compared(&c, err.text);
	known_release(&c.known);
	store_close(c.store);
}
