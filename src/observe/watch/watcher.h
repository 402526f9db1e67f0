/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watcher: a process beside the collector in which everything that thinks about activities runs
 * while the program does: asynchronous plug-ins, node statistics, reasoners. The collector hands it
 * what it takes in and never waits for it; what does not fit into the queue is dropped and counted.
 * It hands back notes and statistics, which the collector writes into the trace, and signals
 * anomalies.
 *
 * A watcher that crashes, hangs or is killed costs its findings and nothing else: the collector
 * says so in a note. It ends by itself when the collector is gone.
 */
#ifndef SLUICE_OBSERVE_WATCH_WATCHER_H
#define SLUICE_OBSERVE_WATCH_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

struct config;
struct err;
struct control;
struct watcher;

struct watcher_options {
	const struct config *config;
	const struct run_info *run;
	const struct run_clock *clock; /* as known at the start */
	int64_t begin_ns;	       /* CLOCK_MONOTONIC at time 0 of the run */
	const char *board; /* directory through which nodes of a job tell their health; NULL: one
			      node */
	struct control *control; /* gets the in-line plug-ins before any process starts */
	const char *directory;	 /* the run's, where host and guests share files */
	bool wants_detector;	 /* a note tells where there is none */
	unsigned stop_ms;	 /* how long watcher_stop() waits; 0: WATCHER_STOP_MS */
};

#define WATCHER_STOP_MS 10000
#define WATCHER_BATCH 256

/* What is asked of whoever writes the trace. */
struct watcher_sink {
	void *arg;
	/*
	 * One of fact_statistic, fact_sample, fact_note. Numbers of statistics are the watcher's
	 * own. A note of the kind NOTE_REFUSED is a whole sentence, which the user must hear.
	 */
	void (*fact)(void *arg, const struct fact *fact, const void *row);
};

struct watcher_counts {
	uint64_t produced, dropped;
	uint64_t delivered; /* final after watcher_stop(); then produced = delivered + dropped */
	uint64_t anomalies; /* signalled so far */
	int64_t cpu_ns;	    /* of the watcher process; after watcher_stop() */
};

/*
 * Checks and lists the plug-ins that the settings name, forks the watcher. A plug-in that cannot be
 * had is refused by a note. NULL: the settings ask for nothing, or, with a note, it cannot be had.
 */
struct watcher *watcher_start(const struct watcher_options *options,
			      const struct watcher_sink *sink);

/* Each file and process before the first activity that names it; times in ticks of the clock. */
void watcher_file(struct watcher *watcher, file_id id, const char *path);
void watcher_process(struct watcher *watcher, const struct process_info *process);
/* At most WATCHER_BATCH. */
void watcher_activities(struct watcher *watcher, const struct activity *batch, size_t n);
/* What a tick is worth, better known than before. */
void watcher_clock(struct watcher *watcher, const struct run_clock *clock);

/* Takes what the watcher has to say. To be called at least ten times a second. */
void watcher_poll(struct watcher *watcher);
struct watcher_counts watcher_counts(const struct watcher *watcher);

/*
 * Lets it see the rest and report, waits a bounded time, hands over what it said and what became of
 * it. Frees; NULL is fine. counts may be NULL.
 */
void watcher_stop(struct watcher *watcher, struct watcher_counts *counts);

#endif
