/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known from earlier runs: one SQLite file (setting store.path), shared by all runs of a
 * user. Any number of processes may use it at once; every operation is one transaction, and doing
 * it twice is as good as once where the header says idempotent.
 *
 *   catalogue.h   attributes, nodes, devices, layers, calls; facts of runs
 *   durations.h   how long calls take: histograms
 *   outcomes.h    what files did under which hints
 *   studies.h     tunings and their trials
 *   knowledge.h   parameters that were proved to be better
 *   elements.h    what elemental operations of a platform cost
 *   probes.h      how long writes to storage targets took, and which jobs ran meanwhile
 *
 * A store is used from one thread, and by the process that opened it. A store made by a later
 * version is refused, as is a file of anything else; one of an earlier version is brought up to
 * date, its rows kept. One that may only be read can be read.
 */
#ifndef SLUICE_STORE_STORE_H
#define SLUICE_STORE_STORE_H

#include <stdarg.h>
#include <stdint.h>

struct err;
struct sqlite3_stmt;
struct store;

/* How long to wait for others who are writing. */
#define STORE_WAIT_MS 5000

/* Makes the file and its folder if need be. */
int store_open(struct store **store, const char *path, struct err *err);
/* To look only: nothing is made. -ENOENT where there is no store yet. */
int store_open_existing(struct store **store, const char *path, struct err *err);
void store_close(struct store *store);
const char *store_path(const struct store *store);

/* ---- for the files of src/store ---- */

/*
 * Prepares a statement (kept for the next time) and binds: format has a letter per argument,
 * 'i' int64_t, 'd' double, 't' const char * (NULL is NULL). NULL on failure, told in err.
 */
struct sqlite3_stmt *store_query(struct store *store, struct err *err, const char *sql,
				 const char *format, ...);

/* The next row: 1, 0 at the end, -errno. At the end and on failure the statement is done with. */
int store_step(struct store *store, struct sqlite3_stmt *statement, struct err *err);

/* Done with it before the end of its rows: it would keep others from writing. */
void store_done(struct sqlite3_stmt *statement);

/* Runs a statement without rows. */
int store_run(struct store *store, struct err *err, const char *sql, const char *format, ...);

/* A transaction; `commit` false rolls back. Not nested. */
int store_begin(struct store *store, struct err *err);
int store_end(struct store *store, int commit, struct err *err);

#endif
