/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/hybrid/pairs.h"

#include <math.h>

#include "check.h"
#include "predict/model/hybrid/hybrid.h"

/* Cases of a calibration whose correction is known: all of one kind have the same ratio. */
static const struct validation_case cases[] = {
	{ .group = 1, .is_default = true, .ranks = 2, .bytes = 1, .predicted = 1, .measured = 2 },
	{ .group = 2, .is_default = true, .ranks = 2, .bytes = 1, .predicted = 2, .measured = 4 },
	{ .group = 3, .is_default = true, .ranks = 2, .bytes = 1, .predicted = 3, .measured = 6 },
	{ .group = 4,
	  .is_default = true,
	  .is_held = true,
	  .ranks = 2,
	  .bytes = 1,
	  .predicted = 1,
	  .measured = 1 },
};

static void measured_accesses_are_corrected_and_grouped(void)
{
	struct hybrid hybrid = { 0 };
	struct environment environment = { 0 };
	struct pairs_score score;
	struct pairs pairs;

	REQUIRE(validation_make(&hybrid.validation, cases, 4, 1, &environment, NULL) == 0);
	pairs_init(&pairs, &hybrid);
	REQUIRE(pairs.count == 4);
	CHECK_INT(pairs.list[0].group, PAIR_WRITE);
	CHECK(fabs(pairs.list[0].predicted - 2) < 1e-9 && pairs.list[0].measured == 2);
	CHECK_INT(pairs.list[3].group, PAIR_HELD);
	pairs_score(&pairs, PAIR_WRITE, &score);
	CHECK(score.count == 3 && score.median_error < 1e-9 && fabs(score.bias - 1) < 1e-9);
	pairs_score(&pairs, PAIR_HELD, &score);
	CHECK(score.count == 1 && fabs(score.median_error - 1) < 1e-9 &&
	      fabs(score.bias - 2) < 1e-9);
	pairs_score(&pairs, PAIR_GROUPS, &score);
	CHECK_INT(score.count, 4);
	pairs_score(&pairs, PAIR_READ, &score);
	CHECK(!score.count && isnan(score.median_error));
	pairs_release(&pairs);
	hybrid_release(&hybrid);
}

static void an_empty_model_has_no_pairs(void)
{
	struct hybrid hybrid = { 0 };
	struct pairs pairs;

	pairs_init(&pairs, &hybrid);
	CHECK_INT(pairs.count, 0);
	pairs_release(&pairs);
}

TESTS(TEST(measured_accesses_are_corrected_and_grouped), TEST(an_empty_model_has_no_pairs))
