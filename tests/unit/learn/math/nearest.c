/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares learn/math/nearest.h with an exhaustive search in cases that are hard for single
 * precision: far from zero, at the limits of the number range, and for later rows in another place.
 * Values are on a grid, so that all distances are exact and ties are real ties.
 */
#include "learn/math/nearest.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check.h"
#include "learn/math/random.h"

enum { K = 7, QUERIES = 25 };

/* Values of rows: (an integer below `steps` + offset) * unit. */
struct place {
	double steps, offset, unit;
};

static void place_fill(const struct place *place, struct random *random, double *x, size_t count)
{
	for (size_t i = 0; i < count; i++)
		x[i] = (floor(random_real(random) * place->steps) + place->offset) * place->unit;
}

static void plain_find(const double *x, size_t rows, size_t width, const double *at,
		       struct nearest_found *found)
{
	size_t count = 0;

	for (size_t i = 0; i < rows; i++) {
		struct nearest_found now = { 0, (uint32_t)i };
		size_t to;

		for (size_t j = 0; j < width; j++)
			now.distance += (x[i * width + j] - at[j]) * (x[i * width + j] - at[j]);
		if (count == K && now.distance >= found[K - 1].distance)
			continue;
		for (to = count < K ? count++ : K - 1; to; to--) {
			if (found[to - 1].distance <= now.distance)
				break;
			found[to] = found[to - 1];
		}
		found[to] = now;
	}
}

static void queries_check(const struct nearest *n, const double *x, const struct place *place,
			  struct random *random)
{
	AUTO_FREE double *at = xmalloc(n->width * sizeof(*at));
	struct nearest_found found[K], plain[K];

	for (size_t i = 0; i < QUERIES; i++) {
		place_fill(place, random, at, n->width);
		nearest_find(n, at, K, found);
		plain_find(x, n->rows, n->width, at, plain);
		for (size_t k = 0; k < K; k++) {
			CHECK(found[k].row == plain[k].row);
			CHECK(found[k].distance == plain[k].distance);
		}
	}
}

/* Rows are in one place and later rows in another; both places are queried. */
static void places_check(const struct place *first, const struct place *later, size_t rows,
			 size_t width)
{
	size_t more = rows / 5 + 1;
	AUTO_FREE double *x = xmalloc((rows + more) * width * sizeof(*x));
	struct nearest n;
	struct random random;

	random_init(&random, rows * width);
	place_fill(first, &random, x, rows * width);
	place_fill(later, &random, x + rows * width, more * width);
	nearest_init(&n, x, rows, width);
	queries_check(&n, x, first, &random);
	queries_check(&n, x, later, &random);
	nearest_add(&n, x + rows * width, more);
	queries_check(&n, x, first, &random);
	queries_check(&n, x, later, &random);
	nearest_release(&n);
}

static void rows_anywhere_are_found_exactly(void)
{
	static const struct place places[] = {
		{ 4096, -2048, 0x1p-10 }, /* around zero, like prepared rows */
		{ 3, 0, 1 },		  /* many ties */
		{ 64, 0x1p40, 1 },   /* floats cannot distinguish these unless they are centered */
		{ 64, 0, 0x1p-200 }, /* below the smallest float */
		{ 64, 0, 0x1p200 },  /* beyond the largest float */
		{ 64, -0x1p45, 0x1p-20 },
	};
	static const size_t widths[] = { 1, 2, 5, 16, 33, 70 };

	for (size_t a = 0; a < sizeof(places) / sizeof(*places); a++) {
		for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++) {
			places_check(&places[a], &places[a], 300, widths[w]);
			places_check(&places[a], &places[a], 20, widths[w]);
		}
	}
}

/* The single-precision form of the first rows is useless for the others. */
static void rows_in_two_places_are_found_exactly(void)
{
	static const struct place small = { 64, 0, 0x1p-300 }, large = { 64, 0, 0x1p300 };
	static const struct place near = { 64, 0, 1 }, far = { 64, 0x1p38, 1 };

	for (size_t width = 1; width <= 24; width += 23) {
		places_check(&small, &large, 300, width);
		places_check(&large, &small, 300, width);
		places_check(&near, &far, 300, width);
		places_check(&far, &near, 300, width);
	}
}

static void query_that_is_not_finite_gets_the_first_rows(void)
{
	static const double strange[] = { NAN, INFINITY, -INFINITY };
	double x[200], at[2] = { 0 };
	struct nearest_found found[K];
	struct nearest n;
	struct random random;

	random_init(&random, 1);
	for (size_t i = 0; i < 200; i++)
		x[i] = random_normal(&random);
	nearest_init(&n, x, 100, 2);
	for (size_t i = 0; i < 3; i++) {
		at[1] = strange[i];
		nearest_find(&n, at, K, found);
		for (size_t k = 0; k < K; k++)
			CHECK(found[k].row < 100 && found[k].distance == INFINITY);
	}
	nearest_release(&n);
}

TESTS(TEST(rows_anywhere_are_found_exactly), TEST(rows_in_two_places_are_found_exactly),
      TEST(query_that_is_not_finite_gets_the_first_rows))
