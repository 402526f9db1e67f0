/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loads a chronicle from the store and saves it there, in order of time, because the store is
 * fastest that way. The samples of all targets and sizes with the same time form a round.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "predict/forecast/chronicle/chronicle.h"
#include "store/probes.h"

_Static_assert(NODE_VALUES == PROBE_NODE_VALUES, "the store has one column per node value");

struct loading {
	struct chronicle chronicle;
	struct jobs jobs; /* the snapshot being read */
	bool is_open;
	size_t left; /* samples that may still be added */
	bool is_full;
};

static int add_target(void *arg, const char *target)
{
	chronicle_add_target(&((struct loading *)arg)->chronicle, target);
	return 0;
}

/* A row with impossible values is damaged and counts as a failed write. */
static int add_row(void *arg, const struct probe *row)
{
	struct loading *loading = arg;
	struct chronicle *chronicle = &loading->chronicle;
	int size = chronicle_find_size(chronicle, row->bytes);
	unsigned outcome = (unsigned)row->outcome & SAMPLE_OUTCOME_MASK,
		 method = (unsigned)row->outcome >> SAMPLE_METHOD_SHIFT;

	if (outcome > SAMPLE_FAILED || !(row->seconds >= 0 && row->seconds <= (double)FLT_MAX))
		outcome = SAMPLE_FAILED;
	if (method > SAMPLE_PROGRAM)
		method = SAMPLE_UNKNOWN;
	loading->is_full = !loading->left;
	if (loading->is_full)
		return 1;
	loading->left--;
	if (size >= 0)
		chronicle_add(chronicle, row->number, (size_t)size, row->time_s, row->seconds,
			      (enum sample_outcome)outcome, (enum sample_method)method);
	return 0;
}

static void replace_text(char **text, const char *to)
{
	free(*text);
	*text = xstrdup(to);
}

static void add_job(struct jobs *jobs, const struct probe_job *from)
{
	struct job *job = jobs_add(jobs);

	replace_text(&job->id, from->id);
	replace_text(&job->name, from->name);
	replace_text(&job->owner, from->owner);
	replace_text(&job->queue, from->queue);
	job->nodes = from->nodes;
	job->memory_bytes = from->memory_bytes;
	job->virtual_bytes = from->virtual_bytes;
	job->used_s = from->used_s;
	job->allocated_s = from->allocated_s;
}

static void finish_snapshot(struct loading *loading)
{
	if (loading->is_open)
		chronicle_add_jobs(&loading->chronicle, &loading->jobs);
	loading->is_open = false;
}

static int add_job_row(void *arg, double time_s, const struct probe_job *job)
{
	struct loading *loading = arg;

	if (loading->is_open && loading->jobs.time_s != time_s)
		finish_snapshot(loading);
	loading->is_open = true;
	loading->jobs.time_s = time_s;
	if (job)
		add_job(&loading->jobs, job);
	return 0;
}

static int add_node(void *arg, double time_s, const double values[PROBE_NODE_VALUES])
{
	struct node_state node = { .time_s = time_s };

	memcpy(node.values, values, sizeof(node.values));
	chronicle_add_node(&((struct loading *)arg)->chronicle, &node);
	return 0;
}

static int load_all(struct loading *loading, struct store *store, const char *system, double from_s,
		    double to_s, struct err *err)
{
	uint64_t sizes[CHRONICLE_SIZES];
	int r = probes_sizes(store, system, from_s, to_s, sizes, CHRONICLE_SIZES, err);

	if (r > CHRONICLE_SIZES)
		return err_set(err, E2BIG,
			       "%s: probe data of \"%s\" has %d write sizes, but at most %d are "
			       "supported; delete old data with 'sluice forecast forget'",
			       store_path(store), system, r, CHRONICLE_SIZES);
	if (r < 0)
		return r;
	chronicle_init(&loading->chronicle, system, sizes, (size_t)r);
	r = probes_targets(store, system, add_target, loading, err);
	if (r >= 0)
		r = probes_load(store, system, from_s, to_s, add_row, loading, err);
	if (loading->is_full)
		r = err_set(err, E2BIG,
			    "too much probe data of \"%s\" in this time; select a shorter one",
			    system);
	if (r >= 0)
		r = probes_load_jobs(store, system, from_s, to_s, add_job_row, loading, err);
	finish_snapshot(loading);
	if (r >= 0)
		r = probes_load_nodes(store, system, from_s, to_s, add_node, loading, err);
	return r;
}

int chronicle_load_most(struct chronicle *chronicle, struct store *store, const char *system,
			double from_s, double to_s, size_t most, struct err *err)
{
	struct loading loading = { .left = most };
	int r = load_all(&loading, store, system, from_s, to_s, err);

	if (r < 0) {
		chronicle_release(&loading.chronicle);
		return r;
	}
	*chronicle = loading.chronicle;
	return 0;
}

int chronicle_load(struct chronicle *chronicle, struct store *store, const char *system,
		   double from_s, double to_s, struct err *err)
{
	return chronicle_load_most(chronicle, store, system, from_s, to_s, SIZE_MAX, err);
}

struct saving {
	const struct chronicle *chronicle;
	struct probe_writer *writer;
	double to_s;
	size_t *next; /* per series: its first sample that is not saved yet */
};

/* The earliest time of the unsaved samples; INFINITY if there are none. */
static double find_next_time(const struct saving *saving)
{
	const struct chronicle *chronicle = saving->chronicle;
	double earliest = INFINITY;

	for (size_t i = 0; i < chronicle->target_count * CHRONICLE_SIZES; i++) {
		const struct chronicle_series *series = &chronicle->series[i];

		if (saving->next[i] < series->count && series->time_s[saving->next[i]] < earliest)
			earliest = series->time_s[saving->next[i]];
	}
	return earliest < saving->to_s ? earliest : INFINITY;
}

/* Saves the samples of one series at this time; the last of several remains. */
static int save_series(struct saving *saving, size_t target, size_t size, double time_s,
		       struct err *err)
{
	const struct chronicle *chronicle = saving->chronicle;
	const struct chronicle_series *series = chronicle_series(chronicle, target, size);
	size_t *next = &saving->next[target * CHRONICLE_SIZES + size];
	int r = 0;

	for (; r >= 0 && *next < series->count && series->time_s[*next] == time_s; ++*next)
		r = probe_writer_add_row(saving->writer,
					 &(struct probe){ .target = chronicle->targets[target],
							  .time_s = time_s,
							  .bytes = chronicle->sizes[size],
							  .seconds = series->seconds[*next],
							  .outcome = series->outcome[*next] },
					 err);
	return r;
}

static int save_rounds(struct saving *saving, struct err *err)
{
	const struct chronicle *chronicle = saving->chronicle;
	double time_s;
	int r = 0;

	while (r >= 0 && (time_s = find_next_time(saving)) < INFINITY)
		for (size_t size = 0; size < chronicle->size_count; size++)
			for (size_t i = 0; r >= 0 && i < chronicle->target_count; i++)
				r = save_series(saving, i, size, time_s, err);
	return r;
}

static int save_snapshot(struct saving *saving, const struct jobs *jobs, struct err *err)
{
	AUTO_FREE struct probe_job *rows = xcalloc(jobs->count + 1, sizeof(*rows));

	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->rows[i];

		rows[i] = (struct probe_job){
			job->id,	 job->name,	    job->owner,		job->queue,
			job->nodes,	 job->memory_bytes, job->virtual_bytes, job->used_s,
			job->allocated_s
		};
	}
	return probe_writer_add_jobs(saving->writer, jobs->time_s, rows, jobs->count, err);
}

static int save_snapshots_and_nodes(struct saving *saving, double from_s, struct err *err)
{
	const struct chronicle *chronicle = saving->chronicle;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < chronicle->snapshot_count; i++) {
		const struct jobs *jobs = &chronicle->snapshots[i];

		if (jobs->time_s >= from_s && jobs->time_s < saving->to_s)
			r = save_snapshot(saving, jobs, err);
	}
	for (size_t i = 0; r >= 0 && i < chronicle->node_count; i++) {
		const struct node_state *node = &chronicle->nodes[i];

		if (node->time_s >= from_s && node->time_s < saving->to_s)
			r = probe_writer_add_node(saving->writer, node->time_s, node->values, err);
	}
	return r;
}

int chronicle_save(const struct chronicle *chronicle, struct store *store, double from_s,
		   double to_s, struct err *err)
{
	size_t series = chronicle->target_count * CHRONICLE_SIZES;
	AUTO_FREE size_t *next = xcalloc(series + 1, sizeof(*next));
	struct saving saving = { .chronicle = chronicle, .to_s = to_s, .next = next };
	int r = probe_writer_open(&saving.writer, store, chronicle->system, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < series; i++)
		next[i] =
			chronicle_count_until(&chronicle->series[i], nextafter(from_s, -INFINITY));
	r = save_rounds(&saving, err);
	if (r >= 0)
		r = save_snapshots_and_nodes(&saving, from_s, err);
	if (r < 0) {
		probe_writer_close(saving.writer, false, NULL);
		return r;
	}
	return probe_writer_close(saving.writer, true, err);
}
