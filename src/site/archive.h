/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The archive: activities that left the database, as one Parquet dataset per run (the format of
 * docs/reference/queries.md), in ARCHIVE/run=ID. The database keeps the run, its sums and its
 * findings. Activities are deleted only after their files are complete and on disk.
 */
#ifndef SLUICE_SITE_ARCHIVE_H
#define SLUICE_SITE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct err;
struct site_db;
struct trace_watch;

struct archive_totals {
	uint64_t runs, activities, bytes; /* that moved to the archive */
	uint64_t removed;		  /* runs that were removed because of their age */
	uint64_t partitions;		  /* that became empty and were dropped */
};

/* The directory of a run in the archive; the caller frees it. */
char *archive_path(const char *archive, const char *uuid);

/* Moves the activities of one run. Does nothing if it has none in the database. */
int archive_run(struct site_db *site, const char *archive, const char *uuid,
		struct archive_totals *totals, struct err *err);

/*
 * Applies the retention of the settings site.keep_*: removes runs that are too old, and moves the
 * activities of runs that are older than site.keep_activities, or that exceed site.keep_size, the
 * oldest first. Stops between two runs if watch says so (-EINTR).
 */
int archive_retain(struct site_db *site, const struct config *config,
		   const struct trace_watch *watch, struct archive_totals *totals, struct err *err);

#endif
