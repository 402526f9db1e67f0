/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/chronicle/chronicle.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "predict/forecast/chronicle/times.h"

const char *const node_value_names[NODE_VALUES] = {
#define X(word, name, help) [word] = name,
	NODE_VALUE_LIST(X)
#undef X
};

void chronicle_init(struct chronicle *chronicle, const char *system, const uint64_t *sizes,
		    size_t size_count)
{
	*chronicle = (struct chronicle){ .size_count = size_count };
	snprintf(chronicle->system, sizeof(chronicle->system), "%s", system);
	memcpy(chronicle->sizes, sizes, size_count * sizeof(*sizes));
}

void chronicle_rename(struct chronicle *chronicle, const char *system)
{
	bool keeps = text_starts_with(chronicle->system, CHRONICLE_MODELLED) &&
		     !text_starts_with(system, CHRONICLE_MODELLED);

	snprintf(chronicle->system, sizeof(chronicle->system), "%s%s",
		 keeps ? CHRONICLE_MODELLED : "", system);
}

static void series_release(struct chronicle_series *series)
{
	free(series->time_s);
	free(series->seconds);
	free(series->outcome);
}

void chronicle_release(struct chronicle *chronicle)
{
	for (size_t i = 0; i < chronicle->target_count * CHRONICLE_SIZES; i++)
		series_release(&chronicle->series[i]);
	for (size_t i = 0; i < chronicle->snapshot_count; i++)
		jobs_release(&chronicle->snapshots[i]);
	free(chronicle->targets);
	free(chronicle->series);
	free(chronicle->snapshots);
	free(chronicle->nodes);
	*chronicle = (struct chronicle){ 0 };
}

int chronicle_find_target(const struct chronicle *chronicle, const char *target)
{
	for (size_t i = 0; i < chronicle->target_count; i++)
		if (strcmp(chronicle->targets[i], target) == 0)
			return (int)i;
	return -ENOENT;
}

size_t chronicle_add_target(struct chronicle *chronicle, const char *name)
{
	int found = chronicle_find_target(chronicle, name);
	size_t target = chronicle->target_count;

	if (found >= 0)
		return (size_t)found;
	chronicle->targets = xgrow(chronicle->targets, &chronicle->target_cap, target + 1,
				   sizeof(*chronicle->targets));
	chronicle->series = xrealloc(chronicle->series, (target + 1) * CHRONICLE_SIZES,
				     sizeof(*chronicle->series));
	memset(chronicle_series(chronicle, target, 0), 0,
	       CHRONICLE_SIZES * sizeof(*chronicle->series));
	snprintf(chronicle->targets[target], CHRONICLE_NAME, "%s", name);
	chronicle->target_count++;
	return target;
}

int chronicle_find_size(const struct chronicle *chronicle, uint64_t bytes)
{
	for (size_t i = 0; i < chronicle->size_count; i++)
		if (chronicle->sizes[i] == bytes)
			return (int)i;
	return -ENOENT;
}

int chronicle_add_size(struct chronicle *chronicle, uint64_t bytes)
{
	size_t at = 0, rest;

	while (at < chronicle->size_count && chronicle->sizes[at] < bytes)
		at++;
	if (at < chronicle->size_count && chronicle->sizes[at] == bytes)
		return (int)at;
	if (chronicle->size_count == CHRONICLE_SIZES)
		return -E2BIG;
	rest = chronicle->size_count - at;
	memmove(chronicle->sizes + at + 1, chronicle->sizes + at, rest * sizeof(bytes));
	chronicle->sizes[at] = bytes;
	chronicle->size_count++;
	/* The series after the last size is empty, so the others can move up by one. */
	for (size_t target = 0; target < chronicle->target_count; target++) {
		struct chronicle_series *series = chronicle_series(chronicle, target, at);

		memmove(series + 1, series, rest * sizeof(*series));
		*series = (struct chronicle_series){ 0 };
	}
	if (rest)
		chronicle->edits++;
	return (int)at;
}

static void series_reserve(struct chronicle_series *series)
{
	size_t cap;

	if (series->count < series->cap)
		return;
	cap = series->cap ? series->cap * 2 : 64;
	series->time_s = xrealloc(series->time_s, cap, sizeof(*series->time_s));
	series->seconds = xrealloc(series->seconds, cap, sizeof(*series->seconds));
	series->outcome = xrealloc(series->outcome, cap, sizeof(*series->outcome));
	series->cap = cap;
}

/* Makes room for a sample at this index. */
static void series_shift(struct chronicle_series *series, size_t at)
{
	size_t rest = series->count - at;

	memmove(series->time_s + at + 1, series->time_s + at, rest * sizeof(*series->time_s));
	memmove(series->seconds + at + 1, series->seconds + at, rest * sizeof(*series->seconds));
	memmove(series->outcome + at + 1, series->outcome + at, rest * sizeof(*series->outcome));
}

void chronicle_add(struct chronicle *chronicle, size_t target, size_t size, double time_s,
		   double seconds, enum sample_outcome outcome, enum sample_method method)
{
	struct chronicle_series *series = chronicle_series(chronicle, target, size);
	size_t at = series->count;

	series_reserve(series);
	if (at && series->time_s[at - 1] > time_s) {
		at = chronicle_count_until(series, time_s);
		series_shift(series, at);
		chronicle->edits++;
	}
	series->time_s[at] = time_s;
	series->seconds[at] = outcome <= SAMPLE_TIMEOUT ? (float)seconds : 0;
	series->outcome[at] =
		(uint8_t)((unsigned)outcome | (unsigned)method << SAMPLE_METHOD_SHIFT);
	series->count++;
}

void chronicle_add_jobs(struct chronicle *chronicle, struct jobs *jobs)
{
	size_t at = (size_t)(chronicle_jobs_at(chronicle, jobs->time_s) + 1);

	chronicle->snapshots = xgrow(chronicle->snapshots, &chronicle->snapshot_cap,
				     chronicle->snapshot_count + 1, sizeof(*chronicle->snapshots));
	memmove(chronicle->snapshots + at + 1, chronicle->snapshots + at,
		(chronicle->snapshot_count - at) * sizeof(*chronicle->snapshots));
	chronicle->snapshots[at] = *jobs;
	if (at < chronicle->snapshot_count++)
		chronicle->edits++;
	*jobs = (struct jobs){ 0 };
}

void chronicle_add_node(struct chronicle *chronicle, const struct node_state *node)
{
	size_t at = (size_t)(chronicle_node_at(chronicle, node->time_s) + 1);

	chronicle->nodes = xgrow(chronicle->nodes, &chronicle->node_cap, chronicle->node_count + 1,
				 sizeof(*chronicle->nodes));
	memmove(chronicle->nodes + at + 1, chronicle->nodes + at,
		(chronicle->node_count - at) * sizeof(*chronicle->nodes));
	chronicle->nodes[at] = *node;
	chronicle->node_count++;
}

size_t chronicle_count_until(const struct chronicle_series *series, double time_s)
{
	return times_until(series->time_s, sizeof(*series->time_s), 0, series->count, time_s);
}

ptrdiff_t chronicle_jobs_at(const struct chronicle *chronicle, double time_s)
{
	return (ptrdiff_t)times_until(chronicle->snapshots, sizeof(*chronicle->snapshots),
				      offsetof(struct jobs, time_s), chronicle->snapshot_count,
				      time_s) -
	       1;
}

ptrdiff_t chronicle_node_at(const struct chronicle *chronicle, double time_s)
{
	return (ptrdiff_t)times_until(chronicle->nodes, sizeof(*chronicle->nodes),
				      offsetof(struct node_state, time_s), chronicle->node_count,
				      time_s) -
	       1;
}

static void widen_span(double *from_s, double *to_s, double first_s, double last_s)
{
	*from_s = fmin(*from_s, first_s);
	*to_s = fmax(*to_s, last_s);
}

bool chronicle_span(const struct chronicle *chronicle, double *from_s, double *to_s)
{
	double first = INFINITY, last = -INFINITY;

	for (size_t i = 0; i < chronicle->target_count * CHRONICLE_SIZES; i++) {
		const struct chronicle_series *series = &chronicle->series[i];

		if (series->count)
			widen_span(&first, &last, series->time_s[0],
				   series->time_s[series->count - 1]);
	}
	if (chronicle->snapshot_count)
		widen_span(&first, &last, chronicle->snapshots[0].time_s,
			   chronicle->snapshots[chronicle->snapshot_count - 1].time_s);
	if (chronicle->node_count)
		widen_span(&first, &last, chronicle->nodes[0].time_s,
			   chronicle->nodes[chronicle->node_count - 1].time_s);
	if (first > last)
		return false;
	*from_s = first;
	*to_s = last;
	return true;
}

static void series_forget(struct chronicle_series *series, double before_s)
{
	size_t old = 0, rest;

	while (old < series->count && series->time_s[old] < before_s)
		old++;
	rest = series->count - old;
	if (!old)
		return;
	memmove(series->time_s, series->time_s + old, rest * sizeof(*series->time_s));
	memmove(series->seconds, series->seconds + old, rest * sizeof(*series->seconds));
	memmove(series->outcome, series->outcome + old, rest * sizeof(*series->outcome));
	series->count = rest;
}

static void snapshots_forget(struct chronicle *chronicle, double before_s)
{
	size_t old = 0;

	while (old < chronicle->snapshot_count && chronicle->snapshots[old].time_s < before_s)
		jobs_release(&chronicle->snapshots[old++]);
	if (!old)
		return;
	chronicle->snapshot_count -= old;
	memmove(chronicle->snapshots, chronicle->snapshots + old,
		chronicle->snapshot_count * sizeof(*chronicle->snapshots));
}

static void nodes_forget(struct chronicle *chronicle, double before_s)
{
	size_t old = 0;

	while (old < chronicle->node_count && chronicle->nodes[old].time_s < before_s)
		old++;
	if (!old)
		return;
	chronicle->node_count -= old;
	memmove(chronicle->nodes, chronicle->nodes + old,
		chronicle->node_count * sizeof(*chronicle->nodes));
}

void chronicle_discard_before(struct chronicle *chronicle, double before_s)
{
	for (size_t i = 0; i < chronicle->target_count * CHRONICLE_SIZES; i++)
		series_forget(&chronicle->series[i], before_s);
	snapshots_forget(chronicle, before_s);
	nodes_forget(chronicle, before_s);
	chronicle->edits++;
}
