/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stripes of ranges, compared with a loop over all bytes.
 */
#include "predict/model/stripes.h"

#include "check.h"
#include "learn/math/random.h"

static uint64_t object_of(const struct stripes *s, uint64_t byte)
{
	return byte / s->unit % s->count;
}

static void objects_and_pieces_equal_those_of_single_bytes(void)
{
	struct random random;

	random_stream(&random, 1, 1);
	for (int i = 0; i < 2000; i++) {
		struct stripes s = { 1 + random_below(&random, 6), 1 + random_below(&random, 9) };
		uint64_t from = random_below(&random, 100), to = from + random_below(&random, 80);
		uint64_t bytes[6] = { 0 }, pieces = from < to, objects = 0;
		struct range range = { from, to };

		for (uint64_t at = from; at < to; at++) {
			bytes[object_of(&s, at)]++;
			pieces += at > from && object_of(&s, at) != object_of(&s, at - 1);
		}
		for (uint64_t k = 0; k < s.count; k++) {
			CHECK_INT(stripes_bytes(&s, k, range), bytes[k]);
			objects += bytes[k] > 0;
		}
		CHECK_INT(stripes_pieces(&s, range), pieces);
		CHECK_INT(stripes_objects(&s, range), objects);
	}
}

static void targets_follow_from_the_busiest_object(void)
{
	static const struct stripes four = { 4, 10 };
	/* Two writers, each with one unit of another object, of the same one, and with all units.
	 */
	static const struct range apart[] = { { 0, 10 }, { 50, 60 } };
	static const struct range together[] = { { 0, 10 }, { 40, 50 } };
	static const struct range all[] = { { 0, 40 }, { 40, 80 } };
	static const struct range uneven[] = { { 0, 15 } };

	CHECK_NEAR(stripes_spread_find(&four, apart, 2).targets, 2, 0);
	CHECK_NEAR(stripes_spread_find(&four, together, 2).targets, 1, 0);
	CHECK_NEAR(stripes_spread_find(&four, together, 2).pieces, 2, 0);
	CHECK_NEAR(stripes_spread_find(&four, all, 2).targets, 4, 0);
	CHECK_NEAR(stripes_spread_find(&four, all, 2).pieces, 8, 0);
	CHECK_NEAR(stripes_spread_find(&four, uneven, 1).targets, 1.5, 0);
}

static void unknown_stripes_have_no_spread(void)
{
	static const struct range ranges[] = { { 0, 10 }, { 5, 5 } };
	struct stripes none = { 0 }, many = { STRIPES_MOST + 1, 1 }, one = { 1, 4 };

	CHECK_NEAR(stripes_spread_find(&none, ranges, 2).targets, 0, 0);
	CHECK_NEAR(stripes_spread_find(&many, ranges, 2).targets, 0, 0);
	CHECK_NEAR(stripes_spread_find(&one, ranges + 1, 1).targets, 0, 0);
	CHECK_NEAR(stripes_spread_find(&one, ranges, 2).targets, 1, 0);
	CHECK_NEAR(stripes_spread_find(&one, ranges, 2).pieces, 1, 0);
}

TESTS(TEST(objects_and_pieces_equal_those_of_single_bytes),
      TEST(targets_follow_from_the_busiest_object), TEST(unknown_stripes_have_no_spread))
