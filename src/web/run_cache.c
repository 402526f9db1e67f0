/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/run_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "observe/profile/profile_parts.h"
#include "observe/report/diagnosed.h"
#include "observe/window/window.h"
#include "trace/format.h"

#define NICENESS 10 /* of threads that read a whole trace */

struct open_run {
	const struct config *config;
	char *path;
	struct timespec modified;
	off_t bytes;
	unsigned users; /* of the following two, the lock of the cache */
	uint64_t used;
	/* What has been read; only the thread that has the lock looks at it. The report of a large
	 * run takes seconds, for which charts must not wait: the index has a lock of its own. */
	pthread_mutex_t lock;
	struct trace trace;
	struct profile profile;
	bool has_profile, has_report;
	struct buf report;
	pthread_mutex_t index_lock;
	struct window_index *index;
};

struct run_cache {
	const struct config *config;
	pthread_mutex_t lock;
	struct open_run **runs;
	size_t count, cap;
	uint64_t uses;
};

struct run_cache *run_cache_new(const struct config *config)
{
	struct run_cache *cache = xcalloc(1, sizeof(*cache));

	cache->config = config;
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

static void run_free(struct open_run *run)
{
	window_index_close(run->index);
	if (run->has_profile) {
		profile_release(&run->profile);
		trace_close(&run->trace);
	}
	buf_release(&run->report);
	pthread_mutex_destroy(&run->lock);
	pthread_mutex_destroy(&run->index_lock);
	free(run->path);
	free(run);
}

void run_cache_free(struct run_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		run_free(cache->runs[i]);
	free(cache->runs);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static bool is_same(const struct open_run *run, const char *path, const struct stat *st)
{
	return strcmp(run->path, path) == 0 && run->bytes == st->st_size &&
	       run->modified.tv_sec == st->st_mtim.tv_sec &&
	       run->modified.tv_nsec == st->st_mtim.tv_nsec;
}

static struct open_run *add_run(struct run_cache *cache, const char *path, const struct stat *st)
{
	struct open_run *run = xcalloc(1, sizeof(*run));

	run->config = cache->config;
	run->path = xstrdup(path);
	run->modified = st->st_mtim;
	run->bytes = st->st_size;
	pthread_mutex_init(&run->lock, NULL);
	pthread_mutex_init(&run->index_lock, NULL);
	cache->runs = xgrow(cache->runs, &cache->cap, cache->count + 1, sizeof(struct open_run *));
	cache->runs[cache->count++] = run;
	return run;
}

struct open_run *run_cache_get(struct run_cache *cache, const char *path, struct err *err)
{
	struct open_run *run = NULL;
	struct stat st;

	if (stat(path, &st) != 0) {
		err_set(err, errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < cache->count && !run; i++)
		if (is_same(cache->runs[i], path, &st))
			run = cache->runs[i];
	if (!run)
		run = add_run(cache, path, &st);
	run->users++;
	run->used = ++cache->uses;
	pthread_mutex_unlock(&cache->lock);
	return run;
}

/* Takes the run out of the cache that was not used for the longest time, if there are too many. */
static struct open_run *take_oldest(struct run_cache *cache)
{
	size_t unused = 0, oldest = 0;
	struct open_run *run;

	for (size_t i = 0; i < cache->count; i++) {
		if (cache->runs[i]->users)
			continue;
		if (!unused++ || cache->runs[i]->used < cache->runs[oldest]->used)
			oldest = i;
	}
	if (unused <= RUN_CACHE_MAX)
		return NULL;
	run = cache->runs[oldest];
	cache->runs[oldest] = cache->runs[--cache->count];
	return run;
}

void run_cache_put(struct run_cache *cache, struct open_run *run)
{
	struct open_run *oldest;

	if (!run)
		return;
	pthread_mutex_lock(&cache->lock);
	run->users--;
	oldest = take_oldest(cache);
	pthread_mutex_unlock(&cache->lock);
	if (oldest)
		run_free(oldest);
}

const char *open_run_path(const struct open_run *run)
{
	return run->path;
}

static int load_profile(struct open_run *run, struct err *err)
{
	int r = trace_open(&run->trace, run->path, NULL, err);

	if (r < 0)
		return r;
	r = profile_load(&run->profile, &run->trace, parallel_cores(), NULL, NULL, err);
	if (r < 0) {
		trace_close(&run->trace);
		return r;
	}
	run->has_profile = true;
	return 0;
}

struct loading {
	struct open_run *run;
	struct err *err;
	int result;
};

static void *load_with_low_priority(void *arg)
{
	struct loading *loading = arg;

	setpriority(PRIO_PROCESS, 0, NICENESS); /* of this thread, and of those that it starts */
	loading->result = load_profile(loading->run, loading->err);
	return NULL;
}

/*
 * Under the lock of the run. Takes all cores for seconds, so a thread of low priority does it: a
 * page asks for charts at the same time, which need little.
 */
static int read_profile(struct open_run *run, struct err *err)
{
	struct loading loading = { run, err, 0 };
	pthread_t thread;

	if (run->has_profile)
		return 0;
	if (pthread_create(&thread, NULL, load_with_low_priority, &loading) != 0)
		return load_profile(run, err);
	pthread_join(thread, NULL);
	return loading.result;
}

const struct profile *open_run_profile(struct open_run *run, struct err *err)
{
	int r;

	pthread_mutex_lock(&run->lock);
	r = read_profile(run, err);
	pthread_mutex_unlock(&run->lock);
	return r < 0 ? NULL : &run->profile;
}

struct window_index *open_run_index(struct open_run *run, struct err *err)
{
	struct window_index *index;

	pthread_mutex_lock(&run->index_lock);
	if (!run->index && window_index_open(&run->index, run->path, err) < 0)
		run->index = NULL;
	index = run->index;
	pthread_mutex_unlock(&run->index_lock);
	return index;
}

/* Under the lock of the run. */
static void write_report(struct open_run *run)
{
	struct diagnosed diagnosed;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = xmemstream(&text, &bytes);

	diagnosed_init(&diagnosed, &run->profile, run->config, run->path, false);
	diagnosed.report.top = RUN_ROWS_MAX;
	render_json(out, &diagnosed.report);
	diagnosed_release(&diagnosed);
	fclose(out);
	run->report = (struct buf){ text, bytes, bytes };
	run->has_report = true;
}

const struct buf *open_run_report(struct open_run *run, struct err *err)
{
	int r;

	pthread_mutex_lock(&run->lock);
	r = read_profile(run, err);
	if (r == 0 && !run->has_report)
		write_report(run);
	pthread_mutex_unlock(&run->lock);
	return r < 0 ? NULL : &run->report;
}
