/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The forwarder: brings the runs that were collected into the database of the site. One thread
 * turns finished traces and reports of the node into rows (site/build.h, site/report.h) and puts
 * them into a queue on disk (wire/disk_queue.h); another one sends them to the database
 * (site/site.h), and listens for verdicts of the system reasoner and for new knowledge
 * (site/notice.h). The database may
 * be away for days: the queue is bounded, and traces that do not fit wait as files.
 *
 * Nothing is lost or stored twice if the process is killed: a trace is marked as sent
 * (TRACE.sent) after its rows are durable in the queue, and the database knows the numbers of the
 * rows that it has.
 * Papers: SIOX-30.
 */
#ifndef SLUICE_DAEMON_FORWARDER_H
#define SLUICE_DAEMON_FORWARDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/disk_queue.h"

struct about;
struct config;
struct err;
struct forwarder;
struct report_anomaly;
struct report_load;

/* The file beside a trace that says that its rows are in the queue. */
#define FORWARDER_SENT ".sent"

struct forwarder_options {
	const struct config *config;
	const char *state;    /* directory of the daemon */
	const char *traces;   /* directory of the traces: TRACES/UID/NAME.sluice */
	const char *database; /* as for site_open() */
	const char *node;     /* name of this node in the site */
	void (*tell)(const char *sentence);
	/*
	 * The database has forgotten a run (its id) or a user ("user:NAME"), as far as it began
	 * before that time. Called by a thread of the forwarder, more than once for each.
	 */
	void (*on_forgotten)(void *arg, const char *what, int64_t before_ns);
	/* The database may have learned something, or was away and may have. The same thread. */
	void (*on_knowledge)(void *arg);
	void *arg;
};

struct forwarder_status {
	const char *stream; /* id of the queue, by which the database knows this node */
	struct disk_queue_status queue;
	uint64_t traces;  /* that wait to be turned into rows */
	uint64_t applied; /* frames that the database has acknowledged */
	uint64_t invalid; /* frames that the database cannot take */
	uint64_t failed;  /* traces that cannot be turned into rows */
	bool is_connected;
};

int forwarder_start(struct forwarder **forwarder, const struct forwarder_options *options,
		    struct err *err);

/* A trace is complete. If only sums may be kept, the database gets no calls, and the trace is
 * removed as soon as its rows are in the queue. */
void forwarder_add(struct forwarder *forwarder, const char *trace, uid_t user,
		   const struct about *about);

/*
 * What the node says of itself (site/report.h). They are put into the queue in the order of the
 * calls, before the rows of traces that wait. While they do not fit into the queue, a new report of
 * loads takes the place of one that waits, and anomalies wait, FORWARDER_REPORTS at most.
 */
#define FORWARDER_REPORTS 64
void forwarder_report_anomaly(struct forwarder *forwarder, const struct report_anomaly *anomaly);
void forwarder_report_loads(struct forwarder *forwarder, const struct report_load *loads,
			    size_t count, int64_t now_ns);

/* What the system reasoner says about this node; empty texts: nothing. */
struct forwarder_verdict {
	char kind[32];	  /* "likely job" */
	char detail[512]; /* one sentence */
};
struct forwarder_verdict forwarder_verdict(struct forwarder *forwarder);

struct forwarder_status forwarder_status(struct forwarder *forwarder);

/* Stops within a moment; what was not sent is sent by the next one. Accepts NULL. */
void forwarder_stop(struct forwarder *forwarder);

#endif
