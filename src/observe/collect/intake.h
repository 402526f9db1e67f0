/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a directory of spools to a trace being written: finds the spools, takes what is committed in
 * them pass by pass, orders and resolves it and hands it to a writer. The collector uses it on
 * living processes, recover on what a dead collector left behind.
 */
#ifndef SLUICE_OBSERVE_COLLECT_INTAKE_H
#define SLUICE_OBSERVE_COLLECT_INTAKE_H

#include "base/err.h"
#include "observe/collect/accounts.h"
#include "observe/collect/collector.h"
#include "observe/collect/order.h"
#include "observe/collect/resolve.h"
#include "observe/collect/drain.h"
#include "trace/format.h"

struct flight;
struct watcher;

/* One process of the run. */
struct member {
	struct spool spool; /* first: a struct spool * of ours is a struct member * */
	uint32_t index;	    /* in the trace */
	uint32_t number;    /* of its spool */
	int32_t parent;	    /* index of the process it was forked from, -1 for none */
	int32_t rank;	    /* as the trace was last told */
	bool open;	    /* the spool is mapped */
	bool ended;	    /* the process is gone: closed once nothing is pending */
	size_t pending;	    /* stretches found in the last pass */
};

struct intake {
	const char *directory; /* borrowed, as is host */
	const char *host;
	struct control
		*control; /* told how far a pass is, for recover; NULL when nobody will ask */
	const struct trace_format *form;
	void *writer;
	struct err error;	/* the first failure to write; nothing is written after it */
	struct run_clock clock; /* to tell when processes attached, and for counters */
	bool in_ns;		/* activities are written in ns by that clock, not in ticks */
	struct resolver *resolver;
	struct member **members; /* by process index; NULL: known, but without a spool */
	size_t member_count, member_cap;
	const struct process_info
		*known; /* processes that an earlier collector announced; borrowed */
	size_t known_count;
	uint64_t skip;	 /* so many records of the next pass are in the trace already */
	int64_t last_ns; /* latest end of an activity, with in_ns */
	struct pending *pending;
	size_t pending_count, pending_cap;
	struct order order;
	struct activity *batch;
	size_t batch_count;
	struct flight
		*flight; /* keeps activities until they are called for; NULL: they are written */
	struct accounts accounts;
	struct watcher *watcher; /* told of everything that is written; NULL: nobody is */
	struct collector_totals totals;
};

void intake_init(struct intake *in, const char *directory, const char *host);
void intake_release(struct intake *in); /* the writer is the caller's */

/* Opens the spools that are new in the directory. Returns how many were. */
size_t intake_find(struct intake *in);

/* Tells the trace of processes that have learnt their rank since. Returns how many ranks there are.
 */
size_t intake_ranks(struct intake *in);

/*
 * Takes what was committed until `now` in ticks, if it is `due` or fills a block; what is taken is
 * in the file when its place in the spool is given back. Returns the number of activities.
 */
size_t intake_pass(struct intake *in, uint64_t now, bool due);

/* Nothing more comes from the process: books its loss and counters, removes its files. Returns its
 * chunks. */
uint32_t intake_end(struct intake *in, struct member *m);

/* Hands activities to the writer that were resolved before; times as the writer wants them. */
void intake_write(struct intake *in, const struct activity *batch, size_t n);

/* Writes what the flight recorder holds. */
void intake_ship(struct intake *in);

/* A statistic, a sample or a note for the trace. */
void intake_fact(struct intake *in, const struct fact *fact, const void *row);

/* Ticks since the start of the trace as nanoseconds. */
int64_t intake_ns(const struct run_clock *clock, uint64_t ticks);

#endif
