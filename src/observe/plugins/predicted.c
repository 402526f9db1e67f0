/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/predicted.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/unit.h"
#include "contract/record.h"
#include "observe/plugins/hint_sets.h"
#include "observe/plugins/hint_trial.h"
#include "observe/plugins/tempo.h"
#include "observe/tally/recent.h"
#include "observe/tally/traffic.h"
#include "predict/model/access.h"
#include "predict/model/environment.h"
#include "predict/model/hybrid/claim.h"
#include "predict/model/hybrid/hybrid.h"

#define FACTOR 2
#define OPENS_MAX 65536 /* files open at the same time, over all ranks */
#define LINES_MAX 8	/* kinds in the report */
/* Calls of other ranks may arrive so much later. */
#define SETTLE_NS NS_PER_S

/* A file that several ranks have opened together. */
struct opening {
	unsigned ranks;
	file_id hints;
	bool has_other_hints; /* not the same on all ranks, or unknown */
};

/* One rank's part of it. */
struct member {
	struct opening *opening;
	const char *changed; /* hints in force that it was not opened with: see struct predicted */
};

/* One rank's part of an access. */
struct part {
	uint32_t process;
	int64_t offset;
	uint64_t size, span;
};

/* A collective access. */
struct joint {
	struct opening *opening;
	const char *changed; /* as in struct member */
	bool is_read, is_failed;
	int64_t begin_ns, end_ns;
	int64_t last_begin_ns; /* of the last rank */
	struct part *parts;
	size_t count, cap;
};

/* Accesses with the same prediction. */
struct kind {
	struct access access;
	file_id hints;
	bool is_usable; /* the prediction is calibrated */
	double low_ns, high_ns;
	uint64_t compared, slow;
	double longest_ns;
	struct hint_trial trial;
	int suggestion; /* its number at the host, if the trial has begun */
};

struct predicted {
	const struct sluice_host *host;
	struct hybrid hybrid;
	bool has_model, acts;
	char *state; /* what the report says about the model; it is used if has_model is set */
	double factor;
	struct recent opens; /* struct member, by open call */
	char **changed;	     /* sets of hints that were changed, each once */
	size_t changed_count, changed_cap;
	struct map openings; /* struct opening by collective number */
	struct map joints;   /* struct joint by collective number */
	struct kind kinds[PREDICTED_KINDS_MAX];
	size_t kind_count;
	struct tempo tempo;
	uint64_t compared, other_forms, not_calibrated, left_out;
};

/* --- predictions --- */

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static uint64_t count_nodes(const struct predicted *p, const struct joint *g)
{
	const char *hosts[64];
	size_t count = 0;

	for (size_t i = 0; i < g->count && count < 64; i++) {
		const struct sluice_process *process =
			p->host->process(p->host->self, g->parts[i].process);
		const char *host = process && process->host ? process->host : "";
		size_t j = 0;

		while (j < count && strcmp(hosts[j], host) != 0)
			j++;
		if (j == count)
			hosts[count++] = host;
	}
	return count;
}

/* Fills in the access if it has exactly a form that the model counts. Sorts the parts. */
static bool find_form(const struct predicted *p, struct joint *g, struct access *access)
{
	const struct part *first = g->parts;
	uint64_t size, step, pieces;
	struct err err = { 0 };

	qsort(g->parts, g->count, sizeof(*g->parts), compare_parts);
	size = first->size;
	step = (uint64_t)(g->parts[1].offset - first->offset);
	if (first->offset < 0 || !size || !step)
		return false;
	for (size_t i = 0; i < g->count; i++)
		if (g->parts[i].size != size || g->parts[i].span != first->span ||
		    (uint64_t)(g->parts[i].offset - first->offset) != i * step)
			return false;
	*access = (struct access){ .is_read = g->is_read,
				   .pattern = ACCESS_CONTIGUOUS,
				   .nodes = count_nodes(p, g),
				   .ranks = g->count,
				   .rank_bytes = size };
	if (first->span == size)
		return step == size && access_check(access, &err) >= 0;
	pieces = size / step;
	access->pattern = ACCESS_STRIDED;
	access->block_bytes = access->stride_bytes = step;
	return size % step == 0 && first->span == (pieces - 1) * g->count * step + step &&
	       access_check(access, &err) >= 0;
}

static const char *file_text(const struct predicted *p, file_id id)
{
	const char *text = id ? p->host->file(p->host->self, id) : "";

	return text ? text : "";
}

/* A kind is not usable if the model cannot predict it, or was not calibrated for it. */
static void predict(const struct predicted *p, struct kind *kind)
{
	struct prediction prediction;
	struct settings settings;
	struct err err = { 0 };

	if (hint_settings(&settings, &p->hybrid, &kind->access, file_text(p, kind->hints), &err) >=
		    0 &&
	    hybrid_predict(&p->hybrid, &kind->access, &settings, HYBRID_COVERAGE, &prediction,
			   &err) >= 0 &&
	    prediction.is_calibrated && isfinite(prediction.high)) {
		kind->is_usable = true;
		kind->low_ns = prediction.low * NS_PER_S;
		kind->high_ns = prediction.high * NS_PER_S;
	}
}

static bool is_same(const struct access *a, const struct access *b)
{
	return a->is_read == b->is_read && a->pattern == b->pattern && a->nodes == b->nodes &&
	       a->ranks == b->ranks && a->rank_bytes == b->rank_bytes &&
	       a->block_bytes == b->block_bytes;
}

static struct kind *find_kind(struct predicted *p, const struct access *access, file_id hints)
{
	for (struct kind *kind = p->kinds; kind < p->kinds + p->kind_count; kind++)
		if (kind->hints == hints && is_same(&kind->access, access))
			return kind;
	return NULL;
}

/* NULL: there are too many kinds. */
static struct kind *make_kind(struct predicted *p, const struct access *access, file_id hints)
{
	struct kind *kind = find_kind(p, access, hints);

	if (kind || p->kind_count == PREDICTED_KINDS_MAX)
		return kind;
	kind = &p->kinds[p->kind_count++];
	*kind = (struct kind){ .access = *access, .hints = hints };
	predict(p, kind);
	return kind;
}

/* From the first byte of each rank's part to its last one. */
static uint64_t span_of(const struct access *access)
{
	uint64_t step = access->block_bytes;

	return access->pattern == ACCESS_CONTIGUOUS
		       ? access->rank_bytes
		       : (access->rank_bytes / step - 1) * access->ranks * step + step;
}

/*
 * The time with all ranks. Those that came earlier wait for the others with collective buffering
 * and do not without, which is no gain: they wait elsewhere.
 */
static struct hint_trial_access trial_access(const struct joint *g)
{
	return (struct hint_trial_access){ g->begin_ns,
					   (double)(g->end_ns - g->last_begin_ns) / NS_PER_S };
}

/* Suggests hints for further accesses if the model predicts that they are faster. */
static void try_hints(struct predicted *p, struct kind *kind, const struct joint *g)
{
	const struct sluice_host *host = p->host;
	const struct access *access = &kind->access;
	struct sluice_suggestion suggestion = { .is_write = !access->is_read,
						.ranks = (uint32_t)access->ranks,
						.bytes = access->rank_bytes,
						.span = span_of(access),
						.opened = file_text(p, kind->hints) };

	suggestion.hints = hint_trial_before(&kind->trial, &p->hybrid, access, suggestion.opened,
					     trial_access(g));
	if (!suggestion.hints)
		return;
	kind->suggestion = host->suggest(host->self, &suggestion);
	if (kind->suggestion < 0)
		hint_trial_cancel(&kind->trial);
}

static void compare(struct predicted *p, struct kind *kind, const struct joint *g)
{
	double took = (double)(g->end_ns - g->begin_ns);
	int speed = took > p->factor * kind->high_ns ? SLUICE_VERY_SLOW
		    : took > kind->high_ns	     ? SLUICE_SLOW
		    : took < kind->low_ns	     ? SLUICE_FAST
						     : SLUICE_NORMAL;

	p->compared++;
	kind->compared++;
	kind->slow += took > kind->high_ns;
	kind->longest_ns = fmax(kind->longest_ns, took);
	for (size_t i = 0; i < g->count; i++)
		tempo_count(&p->tempo, g->parts[i].process, speed,
			    speed == SLUICE_VERY_SLOW ? (int64_t)(took - kind->high_ns) : 0);
	if (p->acts)
		try_hints(p, kind, g);
}

/* Other hints are in force than those that the file was opened with. */
static void add_changed(struct predicted *p, const struct access *access, const struct joint *g)
{
	struct kind *kind = find_kind(p, access, g->opening->hints);

	if (!kind || !kind->trial.hints || !hints_contain(kind->trial.hints, g->changed))
		p->other_forms++;
	else if (hint_trial_after(&kind->trial, trial_access(g)))
		p->host->withdraw(p->host->self, kind->suggestion);
}

/* All ranks have made the access. */
static void joint_end(struct predicted *p, struct joint *g)
{
	struct access access;
	struct kind *kind;

	if (g->is_failed || g->opening->has_other_hints || g->count != g->opening->ranks ||
	    g->count < 2 || !find_form(p, g, &access)) {
		p->other_forms++;
		return;
	}
	if (*g->changed) {
		add_changed(p, &access, g);
		return;
	}
	kind = make_kind(p, &access, g->opening->hints);
	if (!kind)
		p->left_out++;
	else if (!kind->is_usable)
		p->not_calibrated++;
	else
		compare(p, kind, g);
}

static void joint_free(struct joint *g)
{
	free(g->parts);
	free(g);
}

static int compare_joints(const void *a, const void *b)
{
	const struct joint *x = *(struct joint *const *)a, *y = *(struct joint *const *)b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Ends the accesses that ended before this time, in the order of their begin. */
static void joints_end(struct predicted *p, int64_t before_ns)
{
	AUTO_FREE struct joint **ended = xcalloc(p->joints.count + 1, sizeof(struct joint *));
	struct map left = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < p->joints.cap; i++) {
		struct joint *g = p->joints.entries[i].key ? p->joints.entries[i].value : NULL;

		if (g && g->end_ns >= before_ns)
			map_put(&left, p->joints.entries[i].key, g);
		else if (g)
			ended[count++] = g;
	}
	map_release(&p->joints);
	p->joints = left;
	qsort(ended, count, sizeof(*ended), compare_joints);
	for (size_t i = 0; i < count; i++) {
		joint_end(p, ended[i]);
		joint_free(ended[i]);
	}
}

/* --- calls --- */

static struct call_ref ref(const struct activity *a, uint64_t link)
{
	return (struct call_ref){ a->process, link & ID_MASK };
}

static void add_open(struct predicted *p, const struct activity *a)
{
	struct opening *o;

	if (!(a->present & PRESENT(COLLECTIVE)) || !a->collective)
		return;
	o = map_get(&p->openings, a->collective);
	if (!o && p->openings.count == PREDICTED_OPENINGS_MAX)
		return;
	if (!o) {
		o = xcalloc(1, sizeof(*o));
		o->hints = a->hints;
		map_put(&p->openings, a->collective, o);
	}
	o->ranks++;
	o->has_other_hints = o->has_other_hints || o->hints != a->hints;
	*(struct member *)recent_put(&p->opens, ref(a, a->id)) = (struct member){ o, "" };
}

static struct member *find_member(struct predicted *p, const struct activity *a)
{
	return recent_find(&p->opens, ref(a, a->link));
}

/* Returns the text of a set of changed hints, which is valid as long as the plug-in runs. Takes the
 * text over. NULL: there are too many. */
static const char *keep_changed(struct predicted *p, char *hints)
{
	size_t i = 0;

	while (i < p->changed_count && strcmp(p->changed[i], hints) != 0)
		i++;
	if (i < p->changed_count || i == PREDICTED_CHANGED_MAX) {
		free(hints);
		return i < p->changed_count ? p->changed[i] : NULL;
	}
	p->changed = xgrow(p->changed, &p->changed_cap, i + 1, sizeof(*p->changed));
	p->changed[p->changed_count++] = hints;
	return hints;
}

/* A rank has changed hints of the open file, or Sluice has for it. */
static void change_hints(struct predicted *p, const struct activity *a)
{
	struct member *m = find_member(p, a);
	const char *changed;

	if (!m || !(a->present & PRESENT(HINTS)) || !a->hints)
		return;
	changed = keep_changed(p, hints_override(m->changed, file_text(p, a->hints)));
	if (changed && !a->error)
		m->changed = changed;
	else
		m->opening->has_other_hints = true;
}

static struct joint *find_joint(struct predicted *p, const struct activity *a,
				const struct member *m, bool is_read)
{
	struct joint *g = map_get(&p->joints, a->collective);

	if (g || p->joints.count == PREDICTED_JOINTS_MAX)
		return g;
	g = xcalloc(1, sizeof(*g));
	*g = (struct joint){ .opening = m->opening,
			     .changed = m->changed,
			     .is_read = is_read,
			     .begin_ns = a->start_ns,
			     .last_begin_ns = a->start_ns };
	map_put(&p->joints, a->collective, g);
	return g;
}

static void add_access(struct predicted *p, const struct activity *a, bool is_read)
{
	const uint64_t needed =
		PRESENT(COLLECTIVE) | PRESENT(SIZE) | PRESENT(OFFSET) | PRESENT(SPAN);
	struct member *m = find_member(p, a);
	int64_t end = a->start_ns + a->duration_ns;
	struct joint *g;

	if (!m || !(a->present & PRESENT(COLLECTIVE)) || !a->collective)
		return;
	g = find_joint(p, a, m, is_read);
	if (!g || g->count == PREDICTED_RANKS_MAX) {
		p->left_out += !g;
		return;
	}
	g->is_failed = g->is_failed || a->error || (a->present & needed) != needed ||
		       strcmp(g->changed, m->changed) != 0;
	g->begin_ns = a->start_ns < g->begin_ns ? a->start_ns : g->begin_ns;
	g->last_begin_ns = a->start_ns > g->last_begin_ns ? a->start_ns : g->last_begin_ns;
	g->end_ns = end > g->end_ns ? end : g->end_ns;
	g->parts = xgrow(g->parts, &g->cap, g->count + 1, sizeof(*g->parts));
	g->parts[g->count++] =
		(struct part){ a->process, a->offset, (uint64_t)a->size, (uint64_t)a->span };
}

static void add_call(struct predicted *p, const struct activity *a)
{
	const struct call_info *call = p->host->call(p->host->self, a->call);

	if (a->layer != LAYER_MPI || !call)
		return;
	switch (call->class) {
	case CLASS_OPEN:
		if (!a->error)
			add_open(p, a);
		break;
	case CLASS_CLOSE:
		recent_drop(&p->opens, ref(a, a->link));
		break;
	case CLASS_READ:
	case CLASS_WRITE:
		add_access(p, a, call->class == CLASS_READ);
		break;
	case CLASS_ADVISE:
	case CLASS_CONTROL:
		change_hints(p, a);
		break;
	}
}

static void predicted_batch(void *state, const struct activity *activities, size_t count)
{
	struct predicted *p = state;

	for (size_t i = 0; p->has_model && i < count; i++)
		add_call(p, &activities[i]);
}

static void predicted_tick(void *state, int64_t now_ns)
{
	joints_end(state, now_ns - SETTLE_NS);
}

static bool predicted_health(void *state, uint32_t process, struct sluice_health *health)
{
	struct predicted *p = state;

	return tempo_take(&p->tempo, process, health);
}

/* --- report --- */

/* The interval itself allows for some slow accesses: half of what it leaves out. */
static bool is_worth_reporting(const struct kind *kind)
{
	return (double)kind->slow > (1 - HYBRID_COVERAGE) / 2 * (double)kind->compared;
}

/* "strided write, 4 ranks, 64.0 KiB each"; the caller frees it. */
static char *kind_text(const struct kind *kind)
{
	const struct access *access = &kind->access;
	char size[UNIT_TEXT];

	return xprintf("%s %s, %" PRIu64 " ranks, %s each",
		       access->pattern == ACCESS_STRIDED ? "strided" : "contiguous",
		       access->is_read ? "read" : "write", access->ranks,
		       unit_bytes(size, (double)access->rank_bytes));
}

static void report_trial(const struct predicted *p, const struct kind *kind)
{
	const struct sluice_host *host = p->host;
	AUTO_BUF struct buf applied = { 0 }, suggested = { 0 };
	AUTO_FREE char *field = kind_text(kind);

	hint_trial_applied(&kind->trial, &applied);
	if (applied.len)
		host->applied(host->self, field, applied.data);
	hint_trial_describe(&kind->trial, &p->hybrid, &suggested);
	host->text(host->self, -1, "suggested hints", field, buf_text(&suggested));
}

static void report_kind(const struct predicted *p, const struct kind *kind)
{
	char low[UNIT_TEXT], high[UNIT_TEXT], longest[UNIT_TEXT];
	AUTO_FREE char *field = kind_text(kind);
	AUTO_FREE char *value = xprintf(
		"%" PRIu64 " of %" PRIu64 " accesses took more than %s, the longest %s; predicted "
		"%s to %s",
		kind->slow, kind->compared, unit_ns(high, (int64_t)kind->high_ns),
		unit_ns(longest, (int64_t)kind->longest_ns), unit_ns(low, (int64_t)kind->low_ns),
		high);

	p->host->text(p->host->self, -1, "slower than the model predicts", field, value);
}

static void report_doubts(const struct predicted *p)
{
	AUTO_BUF struct buf doubts = { 0 };
	char *rest, *line;

	claim_doubts(&p->hybrid, &doubts);
	rest = doubts.len ? doubts.data : NULL;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			p->host->text(p->host->self, -1, "model", "doubt", line);
}

static void predicted_report(void *state)
{
	struct predicted *p = state;
	const struct sluice_host *host = p->host;

	host->text(host->self, -1, "model", "state", p->state);
	if (!p->has_model)
		return;
	joints_end(p, INT64_MAX);
	report_doubts(p);
	host->number(host->self, -1, "accesses", "compared", (double)p->compared);
	host->number(host->self, -1, "accesses", "not calibrated", (double)p->not_calibrated);
	host->number(host->self, -1, "accesses", "of other forms", (double)p->other_forms);
	if (p->left_out)
		host->number(host->self, -1, "accesses", "left out", (double)p->left_out);
	for (size_t i = 0, lines = 0; i < p->kind_count && lines < LINES_MAX; i++)
		if (p->kinds[i].compared && is_worth_reporting(&p->kinds[i])) {
			report_kind(p, &p->kinds[i]);
			lines++;
		}
	for (size_t i = 0; i < p->kind_count; i++)
		if (p->kinds[i].trial.hints)
			report_trial(p, &p->kinds[i]);
}

/* --- the plug-in --- */

static void free_values(struct map *map)
{
	for (size_t i = 0; i < map->cap; i++)
		free(map->entries[i].key ? map->entries[i].value : NULL);
	map_release(map);
}

static void predicted_stop(void *state)
{
	struct predicted *p = state;

	for (size_t i = 0; i < p->joints.cap; i++)
		if (p->joints.entries[i].key)
			joint_free(p->joints.entries[i].value);
	for (size_t i = 0; i < p->kind_count; i++)
		hint_trial_release(&p->kinds[i].trial);
	for (size_t i = 0; i < p->changed_count; i++)
		free(p->changed[i]);
	free(p->changed);
	map_release(&p->joints);
	free_values(&p->openings);
	recent_release(&p->opens);
	tempo_release(&p->tempo);
	hybrid_release(&p->hybrid);
	free(p->state);
	free(p);
}

/* Says why the model is not used; NULL: it is. */
static char *find_objection(const struct hybrid *hybrid, const char *path)
{
	const struct validation *v = &hybrid->validation;
	struct environment now;

	environment_detect(&now, "", "");
	if (!v->count)
		return xprintf("%s is not calibrated, so nothing was compared; calibrate it with "
			       "'sluice model calibrate'",
			       path);
	if (strcmp(v->environment.host, now.host) != 0)
		return xprintf("%s was calibrated on %s, not on this host, so nothing was compared",
			       path, v->environment.host);
	if (!isfinite(validation_margin(v, VALIDATION_TIMES, HYBRID_COVERAGE)))
		return xprintf("%s was calibrated with too few accesses for an interval, so "
			       "nothing was compared",
			       path);
	return NULL;
}

static char *describe(const struct hybrid *hybrid)
{
	time_t when = (time_t)hybrid->validation.environment.time_s;
	char claim[CLAIM_TEXT], date[32] = "";
	struct tm utc;

	if (gmtime_r(&when, &utc))
		strftime(date, sizeof(date), "%Y-%m-%d", &utc);
	return xprintf("calibrated on %s with %zu measurements: %s", date, hybrid->validation.count,
		       claim_text(hybrid, VALIDATION_TIMES, true, HYBRID_COVERAGE, claim));
}

static void read_model(struct predicted *p, const char *path)
{
	struct err err = { 0 };

	if (!path || !place_exists(path)) {
		p->state = xprintf("there is no fitted model%s%s, so nothing was compared",
				   path ? " at " : "", path ? path : "");
		return;
	}
	if (hybrid_load(&p->hybrid, path, &err) < 0) {
		p->host->warn(p->host->self, err.text);
		p->state = xstrdup(err.text);
		return;
	}
	p->state = find_objection(&p->hybrid, path);
	p->has_model = !p->state;
	if (p->has_model)
		p->state = describe(&p->hybrid);
}

static int start(const struct sluice_host *host, const char *name, void **state)
{
	struct predicted *p = xcalloc(1, sizeof(*p));
	const char *text = host->option(host->self, "factor");
	char *end;

	p->host = host;
	p->factor = text ? strtod(text, &end) : FACTOR;
	recent_init(&p->opens, OPENS_MAX, sizeof(struct member));
	if (text && (end == text || *end || !(p->factor >= 1 && p->factor < 1e9))) {
		AUTO_FREE char *message = xprintf("plugin.%s.factor: invalid value \"%s\"; "
						  "expected a number of at least 1",
						  name, text);

		host->warn(host->self, message);
		predicted_stop(p);
		return -EINVAL;
	}
	read_model(p, host->option(host->self, "model"));
	*state = p;
	return 0;
}

static int predicted_start(const struct sluice_host *host, void **state)
{
	return start(host, plugin_predicted.name, state);
}

static const struct sluice_async ops = {
	.start = predicted_start,
	.batch = predicted_batch,
	.health = predicted_health,
	.tick = predicted_tick,
	.report = predicted_report,
	.stop = predicted_stop,
};

const struct sluice_plugin plugin_predicted = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "predicted",
	.help = "compare collective accesses with the intervals that the model of the machine "
		"predicts",
	.async = &ops,
};

static int model_hints_start(const struct sluice_host *host, void **state)
{
	const bool can = host->bytes >= offsetof(struct sluice_host, applied) + sizeof(void *);
	struct predicted *p;
	int r = start(host, plugin_model_hints.name, state);

	if (r >= 0) {
		p = *state;
		p->acts = can && host->suggest;
	}
	return r;
}

static const struct sluice_async model_hints_ops = {
	.start = model_hints_start,
	.batch = predicted_batch,
	.health = predicted_health,
	.tick = predicted_tick,
	.report = predicted_report,
	.stop = predicted_stop,
};

const struct sluice_plugin plugin_model_hints = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "model_hints",
	.help = "change hints of open MPI files where the model of the machine predicts a speedup",
	.async = &model_hints_ops,
};
