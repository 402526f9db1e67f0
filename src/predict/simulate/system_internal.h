/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files that implement system.h: the numbers of a description, and the steps from
 * jobs to load ("pressure") to states to times. docs/reference/simulated/systems.md explains each number; times are in
 * seconds.
 */
#ifndef SLUICE_PREDICT_SIMULATE_SYSTEM_INTERNAL_H
#define SLUICE_PREDICT_SIMULATE_SYSTEM_INTERNAL_H

#include <stdbool.h>

#include "learn/math/random.h"
#include "predict/simulate/system.h"

#define SYSTEM_SIZES 4
#define SYSTEM_STEP_S 30.0 /* resolution of pressure */

/* A distribution given by its quantiles; values between them are interpolated logarithmically. */
#define QUANTILES_MAX 16
struct quantiles {
	double share[QUANTILES_MAX], value[QUANTILES_MAX];
	size_t count;
};

/* The time of a write of one size: modes and sigmas of log-normal distributions. */
struct write_times {
	double idle_s, idle_sigma, busy_s, busy_sigma;
	double exposure; /* probability that a write to a busy target is slow */
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
	double memory_rank, hours_rank; /* rank correlation with the number of nodes */
	double killed, least_used, quantum_s;
	double debug_share, debug_nodes, debug_hours;
	double backfill, warm_days, virtual_ratio, virtual_bytes;
	/* [pressure] */
	double power, writers_large, writers_small, large_nodes;
	double running, fresh, burst;
	/* [states] */
	double idle_s, short_s, long_s, long_share, dwell_sigma;
	double coupling, hazard_sigma, dwell_pressure;
	double path_share, path_s; /* share and mean duration of slowness of the probe path alone */
	/* [1M] .. [1G], [tail] */
	struct write_times times[SYSTEM_SIZES];
	double shift, tail_share, tail_busy, tail_power, longest_s;
};

/* Generates the jobs from warm_days before the start until `seconds`. The caller frees them. */
struct system_job *system_jobs(const struct system *system, uint64_t seed, double seconds,
			       double peak_s, size_t *count);

/* Computes the pressure from step -lead to step count, with mean 0 and standard deviation 1 over
 * all steps. The caller frees it. */
double *system_pressure(const struct system *system, const struct system_job *jobs,
			size_t job_count, size_t lead, size_t count);

/* The ascending times at which a state changes; it is off at first. */
struct toggles {
	double *at_s;
	size_t count, cap;
};
void toggles_release(struct toggles *toggles);

/* Generates the busy state of a target from step -lead on. */
void system_states(const struct system *system, uint64_t seed, size_t target,
		   const double *pressure, size_t lead, size_t count, struct toggles *toggles);

/* Generates the writes of all sizes to a target; times are since the start. busy receives new
 * memory. */
struct sampling {
	double start_s, every_s[2]; /* of probes, and of other writes */
	size_t rounds[2];
};
void system_times(const struct system *system, uint64_t seed, size_t target,
		  const struct toggles *toggles, const struct sampling *sampling,
		  struct chronicle_series *series, uint8_t **busy);

/* Streams of random numbers: one of the jobs, and one for states, path and each size of a target.
 */
enum { STREAM_JOBS = 0, STREAM_STATES = 0, STREAM_PATH, STREAM_SIZES, STREAMS = 8 };
static inline void target_stream(struct random *random, uint64_t seed, size_t target, size_t what)
{
	random_stream(random, seed, (target + 1) * STREAMS + what);
}

#endif
