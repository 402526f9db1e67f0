/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A kernel on a described platform as a test bed: a trial is a calculation. Without noise the same
 * parameters always cost the same; with noise each run is longer or shorter by a factor whose
 * logarithm is normal with the given deviation, drawn from the seed and the number of the run.
 */
#ifndef SLUICE_TUNE_BED_BED_SIMULATED_H
#define SLUICE_TUNE_BED_BED_SIMULATED_H

#include "tune/bed/bed.h"

/*
 * Names as for platform_open() and workload_of(). noise 0: none; 0.05 is about 5 %. The texts that
 * bed points at are its state's: ops->close() releases them, too.
 */
int bed_simulated_open(struct bed *bed, const char *platform, const char *kernel, uint64_t ranks,
		       double noise, uint64_t seed, struct err *err);

/* As if so many runs had been made: a tuning that was cut off goes on with the noise that it would
 * have had. */
void bed_simulated_skip(struct bed *bed, uint64_t runs);

/* What the paper searched for this kernel on this platform; the caller releases it. */
int bed_simulated_space(const struct bed *bed, struct space *space, struct err *err);

/* Bytes/s that the platform's file system can do, to tell a share of it. */
double bed_simulated_peak(const struct bed *bed);

#endif
