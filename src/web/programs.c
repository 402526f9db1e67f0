/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs over time: their runs, the trend of these, and what changed between two runs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/compare/conditions.h"
#include "observe/compare/trend.h"
#include "trace/format.h"
#include "trace/runs/tags.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/open.h"
#include "web/program_runs.h"
#include "web/run_cache.h"
#include "web/trend_cache.h"

/* Values of the small chart in the list of programs, and runs of a program that are sent. */
#define SPARK_RUNS 40
#define RUNS_MAX 2000

/* Groups of a program that are judged: those with the latest runs. */
#define GROUPS_MAX 50

/* A part of the runs: those of one program, in the order of time. */
struct slice {
	const struct program_run *runs;
	size_t count;
};

/* The runs of a group that are tested, and what is found. */
struct series {
	const struct program_run *last; /* the newest run of the group, tested or not */
	size_t runs;			/* all of them */
	size_t unread;			/* whose figures are missing */
	const struct program_run **tested;
	size_t tested_count;
	struct trend trend; /* empty while figures are missing */
};

static void series_init(struct series *group, const struct slice *slice, const char *name,
			struct trend_cache *cache)
{
	AUTO_FREE struct trend_run *values = xcalloc(slice->count, sizeof(*values));

	*group = (struct series){ .tested = xcalloc(slice->count, sizeof(group->tested[0])) };
	for (size_t i = 0; i < slice->count; i++) {
		const struct program_run *run = &slice->runs[i];

		if (strcmp(run->group, name) != 0)
			continue;
		group->last = run;
		group->runs++;
		group->unread += run->is_unread;
		if (!program_run_is_tested(run, name))
			continue;
		for (int k = 0; k < TREND_MEASURES; k++)
			values[group->tested_count].values[k] =
				program_run_value(run, (enum trend_measure)k);
		group->tested[group->tested_count++] = run;
	}
	if (!group->unread)
		trend_cache_init(cache, &group->trend, values, group->tested_count);
}

static void series_release(struct series *group)
{
	free(group->tested);
	trend_release(&group->trend);
}

static const char *series_verdict(const struct series *group)
{
	if (group->unread)
		return "reading";
	if (trend_latest(&group->trend, TREND_WORSE))
		return "regression";
	if (trend_latest(&group->trend, TREND_BETTER))
		return "improvement";
	return group->trend.is_testable ? "steady" : "too few runs";
}

/* The shift that the verdict is about; NULL: none. */
static const struct trend_shift *series_shift(const struct series *group)
{
	const struct trend_shift *worse = trend_latest(&group->trend, TREND_WORSE);

	return worse ? worse : trend_latest(&group->trend, TREND_BETTER);
}

static const char *const directions[] = {
	[TREND_OTHER] = "other", [TREND_WORSE] = "worse", [TREND_BETTER] = "better"
};

/* The members of a shift, in an open object. */
static void put_shift(struct json *json, const struct trend_shift *shift)
{
	json_text(json, "measure", trend_measures[shift->measure].name);
	json_text(json, "direction", directions[shift->direction]);
	json_text(json, "verdict", shift->is_exact ? "exact" : "significant");
	json_double(json, "before", shift->before);
	json_double(json, "after", shift->after);
	json_count(json, "runs_before", shift->runs_before);
	json_count(json, "runs_after", shift->runs_after);
	json_double(json, "ratio", shift->ratio);
	json_double(json, "low", shift->low);
	json_double(json, "high", shift->high);
}

/* --- list --- */

/* One program of the list. */
struct listed {
	struct slice slice;
	const struct program_run *last;
	size_t groups;
};

/* How important a verdict is. */
static int verdict_weight(const char *verdict)
{
	static const char *const verdicts[] = { "reading", "too few runs", "steady", "improvement",
						"regression" };

	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (strcmp(verdict, verdicts[i]) == 0)
			return (int)i;
	return -1;
}

/* The group with the most important verdict; the newest of equals. */
static void series_choose(struct series *chosen, const struct slice *slice,
			  struct trend_cache *cache)
{
	size_t left = GROUPS_MAX;

	*chosen = (struct series){ 0 };
	for (size_t i = slice->count; i-- > 0;) {
		struct series group;

		if (!slice->runs[i].ends_group)
			continue;
		if (!left--)
			break;
		series_init(&group, slice, slice->runs[i].group, cache);
		if (!chosen->last || verdict_weight(series_verdict(&group)) >
					     verdict_weight(series_verdict(chosen))) {
			series_release(chosen);
			*chosen = group;
		} else {
			series_release(&group);
		}
	}
}

/* The latest values of the measure that the verdict is about. */
static void put_spark(struct json *json, const struct series *group)
{
	const struct trend_shift *shift = series_shift(group);
	enum trend_measure measure = shift ? shift->measure : TREND_DURATION;
	size_t first = group->tested_count > SPARK_RUNS ? group->tested_count - SPARK_RUNS : 0;

	json_open(json, "spark", '{');
	json_text(json, "measure", trend_measures[measure].name);
	json_open(json, "values", '[');
	for (size_t i = first; i < group->tested_count; i++)
		json_double(json, NULL, program_run_value(group->tested[i], measure));
	json_close(json);
	if (shift && group->trend.events[shift->event] >= first)
		json_count(json, "shift", group->trend.events[shift->event] - first);
	json_close(json);
}

static void put_verdict(struct json *json, const struct series *group)
{
	const struct trend_shift *shift = series_shift(group);

	json_text(json, "verdict", series_verdict(group));
	json_text(json, "group", group->last->group);
	if (!shift)
		return;
	json_open(json, "shift", '{');
	put_shift(json, shift);
	json_text(json, "after_run", group->tested[group->trend.events[shift->event]]->id);
	json_number(json, "started_ns",
		    group->tested[group->trend.events[shift->event]]->started_ns);
	json_close(json);
}

static void put_listed(struct json *json, const struct listed *program, struct trend_cache *cache)
{
	struct series group;

	series_choose(&group, &program->slice, cache);
	json_open(json, NULL, '{');
	json_text(json, "name", program->last->program);
	json_count(json, "runs", program->slice.count);
	json_count(json, "groups", program->groups);
	json_text(json, "last_run", program->last->id);
	json_number(json, "last_started_ns", program->last->started_ns);
	json_number(json, "last_duration_ns", program->last->duration_ns);
	json_number(json, "last_exit_status", program->last->exit_status);
	put_spark(json, &group);
	put_verdict(json, &group);
	json_close(json);
	series_release(&group);
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->last->started_ns != y->last->started_ns)
		return x->last->started_ns < y->last->started_ns ? 1 : -1;
	return strcmp(x->last->program, y->last->program);
}

static size_t list_programs(const struct program_runs *runs, struct listed *list)
{
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i += list[count++].slice.count) {
		struct listed *program = &list[count];

		*program =
			(struct listed){ .slice = { &runs->list[i], program_runs_same(runs, i) } };
		program->last = &program->slice.runs[program->slice.count - 1];
		for (size_t k = 0; k < program->slice.count; k++)
			program->groups += program->slice.runs[k].ends_group;
	}
	if (count)
		qsort(list, count, sizeof(*list), compare_listed);
	return count;
}

/* The share of the runs whose figures were read. */
static void put_covered(struct json *json, const struct program_run *runs, size_t count)
{
	size_t unread = 0;

	for (size_t i = 0; i < count; i++)
		unread += runs[i].is_unread;
	json_double(json, "covered", count ? 1 - (double)unread / (double)count : 1);
}

/* False: the request was answered. */
static bool read_runs(struct web_call *call, struct program_runs *runs)
{
	struct err err = { 0 };

	if (program_runs_read(runs, call->index, &err) >= 0)
		return true;
	program_runs_release(runs);
	call_fail(call, 500, "%s", err.text);
	return false;
}

void handle_programs(struct web_call *call)
{
	AUTO_FREE struct listed *list = NULL;
	struct program_runs runs;
	struct reply reply;
	size_t count;

	if (!read_runs(call, &runs))
		return;
	list = xcalloc(runs.count, sizeof(*list));
	count = list_programs(&runs, list);
	reply_start(&reply, "sluice.programs/1");
	json_text(&reply.json, "directory", call->directory);
	put_covered(&reply.json, runs.list, runs.count);
	json_open(&reply.json, "programs", '[');
	for (size_t i = 0; i < count; i++)
		put_listed(&reply.json, &list[i], call->trends);
	json_close(&reply.json);
	reply_end(&reply, call);
	program_runs_release(&runs);
}

/* --- one program --- */

static void put_groups(struct json *json, const struct slice *slice, struct trend_cache *cache)
{
	size_t left = GROUPS_MAX;

	json_open(json, "groups", '[');
	for (size_t i = slice->count; i-- > 0;) {
		const struct program_run *last = &slice->runs[i];
		struct series group;

		if (!last->ends_group)
			continue;
		if (!left--)
			break;
		series_init(&group, slice, last->group, cache);
		json_open(json, NULL, '{');
		json_text(json, "id", last->group);
		json_text(json, "arguments", last->arguments);
		json_count(json, "ranks", last->ranks);
		json_text(json, "filesystem", last->filesystem);
		json_text(json, "platform", last->platform);
		json_count(json, "runs", group.runs);
		json_number(json, "last_started_ns", last->started_ns);
		json_text(json, "verdict", series_verdict(&group));
		json_close(json);
		series_release(&group);
	}
	json_close(json);
}

static void put_run(struct json *json, const struct program_run *run)
{
	json_open(json, NULL, '{');
	json_text(json, "id", run->id);
	json_text(json, "group", run->group);
	json_number(json, "started_ns", run->started_ns);
	for (int k = 0; k < TREND_MEASURES; k++)
		json_double(json, trend_measures[k].name,
			    program_run_value(run, (enum trend_measure)k));
	json_count(json, "ranks", run->ranks);
	json_number(json, "exit_status", run->exit_status);
	json_text(json, "state", run->state);
	json_bool(json, "comparable", run->is_comparable);
	json_text(json, "binary", run->fingerprint);
	json_text(json, "command", run->command);
	json_text(json, "applied", run->applied);
	tags_json(json, run->tags);
	json_close(json);
}

/* group "": all of them are. */
static bool is_in_group(const struct program_run *run, const char *group)
{
	return !*group || strcmp(run->group, group) == 0;
}

/* The newest runs of the group. */
static void put_runs(struct json *json, const struct slice *slice, const char *group)
{
	size_t first = slice->count, count = 0, left_out = 0;

	while (first && count < RUNS_MAX)
		count += is_in_group(&slice->runs[--first], group);
	for (size_t i = 0; i < first; i++)
		left_out += is_in_group(&slice->runs[i], group);
	json_open(json, "runs", '[');
	for (size_t i = first; i < slice->count; i++)
		if (is_in_group(&slice->runs[i], group))
			put_run(json, &slice->runs[i]);
	json_close(json);
	json_count(json, "left_out", left_out);
}

static void put_events(struct json *json, const struct series *group)
{
	const struct trend *trend = &group->trend;
	size_t k = 0;

	json_open(json, "events", '[');
	for (size_t i = 0; i < trend->event_count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "before_run", group->tested[trend->events[i] - 1]->id);
		json_text(json, "after_run", group->tested[trend->events[i]]->id);
		json_number(json, "started_ns", group->tested[trend->events[i]]->started_ns);
		json_open(json, "shifts", '[');
		for (; k < trend->count && trend->shifts[k].event == i; k++) {
			json_open(json, NULL, '{');
			put_shift(json, &trend->shifts[k]);
			json_close(json);
		}
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

static void put_trend(struct json *json, const struct slice *slice, const char *name,
		      struct trend_cache *cache)
{
	struct series group;

	series_init(&group, slice, name, cache);
	json_text(json, "verdict", series_verdict(&group));
	json_count(json, "tested", group.trend.runs);
	put_events(json, &group);
	series_release(&group);
}

/* Runs that cannot be compared have no trend. */
static void put_no_trend(struct json *json)
{
	json_text(json, "verdict", "not comparable");
	json_count(json, "tested", 0);
	json_open(json, "events", '[');
	json_close(json);
}

/* The group that the request selects: an id, "all", or else as in the list. NULL: no such. */
static const char *find_group(const struct web_call *call, const struct slice *slice)
{
	const char *wanted = call_text(call, "group", NULL);
	struct series chosen;

	if (!wanted) {
		series_choose(&chosen, slice, call->trends);
		wanted = chosen.last->group;
		series_release(&chosen);
		return wanted;
	}
	if (strcmp(wanted, "all") == 0)
		return "";
	for (size_t i = 0; i < slice->count; i++)
		if (strcmp(slice->runs[i].group, wanted) == 0)
			return slice->runs[i].group;
	return NULL;
}

static void put_program(struct web_call *call, const struct slice *slice, const char *group)
{
	struct reply reply;

	reply_start(&reply, "sluice.program/1");
	json_text(&reply.json, "name", slice->runs[0].program);
	json_count(&reply.json, "total", slice->count);
	put_covered(&reply.json, slice->runs, slice->count);
	json_text(&reply.json, "group", *group ? group : "all");
	json_count(&reply.json, "least_runs", TREND_LEAST);
	put_groups(&reply.json, slice, call->trends);
	put_runs(&reply.json, slice, group);
	if (*group)
		put_trend(&reply.json, slice, group, call->trends);
	else
		put_no_trend(&reply.json);
	reply_end(&reply, call);
}

void handle_program(struct web_call *call)
{
	struct program_runs runs;
	struct slice slice;
	const char *group;
	size_t first;

	if (!read_runs(call, &runs))
		return;
	first = program_runs_find(&runs, call->words[0]);
	if (first == SIZE_MAX) {
		call_fail(call, 404, "%s: no such program", call->words[0]);
	} else {
		slice = (struct slice){ &runs.list[first], program_runs_same(&runs, first) };
		group = find_group(call, &slice);
		if (group)
			put_program(call, &slice, group);
		else
			call_fail(call, 404, "%s has no runs in this group", call->words[0]);
	}
	program_runs_release(&runs);
}

/* --- what changed --- */

static void put_condition(void *arg, const struct condition *condition, const char *before,
			  const char *after)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "kind", condition->kind);
	json_text(json, "name", condition->name);
	json_text(json, "before", before);
	json_text(json, "after", after);
	json_close(json);
}

/* False: the request was answered. */
static bool read_conditions(struct web_call *call, const char *parameter,
			    struct conditions *conditions)
{
	const char *id = call_text(call, parameter, NULL);
	struct open_run *run;
	struct trace trace;
	struct err err = { 0 };
	int r;

	if (!id) {
		call_fail(call, 400, "changes needs the parameters base=RUN and with=RUN");
		return false;
	}
	run = open_named_run(call, id);
	if (!run)
		return false;
	r = trace_open(&trace, open_run_path(run), NULL, &err);
	if (r < 0)
		call_fail(call, 500, "%s", err.text);
	else
		conditions_init(conditions, &trace.head);
	trace_close(&trace);
	run_cache_put(call->cache, run);
	return r >= 0;
}

void handle_changes(struct web_call *call)
{
	struct conditions before, after;
	struct reply reply;

	if (!read_conditions(call, "base", &before))
		return;
	if (read_conditions(call, "with", &after)) {
		reply_start(&reply, "sluice.changes/1");
		json_bool(&reply.json, "described", before.is_described && after.is_described);
		json_open(&reply.json, "conditions", '[');
		conditions_compare(&before, &after, put_condition, &reply.json);
		json_close(&reply.json);
		reply_end(&reply, call);
		conditions_release(&after);
	}
	conditions_release(&before);
}
