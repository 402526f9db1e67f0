/* SPDX-License-Identifier: BSD-3-Clause
 *
 * By sorting: rows of equal numbers come to lie side by side.
 */
#include "learn/learners/repeats.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

struct order {
	const double *x;
	size_t width;
};

static int rows_compare(const void *a, const void *b, void *arg)
{
	const struct order *order = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;

	for (size_t k = 0; k < order->width; k++) {
		double left = order->x[i * order->width + k],
		       right = order->x[j * order->width + k];

		if (left != right)
			return left < right ? -1 : 1;
	}
	return i < j ? -1 : i > j;
}

static bool rows_equal(const double *x, size_t width, size_t a, size_t b)
{
	for (size_t k = 0; k < width; k++) {
		if (x[a * width + k] != x[b * width + k])
			return false;
	}
	return true;
}

static int starts_compare(const void *a, const void *b)
{
	size_t x = ((const struct repeats_group *)a)->first,
	       y = ((const struct repeats_group *)b)->first;

	return x < y ? -1 : x > y;
}

void repeats_init(struct repeats *repeats, const double *x, size_t rows, size_t width)
{
	struct order order = { x, width };
	size_t cap = 0, *sorted = xmalloc(rows * sizeof(*sorted));

	*repeats = (struct repeats){ .rows = sorted };
	for (size_t i = 0; i < rows; i++)
		sorted[i] = i;
	qsort_r(sorted, rows, sizeof(*sorted), rows_compare, &order);
	for (size_t i = 0; i < rows; i++) {
		if (i && rows_equal(x, width, sorted[i - 1], sorted[i])) {
			repeats->groups[repeats->count - 1].to++;
			continue;
		}
		repeats->groups =
			xgrow(repeats->groups, &cap, repeats->count + 1, sizeof(*repeats->groups));
		repeats->groups[repeats->count++] = (struct repeats_group){ i, i + 1, sorted[i] };
	}
	qsort(repeats->groups, repeats->count, sizeof(*repeats->groups), starts_compare);
}

void repeats_release(struct repeats *repeats)
{
	free(repeats->rows);
	free(repeats->groups);
}
