/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows in the order of their times.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_TIMES_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_TIMES_H

#include <stddef.h>

/*
 * How many of the rows are not later than time_s. Each has row_bytes, and its time, a double, at
 * the offset. Inline: features are made from many such searches.
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
