/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-36, HYB-AC-6.
 */
#include "predict/model/costs/selectors.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void check_ascending(const struct chosen *s, uint64_t ranks)
{
	for (size_t i = 0; i < s->count; i++) {
		CHECK(s->ranks[i] < ranks);
		CHECK(!i || s->ranks[i] > s->ranks[i - 1]);
	}
}

static void uniform_strides_match_the_paper(void)
{
	static const struct {
		uint64_t nodes, wanted, stride, by_stride;
	} golden[] = {
		{ 128, 40, 52, 40 },   { 256, 80, 52, 79 },    { 512, 160, 52, 158 },
		{ 128, 136, 16, 128 }, { 256, 272, 16, 256 },  { 512, 544, 16, 512 },
		{ 128, 520, 4, 512 },  { 256, 1040, 4, 1024 }, { 512, 2080, 4, 2048 },
	};

	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		uint64_t ranks = golden[i].nodes * 16;
		struct chosen s = { 0 };

		CHECK_INT(selector_uniform(&s, ranks, golden[i].wanted, NULL), 0);
		CHECK_INT(s.stride, golden[i].stride);
		CHECK_INT(s.by_stride, golden[i].by_stride);
		CHECK_INT(s.count, golden[i].wanted);
		check_ascending(&s, ranks);
		chosen_release(&s);
	}
}

static void any_number_of_writers_can_be_selected(void)
{
	for (uint64_t ranks = 1; ranks <= 33; ranks++)
		for (uint64_t wanted = 1; wanted <= ranks; wanted++) {
			struct chosen s = { 0 };

			CHECK_INT(selector_uniform(&s, ranks, wanted, NULL), 0);
			CHECK_INT(s.count, wanted);
			check_ascending(&s, ranks);
			chosen_release(&s);
		}
}

static const char *spread(const uint32_t *nodes, const uint32_t *sockets, uint64_t ranks,
			  uint64_t wanted)
{
	static struct buf text;
	struct chosen s = { 0 };

	buf_clear(&text);
	CHECK_INT(selector_spread(&s, nodes, sockets, ranks, wanted, NULL), 0);
	for (size_t i = 0; i < s.count; i++)
		buf_printf(&text, "%llu ", (unsigned long long)s.ranks[i]);
	chosen_release(&s);
	return buf_text(&text);
}

static void writers_are_spread_over_nodes_then_sockets(void)
{
	static const uint32_t nodes[] = { 7, 7, 7, 7, 3, 3, 3, 3 }, one[8] = { 0 };
	static const uint32_t cyclic[] = { 0, 1, 2, 0, 1, 2, 0, 1 };
	static const uint32_t sockets[] = { 0, 0, 1, 1, 0, 0, 1, 1 };
	static const uint32_t uneven[] = { 0, 0, 0, 0, 0, 0, 1, 1 };

	CHECK_TEXT(spread(nodes, NULL, 8, 1), "0 ");
	CHECK_TEXT(spread(nodes, NULL, 8, 2), "0 4 ");
	CHECK_TEXT(spread(nodes, NULL, 8, 5), "0 1 2 4 5 ");
	CHECK_TEXT(spread(nodes, sockets, 8, 4), "0 2 4 6 ");
	CHECK_TEXT(spread(nodes, sockets, 8, 6), "0 1 2 4 5 6 ");
	CHECK_TEXT(spread(cyclic, NULL, 8, 3), "0 1 2 ");
	CHECK_TEXT(spread(cyclic, NULL, 8, 4), "0 1 2 3 ");
	CHECK_TEXT(spread(one, sockets, 8, 2), "0 2 ");
	/* If all ranks of a node are taken, other nodes provide the rest. */
	CHECK_TEXT(spread(uneven, NULL, 8, 7), "0 1 2 3 4 6 7 ");
	CHECK_TEXT(spread(one, NULL, 8, 8), "0 1 2 3 4 5 6 7 ");
}

static void impossible_numbers_of_writers_are_refused(void)
{
	struct chosen s = { 0 };

	CHECK_INT(selector_uniform(&s, 4, 5, NULL), -EINVAL);
	CHECK_INT(selector_uniform(&s, 4, 0, NULL), -EINVAL);
	CHECK(!s.ranks);
}

static void a_part_is_spread_over_the_whole(void)
{
	CHECK_INT(selector_part(8, 2, 0), 0);
	CHECK_INT(selector_part(8, 2, 1), 4);
	CHECK_INT(selector_part(5, 3, 2), 3);
	for (size_t i = 0; i < 5; i++)
		CHECK_INT(selector_part(5, 5, i), i);
}

TESTS(TEST(uniform_strides_match_the_paper), TEST(any_number_of_writers_can_be_selected),
      TEST(writers_are_spread_over_nodes_then_sockets),
      TEST(impossible_numbers_of_writers_are_refused), TEST(a_part_is_spread_over_the_whole))
