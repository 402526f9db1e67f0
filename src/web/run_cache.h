/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runs that the application has read: what a page shows of a run is computed once. At most
 * RUN_CACHE_MAX runs that nobody uses are kept, those used last. Used by many threads.
 */
#ifndef SLUICE_WEB_RUN_CACHE_H
#define SLUICE_WEB_RUN_CACHE_H

#include "base/buf.h"

struct config;
struct err;
struct profile;
struct run_cache;
struct open_run;
struct window_index;

#define RUN_CACHE_MAX 4
/* Rows of each table of a report or a comparison: a run may have a million files. */
#define RUN_ROWS_MAX 100

struct run_cache *run_cache_new(const struct config *config);
void run_cache_free(struct run_cache *cache); /* nobody uses a run; accepts NULL */

/* The run of a trace. The caller returns it with run_cache_put(). NULL with err set. */
struct open_run *run_cache_get(struct run_cache *cache, const char *path, struct err *err);
void run_cache_put(struct run_cache *cache, struct open_run *run); /* accepts NULL */

const char *open_run_path(const struct open_run *run);

/* Reads the whole trace at the first call, for which others wait. NULL with err set. */
const struct profile *open_run_profile(struct open_run *run, struct err *err);

/* The index of its windows, which may not be complete yet. NULL with err set. */
struct window_index *open_run_index(struct open_run *run, struct err *err);

/*
 * The report as JSON (schema sluice.report/1), with the RUN_ROWS_MAX functions and files with the
 * most time, computed at the first call. NULL with err set.
 */
const struct buf *open_run_report(struct open_run *run, struct err *err);

#endif
