/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a trace into a profile. One thread reads and decodes ahead. Several others add up, each the
 * calls of some ranks (or process trees) into a profile of its own; at the end these are added. All
 * see the batches in the same order, so that the time in which any of them was in I/O can be
 * computed exactly.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/profile/profile.h"

#define BATCH 4096
#define SLOTS 4
#define SHARDS_MAX 16

/* Times in I/O of one shard during one batch, in order of their start. */
struct spans {
	struct profile_span *list;
	size_t count;
};

struct shard {
	struct pipeline *pipeline;
	struct profile *profile;
	struct spans spans[SLOTS];
	size_t consumed; /* batches; guarded by the pipeline's mutex */
	unsigned number;
	pthread_t thread;
};

/* Batches on their way from the reading thread to the adding ones. */
struct pipeline {
	struct trace *trace;
	struct activity *batches[SLOTS];
	ssize_t counts[SLOTS];
	uint8_t *shard_of; /* per process */
	struct shard shards[SHARDS_MAX];
	unsigned shard_count;
	size_t produced; /* batches; guarded by the mutex */
	struct err err;	 /* of the reading thread; read after its end */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int64_t busy_ns, busy_from_ns, busy_until_ns; /* times in I/O of all shards so far */
	profile_seen seen;
	void *arg;
};

/* Adds a time to the union of all; those that start earlier have been added. */
static void add_busy(struct pipeline *p, const struct profile_span *span)
{
	int64_t from = span->from_ns > p->busy_until_ns ? span->from_ns : p->busy_until_ns;

	if (span->until_ns <= from)
		return;
	if (!p->busy_ns)
		p->busy_from_ns = from;
	p->busy_ns += span->until_ns - from;
	p->busy_until_ns = span->until_ns;
}

/* Merges the times of all shards during the batch of a slot. */
static void merge_spans(struct pipeline *p, size_t slot)
{
	size_t at[SHARDS_MAX] = { 0 };

	for (;;) {
		const struct profile_span *first = NULL;
		unsigned from = 0;

		for (unsigned i = 0; i < p->shard_count; i++) {
			const struct spans *spans = &p->shards[i].spans[slot];

			if (at[i] < spans->count &&
			    (!first || spans->list[at[i]].from_ns < first->from_ns)) {
				first = &spans->list[at[i]];
				from = i;
			}
		}
		if (!first)
			break;
		add_busy(p, first);
		at[from]++;
	}
	for (unsigned i = 0; i < p->shard_count; i++)
		p->shards[i].spans[slot].count = 0;
}

static size_t least_consumed(const struct pipeline *p)
{
	size_t least = p->shards[0].consumed;

	for (unsigned i = 1; i < p->shard_count; i++) {
		if (p->shards[i].consumed < least)
			least = p->shards[i].consumed;
	}
	return least;
}

static void wait_for_slot(struct pipeline *p)
{
	pthread_mutex_lock(&p->mutex);
	while (p->produced - least_consumed(p) == SLOTS)
		pthread_cond_wait(&p->changed, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
}

static void advance(struct pipeline *p, size_t *counter)
{
	pthread_mutex_lock(&p->mutex);
	++*counter;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->mutex);
}

static void *read_batches(void *arg)
{
	struct pipeline *p = arg;
	ssize_t n = 1;

	/* A count of 0 or less marks the end and is passed on as well. */
	for (size_t i = 0; n > 0; i++) {
		wait_for_slot(p);
		if (i >= SLOTS)
			merge_spans(p, i % SLOTS);
		n = trace_next(p->trace, p->batches[i % SLOTS], BATCH, &p->err);
		p->counts[i % SLOTS] = n;
		advance(p, &p->produced);
	}
	return NULL;
}

static void wait_for_batch(struct pipeline *p, const struct shard *shard)
{
	pthread_mutex_lock(&p->mutex);
	while (p->produced == shard->consumed)
		pthread_cond_wait(&p->changed, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
}

static void add_batch(struct shard *shard, const struct activity *batch, ssize_t n,
		      struct spans *spans)
{
	struct pipeline *p = shard->pipeline;

	shard->profile->spans = spans->list;
	shard->profile->span_count = 0;
	for (ssize_t i = 0; i < n; i++) {
		if (p->shard_of[batch[i].process] == shard->number)
			profile_add(shard->profile, &batch[i]);
	}
	spans->count = shard->profile->span_count;
}

static void *add_batches(void *arg)
{
	struct shard *shard = arg;
	struct pipeline *p = shard->pipeline;
	uint64_t done = 0;
	ssize_t n = 1;

	for (size_t i = 0; n > 0; i++) {
		wait_for_batch(p, shard);
		n = p->counts[i % SLOTS];
		add_batch(shard, p->batches[i % SLOTS], n, &shard->spans[i % SLOTS]);
		advance(p, &shard->consumed);
		done += n > 0 ? (uint64_t)n : 0;
		if (p->seen && n > 0 && !shard->number)
			p->seen(p->arg, done);
	}
	return NULL;
}

/* Processes of one rank, or of one tree of processes, belong together. */
static uint32_t group_of(const struct profile *profile, uint32_t process)
{
	const struct ranks *ranks = &profile->summary.ranks;
	const struct trace_head *head = profile->head;

	if (ranks->count) {
		int32_t rank = ranks_of_process(ranks, process);

		return rank < 0 ? 0 : (uint32_t)rank;
	}
	while (head->processes[process].parent >= 0 &&
	       (uint32_t)head->processes[process].parent < process)
		process = (uint32_t)head->processes[process].parent;
	return process;
}

/* Counted calls are added when a profile is initialized, so there must be one profile for them. */
static unsigned count_shards(const struct profile *profile, unsigned threads)
{
	const struct trace_head *head = profile->head;
	size_t groups =
		profile->summary.ranks.count ? profile->summary.ranks.count : head->process_count;

	if (head->aggregate_count || head->usage_count || head->flow_count || !groups)
		return 1;
	threads = threads < SHARDS_MAX ? threads : SHARDS_MAX;
	return groups < threads ? (unsigned)groups : threads;
}

static void init_shard(struct pipeline *p, struct profile *profile, unsigned number)
{
	struct shard *shard = &p->shards[number];

	shard->pipeline = p;
	shard->number = number;
	shard->profile = number ? xcalloc(1, sizeof(*shard->profile)) : profile;
	if (number)
		profile_init(shard->profile, profile->head, NULL);
	for (size_t i = 0; i < SLOTS; i++)
		shard->spans[i].list = xcalloc(BATCH, sizeof(struct profile_span));
}

static void release_shard(struct shard *shard)
{
	if (shard->number) {
		profile_release(shard->profile);
		free(shard->profile);
	}
	for (size_t i = 0; i < SLOTS; i++)
		free(shard->spans[i].list);
}

/* Starts up to `wanted` shards; the first one works in this thread. They wait for batches. */
static void start_shards(struct pipeline *p, struct profile *profile, unsigned wanted)
{
	init_shard(p, profile, 0);
	for (p->shard_count = 1; p->shard_count < wanted; p->shard_count++) {
		struct shard *shard = &p->shards[p->shard_count];

		init_shard(p, profile, p->shard_count);
		if (pthread_create(&shard->thread, NULL, add_batches, shard) != 0) {
			release_shard(shard);
			break;
		}
	}
	for (size_t i = 0; i < profile->head->process_count; i++)
		p->shard_of[i] = (uint8_t)(group_of(profile, (uint32_t)i) % p->shard_count);
}

static void join_shards(struct pipeline *p, struct profile *profile)
{
	for (unsigned i = 1; i < p->shard_count; i++) {
		pthread_join(p->shards[i].thread, NULL);
		profile_join(profile, p->shards[i].profile);
	}
}

/* Replaces what the shards know of it. The last batches are still in their slots. */
static void set_busy(struct pipeline *p, struct profile *profile)
{
	struct sums *all = &profile->summary.all;

	for (size_t i = p->produced > SLOTS ? p->produced - SLOTS : 0; i < p->produced; i++)
		merge_spans(p, i % SLOTS);
	all->busy_ns = p->busy_ns;
	all->busy_from_ns = p->busy_from_ns;
	all->busy_until_ns = p->busy_until_ns;
}

/* Returns the last count: 0 at the end of the trace, or -errno. */
static int run_threads(struct pipeline *p, struct profile *profile)
{
	pthread_t reader;
	bool has_reader = pthread_create(&reader, NULL, read_batches, p) == 0;

	/* Without a reader, an empty batch ends the other threads. */
	if (!has_reader)
		advance(p, &p->produced);
	add_batches(&p->shards[0]);
	if (has_reader)
		pthread_join(reader, NULL);
	join_shards(p, profile);
	if (has_reader)
		set_busy(p, profile);
	profile->spans = NULL;
	return has_reader ? (int)p->counts[(p->produced - 1) % SLOTS] : 1;
}

/* Without other threads. */
static int read_alone(struct pipeline *p, struct profile *profile)
{
	uint64_t done = 0;
	ssize_t n;

	while ((n = trace_next(p->trace, p->batches[0], BATCH, &p->err)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			profile_add(profile, &p->batches[0][i]);
		done += (uint64_t)n;
		if (p->seen)
			p->seen(p->arg, done);
	}
	return (int)n;
}

static int read_with_threads(struct pipeline *p, struct profile *profile, unsigned threads)
{
	int ret;

	p->shard_of = xcalloc(profile->head->process_count + 1, sizeof(*p->shard_of));
	start_shards(p, profile, count_shards(profile, threads));
	ret = run_threads(p, profile);
	for (unsigned i = 0; i < p->shard_count; i++)
		release_shard(&p->shards[i]);
	free(p->shard_of);
	return ret > 0 ? read_alone(p, profile) : ret;
}

int profile_read(struct profile *profile, struct trace *trace, unsigned threads, profile_seen seen,
		 void *arg, struct err *err)
{
	AUTO_FREE struct activity *batches = xcalloc((size_t)BATCH * SLOTS, sizeof(*batches));
	struct pipeline pipeline = { .trace = trace,
				     .mutex = PTHREAD_MUTEX_INITIALIZER,
				     .changed = PTHREAD_COND_INITIALIZER,
				     .seen = seen,
				     .arg = arg };
	int ret;

	for (size_t i = 0; i < SLOTS; i++)
		pipeline.batches[i] = batches + i * BATCH;
	if (threads > 1 && trace->head.activities > BATCH)
		ret = read_with_threads(&pipeline, profile, threads);
	else
		ret = read_alone(&pipeline, profile);
	if (ret < 0)
		*err = pipeline.err;
	return ret;
}
