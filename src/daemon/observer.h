/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The observer: sees every call that the daemon collects, and knows how the node is doing. It sums
 * up calls for the metrics, grades how fast they are (observe/plugins/grading.h), and lets the
 * reasoner of the node judge (observe/reason/reasoner.h). While an anomaly lasts, there is an alert
 * with its likely cause: the load of the node, one file system, or one job; and who loads the
 * storage now.
 *
 * Threads: one collects (observer_file, observer_activities, observer_end); another one calls
 * observer_cycle() every second or so. Memory: OBSERVER_RUNS runs with OBSERVER_FILES files each;
 * what exceeds that is summed up under "other".
 */
#ifndef SLUICE_DAEMON_OBSERVER_H
#define SLUICE_DAEMON_OBSERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/alert.h"
#include "daemon/load_table.h"

struct activity;
struct buf;
struct config;
struct err;
struct observer;
struct sums_table;

#define OBSERVER_RUNS 1024
#define OBSERVER_FILES 65536
#define OBSERVER_MOUNTS 255
#define OBSERVER_RANKED 5 /* runs that an alert names */

/* A run as the collector knows it. */
struct observed {
	uint64_t id; /* not 0 */
	uid_t user;
	const char *job; /* "": none */
	/* Calls are counted by its processes rather than recorded, except for some, such as opens;
	 * then, the key of the run: what observer_counts() names it by. 0: not. */
	uint64_t counted;
};

/* Calls of one kind on one handle that were counted. */
struct observed_count {
	uint64_t link; /* the handle, as in contract/record.h; 0: unknown */
	enum load_operation operation;
	uint64_t calls, bytes;
};

/* Fails if the settings of statistics are invalid. command and tell are as in struct alert. */
int observer_new(struct observer **observer, const struct config *config, const char *command,
		 void (*tell)(const char *sentence), struct err *err);
void observer_free(struct observer *observer);

/* A file that activities of the run refer to, before the first of them. */
void observer_file(struct observer *observer, const struct observed *run, uint32_t file,
		   const char *path);
/* Durations are in ns. */
void observer_activities(struct observer *observer, const struct observed *run,
			 const struct activity *batch, size_t n);
/*
 * What a process has counted since it was asked last. The file system is that of the handle: it is
 * known if all processes of the run have opened the same file system by the call of this number.
 * Returns false, and does nothing, if the run is not known yet, or beyond OBSERVER_RUNS.
 */
bool observer_counts(struct observer *observer, uid_t user, uint64_t counted,
		     const struct observed_count *list, size_t n);
/* The run is over. */
void observer_end(struct observer *observer, uint64_t run);

/* What the alert is about, for the site. Texts are valid until the next cycle. */
struct observer_anomaly {
	const char *target; /* file system that nearly all of the lost time is on; "": none */
	const char *reason, *cause;
	bool has_job; /* nearly all of the lost time is that of one of several jobs: */
	uid_t user;
	const char *job;
	double value; /* duration of very slow calls / the longest usual one */
};

/* Judges. Returns true if the alert was raised or cleared. now_ns is CLOCK_REALTIME. */
bool observer_cycle(struct observer *observer, int64_t now_ns);

/* The alert as it is now: what observer_cycle() has left. For the thread that calls it. */
const struct alert *observer_alert(const struct observer *observer);

/* What the last cycle saw; for the thread that calls observer_cycle(), after it was raised. */
struct observer_anomaly observer_anomaly(const struct observer *observer);

/* See load_table_read(). */
size_t observer_loads(struct observer *observer, enum load_reader reader, int64_t now_ns,
		      struct load_sum *out);

/*
 * The name of a place: its mount point, and its name in the site, which has the node in front of a
 * file system that is not shared; "" if it is unknown. Valid as long as the observer.
 */
const char *observer_mount(struct observer *observer, unsigned place);
const char *observer_target(struct observer *observer, unsigned place);

/* The name of this node in the site. */
const char *observer_node(const struct observer *observer);

/* The system reasoner says something about this node; see alert_judge(). */
void observer_judge(struct observer *observer, const char *kind, const char *verdict);

/* Sums of calls since they were last drained. */
struct sums_table *observer_sums(struct observer *observer);

#endif
