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

struct loading {
	char *const *paths;
	size_t count, pieces;
	struct profile *wholes; /* per piece */
	struct err *errors;	/* per piece; code 0: none */
	char **origins;		/* per part: tells it from the others */
	pthread_mutex_t mutex;	/* guards the following */
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
	r = profile_load(&part, &trace, 1, NULL, NULL, err);
	if (r >= 0) {
		r = merge_part(whole, &part, path, err);
		profile_release(&part);
	} else {
		err_prefix(err, "%s", path);
	}
	trace_close(&trace);
	return r;
}

static void load_piece(void *arg, size_t piece, unsigned worker)
{
	struct loading *l = arg;
	size_t end = l->count * (piece + 1) / l->pieces;

	(void)worker;
	profile_init_merged(&l->wholes[piece], &part_limits);
	for (size_t i = l->count * piece / l->pieces; i < end; i++) {
		if (add_path(l, &l->wholes[piece], i, &l->errors[piece]) < 0)
			return;
		count_part(l);
	}
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

static int join_pieces(struct loading *l, struct profile *profile, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < l->pieces && r >= 0; i++) {
		if (l->errors[i].code)
			*err = l->errors[i];
		r = l->errors[i].code ? -l->errors[i].code : 0;
	}
	if (r >= 0)
		r = check_origins(l, err);
	*profile = l->wholes[0];
	for (size_t i = 1; i < l->pieces; i++) {
		if (r >= 0 && l->wholes[i].parts)
			r = merge_part(profile, &l->wholes[i], l->paths[0], err);
		profile_release(&l->wholes[i]);
	}
	if (r < 0)
		profile_release(profile);
	return r;
}

int profile_load_parts(struct profile *profile, char *const *paths, size_t count, unsigned threads,
		       profile_seen seen, void *arg, struct err *err)
{
	size_t pieces = threads < count ? threads : count;
	struct loading l = { .paths = paths,
			     .count = count,
			     .pieces = pieces,
			     .wholes = xcalloc(pieces, sizeof(*l.wholes)),
			     .errors = xcalloc(pieces, sizeof(*l.errors)),
			     .origins = xcalloc(count + 1, sizeof(*l.origins)),
			     .mutex = PTHREAD_MUTEX_INITIALIZER,
			     .seen = seen,
			     .arg = arg };
	int r;

	parallel_for(threads, pieces, load_piece, &l);
	r = join_pieces(&l, profile, err);
	for (size_t i = 0; i < count; i++)
		free(l.origins[i]);
	free(l.wholes);
	free(l.errors);
	free(l.origins);
	return r;
}
