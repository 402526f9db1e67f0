/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The copied tables of the paper are consistent, so that a copying error shows.
 * Papers: ATE-4, ATE-7, ATE-8, ATE-AC-1.
 */
#include "lab/reproduce/paper.h"

#include <math.h>

#include "check.h"

/* Within 0.51 %. Of 24 speedups, 22 are at least 2; the means are 21.60 and 9.28 (geometric). */
static void speedups_follow_from_the_rates(void)
{
	double sum = 0, logs = 0;
	int twice = 0;

	for (size_t i = 0; i < PAPER_CELLS; i++) {
		const struct paper_cell *cell = &paper_cells[i];
		double ratio = cell->tuned / cell->initial;

		CHECK(fabs(cell->speedup / ratio - 1) <= 0.0051);
		sum += cell->speedup;
		logs += log(cell->speedup);
		twice += cell->speedup >= 2;
	}
	CHECK_INT(twice, 22);
	CHECK(fabs(sum / PAPER_CELLS - 21.60) < 0.005);
	CHECK(fabs(exp(logs / PAPER_CELLS) - 9.28) < 0.005);
}

static void means_follow_from_the_speedups(void)
{
	size_t groups = 0, printed = 0, agreeing = 0;

	for (const struct paper_mean *m = paper_means; m->recomputed; m++) {
		double sum = 0, count = 0;

		for (size_t i = 0; i < PAPER_CELLS; i++)
			if (paper_is_in(m, &paper_cells[i])) {
				sum += paper_cells[i].speedup;
				count++;
			}
		REQUIRE(count > 0);
		CHECK(fabs(sum / count - m->recomputed) < 0.0051);
		groups++;
		printed += m->printed > 0;
		agreeing += m->printed > 0 && fabs(sum / count - m->printed) < 0.0051;
	}
	CHECK_INT(groups, 17);
	/* Only the printed mean of Stampede agrees. */
	CHECK_INT(printed, 6);
	CHECK_INT(agreeing, 1);
}

static void no_two_cells_are_equal(void)
{
	for (size_t i = 0; i < PAPER_CELLS; i++)
		for (size_t k = 0; k < i; k++)
			CHECK(paper_cells[i].ranks != paper_cells[k].ranks ||
			      strcmp(paper_cells[i].platform, paper_cells[k].platform) != 0 ||
			      strcmp(paper_cells[i].kernel, paper_cells[k].kernel) != 0);
}

TESTS(TEST(speedups_follow_from_the_rates), TEST(means_follow_from_the_speedups),
      TEST(no_two_cells_are_equal))
