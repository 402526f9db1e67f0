/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rank of a probing process in the parallel job that it belongs to. This header is separate
 * because base/job.h and predict/forecast/jobs/jobs.h both define a struct job: the job of this
 * process, and a job of the scheduler.
 */
#ifndef SLUICE_PREDICT_FORECAST_SERVICE_PROBING_RANK_H
#define SLUICE_PREDICT_FORECAST_SERVICE_PROBING_RANK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Rank and number of ranks as job_find_rank() finds them. Returns false, with both untouched, if no
 * launcher started this process. The batch script of a Slurm job is not a rank.
 */
bool probing_find_rank(uint64_t *rank, uint64_t *ranks);

#endif
