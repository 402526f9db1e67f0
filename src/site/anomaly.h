/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Anomalies of nodes and of the whole system. Nodes report what is slow, and which load their users
 * cause; the system reasoner, which runs beside the database, judges what the anomalies of several
 * nodes have in common and raises an anomaly of the system with its likely cause. Every change is
 * notified (channel ANOMALY_CHANNEL of PostgreSQL, with the id of the anomaly), so that nodes need
 * not poll.
 */
#ifndef SLUICE_SITE_ANOMALY_H
#define SLUICE_SITE_ANOMALY_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct site_db;

#define ANOMALY_CHANNEL "sluice_anomaly"
#define ANOMALY_SYSTEM "system" /* subject of the anomalies that the system reasoner raises */

struct anomaly {
	int64_t id;
	const char *node;    /* host; "": the whole site */
	const char *subject; /* "process", "node", "target", ANOMALY_SYSTEM */
	const char *owner;   /* user whom it concerns; "": administrators only */
	const char *job, *target;
	int64_t started_ns, ended_ns; /* time of day; ended 0: it lasts */
	const char *cause, *detail;
	double value; /* how many times slower */
};

/*
 * Raises an anomaly, or updates the one of the same node, subject, job and target that lasts.
 * *id receives its id.
 */
int anomaly_raise(struct site_db *site, const struct anomaly *anomaly, int64_t *id,
		  struct err *err);

/* Ends an anomaly. Ending it again does nothing. */
int anomaly_end(struct site_db *site, int64_t id, int64_t ended_ns, struct err *err);

/* Calls seen() for each anomaly that lasts, the oldest first. A result other than 0 stops. */
typedef int anomaly_seen(void *arg, const struct anomaly *anomaly);
int anomaly_list(struct site_db *site, anomaly_seen *seen, void *arg, struct err *err);

/* The load that a user's job causes on a node now, per second. */
struct load {
	const char *node, *owner, *job, *target;
	double bytes_read, bytes_written, operations;
	int64_t updated_ns;
};

/* States the load of a node; replaces what was stated for the same user, job and target. */
int load_report(struct site_db *site, const struct load *load, struct err *err);

/*
 * Who loads the storage now: users and jobs over all nodes by bytes, then operations, of loads that
 * were stated at since_ns or later. node and target of a row are "".
 */
typedef int load_seen(void *arg, const struct load *load);
int load_rank(struct site_db *site, int64_t since_ns, size_t limit, load_seen *seen, void *arg,
	      struct err *err);

/*
 * The system reasoner: looks at the anomalies of nodes that last. If at least two nodes have one,
 * it raises an anomaly of the system: a target that most of them name, else a job that causes most
 * of the load, else the load of all. If no longer, it ends it. Returns 1 if something changed.
 */
int anomaly_judge(struct site_db *site, int64_t now_ns, struct err *err);

/*
 * Listens for changes, and waits for the next one. Returns 1 and the id of an anomaly, or 0 after
 * timeout_ms. -EOPNOTSUPP with SQLite.
 */
int anomaly_listen(struct site_db *site, struct err *err);
int anomaly_wait(struct site_db *site, int timeout_ms, int64_t *id, struct err *err);

#endif
