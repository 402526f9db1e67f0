/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorts the rows, so that equal rows become adjacent.
 */
#include "learn/learners/gaussian/repeats.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

struct order {
	const double *x;
	size_t width;
};

static int compare_inputs(const struct order *order, size_t i, size_t j)
{
	const double *left = order->x + i * order->width, *right = order->x + j * order->width;

	for (size_t k = 0; k < order->width; k++) {
		if (left[k] != right[k])
			return left[k] < right[k] ? -1 : 1;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int sign = compare_inputs(arg, i, j);

	return sign ? sign : i < j ? -1 : i > j;
}

/*
 * Links adjacent equal rows and marks in `follows` the rows that are linked to. Returns the number
 * of groups.
 */
static size_t link_equal_rows(uint32_t *next, bool *follows, const uint32_t *sorted, size_t rows,
			      const struct order *order)
{
	size_t groups = 0;

	for (size_t i = 0; i < rows; i++) {
		bool linked = i + 1 < rows && !compare_inputs(order, sorted[i], sorted[i + 1]);

		next[sorted[i]] = linked ? sorted[i + 1] : REPEATS_END;
		if (linked)
			follows[sorted[i + 1]] = true;
		else
			groups++;
	}
	return groups;
}

void repeats_init(struct repeats *repeats, const double *x, size_t rows, size_t width)
{
	struct order order = { x, width };
	uint32_t *sorted = xmalloc(rows * sizeof(*sorted));
	AUTO_FREE bool *follows = NULL;
	size_t groups = 0;

	for (size_t i = 0; i < rows; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, rows, sizeof(*sorted), compare_rows, &order);
	follows = xcalloc(rows, sizeof(*follows));
	repeats->next = xmalloc(rows * sizeof(*repeats->next));
	repeats->count = link_equal_rows(repeats->next, follows, sorted, rows, &order);
	free(sorted);
	repeats->first = xmalloc(repeats->count * sizeof(*repeats->first));
	for (size_t i = 0; i < rows; i++) {
		if (!follows[i])
			repeats->first[groups++] = (uint32_t)i;
	}
}

void repeats_release(struct repeats *repeats)
{
	free(repeats->first);
	free(repeats->next);
}
