/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a trace into a profile. A second thread reads and decodes ahead, because that takes about
 * as long as adding up.
 */
#include <pthread.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/profile/profile.h"

#define BATCH 4096
#define SLOTS 4

/* Batches on their way from the reading thread to the adding one. */
struct pipeline {
	struct trace *trace;
	struct activity *batches[SLOTS];
	ssize_t counts[SLOTS];
	size_t produced, consumed; /* batches; guarded by the mutex */
	struct err err;		   /* of the reading thread; read after its end */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

static void wait_for_slot(struct pipeline *p)
{
	pthread_mutex_lock(&p->mutex);
	while (p->produced - p->consumed == SLOTS)
		pthread_cond_wait(&p->changed, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
}

static void advance(struct pipeline *p, size_t *counter)
{
	pthread_mutex_lock(&p->mutex);
	++*counter;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->mutex);
}

static void *read_batches(void *arg)
{
	struct pipeline *p = arg;
	ssize_t n = 1;

	/* A count of 0 or less marks the end and is passed on as well. */
	for (size_t i = 0; n > 0; i++) {
		wait_for_slot(p);
		n = trace_next(p->trace, p->batches[i % SLOTS], BATCH, &p->err);
		p->counts[i % SLOTS] = n;
		advance(p, &p->produced);
	}
	return NULL;
}

static void wait_for_batch(struct pipeline *p)
{
	pthread_mutex_lock(&p->mutex);
	while (p->produced == p->consumed)
		pthread_cond_wait(&p->changed, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
}

static void add_batch(struct profile *profile, const struct activity *batch, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++)
		profile_add(profile, &batch[i]);
}

/* Returns the last count: 0 at the end of the trace, or -errno. */
static int add_batches(struct pipeline *p, struct profile *profile, profile_seen seen, void *arg)
{
	uint64_t done = 0;
	ssize_t n = 1;

	for (size_t i = 0; n > 0; i++) {
		wait_for_batch(p);
		n = p->counts[i % SLOTS];
		add_batch(profile, p->batches[i % SLOTS], n);
		advance(p, &p->consumed);
		done += n > 0 ? (uint64_t)n : 0;
		if (seen && n > 0)
			seen(arg, done);
	}
	return (int)n;
}

/* Without a second thread. */
static int read_alone(struct pipeline *p, struct profile *profile, profile_seen seen, void *arg)
{
	uint64_t done = 0;
	ssize_t n;

	while ((n = trace_next(p->trace, p->batches[0], BATCH, &p->err)) > 0) {
		add_batch(profile, p->batches[0], n);
		done += (uint64_t)n;
		if (seen)
			seen(arg, done);
	}
	return (int)n;
}

int profile_read(struct profile *profile, struct trace *trace, unsigned threads, profile_seen seen,
		 void *arg, struct err *err)
{
	AUTO_FREE struct activity *batches = xcalloc((size_t)BATCH * SLOTS, sizeof(*batches));
	struct pipeline pipeline = { .trace = trace,
				     .mutex = PTHREAD_MUTEX_INITIALIZER,
				     .changed = PTHREAD_COND_INITIALIZER };
	pthread_t thread;
	int ret;

	for (size_t i = 0; i < SLOTS; i++)
		pipeline.batches[i] = batches + i * BATCH;
	if (threads > 1 && trace->head.activities > BATCH &&
	    pthread_create(&thread, NULL, read_batches, &pipeline) == 0) {
		ret = add_batches(&pipeline, profile, seen, arg);
		pthread_join(thread, NULL);
	} else {
		ret = read_alone(&pipeline, profile, seen, arg);
	}
	if (ret < 0)
		*err = pipeline.err;
	return ret;
}
