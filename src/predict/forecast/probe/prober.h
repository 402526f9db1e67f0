/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the rounds of writes to storage targets (WAN-6 to WAN-9). Each target has a worker process
 * (prober_worker.h). The prober sends orders when the plan says that they are due (prober_plan.h)
 * and collects the answers. The prober itself never accesses storage and never blocks on a target.
 * If a write exceeds its timeout, the prober records a timeout and kills the worker; the target
 * gets no further orders until that process has exited, so at most one stuck process per target
 * exists.
 *
 * A target has at most one write in progress. Reference writes start when the probes of the round
 * are complete, and run one at a time unless the plan asks for simultaneous ones. A sample carries
 * the time of the round in which its write started, so a probe of the same round never has a later
 * time than a reference write.
 *
 * The caller passes the current time to each step and calls prober_wait() between steps. A prober
 * must be used from one thread.
 * Papers: WAN-3, WAN-4.
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

/* Rounds follow the wall clock; timeouts follow the monotonic clock. */
struct prober_now {
	int64_t wall_ns, monotonic_ns;
};
struct prober_now prober_now(void);

struct prober_sample {
	size_t target, size; /* indices into the targets and into plan.sizes */
	int64_t round_ns;
	double seconds;
	enum sample_outcome outcome;
	enum sample_method method;
	const char *text; /* the reason of a failure, or "" */
};

typedef void prober_on_sample(void *arg, const struct prober_sample *sample);

/* Outcomes of the writes that were due. */
struct prober_counts {
	uint64_t probes, reference_writes; /* completed writes */
	uint64_t timeouts, full, failed;
	uint64_t bytes;	      /* of completed and timed-out writes */
	uint64_t over_budget; /* skipped: the daily limit was reached */
	uint64_t late;	      /* skipped: not started before the next one was due */
	uint64_t stuck;	      /* skipped: the previous worker had not exited */
};

/* The state of one target. */
struct prober_slot {
	struct worker worker;
	bool is_busy, is_probe_due, is_stuck;
	size_t size;	  /* index of the size being written */
	int64_t round_ns; /* round of the write in progress */
	int64_t begun_ns; /* monotonic start time of the write */
	uint64_t device;  /* device number of the file, 0 if unknown */
	struct prober_counts counts;
};

struct prober {
	struct prober_plan plan;
	const struct target *targets;
	size_t count;	/* number of targets that this prober writes to */
	size_t *number; /* index in `targets` of each of them */
	size_t all;	/* number of targets in the whole plan */
	struct prober_slot *slots;
	struct payload payload;
	struct prober_ledger ledger;
	int64_t round_ns; /* start of the latest round, 0 before the first */
	uint64_t rounds;
	uint8_t *reference_due; /* count x CHRONICLE_SIZES: 1 if the write is queued */
	size_t *queue; /* queued reference writes, oldest first: target x CHRONICLE_SIZES + size */
	size_t queued;
	bool is_stopped;
	prober_on_sample *on_sample;
	void *arg;
};

/*
 * Starts a worker for each target of the plan's slice and makes each create a file. Returns -errno
 * and says which target must be corrected if a worker cannot create its file. A worker that does
 * not answer within 2 s counts as stuck, which is not an error. `targets` must outlive the prober.
 */
int prober_open(struct prober *prober, const struct targets *targets,
		const struct prober_plan *plan, prober_on_sample *on_sample, void *arg,
		struct err *err);
/* Ends the workers. A worker that is blocked by the storage exits when the storage releases it. */
void prober_close(struct prober *prober);

/* Collects answers, enforces timeouts and starts the writes that are due. Does not block. */
void prober_step(struct prober *prober, struct prober_now now);

/* Sleeps until the next step is due, fd is readable (-1: no fd) or max_ns have passed. */
void prober_wait(const struct prober *prober, struct prober_now now, int fd, int64_t max_ns);

/* True while any write is in progress. */
bool prober_is_busy(const struct prober *prober);
/* True when every probe of the current round has completed, failed or timed out. */
bool prober_has_probed(const struct prober *prober);

/* Adds up the counts of all targets. */
void prober_sum(const struct prober *prober, struct prober_counts *sum);
/* CPU seconds of the workers that have exited; complete after prober_stop(). */
double prober_cpu(const struct prober *prober);
/* Ends the workers; the counts stay valid until prober_close(). */
void prober_stop(struct prober *prober);

/* True if two directory targets are on the same device; *one and *other are their indices. */
bool prober_shared_device(const struct prober *prober, size_t *one, size_t *other);

#endif
