/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/trend_cache.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"
#include "observe/compare/trend.h"

struct entry {
	XXH128_hash_t key;
	struct trend trend;
};

struct trend_cache {
	pthread_mutex_t lock;
	struct entry entries[TREND_CACHE_MAX];
	size_t count, next; /* the entry that is replaced next */
};

struct trend_cache *trend_cache_new(void)
{
	struct trend_cache *cache = xcalloc(1, sizeof(*cache));

	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void trend_cache_free(struct trend_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		trend_release(&cache->entries[i].trend);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static void *copy_items(const void *items, size_t count, size_t bytes)
{
	void *copy = xcalloc(count + 1, bytes);

	if (count)
		memcpy(copy, items, count * bytes);
	return copy;
}

static void copy_trend(struct trend *copy, const struct trend *trend)
{
	*copy = *trend;
	copy->cap = trend->count + 1;
	copy->shifts = copy_items(trend->shifts, trend->count, sizeof(*trend->shifts));
	copy->events = copy_items(trend->events, trend->event_count, sizeof(*trend->events));
}

/* Under the lock. */
static bool find_trend(const struct trend_cache *cache, XXH128_hash_t key, struct trend *trend)
{
	for (size_t i = 0; i < cache->count; i++)
		if (XXH128_isEqual(cache->entries[i].key, key)) {
			copy_trend(trend, &cache->entries[i].trend);
			return true;
		}
	return false;
}

/* Under the lock. */
static void keep_trend(struct trend_cache *cache, XXH128_hash_t key, const struct trend *trend)
{
	struct entry *entry = &cache->entries[cache->next];

	if (cache->count < TREND_CACHE_MAX)
		cache->count++;
	else
		trend_release(&entry->trend);
	entry->key = key;
	copy_trend(&entry->trend, trend);
	cache->next = (cache->next + 1) % TREND_CACHE_MAX;
}

void trend_cache_init(struct trend_cache *cache, struct trend *trend, const struct trend_run *runs,
		      size_t n)
{
	XXH128_hash_t key = XXH3_128bits(runs, n * sizeof(*runs));
	bool is_known;

	pthread_mutex_lock(&cache->lock);
	is_known = find_trend(cache, key, trend);
	pthread_mutex_unlock(&cache->lock);
	if (is_known)
		return;
	trend_init(trend, runs, n);
	pthread_mutex_lock(&cache->lock);
	keep_trend(cache, key, trend);
	pthread_mutex_unlock(&cache->lock);
}
