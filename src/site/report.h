/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a node tells the site about itself, as payloads for site_apply(): an anomaly that begins or
 * ends, and the load that its users cause now. They travel in the same queue as runs, so they
 * arrive in order and count once, also if the database was away.
 *
 * An anomaly is known by its node and the time at which it began. Its end ends everything of the
 * node that began earlier and lasts, so that a node that was restarted can end what it has
 * forgotten. A report of loads replaces the previous one of the node.
 */
#ifndef SLUICE_SITE_REPORT_H
#define SLUICE_SITE_REPORT_H

#include <stddef.h>
#include <stdint.h>

struct rows_writer;

#define REPORT_LOADS 64 /* rows of a report; the rest is one row without an owner */

/* The anomaly of a node. Texts are never NULL. */
struct report_anomaly {
	const char *node, *target;
	const char *owner, *job; /* of the job that loses nearly all of the time; "": none */
	const char *cause, *detail;
	int64_t started_ns, ended_ns; /* time of day; ended 0: it lasts */
	double value;		      /* how many times slower */
};

/* A load of a user's job, per second. */
struct report_load {
	const char *owner, *job, *target;
	double bytes_read, bytes_written, operations;
};

/* The payload is that of the writer, valid until it is used again. */
void report_put_anomaly(struct rows_writer *writer, const struct report_anomaly *anomaly);

/*
 * Those with the most bytes and then operations are kept, REPORT_LOADS of them. A report without
 * loads says that the node is idle.
 */
void report_put_loads(struct rows_writer *writer, const char *node, const struct report_load *loads,
		      size_t count, int64_t now_ns);

#endif
