/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-62.
 */
#include "observe/plugins/history.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/unit.h"
#include "contract/hints.h"
#include "contract/program.h"
#include "contract/record.h"
#include "observe/plugins/hint_choice.h"
#include "observe/plugins/hint_sets.h"
#include "observe/tally/names.h"
#include "observe/tally/recent.h"
#include "observe/tally/traffic.h"
#include "store/outcomes.h"

#define OPENS_MAX 65536	  /* files open at the same time, over all ranks */
#define STARTED_MAX 65536 /* operations in progress */
#define LINES_MAX 16	  /* rates in the report */

/*
 * A closed file is credited after this delay, because activities of ranks may arrive out of order.
 */
#define CREDIT_DELAY_NS INT64_C(2000000000)

/* An operation combines a direction with whether the ranks do it collectively. */
enum { TOGETHER = 2, OPERATIONS = 4 };
static const char *const operations[OPERATIONS] = {
	[READING] = "read",
	[WRITING] = "write",
	[READING | TOGETHER] = "read_all",
	[WRITING | TOGETHER] = "write_all",
};

/* The attributes of an access; rates are kept apart by them. */
struct kind {
	unsigned operation, size_class;
	bool is_strided;
};

/* The hints that a file was opened with, or that were in force later. */
struct hint_set {
	struct hint_set *next;
	char *hints;
};

/* The accesses of one kind, by all ranks, while these hints were in force. */
struct rate {
	struct rate *next;
	const char *hints;
	struct kind kind;
	uint64_t bytes;
	int64_t longest_ns; /* of a rank */
};

/* The time that one rank has spent with them. */
struct share {
	struct share *next;	      /* of the opening */
	struct share *next_of_member; /* of the rank */
	struct rate *rate;
	int64_t busy_ns;
};

/* An open of a file by one or several ranks. */
struct opening {
	struct opening *next;
	uint64_t collective; /* 0: opened by one rank alone */
	char *program;	     /* of the rank whose call was seen first */
	char extension[HINTS_EXTENSION_BYTES];
	char *filesystem;
	char mode;
	struct hint_set *opened_with, *sets; /* the latest first; the former is the last of them */
	struct rate *rates;
	struct share *shares;
	unsigned open; /* ranks that have not closed it */
	int64_t closed_ns;
};

/* One rank's part of an opening. */
struct member {
	struct opening *opening;
	const char *hints; /* in force */
	struct share *shares;
	int64_t busy_until_ns[OPERATIONS];
};

/* A non-blocking access in progress. */
struct started {
	struct call_ref open;
	struct kind kind;
	int64_t start_ns;
	uint64_t asked;
};

/* One rate of the report. */
struct line {
	unsigned operation;
	char *hints;
	struct outcome outcome;
};

struct history {
	const struct sluice_host *host;
	struct history_options options;
	struct hint_choices choices; /* the choices that the guests of this run use */
	struct map together;	     /* struct opening by collective number */
	struct recent opens;	     /* struct member */
	struct recent started;
	struct opening *first;
	struct line lines[LINES_MAX];
	size_t line_count;
	uint64_t openings, trials;
	bool is_lost; /* the store cannot be written; do not try again */
};

static const char *file_text(const struct history *h, file_id id)
{
	const char *text = id ? h->host->file(h->host->self, id) : "";

	return text ? text : "";
}

static const char *file_place(const struct history *h, file_id id)
{
	const struct sluice_host *host = h->host;
	bool tells = host->bytes >= offsetof(struct sluice_host, filesystem) + sizeof(void *);

	return tells && host->filesystem && id ? host->filesystem(host->self, id) : "";
}

static struct call_ref call_ref_make(const struct activity *a, uint64_t link)
{
	return (struct call_ref){ a->process, link & ID_MASK };
}

/* Returns the name of the process's program; "" if it is unknown. The caller frees it. */
static char *process_program(const struct history *h, uint32_t process)
{
	const struct sluice_process *p = h->host->process(h->host->self, process);
	char name[PROGRAM_NAME_BYTES] = "";

	if (p && p->program && p->command)
		program_name(p->program, p->command, strlen(p->command), name);
	return xstrdup(name);
}

/* The text of a hint set, which is valid as long as the opening. Takes the text over. */
static struct hint_set *hint_set_keep(struct opening *o, char *hints)
{
	struct hint_set *set = o->sets;

	while (set && strcmp(set->hints, hints) != 0)
		set = set->next;
	if (set) {
		free(hints);
		return set;
	}
	set = xcalloc(1, sizeof(*set));
	*set = (struct hint_set){ o->sets, hints };
	o->sets = set;
	return set;
}

static struct opening *opening_new(struct history *h, const struct activity *a)
{
	struct opening *o = xcalloc(1, sizeof(*o));

	o->program = process_program(h, a->process);
	hints_extension(file_text(h, a->file), o->extension);
	o->filesystem = xstrdup(file_place(h, a->file));
	o->mode = hints_mode(a->flags);
	o->opened_with = hint_set_keep(o, xstrdup(file_text(h, a->hints)));
	o->collective = a->present & PRESENT(COLLECTIVE) ? a->collective : 0;
	o->next = h->first;
	h->first = o;
	if (o->collective)
		map_put(&h->together, o->collective, o);
	return o;
}

static void add_open(struct history *h, const struct activity *a)
{
	struct opening *o = NULL;
	struct member *m;

	if (a->present & PRESENT(COLLECTIVE) && a->collective)
		o = map_get(&h->together, a->collective);
	/* Another job of the run may use the same collective number. */
	if (o && !o->open && a->start_ns > o->closed_ns)
		o = NULL;
	if (!o)
		o = opening_new(h, a);
	o->open++;
	m = recent_put(&h->opens, call_ref_make(a, a->id));
	m->opening = o;
	m->hints = o->opened_with->hints;
}

static void add_close(struct history *h, const struct activity *a)
{
	struct member *m = recent_find(&h->opens, call_ref_make(a, a->link));
	int64_t end = a->start_ns + a->duration_ns;

	if (!m)
		return;
	m->opening->open--;
	if (end > m->opening->closed_ns)
		m->opening->closed_ns = end;
	recent_drop(&h->opens, call_ref_make(a, a->link));
}

static void update_hints(struct history *h, const struct activity *a)
{
	struct member *m = recent_find(&h->opens, call_ref_make(a, a->link));

	if (m && a->hints)
		m->hints =
			hint_set_keep(m->opening, hints_override(m->hints, file_text(h, a->hints)))
				->hints;
}

static bool is_same_kind(const struct kind *a, const struct kind *b)
{
	return a->operation == b->operation && a->size_class == b->size_class &&
	       a->is_strided == b->is_strided;
}

static struct rate *rate_find(struct opening *o, const char *hints, const struct kind *kind)
{
	struct rate *rate = o->rates;

	while (rate && (rate->hints != hints || !is_same_kind(&rate->kind, kind)))
		rate = rate->next;
	if (rate)
		return rate;
	rate = xcalloc(1, sizeof(*rate));
	*rate = (struct rate){ .next = o->rates, .hints = hints, .kind = *kind };
	o->rates = rate;
	return rate;
}

static struct share *share_find(struct member *m, const struct kind *kind)
{
	struct share *share = m->shares;

	while (share && (share->rate->hints != m->hints || !is_same_kind(&share->rate->kind, kind)))
		share = share->next_of_member;
	if (share)
		return share;
	share = xcalloc(1, sizeof(*share));
	*share = (struct share){ .next = m->opening->shares,
				 .next_of_member = m->shares,
				 .rate = rate_find(m->opening, m->hints, kind) };
	m->shares = share;
	m->opening->shares = share;
	return share;
}

static void add_access(struct member *m, const struct kind *kind, int64_t start, int64_t end,
		       uint64_t bytes)
{
	struct share *share = share_find(m, kind);
	int64_t *until = &m->busy_until_ns[kind->operation];
	int64_t from = start > *until ? start : *until;

	if (end > from) {
		share->busy_ns += end - from;
		*until = end;
	}
	share->rate->bytes += bytes;
	if (share->busy_ns > share->rate->longest_ns)
		share->rate->longest_ns = share->busy_ns;
}

static bool is_watched(const struct history *h, const struct call_info *call)
{
	return !h->options.calls || names_list_has(h->options.calls, call->layer, call->name);
}

/* The guest finds the kind of an access before it is made (capture/inline/access_hints.h). */
static struct kind kind_of(const struct history *h, const struct activity *a,
			   const struct call_info *call)
{
	struct kind kind = { .operation = traffic_ways(call) == 1u << READING ? READING : WRITING,
			     .size_class = HINTS_ANY_SIZE };

	if (a->present & PRESENT(COLLECTIVE))
		kind.operation |= TOGETHER;
	if (h->options.by_volume)
		kind.size_class = hints_size_class((uint64_t)a->size);
	kind.is_strided = h->options.by_offset && a->present & PRESENT(SPAN) && a->span > a->size;
	return kind;
}

static void add_transfer(struct history *h, const struct activity *a, const struct call_info *call)
{
	struct member *m = recent_find(&h->opens, call_ref_make(a, a->link));
	struct kind kind;
	struct started *s;

	if (!m || !traffic_ways(call) || !is_watched(h, call))
		return;
	kind = kind_of(h, a, call);
	if (call->class != CLASS_START) {
		add_access(m, &kind, a->start_ns, a->start_ns + a->duration_ns,
			   traffic_bytes(a, call));
		return;
	}
	s = recent_put(&h->started, call_ref_make(a, a->id));
	*s = (struct started){ call_ref_make(a, a->link), kind, a->start_ns,
			       traffic_bytes(a, call) };
}

static void add_completion(struct history *h, const struct activity *a)
{
	const uint64_t links[] = { a->link, a->link2 };

	for (int i = 0; i < 2; i++) {
		struct started *s = links[i] & ID_MASK
					    ? recent_find(&h->started, call_ref_make(a, links[i]))
					    : NULL;
		struct member *m = s ? recent_find(&h->opens, s->open) : NULL;

		if (m)
			add_access(m, &s->kind, s->start_ns, a->start_ns + a->duration_ns,
				   traffic_completed(a, s->asked));
		if (s)
			recent_drop(&h->started, call_ref_make(a, links[i]));
	}
}

static void add_activity(struct history *h, const struct activity *a)
{
	const struct call_info *call = h->host->call(h->host->self, a->call);

	if (a->layer != LAYER_MPI || !call)
		return;
	switch (call->class) {
	case CLASS_OPEN:
		if (!a->error)
			add_open(h, a);
		break;
	case CLASS_CLOSE:
		add_close(h, a);
		break;
	case CLASS_READ:
	case CLASS_WRITE:
	case CLASS_START:
		if (!a->error)
			add_transfer(h, a, call);
		break;
	case CLASS_WAIT:
		add_completion(h, a);
		break;
	case CLASS_ADVISE:
	case CLASS_CONTROL:
		if (!a->error && a->present & PRESENT(HINTS))
			update_hints(h, a);
		break;
	}
}

static void add_rate(struct history *h, const struct rate *rate, double seconds)
{
	double bytes = (double)rate->bytes;
	struct outcome one = { 1, 1, bytes, seconds, bytes / seconds, 0 };
	unsigned what = rate->kind.operation;
	size_t i = 0;

	while (i < h->line_count &&
	       (h->lines[i].operation != what || strcmp(h->lines[i].hints, rate->hints)))
		i++;
	if (i == LINES_MAX)
		return;
	if (i == h->line_count) {
		h->lines[i] = (struct line){ .operation = what, .hints = xstrdup(rate->hints) };
		h->line_count++;
	}
	outcome_join(&h->lines[i].outcome, &one);
}

/* Are these hints an experiment, rather than the known best ones? */
static bool is_trial(const struct history *h, const struct opening *o)
{
	const char *best = hint_choices_find(&h->choices, o->program, o->extension, o->mode);

	if (!(h->options.explore > 0) || (best && hints_contain(o->opened_with->hints, best)))
		return false;
	for (size_t i = 0; i < h->options.set_count; i++)
		if (hints_contain(o->opened_with->hints, h->options.sets[i]))
			return true;
	return false;
}

static int rate_credit(struct history *h, struct store *store, const struct opening *o,
		       const struct rate *rate, struct err *err)
{
	const char *user = h->host->user(h->host->self), *run = h->host->run(h->host->self);
	AUTO_FREE char *operation = xprintf("%s%s", operations[rate->kind.operation],
					    rate->kind.is_strided ? HINTS_STRIDED : "");
	double bytes = (double)rate->bytes, seconds = (double)rate->longest_ns / NS_PER_S;
	struct outcome_key key = { operation,	 user,		o->program,
				   o->extension, o->filesystem, rate->kind.size_class };

	if (!(bytes > 0) || !(seconds > 0))
		return 0;
	add_rate(h, rate, seconds);
	return outcomes_add(store, &key, run, rate->hints, bytes, seconds, err);
}

static int opening_credit(struct history *h, struct store *store, const struct opening *o,
			  struct err *err)
{
	bool trial = is_trial(h, o);
	int r = outcomes_add_opens(store, h->host->user(h->host->self), o->extension, 1, trial,
				   err);

	h->openings++;
	h->trials += trial;
	for (const struct rate *rate = o->rates; r >= 0 && rate; rate = rate->next)
		r = rate_credit(h, store, o, rate, err);
	return r;
}

/* Credits the openings that were closed before this time, in one transaction. */
static int openings_credit(struct history *h, int64_t before_ns, struct err *err)
{
	struct store *store = NULL;
	int r = store_open(&store, h->options.store, err);

	if (r >= 0)
		r = store_begin(store, err);
	for (struct opening *o = h->first; r >= 0 && o; o = o->next)
		if (before_ns == INT64_MAX || (!o->open && o->closed_ns < before_ns))
			r = opening_credit(h, store, o, err);
	if (r >= 0)
		r = store_end(store, 1, err);
	else if (store)
		store_end(store, 0, NULL);
	store_close(store);
	return r;
}

static void opening_free(struct history *h, struct opening *o)
{
	if (o->collective && map_get(&h->together, o->collective) == o)
		map_remove(&h->together, o->collective);
	free(o->program);
	free(o->filesystem);
	for (struct hint_set *set = o->sets, *next; set; set = next) {
		next = set->next;
		free(set->hints);
		free(set);
	}
	for (struct rate *rate = o->rates, *next; rate; rate = next) {
		next = rate->next;
		free(rate);
	}
	for (struct share *share = o->shares, *next; share; share = next) {
		next = share->next;
		free(share);
	}
	free(o);
}

static void openings_drop(struct history *h, int64_t before_ns)
{
	struct opening **at = &h->first;

	while (*at) {
		struct opening *o = *at;

		if (before_ns != INT64_MAX && (o->open || o->closed_ns >= before_ns)) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		opening_free(h, o);
	}
}

static bool any_closed(const struct history *h, int64_t before_ns)
{
	const struct opening *o = h->first;

	while (o && before_ns != INT64_MAX && (o->open || o->closed_ns >= before_ns))
		o = o->next;
	return o;
}

/* Credits and frees closed openings. After a failure it warns once and stores nothing more. */
static void credit_closed(struct history *h, int64_t before_ns)
{
	struct err err = { 0 };

	if (!any_closed(h, before_ns))
		return;
	if (!h->is_lost && openings_credit(h, before_ns, &err) < 0) {
		h->host->warn(h->host->self, err.text);
		h->is_lost = true;
	}
	openings_drop(h, before_ns);
}

static const char *host_option(void *arg, const char *key)
{
	const struct sluice_host *host = arg;

	return host->option(host->self, key);
}

static int history_start(const struct sluice_host *host, void **state)
{
	struct history *h = xcalloc(1, sizeof(*h));
	struct err err = { 0 };
	int r = history_options_read(&h->options, host_option, (void *)host, &err);

	if (r >= 0 && !h->options.store)
		r = err_set(&err, EINVAL,
			    "plugin.history.store: no store is configured; set store.path");
	if (r >= 0)
		r = hint_choices_make(&h->choices, &h->options, host->user(host->self), &err);
	if (r < 0) {
		host->warn(host->self, err.text);
		history_options_release(&h->options);
		free(h);
		return r;
	}
	h->host = host;
	recent_init(&h->opens, OPENS_MAX, sizeof(struct member));
	recent_init(&h->started, STARTED_MAX, sizeof(struct started));
	*state = h;
	return 0;
}

static void history_batch(void *state, const struct activity *activities, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_activity(state, &activities[i]);
}

static void history_tick(void *state, int64_t now_ns)
{
	credit_closed(state, now_ns - CREDIT_DELAY_NS);
}

static void report_rate(const struct history *h, const struct line *line)
{
	AUTO_FREE char *field = xprintf("%s with %s", operations[line->operation],
					*line->hints ? line->hints : "no hints");
	char rate[UNIT_TEXT];
	AUTO_FREE char *value = xprintf(
		"%s, %" PRIu64 " %s",
		unit_rate(rate, line->outcome.bytes, (int64_t)(line->outcome.seconds * NS_PER_S)),
		line->outcome.count, line->outcome.count == 1 ? "opening" : "openings");

	h->host->text(h->host->self, -1, "rates", field, value);
}

static void history_report(void *state)
{
	struct history *h = state;

	credit_closed(h, INT64_MAX);
	h->host->number(h->host->self, -1, "learned", "openings", (double)h->openings);
	if (h->options.explore > 0)
		h->host->number(h->host->self, -1, "learned", "trials", (double)h->trials);
	for (size_t i = 0; i < h->line_count; i++)
		report_rate(h, &h->lines[i]);
}

static void history_stop(void *state)
{
	struct history *h = state;

	openings_drop(h, INT64_MAX);
	for (size_t i = 0; i < h->line_count; i++)
		free(h->lines[i].hints);
	map_release(&h->together);
	recent_release(&h->opens);
	recent_release(&h->started);
	hint_choices_release(&h->choices);
	history_options_release(&h->options);
	free(h);
}

static const struct sluice_async ops = {
	.start = history_start,
	.batch = history_batch,
	.tick = history_tick,
	.report = history_report,
	.stop = history_stop,
};

const struct sluice_plugin plugin_history = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "history",
	.help = "learn the best hints for MPI files, and apply them to files opened without hints",
	.async = &ops,
};

static const char *config_option(void *arg, const char *key)
{
	const char *text = config_extra(arg, "plugin.history", key);

	if (!text && !strcmp(key, "store"))
		text = config_text(arg, SETTING_STORE_PATH);
	return text;
}

int history_prepare(const struct config *config, const char *directory, struct err *err)
{
	AUTO_FREE char *path = place_join(directory, HINTS_ANSWERS_NAME), *user = place_user();
	struct history_options options;
	struct hint_choices choices;
	int r = history_options_read(&options, config_option, (void *)config, err);

	if (r < 0)
		return r;
	r = hint_choices_make(&choices, &options, user, err);
	if (r >= 0) {
		r = hint_choices_write(&choices, &options, path, err);
		hint_choices_release(&choices);
	}
	history_options_release(&options);
	return r;
}
