/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract/burst.h"

#include <string.h>

#include "check.h"

#define SECOND UINT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)
#define NOW (1000 * SECOND)

static struct burst burst;
static struct burst_total total;

static void start(void)
{
	memset(&burst, 0, sizeof(burst));
	memset(&total, 0, sizeof(total));
}

/* A transfer of one MiB. */
static void transfer(uint64_t begin_ns, uint64_t end_ns)
{
	burst_begin(&burst, begin_ns);
	burst_end(&burst, MIB, end_ns);
}

static void overlapping_transfers_count_once(void)
{
	start();
	burst_begin(&burst, NOW);
	burst_begin(&burst, NOW + 5 * SECOND);
	burst_end(&burst, MIB, NOW + 6 * SECOND);
	burst_end(&burst, 3 * MIB, NOW + 10 * SECOND);
	/* The pause does not count. */
	transfer(NOW + 20 * SECOND, NOW + 22 * SECOND);
	CHECK(burst_take(&burst, &total));
	CHECK_INT(total.busy_ns, 12 * SECOND);
	CHECK_INT(total.bytes, 5 * MIB);
	CHECK_INT(total.transfers, 3);
	CHECK_INT(total.first_ns, NOW);
	CHECK_INT(total.last_ns, NOW + 22 * SECOND);
}

static void taken_burst_begins_anew(void)
{
	start();
	CHECK(!burst_take(&burst, &total));
	transfer(NOW, NOW + SECOND);
	CHECK(burst_take(&burst, &total));
	CHECK(!burst_take(&burst, &total));
	transfer(NOW + 5 * SECOND, NOW + 7 * SECOND);
	CHECK(burst_take(&burst, &total));
	CHECK_INT(total.first_ns, NOW + 5 * SECOND);
	CHECK_INT(total.busy_ns, 2 * SECOND);
	CHECK_INT(total.bytes, MIB);
}

/* A process that is killed in a transfer keeps the burst active. */
static void nothing_is_taken_during_a_transfer(void)
{
	start();
	transfer(NOW, NOW + SECOND);
	burst_begin(&burst, NOW + SECOND);
	CHECK(!burst_take(&burst, &total));
	burst_end(&burst, MIB, NOW + 3 * SECOND);
	CHECK(burst_take(&burst, &total));
	CHECK_INT(total.bytes, 2 * MIB);
	CHECK_INT(total.busy_ns, 3 * SECOND);
}

/* What the cache still holds disturbs later bursts, too, but not for ever. */
static void spoiled_burst_gives_nothing(void)
{
	uint64_t later = NOW + SECOND + BURST_SPOILED_NS;

	start();
	transfer(NOW, NOW + SECOND);
	burst_spoil(&burst, NOW + SECOND);
	CHECK(!burst_take(&burst, &total));
	transfer(later, later + SECOND);
	CHECK(!burst_take(&burst, &total));
	transfer(later + 2 * SECOND, later + 3 * SECOND);
	CHECK(burst_take(&burst, &total));
	CHECK_INT(total.bytes, MIB);
}

TESTS(TEST(overlapping_transfers_count_once), TEST(taken_burst_begins_anew),
      TEST(nothing_is_taken_during_a_transfer), TEST(spoiled_burst_gives_nothing))
