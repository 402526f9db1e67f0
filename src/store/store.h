/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store: results of earlier runs in one SQLite file (setting store.path), which all runs of a
 * user share, or in the PostgreSQL database of a site. Both have the tables of store/schema.h. Any
 * number of processes may use it at the same time. Every operation is a transaction.
 *
 *   catalogue.h   attributes, nodes, devices, layers, calls; facts of runs
 *   durations.h   histograms of call durations
 *   outcomes.h    transfer rates of files by their hints
 *   studies.h     tunings and their runs
 *   knowledge.h   the knowledge base: parameters that were proved to be faster
 *   entry_runs.h  the runs that entries of the knowledge base are judged by
 *   elements.h    benchmarks of elementary I/O operations of a platform
 *   probes.h      durations of test writes to storage targets, and the jobs that ran meanwhile
 *
 * Where a path is expected, the connection string of PostgreSQL is accepted as well: "dbname=sluice
 * host=/run/postgresql" or "postgresql://...". Its tables are created and migrated on request only
 * (store_migrate()).
 *
 * A store is used by one thread of the process that opened it. A store of a later version and files
 * of other applications are refused. A store of an earlier version is migrated; its rows are kept.
 * A store without write permission can be read. A store is private to its user: the file is created
 * with mode 0600, and one that another user may have written is refused (base/trusted.h).
 * Papers: SIOX-31.
 */
#ifndef SLUICE_STORE_STORE_H
#define SLUICE_STORE_STORE_H

struct err;
struct store;

/* How long an operation waits for other processes that are writing. */
#define STORE_WAIT_MS 20000

/* Opens the store; creates the file and its directory if they do not exist. */
int store_open(struct store **store, const char *path, struct err *err);
/* Opens the store but does not create it: -ENOENT if it does not exist. */
int store_open_existing(struct store **store, const char *path, struct err *err);
void store_close(struct store *store);
const char *store_path(const struct store *store);

/* A transaction, which cannot be nested. `commit` 0 rolls it back. */
int store_begin(struct store *store, struct err *err);
int store_end(struct store *store, int commit, struct err *err);

/*
 * For commands that create or change the tables: opens a store of any version, or without tables;
 * reads its version (0: no tables); and changes it to a version in one transaction. A version below
 * the current one drops what it cannot hold.
 */
int store_connect(struct store **store, const char *path, struct err *err);
int store_version(struct store *store, int *version, struct err *err);
int store_migrate(struct store *store, int version, struct err *err);

#endif
