/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What probe data looks like, without a forecast: the durations of writes with the states that fit
 * them, and the jobs of the snapshots.
 * Papers: WAN-14, WAN-15.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_DESCRIPTION_H
#define SLUICE_PREDICT_FORECAST_STATES_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "learn/states/mixture.h"

struct chronicle;

/* Minimum number of completed writes, and the maximum number of states. */
#define DESCRIPTION_LEAST 40
#define DESCRIPTION_STATES 3

/* The writes of one size to all targets. */
struct description_writes {
	double *seconds; /* of completed writes, ascending */
	size_t count, timeouts, failed;
	/* Log-normal states; BIC selects their number. Valid if there are DESCRIPTION_LEAST. */
	struct mixture mixture;
	bool has_states;
};
void description_writes_init(struct description_writes *writes, const struct chronicle *chronicle,
			     size_t size);
void description_writes_release(struct description_writes *writes);

/*
 * The name of a state: "single" if there is only one, else "idle" and "busy". With three states,
 * the third one is "slow", or "tail" if it has less than LABELS_FEW of the writes; if the first
 * one has less, it is "cached" and idle and busy are the others.
 */
const char *description_state(const struct mixture *mixture, size_t component);
/* The most frequent duration of a state. */
double description_mode(const struct mixture *mixture, size_t component);

/* Each job once, as in its last snapshot; values are NAN if unknown. */
struct description_jobs {
	double *nodes, *memory_bytes;
	double *seconds; /* run time up to the last snapshot that has the job */
	size_t count;
	double days; /* between the first and the last snapshot */
};
void description_jobs_init(struct description_jobs *jobs, const struct chronicle *chronicle);
void description_jobs_release(struct description_jobs *jobs);

#endif
