/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/costs/selectors.h"

#include <errno.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void rising_and_below(const struct chosen *s, uint64_t ranks)
{
	for (size_t i = 0; i < s->count; i++) {
		CHECK(s->ranks[i] < ranks);
		CHECK(!i || s->ranks[i] > s->ranks[i - 1]);
	}
}

/* HYB-36: what the stride gives, and that all that were wanted are there in the end. */
static void uniform_strides_are_those_of_the_paper(void)
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
		rising_and_below(&s, ranks);
		chosen_release(&s);
	}
}

static void every_number_of_writers_can_be_had(void)
{
	for (uint64_t ranks = 1; ranks <= 33; ranks++)
		for (uint64_t wanted = 1; wanted <= ranks; wanted++) {
			struct chosen s = { 0 };

			CHECK_INT(selector_uniform(&s, ranks, wanted, NULL), 0);
			CHECK_INT(s.count, wanted);
			rising_and_below(&s, ranks);
			chosen_release(&s);
		}
}

static bool has(const struct chosen *s, uint64_t rank)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->ranks[i] == rank)
			return true;
	return false;
}

/* HYB-AC-6 on Vesta: psets of 32 nodes with two bridges each. */
static void psets_check(uint64_t nodes, uint64_t wanted)
{
	const struct selector_psets psets = { nodes, 16, 32, 2 };
	uint64_t counts[16] = { 0 }, least = UINT64_MAX, most = 0;
	struct chosen s = { 0 };

	REQUIRE(nodes / 32 <= 16);
	CHECK_INT(selector_bridges(&s, &psets, wanted, NULL), 0);
	CHECK_INT(s.count, wanted);
	rising_and_below(&s, nodes * 16);
	for (size_t i = 0; i < s.count; i++)
		counts[s.ranks[i] / 16 / 32]++;
	for (uint64_t pset = 0; pset < nodes / 32; pset++) {
		least = counts[pset] < least ? counts[pset] : least;
		most = counts[pset] > most ? counts[pset] : most;
		CHECK(wanted < nodes / 16 || (has(&s, pset * 512) && has(&s, pset * 512 + 256)));
	}
	CHECK(most - least <= 1);
	chosen_release(&s);
}

static void bridges_come_first_and_psets_are_even(void)
{
	static const uint64_t aggregators[] = { 40, 136, 520 };

	for (uint64_t nodes = 128; nodes <= 512; nodes *= 2)
		for (size_t i = 0; i < 3; i++)
			psets_check(nodes, aggregators[i] * nodes / 128);
	for (uint64_t wanted = 1; wanted <= 64 * 16; wanted += 7)
		psets_check(64, wanted);
	psets_check(64, 64 * 16);
}

/* No node gets a second writer while another in its pset has none. */
static void nodes_of_a_pset_take_turns(void)
{
	const struct selector_psets psets = { 32, 16, 32, 2 };
	struct chosen s = { 0 };
	unsigned counts[32] = { 0 };

	CHECK_INT(selector_bridges(&s, &psets, 34, NULL), 0);
	for (size_t i = 0; i < s.count; i++)
		counts[s.ranks[i] / 16]++;
	for (size_t i = 0; i < 32; i++)
		CHECK(counts[i] == 1 || counts[i] == 2);
	chosen_release(&s);
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
	/* A node that is used up leaves the rest to others. */
	CHECK_TEXT(spread(uneven, NULL, 8, 7), "0 1 2 3 4 6 7 ");
	CHECK_TEXT(spread(one, NULL, 8, 8), "0 1 2 3 4 5 6 7 ");
}

static void what_cannot_be_chosen_is_refused(void)
{
	const struct selector_psets odd = { 48, 16, 32, 2 }, bridges = { 32, 16, 32, 5 };
	struct chosen s = { 0 };
	struct err err = { 0 };

	CHECK_INT(selector_uniform(&s, 4, 5, &err), -EINVAL);
	CHECK_TEXT(err.text, "5 writers of 4 ranks: there are too few");
	CHECK_INT(selector_uniform(&s, 4, 0, &err), -EINVAL);
	CHECK_TEXT(err.text, "there must be a writer");
	CHECK_INT(selector_bridges(&s, &odd, 4, &err), -EINVAL);
	CHECK_TEXT(err.text, "48 nodes do not fill psets of 32");
	CHECK_INT(selector_bridges(&s, &bridges, 4, &err), -EINVAL);
	CHECK_TEXT(err.text, "5 bridges are not spread over the 32 nodes of a pset");
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

TESTS(TEST(uniform_strides_are_those_of_the_paper), TEST(every_number_of_writers_can_be_had),
      TEST(bridges_come_first_and_psets_are_even), TEST(nodes_of_a_pset_take_turns),
      TEST(writers_are_spread_over_nodes_then_sockets), TEST(what_cannot_be_chosen_is_refused),
      TEST(a_part_is_spread_over_the_whole))
