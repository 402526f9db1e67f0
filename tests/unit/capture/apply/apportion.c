/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the stripes of one file are divided among weighted targets, and their order.
 */
#include "capture/apply/apportion.c"

#include <math.h>

#include "check.h"

#define MOST 2000

static struct apportionment a;
static uint16_t order[MOST];

static void weigh(unsigned count, const double *weights)
{
	memset(&a, 0, sizeof(a));
	a.count = count;
	memcpy(a.weights, weights, count * sizeof(*weights));
}
#define WEIGH(...) \
	weigh(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double), (double[]){ __VA_ARGS__ })

static unsigned sum_parts(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a.count; i++)
		n += a.parts[i];
	return n;
}

/* The parts as a number: 3,0,2 is 302. */
static int parts(void)
{
	int n = 0;

	for (unsigned i = 0; i < a.count; i++)
		n = 10 * n + a.parts[i];
	return n;
}

static void largest_remainders_are_rounded_up(void)
{
	/* Quotas 2.67, 1.33. */
	WEIGH(2, 1);
	CHECK_INT(apportion_divide(&a, 4), 0);
	CHECK_INT(parts(), 31);
	/* Quotas 4.2, 2.8, 1. */
	WEIGH(4.2, 2.8, 1);
	CHECK_INT(apportion_divide(&a, 8), 0);
	CHECK_INT(parts(), 431);
	/* 2.5, 2.5: the first of equal remainders. */
	WEIGH(1, 1);
	CHECK_INT(apportion_divide(&a, 5), 0);
	CHECK_INT(parts(), 32);
	/* Quotas without remainders. */
	WEIGH(3, 0, 1);
	CHECK_INT(apportion_divide(&a, 8), 0);
	CHECK_INT(parts(), 602);
	CHECK(apportion_repeats(&a));
}

/* Which targets get one of few stripes is decided by turns, unless all do. */
static void targets_below_one_stripe_wait_for_their_turn(void)
{
	WEIGH(1, 1, 1, 1);
	CHECK_INT(apportion_divide(&a, 3), 3);
	CHECK_INT(parts(), 0);
	/* Quotas 1.6, 0.8, 0.8, 0.8: three stripes for three targets. */
	WEIGH(2, 1, 1, 1);
	CHECK_INT(apportion_divide(&a, 4), 0);
	CHECK_INT(parts(), 1111);
	CHECK(!apportion_repeats(&a));
	/* Quotas 2, 0.67, 0.67, 0.67: two stripes for three targets. */
	WEIGH(3, 1, 1, 1);
	CHECK_INT(apportion_divide(&a, 4), 2);
	CHECK_INT(parts(), 2000);
	/* A mild difference does not put two stripes on one target and none on another. */
	WEIGH(1.08, 1, 1, 0.92);
	CHECK_INT(apportion_divide(&a, 4), 0);
	CHECK_INT(parts(), 1111);
}

static void one_stripe_each_is_all_without_overstriping(void)
{
	WEIGH(9, 1, 0, 1);
	CHECK_INT(apportion_divide_once(&a, 8), 0);
	CHECK_INT(parts(), 1101);
	CHECK_INT(apportion_divide_once(&a, 2), 2);
	CHECK_INT(parts(), 0);
}

static bool are_neighbors_apart(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (order[i] == order[(i + 1) % n])
			return false;
	return true;
}

static void neighbors_are_on_different_targets(void)
{
	/* The last stripe is a neighbor of the first. */
	WEIGH(2, 1, 1);
	CHECK_INT(apportion_divide(&a, 4), 0);
	CHECK_INT(apportion_order(&a, order, MOST), 4);
	CHECK(are_neighbors_apart(4));
	WEIGH(3, 2, 1);
	CHECK_INT(apportion_divide(&a, 6), 0);
	CHECK_INT(apportion_order(&a, order, MOST), 6);
	CHECK(are_neighbors_apart(6));
	/* Three of five stripes cannot be apart, but all others are. */
	WEIGH(3, 1, 1);
	CHECK_INT(apportion_divide(&a, 5), 0);
	CHECK_INT(apportion_order(&a, order, MOST), 5);
	CHECK_INT((order[0] == order[4]) + (order[0] == order[1]) + (order[1] == order[2]) +
			  (order[2] == order[3]) + (order[3] == order[4]),
		  1);
	WEIGH(1);
	CHECK_INT(apportion_divide(&a, 3), 0);
	CHECK_INT(apportion_order(&a, order, MOST), 3);
}

static unsigned seed = 1;

static unsigned draw(unsigned n)
{
	seed = seed * 1103515245u + 12345;
	return (seed >> 16) % n;
}

/* The maximum distance of any target from its share in any beginning of the file. */
static double unevenness(unsigned n)
{
	static double had[PARAMETERS_DESTINATIONS];
	double most = 0;

	memset(had, 0, sizeof(had));
	for (unsigned k = 0; k < n; k++) {
		had[order[k]]++;
		for (unsigned i = 0; i < a.count; i++)
			most = fmax(most, fabs(had[i] - (k + 1.0) * a.parts[i] / n));
	}
	return most;
}

/* Checks what must hold for any weights. */
static void check_any(unsigned stripes)
{
	double sum = 0;
	unsigned left = apportion_divide(&a, stripes), most = 0, n;

	for (unsigned i = 0; i < a.count; i++)
		sum += a.weights[i];
	CHECK_INT(sum_parts() + left, stripes);
	for (unsigned i = 0; i < a.count; i++) {
		double quota = stripes * a.weights[i] / sum;

		CHECK(fabs(a.parts[i] - quota) < 1);
		most = a.parts[i] > most ? a.parts[i] : most;
	}
	n = apportion_order(&a, order, MOST);
	CHECK_INT(n, stripes - left);
	if (2 * most <= n)
		CHECK(n < 2 || are_neighbors_apart(n));
	for (unsigned i = 0; i < a.count; i++) {
		unsigned found = 0;

		for (unsigned k = 0; k < n; k++)
			found += order[k] == i;
		CHECK_INT(found, a.parts[i]);
	}
	/* Moving a stripe between its neighbors costs little evenness. */
	if (2 * most <= n)
		CHECK(unevenness(n) < 4);
}

static void any_weights_give_whole_shares_in_an_even_order(void)
{
	for (int round = 0; round < 2000; round++) {
		memset(&a, 0, sizeof(a));
		a.count = 1 + draw(12);
		for (unsigned i = 0; i < a.count; i++)
			a.weights[i] = 1 + draw(round % 2 ? 8 : 64);
		check_any(1 + draw(40));
	}
	memset(&a, 0, sizeof(a));
	a.count = PARAMETERS_DESTINATIONS;
	for (unsigned i = 0; i < a.count; i++)
		a.weights[i] = 1 + draw(8);
	check_any(MOST);
	check_any(100);
}

TESTS(TEST(largest_remainders_are_rounded_up), TEST(targets_below_one_stripe_wait_for_their_turn),
      TEST(one_stripe_each_is_all_without_overstriping), TEST(neighbors_are_on_different_targets),
      TEST(any_weights_give_whole_shares_in_an_even_order))
