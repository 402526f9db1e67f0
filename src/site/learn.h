/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From recorded calls to knowledge: an offline step reads the activities of runs that it has not
 * seen yet, adds their durations to histograms per program, file system, access pattern, layer,
 * function and size, and the transfer rates of MPI files to the statistics of hints
 * (store/outcomes.h). Daemons serve both to processes (daemon/knowledge.h).
 *
 * Setting site.learn selects calls by class or function. The histograms have the bins and size
 * classes of store/durations.h; they are bounded like those, so that recent runs count more.
 * Papers: SIOX-3.
 */
#ifndef SLUICE_SITE_LEARN_H
#define SLUICE_SITE_LEARN_H

#include <stdint.h>

struct config;
struct err;
struct site_db;
struct trace_watch;

struct learn_totals {
	uint64_t runs, activities; /* that were read; activities that durations were learned from */
	uint64_t hint_runs;	   /* that were read for hint statistics */
};

/*
 * Reads the runs with activities that were added since the last time, each in one transaction: a
 * run counts once, even if the step is killed. Stops between two runs if watch says so (-EINTR).
 * If something was learned, notifies NOTICE_KNOWLEDGE (site/notice.h) at the end.
 */
int site_learn(struct site_db *site, const struct config *config, const struct trace_watch *watch,
	       struct learn_totals *totals, struct err *err);

/* How long a call takes. */
struct expectation {
	const char *program;	/* "*": all programs */
	const char *filesystem; /* mount point; "": all file systems */
	const char *pattern;	/* "sequential", "strided", "random", "other" */
	const char *layer, *call;
	unsigned size_class; /* durations_class_bytes() */
	uint64_t calls;
	int64_t median_ns, slow_ns; /* 99 % of the calls take at most slow_ns */
};

/*
 * Calls seen() for each expectation of a program and of all programs together; program NULL: of
 * everything. Texts are valid during the call; a result other than 0 stops.
 */
typedef int expectation_seen(void *arg, const struct expectation *expectation);
int site_expectations(struct site_db *site, const char *program, expectation_seen *seen, void *arg,
		      struct err *err);

#endif
