/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of a collector, and the functions that its parts use of each other: collector_open.c
 * begins or continues a run, collector_watch.c runs the watcher, and collector.c does the rest.
 */
#ifndef SLUICE_OBSERVE_COLLECT_COLLECTOR_INTERNAL_H
#define SLUICE_OBSERVE_COLLECT_COLLECTOR_INTERNAL_H

#include "observe/collect/calibrate.h"
#include "observe/collect/collector.h"
#include "observe/collect/cpu_counter.h"
#include "observe/collect/intake.h"
#include "observe/collect/ledger.h"
#include "observe/collect/mapping.h"
#include "observe/collect/overhead.h"

struct collector {
	char *directory;
	struct mapping page;
	struct control *control;			/* page.base; guests can overwrite it */
	struct control_plugin plugins[CONTROL_PLUGINS]; /* a copy from before the first guest */
	uint64_t start;					/* of this process, as process_start() */
	enum capture_clock clock;
	struct moment earlier;		      /* by which the clock is measured */
	enum cpu_counter_state counter_state; /* at the start */
	uint64_t tick0;			      /* time 0 of the trace */
	int64_t begin_ns;		      /* the same in CLOCK_MONOTONIC */
	int64_t duration_ns;		      /* of the run; 0: it has not ended */
	int64_t sampled_ns;		      /* time of the last samples in the trace; 0: none */
	struct run_info run;
	char *trace;
	/* Of a run that is handed over: */
	struct ledger ledger;
	struct trace old; /* that this collector continues; NULL reader: none */
	void (*released)(void *arg, uint64_t ticket);
	void *released_arg;
	int64_t cpu_ns; /* of its passes */
	struct intake intake;
	struct overhead overhead;
	uint32_t spools_seen;
	uint64_t anomalies; /* anomalies that were shipped */
	size_t ranks;	    /* processes that have passed MPI_Init */
	uint64_t namespace;
	uint64_t processes_checked_ns, reaped_ns, taken_ns, clocked_ns, overhead_seen_ns;
};

void collector_free(struct collector *c);

/* The clock of the run as it is known now, its name, and whether the CPU's counter is usable. */
struct run_clock collector_clock(const struct collector *c);
const char *collector_clock_name(enum capture_clock source);
enum cpu_counter_state collector_counter_state(void);

/* Runs before any process starts, because it writes the in-line plug-ins into the control page. */
void collector_start_watcher(struct collector *c, const struct collector_options *o);

/* Reads what the watcher reports. An anomaly triggers shipping of the activities before it. */
void collector_poll_watcher(struct collector *c);

/* Returns the CPU time of the watcher; -1 if there was none. */
int64_t collector_stop_watcher(struct collector *c);

/* Writes the accounts of in-line plug-ins over all processes. */
void collector_write_accounts(struct collector *c);

#endif
