/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decides when a prober writes which size to which target, and keeps the byte limits. This file is
 * pure arithmetic. All times are nanoseconds of the wall clock since 1970 unless stated otherwise.
 *
 * Rounds start at multiples of the period on the wall clock, so probers on different nodes share
 * the same rounds without communication. Each round probes every target once. Reference writes are
 * larger writes of the sizes that are forecast; their measured times are the labels that models
 * learn from. They are spread over the rounds of their own, longer period, one target and size
 * after the other, so that they do not disturb each other. With is_simultaneous all of them are due
 * in the first round of the period.
 */
#ifndef SLUICE_PREDICT_FORECAST_PROBE_PROBER_PLAN_H
#define SLUICE_PREDICT_FORECAST_PROBE_PROBER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"

struct err;

/* Lustre's default RPC size; the paper calls it 1 MB. */
#define PROBER_PROBE_BYTES (1u << 20)
#define PROBER_SIZE_STEP 4096 /* sizes are multiples of it because O_DIRECT needs whole blocks */
#define PROBER_TIMEOUT_BYTES_PER_S (8u << 20) /* the timeout grows by 1 s per this many bytes */

struct prober_plan {
	int64_t every_ns, reference_every_ns; /* reference_every_ns 0: no reference writes */
	uint64_t sizes[CHRONICLE_SIZES];      /* the probe, then the reference writes; ascending */
	size_t size_count;
	int64_t timeout_ns;	   /* of a probe; larger writes get more time */
	uint64_t budget_bytes;	   /* per day for all targets; 0: no limit */
	uint64_t target_bytes;	   /* per day and target; 0: no limit */
	uint64_t rate_bytes;	   /* per second, averaged over a minute; 0: no limit */
	enum sample_method method; /* SAMPLE_UNKNOWN: O_DIRECT where the target supports it */
	bool is_simultaneous;	   /* reference writes of all targets start together */
	/* The slice of targets that one prober serves: first, first + step, ... */
	size_t first_target, target_step;
};

/*
 * Sets the defaults: a probe of 1 MiB every 30 s; reference writes of 64 MiB, 256 MiB and 1 GiB
 * every 5 minutes; a timeout of 20 s; no byte limits; all targets.
 */
void prober_plan_init(struct prober_plan *plan);
/* Parses a list such as "1M,64M,1G". The plan is unchanged on failure. */
int prober_plan_sizes(struct prober_plan *plan, const char *text, struct err *err);
/* Returns -EINVAL if the plan cannot be carried out. */
int prober_plan_check(const struct prober_plan *plan, struct err *err);

/* The time limit of a write of sizes[size]. */
int64_t prober_plan_timeout(const struct prober_plan *plan, size_t size);

/* The start of the round that contains now_ns. */
int64_t prober_plan_round(const struct prober_plan *plan, int64_t now_ns);

/* True if the reference write of sizes[size] to this target, one of `targets`, is due. */
bool prober_plan_reference_due(const struct prober_plan *plan, int64_t round_ns, size_t target,
			       size_t targets, size_t size);

/* The bytes written today (UTC), and what the rate limit allows. */
struct prober_ledger {
	int64_t day;	/* days since 1970 */
	uint64_t spent; /* bytes of all targets */
	uint64_t *of;	/* bytes per target */
	size_t targets;
	double room;	 /* bytes that the rate limit allows now; negative: wait */
	int64_t room_ns; /* monotonic time at which `room` was computed; 0: never */
};

void prober_ledger_init(struct prober_ledger *ledger, size_t targets);
void prober_ledger_release(struct prober_ledger *ledger);

/* True if a write fits into the daily limits. */
bool prober_ledger_fits(struct prober_ledger *ledger, const struct prober_plan *plan,
			int64_t now_ns, size_t target, uint64_t bytes);
/* Records a write, including one that an earlier process made today. */
void prober_ledger_spend(struct prober_ledger *ledger, int64_t now_ns, size_t target,
			 uint64_t bytes);
/* Nanoseconds until the rate limit allows the next write; 0: it may start now. */
int64_t prober_ledger_wait(struct prober_ledger *ledger, const struct prober_plan *plan,
			   int64_t monotonic_ns);

#endif
