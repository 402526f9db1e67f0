/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/states/description.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/vector.h"
#include "predict/forecast/chronicle/chronicle.h"
#include "predict/forecast/states/labels.h"

#define SEED 1
#define FIT_MOST 10000 /* more writes do not change the states */
#define SECONDS_PER_DAY 86400

/* Fits the states to every n-th of the ascending durations. */
static void fit_states(struct description_writes *writes)
{
	struct mixture_plan plan = { .family = MIXTURE_LOGNORMAL,
				     .most = DESCRIPTION_STATES,
				     .seed = SEED };
	size_t step = 1 + writes->count / FIT_MOST, kept = 0;
	AUTO_FREE double *some = xmalloc((writes->count / step + 1) * sizeof(*some));

	for (size_t i = 0; i < writes->count; i += step)
		some[kept++] = writes->seconds[i];
	writes->has_states = mixture_fit(&writes->mixture, &plan, some, kept, NULL) >= 0;
}

void description_writes_init(struct description_writes *writes, const struct chronicle *chronicle,
			     size_t size)
{
	size_t cap = 0;

	*writes = (struct description_writes){ 0 };
	for (size_t t = 0; t < chronicle->target_count; t++) {
		const struct chronicle_series *series = chronicle_series(chronicle, t, size);

		writes->seconds = xgrow(writes->seconds, &cap, writes->count + series->count + 1,
					sizeof(*writes->seconds));
		for (size_t i = 0; i < series->count; i++) {
			enum sample_outcome outcome = sample_outcome(series, i);

			if (sample_is_program(series, i))
				continue;
			if (outcome == SAMPLE_DONE && series->seconds[i] > 0)
				writes->seconds[writes->count++] = (double)series->seconds[i];
			writes->timeouts += outcome == SAMPLE_TIMEOUT;
			writes->failed += outcome > SAMPLE_TIMEOUT;
		}
	}
	vector_sort(writes->seconds, writes->count);
	if (writes->count >= DESCRIPTION_LEAST)
		fit_states(writes);
}

void description_writes_release(struct description_writes *writes)
{
	free(writes->seconds);
	*writes = (struct description_writes){ 0 };
}

const char *description_state(const struct mixture *mixture, size_t component)
{
	bool is_cached = mixture->count > 2 && mixture->components[0].weight < LABELS_FEW;

	if (mixture->count == 1)
		return "single";
	if (component == 0)
		return is_cached ? "cached" : "idle";
	if (is_cached)
		return component == 1 ? "idle" : "busy";
	if (component == 1)
		return "busy";
	return mixture->components[component].weight < LABELS_FEW ? "tail" : "slow";
}

double description_mode(const struct mixture *mixture, size_t component)
{
	const struct mixture_component *of = &mixture->components[component];

	return exp(of->first - of->second * of->second);
}

/* By name, the newest state of a job first: its run time only grows. */
static int compare_jobs(const void *a, const void *b)
{
	const struct job *one = *(const struct job *const *)a;
	const struct job *two = *(const struct job *const *)b;
	int order = strcmp(one->id, two->id);
	double used = isnan(one->used_s) ? -1 : one->used_s;
	double other = isnan(two->used_s) ? -1 : two->used_s;

	if (order)
		return order;
	return used > other ? -1 : used < other;
}

static const struct job **gather_jobs(const struct chronicle *chronicle, size_t *count)
{
	const struct job **list;
	size_t all = 0;

	*count = 0;
	for (size_t i = 0; i < chronicle->snapshot_count; i++)
		all += chronicle->snapshots[i].count;
	list = xcalloc(all + 1, sizeof(*list));
	for (size_t i = 0; i < chronicle->snapshot_count; i++)
		for (size_t j = 0; j < chronicle->snapshots[i].count; j++)
			list[(*count)++] = &chronicle->snapshots[i].rows[j];
	qsort(list, *count, sizeof(*list), compare_jobs);
	return list;
}

void description_jobs_init(struct description_jobs *jobs, const struct chronicle *chronicle)
{
	size_t all, last = chronicle->snapshot_count;
	AUTO_FREE const struct job **list = gather_jobs(chronicle, &all);

	*jobs = (struct description_jobs){ .days = NAN };
	jobs->nodes = xcalloc(all + 1, sizeof(*jobs->nodes));
	jobs->memory_bytes = xcalloc(all + 1, sizeof(*jobs->memory_bytes));
	jobs->seconds = xcalloc(all + 1, sizeof(*jobs->seconds));
	for (size_t i = 0; i < all; i++) {
		if (i && strcmp(list[i]->id, list[i - 1]->id) == 0)
			continue;
		jobs->nodes[jobs->count] = list[i]->nodes;
		jobs->memory_bytes[jobs->count] = list[i]->memory_bytes;
		jobs->seconds[jobs->count++] = list[i]->used_s;
	}
	if (last > 1)
		jobs->days =
			(chronicle->snapshots[last - 1].time_s - chronicle->snapshots[0].time_s) /
			SECONDS_PER_DAY;
}

void description_jobs_release(struct description_jobs *jobs)
{
	free(jobs->nodes);
	free(jobs->memory_bytes);
	free(jobs->seconds);
	*jobs = (struct description_jobs){ 0 };
}
