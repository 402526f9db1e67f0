/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Anomalies of nodes and of the whole system. Nodes report what is slow, and which load their users
 * cause (site/report.h). The system reasoner, which runs beside the database, judges what they have
 * in common (site/verdict.h), and stores its verdicts as anomalies of the system while they hold.
 * Every change is notified (site/notice.h), so that nodes and the reasoner need not poll.
 */
#ifndef SLUICE_SITE_ANOMALY_H
#define SLUICE_SITE_ANOMALY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct site_db;

#define ANOMALY_SYSTEM "system" /* subject of the verdicts of the system reasoner */

/*
 * Loads that are older do not count, nor do anomalies of a node that was silent for this time, nor
 * verdicts of a reasoner that was. Nodes report much more often while there is something to report.
 */
#define ANOMALY_STALE_NS (INT64_C(60) * 1000000000)

struct anomaly {
	int64_t id;
	const char *node;    /* "": the whole site */
	const char *subject; /* "node", ANOMALY_SYSTEM */
	const char *owner;   /* user whom it concerns; "": administrators only */
	const char *job, *target;
	int64_t started_ns; /* time of day */
	const char *cause, *detail;
	double value; /* how many times slower */
};

/* Calls seen() for each anomaly that lasts, the oldest first. A result other than 0 stops. */
typedef int anomaly_seen(void *arg, const struct anomaly *anomaly);
int anomaly_list(struct site_db *site, anomaly_seen *seen, void *arg, struct err *err);

/*
 * The same for verdicts that concern a node: on the node, or on a target that it uses. None if the
 * reasoner has not judged for ANOMALY_STALE_NS before now_ns.
 */
int anomaly_list_verdicts(struct site_db *site, const char *node, int64_t now_ns,
			  anomaly_seen *seen, void *arg, struct err *err);

/* The load that a user's job causes on all nodes, per second, and its part of the load of all. */
struct load {
	const char *owner, *job; /* owner "": all who are not listed by their nodes */
	double bytes_read, bytes_written, operations;
	double byte_share, operation_share; /* 0 to 1 */
};

/*
 * Who loads the storage now: users and jobs over all nodes by bytes, then operations, of loads that
 * count at now_ns. target NULL: on all targets.
 */
typedef int load_seen(void *arg, const struct load *load);
int load_rank(struct site_db *site, int64_t now_ns, const char *target, size_t limit,
	      load_seen *seen, void *arg, struct err *err);

/*
 * The system reasoner: judges the anomalies of nodes that last, stores new verdicts, changes and
 * ends others. Several processes may call it. Returns the number of verdicts that have changed.
 */
int anomaly_judge(struct site_db *site, int64_t now_ns, struct err *err);

#endif
