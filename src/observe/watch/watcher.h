/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watcher: a process beside the collector that analyzes activities while the program runs, with
 * asynchronous plug-ins, node statistics and reasoners. The collector passes it all activities and
 * never waits for it; activities that do not fit into the queue are dropped and counted. The
 * watcher returns notes and statistics, which the collector writes into the trace, and signals
 * anomalies. This is the collector's side; watcher_process.h is the process itself.
 *
 * If the watcher crashes, hangs or is killed, only its results are lost, and the collector records
 * that in a note. The watcher exits when the collector is gone.
 * Papers: SIOX-6.
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
	const char *health_directory; /* health files of a job with several nodes; NULL: one node */
	struct control *control;      /* receives the in-line plug-ins before any process starts */
	const char *directory; /* the run's directory, in which host and guests share files */
	bool wants_detector;   /* write a note if no plug-in detects anomalies */
	unsigned stop_ms;      /* time limit of watcher_stop(); 0: WATCHER_STOP_MS */
};

/*
 * Time for the watcher to exit. Time in which it waits for a processor or a disk of a loaded node
 * does not count, but after WATCHER_PATIENCE times the limit it is killed in any case.
 */
#define WATCHER_STOP_MS 10000
#define WATCHER_PATIENCE 6
#define WATCHER_BATCH 256

/* Callbacks of the trace writer. */
struct watcher_sink {
	void *arg;
	/*
	 * Receives one of fact_statistic, fact_sample, fact_note. The numbers of statistics are the
	 * watcher's own. A note of the kind NOTE_REFUSED is a sentence that must be shown to the
	 * user.
	 */
	void (*fact)(void *arg, const struct fact *fact, const void *row);
};

struct watcher_counts {
	uint64_t produced, dropped;
	uint64_t delivered; /* final after watcher_stop(): then produced = delivered + dropped */
	uint64_t anomalies; /* signaled so far */
	int64_t cpu_ns;	    /* CPU time of the watcher process; set by watcher_stop() */
};

/*
 * Checks the plug-ins that the settings name and forks the watcher. A plug-in that cannot be used
 * is refused with a note. Returns NULL if the settings need no watcher, or, with a note, if it
 * cannot be started.
 */
struct watcher *watcher_start(const struct watcher_options *options,
			      const struct watcher_sink *sink);

/*
 * To be called before the first activity that refers to the file or process. Times are in ticks of
 * the clock.
 */
void watcher_file(struct watcher *watcher, file_id id, const char *path);
void watcher_process(struct watcher *watcher, const struct process_info *process);
/* At most WATCHER_BATCH activities. */
void watcher_activities(struct watcher *watcher, const struct activity *batch, size_t n);
/* Updates the length of a tick. */
void watcher_clock(struct watcher *watcher, const struct run_clock *clock);

/* Receives what the watcher has sent. Call it at least ten times a second. */
void watcher_poll(struct watcher *watcher);
struct watcher_counts watcher_counts(const struct watcher *watcher);

/*
 * Lets the watcher process the rest and report, waits a bounded time, and receives its last notes.
 * Frees the watcher; NULL is fine. counts may be NULL.
 */
void watcher_stop(struct watcher *watcher, struct watcher_counts *counts);

#endif
