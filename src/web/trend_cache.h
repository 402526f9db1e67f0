/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trends that were computed before: a page asks for them again and again, and their tests take
 * time. The key is a hash of all values. At most TREND_CACHE_MAX are kept, which need up to 100 KiB
 * each, but usually less than 1 KiB. Used by many threads.
 */
#ifndef SLUICE_WEB_TREND_CACHE_H
#define SLUICE_WEB_TREND_CACHE_H

#include <stddef.h>

struct trend;
struct trend_cache;
struct trend_run;

#define TREND_CACHE_MAX 256

struct trend_cache *trend_cache_new(void);
void trend_cache_free(struct trend_cache *cache); /* accepts NULL */

/* Initializes the trend of these runs; the caller releases it. */
void trend_cache_init(struct trend_cache *cache, struct trend *trend, const struct trend_run *runs,
		      size_t n);

#endif
