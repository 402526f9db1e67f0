/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calculates the trials of a kernel on a simulated platform. The same parameters always cost the
 * same.
 */
#ifndef SLUICE_TUNE_TRIAL_SIMULATED_RUNNER_H
#define SLUICE_TUNE_TRIAL_SIMULATED_RUNNER_H

#include "tune/trial/trial.h"

/*
 * platform and kernel are names for platform_open() and workload_find(). ops->close() also frees
 * the texts that *runner points to.
 */
int simulated_runner_open(struct trial_runner *runner, const char *platform, const char *kernel,
			  uint64_t ranks, struct err *err);

/* The space that the paper searched for this kernel and platform; the caller releases it. */
int simulated_runner_space(const struct trial_runner *runner, struct space *space, struct err *err);

#endif
