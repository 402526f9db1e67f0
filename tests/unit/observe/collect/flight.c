/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing is shipped without an anomaly; after a signal exactly the buffered activities arrive, in
 * order.
 * Papers: SIOX-30, SIOX-AC-8.
 */
#include "observe/collect/flight.h"

#include "check.h"

static uint64_t arrived[10000];
static size_t arrived_count;

static void take(void *arg, const struct activity *batch, size_t n)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		arrived[arrived_count++] = batch[i].id;
}

/* Ids from..to, in batches of three. */
static void add(struct flight *f, uint64_t from, uint64_t to)
{
	struct activity batch[3] = { 0 };
	size_t n = 0;

	for (uint64_t id = from; id <= to; id++) {
		batch[n++].id = id;
		if (n == 3 || id == to) {
			flight_add(f, batch, n);
			n = 0;
		}
	}
}

/* Ships, and expects exactly from..to. */
static void check_shipment(struct flight *f, uint64_t from, uint64_t to)
{
	arrived_count = 0;
	CHECK_INT(flight_ship(f, take, NULL), to - from + 1);
	REQUIRE(arrived_count == to - from + 1);
	for (size_t i = 0; i < arrived_count; i++)
		CHECK_INT(arrived[i], from + i);
}

static void nothing_is_shipped_without_a_signal(void)
{
	struct flight *f = flight_new(10);

	arrived_count = 0;
	add(f, 1, 500);
	CHECK_INT(arrived_count, 0);
	CHECK_INT(flight_counts(f).shipped, 0);
	CHECK_INT(flight_counts(f).seen, 500);
	CHECK_INT(flight_counts(f).held, 10);
	CHECK_INT(flight_counts(f).overwritten, 490);
	flight_free(f);
}

static void a_signal_ships_exactly_what_is_held_in_order(void)
{
	struct flight *f = flight_new(10);

	add(f, 1, 7);
	check_shipment(f, 1, 7);
	flight_free(f);
}

static void shipped_activities_are_not_shipped_again(void)
{
	struct flight *f = flight_new(10);

	add(f, 1, 7);
	check_shipment(f, 1, 7);
	CHECK_INT(flight_ship(f, take, NULL), 0);
	add(f, 8, 9);
	check_shipment(f, 8, 9);
	CHECK_INT(flight_counts(f).shipments, 2);
	flight_free(f);
}

static void the_oldest_are_overwritten(void)
{
	struct flight *f = flight_new(10);
	struct flight_counts c;

	add(f, 1, 10);
	add(f, 11, 14);
	check_shipment(f, 5, 14);
	add(f, 15, 41);
	check_shipment(f, 32, 41);
	add(f, 42, 44);
	c = flight_counts(f);
	CHECK_INT(c.seen, 44);
	CHECK_INT(c.shipped, 20);
	CHECK_INT(c.held, 3);
	CHECK_INT(c.seen, c.shipped + c.overwritten + c.held);
	flight_free(f);
}

static void a_large_ring_grows_and_keeps_its_order(void)
{
	struct flight *f = flight_new(5000);

	add(f, 1, 3000);
	check_shipment(f, 1, 3000);
	add(f, 3001, 9500);
	check_shipment(f, 4501, 9500);
	flight_free(f);
}

static void the_smallest_ring_holds_one(void)
{
	struct flight *f = flight_new(0);

	add(f, 1, 4);
	check_shipment(f, 4, 4);
	flight_free(f);
}

TESTS(TEST(nothing_is_shipped_without_a_signal), TEST(a_signal_ships_exactly_what_is_held_in_order),
      TEST(shipped_activities_are_not_shipped_again), TEST(the_oldest_are_overwritten),
      TEST(a_large_ring_grows_and_keeps_its_order), TEST(the_smallest_ring_holds_one))
