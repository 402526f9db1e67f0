/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A kernel on a described platform as a test bed: a trial is a calculation. Without noise the same
 * parameters always cost the same; with noise each run is longer or shorter by a factor whose
 * logarithm is normal with the given deviation, drawn from the seed and the number of the run.
 */
#ifndef SLUICE_TUNE_TRIAL_SIMULATED_RUNNER_H
#define SLUICE_TUNE_TRIAL_SIMULATED_RUNNER_H

#include "tune/trial/trial.h"

/*
 * Names as for platform_open() and workload_of(). noise 0: none; 0.05 is about 5 %. The texts that
 * bed points at are its state's: ops->close() releases them, too.
 */
int simulated_runner_open(struct trial_runner *runner, const char *platform, const char *kernel,
			  uint64_t ranks, double noise, uint64_t seed, struct err *err);

/* As if so many runs had been made: a tuning that was cut off goes on with the noise that it would
 * have had. */
void simulated_runner_skip(struct trial_runner *runner, uint64_t runs);

/* What the paper searched for this kernel on this platform; the caller releases it. */
int simulated_runner_space(const struct trial_runner *runner, struct space *space, struct err *err);

/* Bytes/s that the platform's file system can do, to tell a share of it. */
double simulated_runner_peak(const struct trial_runner *runner);

#endif
