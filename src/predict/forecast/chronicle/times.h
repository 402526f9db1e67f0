/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binary search in rows that are sorted by time.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_TIMES_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_TIMES_H

#include <stddef.h>

/*
 * Returns the number of rows with a time <= time_s. Each row has row_bytes bytes, with its time, a
 * double, at `offset`. The function is inline because features need many such searches.
 */
static inline size_t times_until(const void *rows, size_t row_bytes, size_t offset, size_t count,
				 double time_s)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *at = (const char *)rows + middle * row_bytes + offset;

		if (*(const double *)at <= time_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
