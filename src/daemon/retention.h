/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keeps the traces of the daemon (TRACES/UID/NAME.sluice) within limits of age and size: the oldest
 * are removed first, with the files beside them. Traces whose rows are not in the queue of the
 * database (without NAME.sluice.sent) are removed last, and counted. Traces of runs that are still
 * collected are never removed, but their size counts.
 *
 * Memory is bounded: a pass remembers the oldest RETENTION_BATCH traces.
 */
#ifndef SLUICE_DAEMON_RETENTION_H
#define SLUICE_DAEMON_RETENTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RETENTION_BATCH 4096
#define RETENTION_COPY ".copy" /* ends the name of an incomplete copy of a trace */

struct retention_limits {
	int64_t age_ns;	   /* 0: no limit */
	uint64_t bytes;	   /* of all traces together; 0: no limit */
	bool has_database; /* otherwise no trace waits for it */
};

struct retention_totals {
	uint64_t traces,
		bytes; /* that are there afterwards; bytes include those that are written */
	uint64_t removed;
	uint64_t removed_unsent; /* of the removed ones, those that the database does not have */
};

struct retention_totals retention_apply(const char *traces, const struct retention_limits *limits);

/*
 * Removes the traces of a user, or of one run, that were completed before a time (ns since 1970).
 * uuid NULL: all runs of the user; has_user false: of all users. Returns how many were removed.
 */
uint64_t retention_forget(const char *traces, bool has_user, uid_t user, const char *uuid,
			  int64_t before_ns);

#endif
