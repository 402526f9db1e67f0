/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of system.h share: the numbers of a description, and the steps from jobs to
 * pressure to states to times. docs/systems.md tells what each number means; times are seconds.
 */
#ifndef SLUICE_PREDICT_SIMULATE_SYSTEM_INTERNAL_H
#define SLUICE_PREDICT_SIMULATE_SYSTEM_INTERNAL_H

#include <stdbool.h>

#include "learn/maths/random.h"
#include "predict/simulate/system.h"

#define SYSTEM_SIZES 4
#define SYSTEM_STEP_S 30.0 /* of pressure */

/* A distribution by its quantiles: share of all and value, even on a logarithmic scale between. */
#define QUANTILES_MAX 16
struct quantiles {
	double share[QUANTILES_MAX], value[QUANTILES_MAX];
	size_t count;
};

/* share: 0 .. 1. */
double quantiles_at(const struct quantiles *quantiles, double share);

/* How long a write of a size takes. Modes and sigmas are those of log-normal distributions. */
struct write_times {
	double idle_s, idle_sigma, busy_s, busy_sigma;
	double exposure; /* chance that a write to a busy target meets what makes it busy */
};

#define SYSTEM_NAMES 4 /* groups of targets */
#define SYSTEM_QUEUES 2

struct system {
	char name[CHRONICLE_NAME], title[128];
	char queues[SYSTEM_QUEUES][CHRONICLE_NAME]; /* batch, debug */
	char prefixes[SYSTEM_NAMES][CHRONICLE_NAME];
	size_t counts[SYSTEM_NAMES], name_count; /* "atlas1-" and 144: atlas1-0 .. atlas1-143 */

	/* [system], [jobs] */
	double nodes, days;
	double per_day, night, peak_hour, users;
	struct quantiles job_nodes, job_memory, job_hours;
	double memory_rank, hours_rank; /* correlation of ranks with that of the nodes */
	double killed, least_used, quantum_s;
	double debug_share, debug_nodes, debug_hours;
	double backfill, warm_days, virtual_ratio, virtual_bytes;
	/* [pressure] */
	double power, writers_large, writers_small, large_nodes;
	double running, fresh, burst;
	/* [states] */
	double idle_s, short_s, long_s, long_share, dwell_sigma;
	double coupling, hazard_sigma, dwell_pressure;
	double path_share, path_s; /* a probe's way is slow by itself so often, for so long */
	/* [1M] .. [1G], [tail] */
	struct write_times times[SYSTEM_SIZES];
	double shift, tail_share, tail_busy, tail_power, longest_s;
};

/* Jobs from days before 0 to seconds; the caller's to free. */
struct system_job *system_jobs(const struct system *system, uint64_t seed, double seconds,
			       double peak_s, size_t *count);

/* Pressure by steps from -lead steps to count; of the whole, mean 0 and deviation 1. */
double *system_pressure(const struct system *system, const struct system_job *jobs,
			size_t job_count, size_t lead, size_t count);

/* When a state changes, which is off at first; times rise. */
struct toggles {
	double *at_s;
	size_t count, cap;
};
void toggles_release(struct toggles *toggles);

/* The target's busy state from -lead steps on. */
void system_states(const struct system *system, uint64_t seed, size_t target,
		   const double *pressure, size_t lead, size_t count, struct toggles *toggles);

/* The writes of all sizes to a target; times are since the start. busy is set to new memory. */
struct sampling {
	double start_s, every_s[2]; /* probes, others */
	size_t rounds[2];
};
void system_times(const struct system *system, uint64_t seed, size_t target,
		  const struct toggles *toggles, const struct sampling *sampling,
		  struct chronicle_series *series, uint8_t **busy);

/* Streams of random numbers: of the jobs, and of a target's states, path and sizes. */
enum { STREAM_JOBS = 0, STREAM_STATES = 0, STREAM_PATH, STREAM_SIZES, STREAMS = 8 };
static inline void target_stream(struct random *random, uint64_t seed, size_t target, size_t what)
{
	random_stream(random, seed, (target + 1) * STREAMS + what);
}

#endif
