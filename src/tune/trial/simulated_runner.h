/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calculates the trials of a kernel on a simulated platform. Without noise the same parameters
 * always cost the same. With noise each run time is multiplied by a log-normal factor of the given
 * deviation, drawn from the seed and the number of the run.
 */
#ifndef SLUICE_TUNE_TRIAL_SIMULATED_RUNNER_H
#define SLUICE_TUNE_TRIAL_SIMULATED_RUNNER_H

#include "tune/trial/trial.h"

/*
 * platform and kernel are names for platform_open() and workload_of(). noise 0: none; 0.05: about
 * 5 %. ops->close() also frees the texts that *runner points to.
 */
int simulated_runner_open(struct trial_runner *runner, const char *platform, const char *kernel,
			  uint64_t ranks, double noise, uint64_t seed, struct err *err);

/* Skips the noise of this many runs, so that a resumed tuning sees the noise it would have seen. */
void simulated_runner_skip(struct trial_runner *runner, uint64_t runs);

/* The space that the paper searched for this kernel and platform; the caller releases it. */
int simulated_runner_space(const struct trial_runner *runner, struct space *space, struct err *err);

/* Peak bandwidth of the platform's file system in bytes/s. */
double simulated_runner_peak(const struct trial_runner *runner);

#endif
