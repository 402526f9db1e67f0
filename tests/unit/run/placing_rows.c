/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which bursts of a program become training data, and with which time.
 */
#include "run/placing_rows.h"

#include "check.h"
#include "contract/burst.h"

#define SECOND UINT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)
#define BEGIN (1000 * SECOND)

static const uint64_t sizes[] = { MIB, 64 * MIB, 256 * MIB };
static struct placing_row row;

/* A burst without pauses. */
static struct burst_total burst_of(uint64_t bytes, uint32_t transfers, double seconds)
{
	uint64_t ns = (uint64_t)(seconds * 1e9);

	return (struct burst_total){ .transfers = transfers,
				     .first_ns = BEGIN,
				     .last_ns = BEGIN + ns,
				     .busy_ns = ns,
				     .bytes = bytes };
}

static bool make(struct burst_total burst)
{
	return placing_row_make(&row, &burst, sizes, 3);
}

static void burst_of_the_same_size_is_taken_as_it_is(void)
{
	CHECK(make(burst_of(64 * MIB, 1, 2)));
	CHECK_INT(row.size, 1);
	CHECK_INT(row.begin_ns, BEGIN);
	CHECK_NEAR(row.seconds, 2, 1e-9);
}

static void time_is_scaled_to_the_nearest_size(void)
{
	CHECK(make(burst_of(32 * MIB, 4, 1)));
	CHECK_INT(row.size, 1);
	CHECK_NEAR(row.seconds, 2, 1e-9);
	CHECK(make(burst_of(160 * MIB, 160, 10)));
	CHECK_INT(row.size, 2);
	CHECK_NEAR(row.seconds, 16, 1e-9);
	/* The probe itself is no reference write. */
	CHECK(!make(burst_of(MIB, 1, 1)));
}

/* No row may be known before the write has ended: a feature uses a write as past data after its
 * time and its seconds. */
static void row_ends_not_before_the_burst(void)
{
	CHECK(make(burst_of(100 * MIB, 1, 10)));
	CHECK_INT(row.size, 1);
	CHECK_NEAR(row.seconds, 6.4, 1e-9);
	CHECK_NEAR((double)(row.begin_ns - BEGIN) / 1e9 + row.seconds, 10, 1e-6);
	CHECK(make(burst_of(40 * MIB, 1, 10)));
	CHECK_INT(row.begin_ns, BEGIN);
	CHECK(row.seconds >= 10);
}

static void sizes_that_differ_too_much_are_left_out(void)
{
	CHECK(!make(burst_of(31 * MIB, 1, 1)));
	CHECK(make(burst_of(512 * MIB, 1, 1)));
	CHECK(!make(burst_of(513 * MIB, 1, 1)));
	CHECK(!make(burst_of(0, 0, 1)));
}

/* The time of many small files is that of their creation. */
static void small_transfers_are_left_out(void)
{
	CHECK(make(burst_of(64 * MIB, 64, 1)));
	CHECK(!make(burst_of(64 * MIB, 65, 1)));
}

static void pauses_are_left_out(void)
{
	struct burst_total burst = burst_of(64 * MIB, 2, 2);

	burst.last_ns = BEGIN + 8 * SECOND;
	CHECK(make(burst));
	CHECK_NEAR(row.seconds, 2, 1e-9);
	CHECK_NEAR((double)(row.begin_ns - BEGIN) / 1e9, 6, 1e-6);
	burst.last_ns = BEGIN + 9 * SECOND;
	CHECK(!make(burst));
	burst.last_ns = BEGIN;
	CHECK(!make(burst));
}

static void system_without_reference_writes_gets_no_row(void)
{
	struct burst_total burst = burst_of(64 * MIB, 1, 1);

	CHECK(!placing_row_make(&row, &burst, sizes, 1));
	CHECK(!placing_row_make(&row, &burst, sizes, 0));
}

TESTS(TEST(burst_of_the_same_size_is_taken_as_it_is), TEST(time_is_scaled_to_the_nearest_size),
      TEST(row_ends_not_before_the_burst), TEST(sizes_that_differ_too_much_are_left_out),
      TEST(small_transfers_are_left_out), TEST(pauses_are_left_out),
      TEST(system_without_reference_writes_gets_no_row))
