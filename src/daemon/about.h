/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a trace does not say about its run, in a file beside it: job, partition, and whether only
 * sums may be kept. A line each.
 *
 * The file exists before the trace gets its name, so that a daemon that is killed at any moment
 * loses nothing: it is UUID.about as long as the run is collected or copied, and TRACE.about
 * afterwards, where TRACE ends with -UUID.sluice.
 */
#ifndef SLUICE_DAEMON_ABOUT_H
#define SLUICE_DAEMON_ABOUT_H

#include <stdbool.h>
#include <sys/types.h>

#define ABOUT_SUFFIX ".about"

struct about {
	char *job, *partition; /* NULL: none */
	bool only_sums;	       /* the trace is to be removed when its rows are in the queue */
};

/* Writes UUID.about in the directory. On failure, the run has no job in the database. */
void about_write(const char *directory, const char *uuid, const struct about *about);

/* Writes those that are missing of the runs that are being collected, by their ledgers
 * (observe/collect/ledger.h). user NULL: of all users. */
void about_write_ledgers(const char *traces, const uid_t *user);

/* A trace has got its name: gives its file the final name, too. Returns false if there is none. */
bool about_claim(const char *trace);

/* The same; writes the file if there is none. */
void about_settle(const char *trace, const struct about *about);

/* Reads what about_claim() has found; texts are owned. All empty if there is nothing. */
void about_read(const char *trace, struct about *about);
void about_release(struct about *about);

/* Is the path that of a UUID.about whose run has left no trace? */
bool about_is_orphan(const char *path);

#endif
