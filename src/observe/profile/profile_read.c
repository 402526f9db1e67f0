/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a trace into a profile. One thread reads and decodes ahead; several others add up.
 *
 * What a rank (or a tree of processes) adds to a profile does not depend on the calls of others.
 * The trace is therefore divided into shards: each has the calls of some ranks and a profile of its
 * own, and at the end these are joined. The number of shards depends on the trace only, never on
 * the number of threads, so that the result does not depend on it either.
 *
 * Calls of different ranks alternate in the order of time. Within a batch they are added rank by
 * rank, because what is known of one rank fits into the cache of a core.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/profile/profile.h"

#define BATCH 16384
#define SLOTS 4
#define SHARDS_MAX 8
/* A shard costs the memory of a profile and the time to join it. */
#define SHARD_ACTIVITIES 65536
/* With more ranks, some of them share a lane. */
#define LANES_MAX 1024
/* Activities that are fetched ahead into the cache. */
#define AHEAD 4

_Static_assert(BATCH <= UINT16_MAX + 1, "places in a batch have 16 bits");

struct batch {
	struct activity *list;
	ssize_t count;		      /* 0: the end of the trace, or -errno */
	int64_t *until_ns;	      /* for each activity: the end of a time in I/O, or 0 */
	uint16_t *order;	      /* places in the list, by lane and then by time; AHEAD more */
	size_t first[SHARDS_MAX + 1]; /* where a shard starts in `order` */
};

struct worker {
	struct pipeline *pipeline;
	size_t consumed; /* batches; guarded by the pipeline's mutex */
	unsigned number;
	pthread_t thread;
};

/* Batches on their way from the reading thread to the adding ones. */
struct pipeline {
	struct trace *trace;
	struct batch batches[SLOTS];
	uint16_t *lane_of; /* per process */
	size_t lane_count;
	uint32_t *fill;			    /* per lane; for sorting */
	struct profile *shards[SHARDS_MAX]; /* the first one is the caller's */
	unsigned shard_count;
	struct worker workers[SHARDS_MAX]; /* each has every worker_count-th shard */
	unsigned worker_count;
	size_t produced; /* batches; guarded by the mutex */
	struct err err;	 /* of the reading thread; read after its end */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	size_t timed; /* batches whose times are part of the following */
	int64_t busy_ns, busy_from_ns, busy_until_ns;
	profile_seen seen;
	void *arg;
};

/* Adds a time to the union of all; those that start earlier have been added. */
static void add_busy(struct pipeline *p, int64_t start_ns, int64_t until_ns)
{
	int64_t from = start_ns > p->busy_until_ns ? start_ns : p->busy_until_ns;

	if (until_ns <= from)
		return;
	if (!p->busy_ns)
		p->busy_from_ns = from;
	p->busy_ns += until_ns - from;
	p->busy_until_ns = until_ns;
}

/* Adds the times of the batches up to this one, which all shards have added. */
static void add_times(struct pipeline *p, size_t end)
{
	for (; p->timed < end; p->timed++) {
		const struct batch *batch = &p->batches[p->timed % SLOTS];

		for (ssize_t i = 0; i < batch->count; i++)
			add_busy(p, batch->list[i].start_ns, batch->until_ns[i]);
	}
}

static size_t first_lane(const struct pipeline *p, unsigned shard)
{
	return p->lane_count * shard / p->shard_count;
}

/* A counting sort. */
static void sort_batch(struct pipeline *p, struct batch *batch)
{
	uint32_t *fill = p->fill;

	memset(fill, 0, (p->lane_count + 1) * sizeof(*fill));
	for (ssize_t i = 0; i < batch->count; i++)
		fill[p->lane_of[batch->list[i].process] + 1]++;
	for (size_t i = 1; i <= p->lane_count; i++)
		fill[i] += fill[i - 1];
	for (unsigned i = 0; i <= p->shard_count; i++)
		batch->first[i] = fill[first_lane(p, i)];
	for (ssize_t i = 0; i < batch->count; i++)
		batch->order[fill[p->lane_of[batch->list[i].process]]++] = (uint16_t)i;
}

/* Returns the count of the batch. */
static ssize_t read_batch(struct pipeline *p, struct batch *batch)
{
	batch->count = trace_next(p->trace, batch->list, BATCH, &p->err);
	sort_batch(p, batch);
	return batch->count;
}

static void add_shard(const struct pipeline *p, struct batch *batch, unsigned shard)
{
	for (size_t i = batch->first[shard]; i < batch->first[shard + 1]; i++) {
		const struct activity *a = &batch->list[batch->order[i]];
		const char *next = (const char *)&batch->list[batch->order[i + AHEAD]];

		__builtin_prefetch(next);
		__builtin_prefetch(next + 64);
		__builtin_prefetch(next + sizeof(*a) - 1);
		batch->until_ns[batch->order[i]] = profile_add(p->shards[shard], a);
	}
}

static size_t least_consumed(const struct pipeline *p)
{
	size_t least = p->workers[0].consumed;

	for (unsigned i = 1; i < p->worker_count; i++) {
		if (p->workers[i].consumed < least)
			least = p->workers[i].consumed;
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
			add_times(p, i - SLOTS + 1);
		n = read_batch(p, &p->batches[i % SLOTS]);
		advance(p, &p->produced);
	}
	return NULL;
}

static void wait_for_batch(struct pipeline *p, const struct worker *worker)
{
	pthread_mutex_lock(&p->mutex);
	while (p->produced == worker->consumed)
		pthread_cond_wait(&p->changed, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
}

static void *add_batches(void *arg)
{
	struct worker *worker = arg;
	struct pipeline *p = worker->pipeline;
	uint64_t done = 0;
	ssize_t n = 1;

	for (size_t i = 0; n > 0; i++) {
		struct batch *batch = &p->batches[i % SLOTS];

		wait_for_batch(p, worker);
		n = batch->count;
		for (unsigned k = worker->number; k < p->shard_count; k += p->worker_count)
			add_shard(p, batch, k);
		advance(p, &worker->consumed);
		done += n > 0 ? (uint64_t)n : 0;
		if (p->seen && n > 0 && !worker->number)
			p->seen(p->arg, done);
	}
	return NULL;
}

/*
 * Numbers the groups of processes that belong together: those of one rank, or of one tree of
 * processes. Launchers and scripts of a parallel run are with its first rank. Returns their number.
 */
static size_t find_groups(const struct profile *profile, uint32_t *groups)
{
	const struct ranks *ranks = &profile->summary.ranks;
	const struct trace_head *head = profile->head;
	size_t count = 0;

	for (size_t i = 0; i < head->process_count; i++) {
		int32_t parent = head->processes[i].parent;
		int32_t rank = ranks_of_process(ranks, (uint32_t)i);

		if (ranks->count)
			groups[i] = rank < 0 ? 0 : (uint32_t)rank;
		else
			groups[i] = parent >= 0 && (size_t)parent < i ? groups[parent]
								      : (uint32_t)count++;
	}
	return ranks->count ? ranks->count : count;
}

static void assign_lanes(struct pipeline *p, const struct profile *profile)
{
	size_t processes = profile->head->process_count;
	AUTO_FREE uint32_t *groups = xcalloc(processes + 1, sizeof(*groups));
	size_t count = find_groups(profile, groups);
	uint64_t shards = p->trace->head.activities / SHARD_ACTIVITIES;

	p->lane_count = count < LANES_MAX ? count + !count : LANES_MAX;
	p->lane_of = xcalloc(processes + 1, sizeof(*p->lane_of));
	p->fill = xcalloc(p->lane_count + 1, sizeof(*p->fill));
	for (size_t i = 0; i < processes; i++)
		p->lane_of[i] = (uint16_t)(groups[i] % p->lane_count);
	shards = shards < SHARDS_MAX ? shards + !shards : SHARDS_MAX;
	p->shard_count = (unsigned)(shards < p->lane_count ? shards : p->lane_count);
}

static void init_shards(struct pipeline *p, struct profile *profile)
{
	const struct profile_limits limits = { profile->cells.limit / 4, profile->tree.limit };

	p->shards[0] = profile;
	for (unsigned i = 1; i < p->shard_count; i++) {
		p->shards[i] = xcalloc(1, sizeof(*p->shards[i]));
		profile_init_share(p->shards[i], profile->head, &limits);
	}
	for (unsigned i = 0; i < p->shard_count; i++)
		summary_postpone_all(&p->shards[i]->summary);
}

static void join_shards(struct pipeline *p, struct profile *profile)
{
	struct sums *all = &profile->summary.all;

	summary_add_up(&profile->summary);
	for (unsigned i = 1; i < p->shard_count; i++) {
		summary_add_up(&p->shards[i]->summary);
		profile_join(profile, p->shards[i]);
		profile_release(p->shards[i]);
		free(p->shards[i]);
	}
	rasters_sort(&profile->timeline.rasters);
	all->busy_ns = p->busy_ns;
	all->busy_from_ns = p->busy_from_ns;
	all->busy_until_ns = p->busy_until_ns;
}

/* Starts up to `wanted` workers; the first one is this thread. They wait for batches. */
static void start_workers(struct pipeline *p, unsigned wanted)
{
	for (unsigned i = 0; i < wanted; i++)
		p->workers[i] = (struct worker){ .pipeline = p, .number = i };
	for (p->worker_count = 1; p->worker_count < wanted; p->worker_count++) {
		struct worker *worker = &p->workers[p->worker_count];

		if (pthread_create(&worker->thread, NULL, add_batches, worker) != 0)
			break;
	}
}

/* Returns the last count: 0 at the end of the trace, or -errno; 1 if there is no reading thread. */
static int run_threads(struct pipeline *p, unsigned threads)
{
	pthread_t reader;
	bool has_reader;

	start_workers(p, threads < p->shard_count ? threads : p->shard_count);
	has_reader = pthread_create(&reader, NULL, read_batches, p) == 0;
	/* Without a reader, an empty batch ends the other threads. */
	if (!has_reader)
		advance(p, &p->produced);
	add_batches(&p->workers[0]);
	if (has_reader)
		pthread_join(reader, NULL);
	for (unsigned i = 1; i < p->worker_count; i++)
		pthread_join(p->workers[i].thread, NULL);
	add_times(p, p->produced);
	return has_reader ? (int)p->batches[(p->produced - 1) % SLOTS].count : 1;
}

/* Without other threads. */
static int run_alone(struct pipeline *p)
{
	struct batch *batch = &p->batches[0];
	uint64_t done = 0;

	while (read_batch(p, batch) > 0) {
		for (unsigned i = 0; i < p->shard_count; i++)
			add_shard(p, batch, i);
		p->timed = 0;
		add_times(p, 1);
		done += (uint64_t)batch->count;
		if (p->seen)
			p->seen(p->arg, done);
	}
	return (int)batch->count;
}

static void init_batches(struct pipeline *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		p->batches[i] = (struct batch){
			.list = xcalloc(BATCH, sizeof(struct activity)),
			.until_ns = xcalloc(BATCH, sizeof(int64_t)),
			.order = xcalloc(BATCH + AHEAD, sizeof(uint16_t)),
		};
}

static void release_batches(struct pipeline *p)
{
	for (size_t i = 0; i < SLOTS; i++) {
		free(p->batches[i].list);
		free(p->batches[i].until_ns);
		free(p->batches[i].order);
	}
}

int profile_read(struct profile *profile, struct trace *trace, unsigned threads, profile_seen seen,
		 void *arg, struct err *err)
{
	struct pipeline pipeline = { .trace = trace,
				     .mutex = PTHREAD_MUTEX_INITIALIZER,
				     .changed = PTHREAD_COND_INITIALIZER,
				     .seen = seen,
				     .arg = arg };
	bool alone = threads < 2 || trace->head.activities <= BATCH;
	int ret;

	assign_lanes(&pipeline, profile);
	init_shards(&pipeline, profile);
	init_batches(&pipeline, alone ? 1 : SLOTS);
	ret = alone ? 1 : run_threads(&pipeline, threads);
	if (ret > 0)
		ret = run_alone(&pipeline);
	join_shards(&pipeline, profile);
	release_batches(&pipeline);
	free(pipeline.lane_of);
	free(pipeline.fill);
	if (ret < 0)
		*err = pipeline.err;
	return ret;
}
