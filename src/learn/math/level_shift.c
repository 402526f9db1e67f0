/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/level_shift.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/random.h"

#define PERMUTATIONS 1999
#define SEED 1

struct search {
	const double *values;
	double level;
	double *ranks; /* of a part; ties share the mean of their ranks */
	size_t *order; /* of a part, by value */
	size_t *positions;
	size_t count;
};

static int compare_values(const void *a, const void *b, void *arg)
{
	const double *values = arg;
	double x = values[*(const size_t *)a], y = values[*(const size_t *)b];

	return (x > y) - (x < y);
}

static void rank_values(struct search *s, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->order[i] = i;
	qsort_r(s->order, n, sizeof(*s->order), compare_values, (void *)(uintptr_t)values);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && values[s->order[end]] == values[s->order[i]];)
			end++;
		for (size_t k = i; k < end; k++)
			s->ranks[s->order[k]] = (double)(i + end + 1) / 2;
	}
}

/*
 * The largest squared statistic over all positions. The variance of the rank sum
 * is k (n - k) (n + 1) / 12, or less by the same factor for all positions if there are ties;
 * constant factors do not matter here.
 */
static double largest_statistic(const double *ranks, size_t n)
{
	double sum = 0, largest = -1, mean = (double)(n + 1) / 2;

	for (size_t k = 1; k + LEVEL_SHIFT_LEAST <= n; k++) {
		double distance, statistic;

		sum += ranks[k - 1];
		if (k < LEVEL_SHIFT_LEAST)
			continue;
		distance = sum - (double)k * mean;
		statistic = distance * distance / ((double)k * (double)(n - k));
		largest = fmax(largest, statistic);
	}
	return largest;
}

static void shuffle(struct random *random, double *values, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t other = random_below(random, i);
		double value = values[i - 1];

		values[i - 1] = values[other];
		values[other] = value;
	}
}

/* Is the largest statistic larger than chance would make it? The ranks are shuffled. */
static bool is_rare(struct search *s, size_t n, double found)
{
	size_t allowed = (size_t)(s->level * (PERMUTATIONS + 1)), as_large = 1;
	struct random random;

	random_init(&random, SEED);
	for (int i = 0; i < PERMUTATIONS && as_large <= allowed; i++) {
		shuffle(&random, s->ranks, n);
		/* Sums in another order differ by rounding. */
		as_large += largest_statistic(s->ranks, n) >= found * (1 - 1e-12);
	}
	return as_large <= allowed;
}

/*
 * Where two constant levels fit best, by least squares: ranks tell that there is a shift, but
 * favor the middle. The values are clipped, so that a few outliers do not count; a level has at
 * least LEVEL_SHIFT_LEAST values, so it is not clipped.
 */
static size_t locate_shift(const struct search *s, const double *values, size_t n)
{
	double low = values[s->order[LEVEL_SHIFT_LEAST - 1]];
	double high = values[s->order[n - LEVEL_SHIFT_LEAST]];
	double total = 0, sum = 0, largest = -1;
	size_t position = 0;

	for (size_t i = 0; i < n; i++)
		total += fmin(fmax(values[i], low), high);
	for (size_t k = 1; k + LEVEL_SHIFT_LEAST <= n; k++) {
		double distance, explained;

		sum += fmin(fmax(values[k - 1], low), high);
		if (k < LEVEL_SHIFT_LEAST)
			continue;
		distance = sum / (double)k - (total - sum) / (double)(n - k);
		explained = distance * distance * (double)k * (double)(n - k);
		if (explained > largest) {
			largest = explained;
			position = k;
		}
	}
	return position;
}

/* The position of the shift in a part; 0: it has none. */
static size_t find_in_part(struct search *s, size_t from, size_t to)
{
	const double *values = s->values + from;
	size_t n = to - from;
	double found;

	if (n < (size_t)2 * LEVEL_SHIFT_LEAST)
		return 0;
	rank_values(s, values, n);
	found = largest_statistic(s->ranks, n);
	return found > 0 && is_rare(s, n, found) ? from + locate_shift(s, values, n) : 0;
}

static void search_part(struct search *s, size_t from, size_t to)
{
	size_t position;

	while ((position = find_in_part(s, from, to))) {
		search_part(s, from, position);
		s->positions[s->count++] = position;
		from = position;
	}
}

/*
 * A shift was found in a part that may have contained others, which moves it and makes others
 * appear. So each is searched again between its neighbors.
 */
static void confirm_shifts(struct search *s, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		size_t from = kept ? s->positions[kept - 1] : 0;
		size_t to = i + 1 < s->count ? s->positions[i + 1] : n;
		size_t position = find_in_part(s, from, to);

		if (position)
			s->positions[kept++] = position;
	}
	s->count = kept;
}

size_t level_shift_find(const double *values, size_t n, double level, size_t *positions)
{
	struct search search = { .values = values, .level = level, .positions = positions };

	search.ranks = xcalloc(n + 1, sizeof(*search.ranks));
	search.order = xcalloc(n + 1, sizeof(*search.order));
	search_part(&search, 0, n);
	if (search.count > 1)
		confirm_shifts(&search, n);
	free(search.ranks);
	free(search.order);
	return search.count;
}
