/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A clock that the forecaster and its evaluation share.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_FORECASTER_INTERNAL_H
#define SLUICE_PREDICT_FORECAST_STATES_FORECASTER_INTERNAL_H

#include <time.h>

/* CPU time of this thread, which does not depend on the load of the machine. */
static inline double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
