/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A kernel on a described platform as a test bed: a trial is a calculation. Without noise the same
 * parameters always cost the same; with noise each run is longer or shorter by a factor whose
 * logarithm is normal with the given deviation, drawn in the order of the runs from the seed.
 */
#ifndef SLUICE_TUNE_BED_SIMULATED_H
#define SLUICE_TUNE_BED_SIMULATED_H

#include "tune/bed.h"

/* Names as for platform_open() and workload_of(). noise 0: none; 0.05 is about 5 %. */
int bed_simulated_open(struct bed *bed, const char *platform, const char *kernel, uint64_t ranks,
		       double noise, uint64_t seed, struct err *err);

/* What the paper searched for this kernel on this platform; the caller releases it. */
int bed_simulated_space(const struct bed *bed, struct space *space, struct err *err);

/* Bytes/s that the platform's file system can do, to tell a share of it. */
double bed_simulated_peak(const struct bed *bed);

#endif
