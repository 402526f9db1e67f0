/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/profile_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "observe/profile/saved.h"

/* With several parts, each thread has a profile of its own; smaller ones suffice. */
static const struct profile_limits part_limits = { .cells = 8192 };

int profile_load(struct profile *profile, struct trace *trace, unsigned threads, profile_seen seen,
		 void *arg, struct err *err)
{
	int r = saved_read(profile, trace, err);

	if (r)
		return r < 0 ? r : 0;
	profile_init(profile, &trace->head, NULL);
	r = profile_read(profile, trace, threads, seen, arg, err);
	if (r < 0)
		profile_release(profile);
	return r;
}

/* Enough groups to keep many threads busy; a group has at most so many parts. */
#define GROUPS 64
#define GROUP_MAX 32

/*
 * Groups of consecutive parts are added up by several threads and then added to the whole, one
 * after the other in the order of the parts, so that the result does not depend on the threads. A
 * thread that is ahead waits, so that there is one group in memory for each thread. The cost of
 * adding to a whole grows with its ranks; groups keep it small.
 */
struct loading {
	char *const *paths;
	size_t count, group;   /* parts, and parts of a group */
	unsigned threads;      /* for each part */
	char **origins;	       /* per part: tells it from the others */
	struct profile whole;  /* belongs to the thread whose turn it is */
	pthread_mutex_t mutex; /* guards the following */
	pthread_cond_t changed;
	size_t added;	/* groups that are part of the whole */
	struct err err; /* of the first part that failed; code 0: none */
	profile_seen seen;
	void *arg;
	uint64_t done;
};

static void count_part(struct loading *l)
{
	pthread_mutex_lock(&l->mutex);
	l->done++;
	if (l->seen)
		l->seen(l->arg, l->done);
	pthread_mutex_unlock(&l->mutex);
}

/* A process exists once, so the first one of a part identifies it, also after it was saved. */
static char *origin_of(const struct trace_head *head)
{
	const struct process_info *p = head->process_count ? head->processes : NULL;

	return p ? xprintf("%s/%d/%" PRId64, p->host ? p->host : "", p->pid,
			   head->run.started_ns + p->attached_ns)
		 : NULL;
}

static int merge_part(struct profile *whole, const struct profile *part, const char *path,
		      struct err *err)
{
	const char *mine = whole->parts ? whole->head->run.uuid : NULL;
	const char *other = part->head->run.uuid;

	if (mine && other && strcmp(mine, other) != 0)
		return err_set(err, EINVAL, "%s: not a part of the same job as the others", path);
	if (profile_merge(whole, part, err) < 0)
		return err_prefix(err, "%s", path);
	return 0;
}

static int add_path(struct loading *l, struct profile *whole, size_t number, struct err *err)
{
	const char *path = l->paths[number];
	struct profile part;
	struct trace trace;
	int r = trace_open(&trace, path, NULL, err);

	if (r < 0)
		return r;
	l->origins[number] = origin_of(&trace.head);
	r = profile_load(&part, &trace, l->threads, NULL, NULL, err);
	if (r >= 0) {
		r = merge_part(whole, &part, path, err);
		profile_release(&part);
	}
	trace_close(&trace);
	return r;
}

static bool has_failed(struct loading *l)
{
	bool failed;

	pthread_mutex_lock(&l->mutex);
	failed = l->err.code;
	pthread_mutex_unlock(&l->mutex);
	return failed;
}

/* Adds up the parts of a group. */
static int load_group(struct loading *l, struct profile *group, size_t first, struct err *err)
{
	size_t end = first + l->group < l->count ? first + l->group : l->count;
	int r = 0;

	profile_init_merged(group, &part_limits);
	for (size_t i = first; i < end && r >= 0 && !has_failed(l); i++) {
		r = add_path(l, group, i, err);
		if (r >= 0)
			count_part(l);
	}
	return r;
}

/* Numbers are given out in ascending order, so the thread with the lowest one never waits. */
static void wait_for_turn(struct loading *l, size_t number)
{
	pthread_mutex_lock(&l->mutex);
	while (l->added < number)
		pthread_cond_wait(&l->changed, &l->mutex);
	pthread_mutex_unlock(&l->mutex);
}

static void end_turn(struct loading *l, int r, const struct err *err)
{
	pthread_mutex_lock(&l->mutex);
	if (r < 0 && !l->err.code)
		l->err = *err;
	l->added++;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->mutex);
}

static void add_group(void *arg, size_t number, unsigned worker)
{
	struct loading *l = arg;
	size_t first = number * l->group;
	struct profile group;
	struct err err = { 0 };
	int r = load_group(l, &group, first, &err);

	(void)worker;
	wait_for_turn(l, number);
	if (r >= 0 && group.parts)
		r = merge_part(&l->whole, &group, l->paths[first], &err);
	end_turn(l, r, &err);
	profile_release(&group);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_origins(struct loading *l, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < l->count; i++) {
		char *origin = l->origins[i];

		l->origins[i] = NULL;
		if (origin)
			l->origins[n++] = origin;
	}
	qsort(l->origins, n, sizeof(*l->origins), compare_texts);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(l->origins[i], l->origins[i - 1]) == 0)
			return err_set(err, EINVAL,
				       "two of the parts are the same, or a part and its saved "
				       "profile (process %s)",
				       l->origins[i]);
	}
	return 0;
}

int profile_load_parts(struct profile *profile, char *const *paths, size_t count, unsigned threads,
		       profile_seen seen, void *arg, struct err *err)
{
	struct loading l = { .paths = paths,
			     .count = count,
			     .origins = xcalloc(count + 1, sizeof(*l.origins)),
			     .mutex = PTHREAD_MUTEX_INITIALIZER,
			     .changed = PTHREAD_COND_INITIALIZER,
			     .seen = seen,
			     .arg = arg };
	size_t group = (count + GROUPS - 1) / GROUPS, groups;
	int r;

	l.group = group < GROUP_MAX ? group + !group : GROUP_MAX;
	groups = (count + l.group - 1) / l.group;
	l.threads = groups && groups < threads ? threads / (unsigned)groups : 1;
	profile_init_merged(&l.whole, NULL);
	parallel_for(threads, groups, add_group, &l);
	if (l.err.code)
		*err = l.err;
	r = l.err.code ? -l.err.code : check_origins(&l, err);
	if (r < 0)
		profile_release(&l.whole);
	else
		*profile = l.whole;
	for (size_t i = 0; i < count; i++)
		free(l.origins[i]);
	free(l.origins);
	return r;
}
