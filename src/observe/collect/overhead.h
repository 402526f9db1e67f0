/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The overhead monitor: what recording costs, watched while it does. A run in which it costs more
 * than its budget is recorded less closely, first by counting calls instead of recording them, then
 * not at all. What it cost and what was given up for it become notes of the trace.
 *
 * The cost of a process is what its guest tells (spool_header.cost_ticks), summed over threads. Its
 * share is of the time that the program could use for itself meanwhile: the run time of the process
 * for each thread that recorded, but for no more threads than there are processors. The process
 * with the largest share counts. A cost below the grace is never held against anybody: short runs
 * are recorded in full, whatever their start costs.
 *
 * Nothing is ever raised again: a trace with holes that nobody sees would be worse than one that
 * ends.
 */
#ifndef SLUICE_OBSERVE_COLLECT_OVERHEAD_H
#define SLUICE_OBSERVE_COLLECT_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"
#include "contract/spool.h"

struct err;

/* Share of the run time, from a setting such as "1%", "0.5 %" or "0"; a bare number is percent. */
int overhead_parse(const char *text, double *share, struct err *err);

struct overhead_settings {
	double budget; /* share of the run time, 0 for no limit */
	int64_t grace_ns;
	unsigned processors; /* 0: those of this machine */
	const char *host;    /* for notes; copied */
	/* Where notes go; their texts are the callee's for the call only. */
	void (*note)(void *arg, const struct note *note);
	void *arg;
};

/* What is known of one process. */
struct overhead_sample {
	int64_t cost_ns;   /* so far, summed over threads */
	int64_t inline_ns; /* the part of it that in-line plug-ins took */
	int64_t run_ns;	   /* since the process attached */
	uint32_t threads;  /* that recorded */
};

struct overhead_process {
	struct overhead_sample now;
	struct overhead_sample base; /* when the mode last changed */
};

struct overhead {
	struct overhead_settings settings;
	enum capture_mode mode; /* what it has decided on */
	int64_t changed_ns;
	struct overhead_process *processes; /* by index in the trace */
	size_t count, cap;
};

/* Names of NOTE_COST notes, source "overhead"; numbers are ns or shares of 1. */
#define OVERHEAD_GUEST_NS "guest_ns"	   /* of a process */
#define OVERHEAD_GUEST_SHARE "guest_share" /* of a process, as above, over its whole life */
#define OVERHEAD_INLINE_NS "inline_ns"	   /* of a process: in-line plug-ins, part of guest_ns */
#define OVERHEAD_COLLECTOR_NS "collector_ns"
#define OVERHEAD_WATCHER_NS "watcher_ns"

void overhead_init(struct overhead *overhead, const struct overhead_settings *settings,
		   enum capture_mode mode);
void overhead_release(struct overhead *overhead);

/* What the spool of a living process, or one that has just ended, says by now. */
struct overhead_sample overhead_sample(const struct spool_header *header,
				       const struct run_clock *clock, uint64_t now_ticks);
/* A cost that is more than all the time there was is left out. */
void overhead_add(struct overhead *overhead, uint32_t process,
		  const struct overhead_sample *sample);

/*
 * Judges by what was added, at now_ns of the run. Returns the mode to capture in from now on; a
 * change is noted.
 */
enum capture_mode overhead_judge(struct overhead *overhead, int64_t now_ns);

/* Share of the run time that so much cost is; 0 where no time has passed. */
double overhead_share(const struct overhead_sample *sample, unsigned processors);

/* At the end: notes what everybody cost. CPU times; below 0 where not known. */
void overhead_finish(struct overhead *overhead, int64_t collector_ns, int64_t watcher_ns);

/* CPU time of the calling process. */
int64_t overhead_cpu_ns(void);

#endif
