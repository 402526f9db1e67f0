/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The overhead monitor: measures the overhead of recording while the program runs. If it exceeds
 * its budget, the recording is reduced: first calls are counted instead of recorded, then recording
 * stops. The overhead and each reduction become notes of the trace
 * (observe/tally/overhead_notes.h).
 *
 * The overhead of a process is measured by its guest (spool_header.cost_ticks) and summed over
 * threads. Its share is relative to the time that the program could use: the run time of the
 * process, times the number of threads that recorded, but no more than the number of processors.
 * The process with the largest share decides. An overhead below the grace time never counts, so
 * short runs are recorded in full, whatever their start costs.
 *
 * The recording is never increased again: a trace with unnoticed gaps would be worse than one that
 * ends.
 */
#ifndef SLUICE_OBSERVE_COLLECT_OVERHEAD_H
#define SLUICE_OBSERVE_COLLECT_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/spool.h"
#include "trace/format.h"

struct err;

/*
 * Parses a share of the run time such as "1%", "0.5 %" or "0"; a number without a unit is in
 * percent.
 */
int overhead_parse(const char *text, double *share, struct err *err);

struct overhead_settings {
	double budget; /* share of the run time; 0: no limit */
	int64_t grace_ns;
	unsigned processors; /* 0: those of this machine */
	const char *host;    /* for notes; copied */
	/* Receives the notes. Their texts are valid during the call only. */
	void (*note)(void *arg, const struct note *note);
	void *arg;
};

/* Measurements of one process. */
struct overhead_sample {
	int64_t cost_ns;   /* overhead so far, summed over threads */
	int64_t inline_ns; /* the part of it that in-line plug-ins took */
	int64_t run_ns;	   /* time since the process attached */
	uint32_t threads;  /* threads that recorded */
};

struct overhead_process {
	struct overhead_sample now;
	struct overhead_sample base; /* values when the mode last changed */
};

struct overhead {
	struct overhead_settings settings;
	enum capture_mode mode; /* the mode that it decided on */
	int64_t changed_ns;
	struct overhead_process *processes; /* by index in the trace */
	size_t count, cap;
};

void overhead_init(struct overhead *overhead, const struct overhead_settings *settings,
		   enum capture_mode mode);
void overhead_release(struct overhead *overhead);

/* Reads the measurements from the spool of a process that is alive or has just ended. */
struct overhead_sample overhead_sample(const struct spool_header *header,
				       const struct run_clock *clock, uint64_t now_ticks);
/* Ignores a sample whose overhead exceeds the available time. */
void overhead_add(struct overhead *overhead, uint32_t process,
		  const struct overhead_sample *sample);

/*
 * Decides from the samples at now_ns of the run. Returns the capture mode from now on; a change is
 * noted.
 */
enum capture_mode overhead_judge(struct overhead *overhead, int64_t now_ns);

/* Overhead as a share of the run time; 0 if no time has passed. */
double overhead_share(const struct overhead_sample *sample, unsigned processors);

/*
 * At the end: writes notes about the overhead of all processes. The arguments are CPU times;
 * negative: unknown.
 */
void overhead_finish(struct overhead *overhead, int64_t collector_ns, int64_t watcher_ns);

/* CPU time of the calling process. */
int64_t overhead_cpu_ns(void);

#endif
