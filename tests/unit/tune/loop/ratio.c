/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/ratio.h"

#include "check.h"

/* Published tables of the test, two-sided 5 %: the largest U that is significant. */
static void interval_matches_published_tables(void)
{
	static const struct {
		size_t n, m;
		int u;
	} rows[] = { { 3, 3, -1 }, { 3, 5, 0 },	   { 4, 4, 0 },	  { 4, 6, 2 },
		     { 5, 5, 2 },  { 5, 8, 6 },	   { 6, 6, 5 },	  { 7, 7, 8 },
		     { 8, 8, 13 }, { 10, 10, 23 }, { 9, 15, 34 }, { 20, 20, 127 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(ratio_outside(rows[i].n, rows[i].m), rows[i].u);
		CHECK_INT(ratio_outside(rows[i].m, rows[i].n), rows[i].u);
	}
	CHECK_INT(ratio_outside(0, 5), -1);
}

static void too_few_costs_have_no_interval(void)
{
	static const double before[] = { 10, 11, 12, 13 }, after[] = { 1, 1, 1, 1 };
	double low = 0, high = 0;

	CHECK(!ratio_interval(before, 3, after, 3, &low, &high));
	CHECK(ratio_interval(before, 4, after, 4, &low, &high));
	CHECK(low == 10 && high == 13);
}

TESTS(TEST(interval_matches_published_tables), TEST(too_few_costs_have_no_interval))
