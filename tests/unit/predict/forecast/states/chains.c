/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/states/chains.h"

#include <math.h>

#include "check.h"
#include "learn/math/random.h"

enum { DAYS = 60, BURST = 8 };
#define DAY_S 86400.0
#define SPACING_S 100.0

/* Eight probes at the start of each day; every other day is busy. */
static struct chronicle chronicle_of_bursts(void)
{
	static const uint64_t sizes[] = { 1u << 20 };
	struct chronicle chronicle;
	struct random random;

	random_init(&random, 2);
	chronicle_init(&chronicle, "here", sizes, 1);
	chronicle_add_target(&chronicle, "a");
	for (int day = 0; day < DAYS; day++)
		for (int i = 0; i < BURST; i++)
			chronicle_add(&chronicle, 0, 0, DAY_S * day + SPACING_S * i,
				      (day % 2 ? 2 : 1) * exp(0.1 * random_normal(&random)),
				      SAMPLE_DONE, SAMPLE_DIRECT);
	return chronicle;
}

/* At the spacing of the probes, the grid would have more than a hundred steps per probe. */
static void probes_with_long_gaps_have_a_chain(void)
{
	struct chronicle chronicle = chronicle_of_bursts();
	const struct chronicle_series *probes = chronicle_series(&chronicle, 0, 0);
	struct chain chain;

	REQUIRE(chain_fit(&chain, probes, 0, probes->count));
	CHECK(chain.step_s > SPACING_S && chain.step_s < DAY_S / 2);
	for (int day = 1; day < DAYS; day++) {
		double chance = chain_state(&chain, probes, DAY_S * day + SPACING_S * BURST, 0);

		CHECK((chance > 0.5) == (day % 2 == 1));
	}
	chronicle_release(&chronicle);
}

static void single_probes_have_none(void)
{
	struct chronicle chronicle = chronicle_of_bursts();
	const struct chronicle_series *probes = chronicle_series(&chronicle, 0, 0);
	struct chain chain;

	CHECK(!chain_fit(&chain, probes, 0, 1));
	CHECK(!chain.is_known);
	chronicle_release(&chronicle);
}

TESTS(TEST(probes_with_long_gaps_have_a_chain), TEST(single_probes_have_none))
