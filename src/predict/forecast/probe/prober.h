/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rounds of writes to storage targets (WAN-6 to WAN-9). Each target has a worker process
 * (prober_worker.h); the prober gives orders when they are due (prober_plan.h) and hears what
 * became of them. It never touches storage itself and never waits for a target: one that does not
 * answer in time is recorded as such, its worker is killed, and it is not asked again before that
 * worker is gone, so that there is at most one stuck process per target.
 *
 * A target never has more than one write at a time. Ground truth begins when the probes of the
 * round are done, and, unless all are to be written together, one write after the other. Samples
 * carry the time of the round in which they were begun: what was probed in the same round was known
 * before.
 *
 * The caller passes the time in, and does something else, or prober_wait(), between steps. Used
 * from one thread.
 */
#ifndef SLUICE_PREDICT_FORECAST_PROBE_PROBER_H
#define SLUICE_PREDICT_FORECAST_PROBE_PROBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"
#include "predict/forecast/probe/prober_plan.h"
#include "predict/forecast/probe/prober_worker.h"
#include "predict/forecast/probe/targets.h"

struct err;

/* Both clocks; deadlines go by the one that nobody sets. */
struct prober_now {
	int64_t wall_ns, monotonic_ns;
};
struct prober_now prober_now(void);

struct prober_sample {
	size_t target, size;
	int64_t round_ns;
	double seconds;
	enum sample_outcome outcome;
	enum sample_method method;
	const char *text; /* what is wrong; "" */
};

/* What became of what was due. */
struct prober_counts {
	uint64_t probes, truths; /* writes that were done */
	uint64_t timeouts, full, failed;
	uint64_t bytes;	      /* of writes that were begun and not refused */
	uint64_t over_budget; /* left out: no room in the day's budget */
	uint64_t late;	      /* left out: not begun before it was due again */
	uint64_t stuck;	      /* left out: its worker had not come back */
};

/* A target of the prober. */
struct prober_slot {
	struct worker worker;
	bool is_busy, is_probe_due, is_stuck;
	size_t size;	  /* that is being written */
	int64_t round_ns; /* it belongs to */
	int64_t begun_ns; /* monotonic */
	uint64_t device;  /* 0: not known */
	struct prober_counts counts;
};

struct prober {
	struct prober_plan plan;
	const struct target *targets;
	size_t count;	/* of the targets that are ours */
	size_t *number; /* each one's among all, for the plan */
	size_t all;
	struct prober_slot *slots;
	struct payload payload;
	struct prober_ledger ledger;
	int64_t round_ns; /* the last round that was begun; 0: none */
	uint64_t rounds;
	uint8_t *truth_due; /* count x CHRONICLE_SIZES: place in the queue is by need */
	size_t *queue;	    /* of truth: target x CHRONICLE_SIZES + size, oldest first */
	size_t queued;
	bool is_stopped;
	void (*seen)(void *arg, const struct prober_sample *sample);
	void *arg;
};

/*
 * Starts the workers and has each make a file. -errno with what to mend where one cannot; one that
 * does not answer within 2 s is taken as stuck, and no failure. targets must outlive the prober;
 * those that are ours are `first`, `first` + `step` and so on, of all of them.
 */
int prober_open(struct prober *prober, const struct targets *targets, size_t first, size_t step,
		const struct prober_plan *plan,
		void (*seen)(void *arg, const struct prober_sample *sample), void *arg,
		struct err *err);
/* Ends the workers; one that storage holds is left behind and dies when that lets go. */
void prober_close(struct prober *prober);

/* Hears answers, gives up what takes too long, begins what is due. Does not wait. */
void prober_step(struct prober *prober, struct prober_now now);

/* Sleeps until the next step has something to do, fd can be read (-1: none), or most_ns. */
void prober_wait(const struct prober *prober, struct prober_now now, int fd, int64_t most_ns);

/* Is any write under way? */
bool prober_is_busy(const struct prober *prober);
/* Are all probes of the round answered, and given up? */
bool prober_has_probed(const struct prober *prober);

/* The sum over targets. */
void prober_sum(const struct prober *prober, struct prober_counts *sum);
/* Processor seconds of workers that have ended: all of them after prober_stop(). */
double prober_cpu(const struct prober *prober);
/* Ends the workers, and keeps what was counted until prober_close(). */
void prober_stop(struct prober *prober);

/* Two directories on one device are one target: true, with their numbers. */
bool prober_twins(const struct prober *prober, size_t *one, size_t *other);

#endif
