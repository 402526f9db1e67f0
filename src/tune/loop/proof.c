/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/proof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/maths/vector.h"

#define TAIL 0.025

/*
 * Chances of the statistic of Mann and Whitney without a difference, P(U = u) for u up to n m: each
 * way to rank n + m runs is as likely. The largest is one of the n, and beats all m of the others,
 * or one of the m, and beats none: P(n, m, u) = n/(n+m) P(n-1, m, u-m) + m/(n+m) P(n, m-1, u).
 */
static double *rank_chances(size_t n, size_t m)
{
	size_t size = n * m + 1;
	/* Row of the current i for each j; then i grows. */
	double *rows = xcalloc((m + 1) * size, sizeof(*rows));
	double *result = xcalloc(size, sizeof(*result));

	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			double *row = rows + j * size;

			if (!i || !j) {
				memset(row, 0, size * sizeof(*row));
				row[0] = 1;
				continue;
			}
			/* row still holds that of i - 1; from above, as u reads u - j. */
			for (size_t u = size; u-- > 0;) {
				double with = u >= j ? row[u - j] : 0;
				double without = rows[(j - 1) * size + u];

				row[u] = ((double)i * with + (double)j * without) / (double)(i + j);
			}
		}
	}
	memcpy(result, rows + m * size, size * sizeof(*result));
	free(rows);
	return result;
}

int proof_outside(size_t n, size_t m)
{
	AUTO_FREE double *chances = NULL;
	double sum = 0;
	int outside = -1;

	if (!n || !m)
		return -1;
	chances = rank_chances(n, m);
	for (size_t u = 0; u <= n * m; u++) {
		sum += chances[u];
		if (sum > TAIL)
			break;
		outside = (int)u;
	}
	return outside;
}

/* In the geometric sense, so that the ratio of medians is inside the interval of ratios. */
static double median_of(const double *values, size_t count)
{
	AUTO_FREE double *sorted = xcalloc(count, sizeof(*sorted));

	memcpy(sorted, values, count * sizeof(*sorted));
	vector_sort(sorted, count);
	return count % 2 ? sorted[count / 2] : sqrt(sorted[count / 2 - 1] * sorted[count / 2]);
}

static void interval(struct proof *proof, const double *before, size_t n, const double *after,
		     size_t m)
{
	AUTO_FREE double *ratios = xcalloc(n * m, sizeof(*ratios));
	int outside = proof_outside(n, m);

	proof->low = 0;
	proof->high = INFINITY;
	if (outside < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < m; j++)
			ratios[i * m + j] = before[i] / after[j];
	}
	vector_sort(ratios, n * m);
	proof->low = ratios[outside];
	proof->high = ratios[n * m - 1 - (size_t)outside];
}

void proof_judge(struct proof *proof, const double *before, size_t n, const double *after, size_t m,
		 bool exact)
{
	*proof = (struct proof){ .before_runs = n, .after_runs = m, .high = INFINITY };
	if (!n || !m)
		return;
	proof->before = median_of(before, n);
	proof->after = median_of(after, m);
	proof->gain = proof->before / proof->after;
	if (exact)
		proof->low = proof->high = proof->gain;
	else
		interval(proof, before, n, after, m);
	proof->holds = proof->low > 1;
}
