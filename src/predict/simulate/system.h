/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Generates probe data of simulated systems (Titan and Cori of Wan et al.): a scheduler runs a job
 * mix on the nodes, the mix partly drives the state of each storage target, and the times of probes
 * and writes depend on the state, with a heavy tail. The true states are known. The parameters are
 * in share/machines/NAME.ini (docs/reference/simulated/systems.md); they were taken from the paper's tables and
 * histograms before any model was trained on the data.
 *
 * The data depends only on the seed, not on the number of threads. The data of a target does not
 * depend on the number of targets requested.
 */
#ifndef SLUICE_PREDICT_SIMULATE_SYSTEM_H
#define SLUICE_PREDICT_SIMULATE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"

struct err;

struct system; /* a description */

/* name: "titan", "cori", or the path of a description. */
int system_open(struct system **system, const char *name, struct err *err);
/* Reads a description from memory, which may contain any bytes; name is used in messages. */
int system_parse(struct system **system, const char *name, const char *text, size_t bytes,
		 struct err *err);
void system_close(struct system *system);

double system_days(const struct system *system); /* length of the paper's campaign */
size_t system_targets(const struct system *system);

#define SYSTEM_START_S 1520708288.0 /* seconds since 1970; time stamp of the paper's sample */

struct system_request {
	double days;	/* 0: length of the paper's campaign */
	size_t targets; /* the number of targets, from the first; 0: all */
	uint64_t seed;
	double start_s; /* seconds since 1970; 0: SYSTEM_START_S */
	double probe_every_s, truth_every_s, jobs_every_s; /* defaults (0): 30, 300, 300 */
	unsigned threads;				   /* 0: one */
};

/* A job that was started. Times are seconds since the start of the campaign. */
struct system_job {
	double submit_s, start_s, end_s; /* end_s may be after the end of the campaign */
	double requested_s;		 /* requested wall time, at least the time used */
	double nodes, memory_bytes, virtual_bytes;
	uint32_t queue, user; /* indexes of the queue and of the user */
	/* Load on storage: a burst of burst_s in each period. period_s == 0: the job causes no
	 * load. */
	double period_s, phase_s, burst_s;
};

/* A chronicle and the truth from which it was generated. */
struct generated {
	struct chronicle chronicle; /* sizes 1 MiB, 64 MiB, 256 MiB, 1 GiB */
	uint8_t **busy; /* [target * CHRONICLE_SIZES + size][sample]: 1 if the target was busy */
	struct system_job *jobs; /* ordered by start */
	size_t job_count;
	double *pressure; /* load by jobs per 30 s, with mean 0 and standard deviation 1 */
	size_t pressure_count;
};

/* Leaves generated untouched on failure. -EINVAL: the system cannot satisfy the request. */
int system_generate(struct generated *generated, const struct system *system,
		    const struct system_request *request, struct err *err);
void generated_release(struct generated *generated);

#endif
