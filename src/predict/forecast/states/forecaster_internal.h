/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the forecaster and of its judgement share.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_FORECASTER_INTERNAL_H
#define SLUICE_PREDICT_FORECAST_STATES_FORECASTER_INTERNAL_H

#include <time.h>

/* CPU time of this thread: what a fit or an answer costs, however busy the machine is. */
static inline double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
