/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connects what the observer sees with those who want to know: job metrics, the database of the
 * site, and the other way round the verdicts of the system reasoner. Belongs to the thread that
 * judges.
 */
#ifndef SLUICE_DAEMON_REPORTER_H
#define SLUICE_DAEMON_REPORTER_H

#include <stdbool.h>
#include <stdint.h>

struct forwarder;
struct metrics;
struct observer;

#define REPORTER_CYCLES 10 /* of the observer, between reports of loads */

struct reporter {
	struct observer *observer;
	struct forwarder *forwarder; /* NULL: there is no database */
	struct metrics *metrics;     /* NULL: nobody reads metrics */
	unsigned cycles;	     /* since the last report of loads */
	int64_t reported_ns;
	int64_t started_ns; /* when the alert that lasts was raised */
	bool has_target;    /* its file system was known when it was last reported */
	bool is_idle;	    /* the last report of loads was empty */
};

/* Ends what an earlier daemon may have reported. Call it once. now_ns is CLOCK_REALTIME. */
void reporter_start(struct reporter *reporter, int64_t now_ns);

/* After each cycle of the observer; has_changed: the alert was raised or cleared. */
void reporter_cycle(struct reporter *reporter, int64_t now_ns, bool has_changed);

#endif
