/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When a prober writes what, and what that may cost: arithmetic only. All times are nanoseconds; of
 * the wall clock since 1970 unless it is said otherwise.
 *
 * Rounds begin at multiples of the period of the wall clock, so that all who probe a system, on
 * whatever nodes, have the same rounds without asking each other. In each round every target gets
 * one probe. The ground truth is spread over the rounds of its own period: target after target, and
 * size after size, so that the large writes do not disturb each other; or all are due at once in
 * the first round.
 */
#ifndef SLUICE_PREDICT_FORECAST_PROBE_PROBER_PLAN_H
#define SLUICE_PREDICT_FORECAST_PROBE_PROBER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"

struct err;

/* The paper's MB is Lustre's RPC of 2^20 bytes. */
#define PROBER_PROBE_BYTES (1u << 20)
#define PROBER_SIZE_STEP 4096	       /* sizes are multiples of it: O_DIRECT wants whole blocks */
#define PROBER_SECOND_BYTES (8u << 20) /* a write gets a second more per so many bytes */

struct prober_plan {
	int64_t every_ns, truth_every_ns; /* truth 0: none */
	uint64_t sizes[CHRONICLE_SIZES];  /* of the probe, then of the ground truth; ascending */
	size_t size_count;
	int64_t timeout_ns;	   /* of a probe; larger writes get more */
	uint64_t budget_bytes;	   /* a day, in all; 0: no limit */
	uint64_t target_bytes;	   /* a day, per target; 0: no limit */
	uint64_t rate_bytes;	   /* a second, on the average of a minute; 0: no limit */
	enum sample_method method; /* SAMPLE_UNKNOWN: direct where it can be done */
	bool is_together;	   /* ground truth of all targets at once */
};

/* Every 30 s 1 MiB; every 5 min 64 MiB, 256 MiB and 1 GiB; 20 s. No limits. */
void prober_plan_init(struct prober_plan *plan);
/* "1M,64M,1G" */
int prober_plan_sizes(struct prober_plan *plan, const char *text, struct err *err);
/* Is it one that can be done? */
int prober_plan_check(const struct prober_plan *plan, struct err *err);

/* How long a write of the size may take. */
int64_t prober_plan_timeout(const struct prober_plan *plan, size_t size);

/* Start of the round that now is in. */
int64_t prober_plan_round(const struct prober_plan *plan, int64_t now_ns);

/* Is this size of ground truth due for the target, one of `targets`, in the round? */
bool prober_plan_truth(const struct prober_plan *plan, int64_t round_ns, size_t target,
		       size_t targets, size_t size);

/* ---- what was spent ---- */

/* Days are those of UTC. */
struct prober_ledger {
	int64_t day;
	uint64_t spent, *of; /* of: per target */
	size_t targets;
	double room;	 /* bytes that may be written at once by the rate; below 0: wait */
	int64_t room_ns; /* monotonic time that it was reckoned at; 0: never */
};

void prober_ledger_init(struct prober_ledger *ledger, size_t targets);
void prober_ledger_release(struct prober_ledger *ledger);

/* Does a write fit into what is left of the day? */
bool prober_ledger_fits(struct prober_ledger *ledger, const struct prober_plan *plan,
			int64_t now_ns, size_t target, uint64_t bytes);
/* It is done; also for what was written before we began. */
void prober_ledger_spend(struct prober_ledger *ledger, int64_t now_ns, size_t target,
			 uint64_t bytes);
/* How long to wait until a write may begin by the rate; 0: it may now. Times are monotonic. */
int64_t prober_ledger_wait(struct prober_ledger *ledger, const struct prober_plan *plan,
			   int64_t monotonic_ns);

#endif
