/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks agree on hints. Threads that share a control page stand for the ranks.
 */
#include "check.h"

#include <pthread.h>

#include "capture/inline/agree.c"

#define RANKS 8
#define OPENINGS 2000

static struct control page;

static void page_clear(void)
{
	memset((void *)&page, 0, sizeof(page));
}

static uint64_t opening_number(uint64_t opening)
{
	return (opening + 1) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void the_first_proposal_decides_for_all(void)
{
	uint32_t one, two, known = 9, plugin = 0;
	bool mine;

	page_clear();
	one = agree_answer(&page, "cb_nodes=1", 3);
	two = agree_answer(&page, "cb_nodes=2", 0);
	CHECK(one && two && one != two);
	CHECK_INT(agree_answer(&page, "cb_nodes=1", 3), one);
	CHECK(!agree_known(&page, 1000000, &known));
	CHECK_INT(agree_decide(&page, 1000000, one, &mine), one);
	CHECK(mine);
	CHECK_INT(agree_decide(&page, 1000000, two, &mine), one);
	CHECK(!mine);
	CHECK(agree_known(&page, 1000000, &known));
	CHECK_INT(known, one);
	CHECK_TEXT(agree_hints(&page, known, &plugin), "cb_nodes=1");
	CHECK_INT(plugin, 3);
	/* "No hints" is an answer, too. */
	CHECK_INT(agree_decide(&page, 2000000, 0, &mine), 0);
	CHECK(mine);
	CHECK_INT(agree_decide(&page, 2000000, two, &mine), 0);
	CHECK(!mine);
	CHECK_TEXT(agree_hints(&page, 0, &plugin), "");
}

static void answers_beyond_the_table_are_rejected(void)
{
	char text[32], *long_text = malloc(CONTROL_HINTS_BYTES + 1);

	page_clear();
	for (int i = 0; i < CONTROL_ANSWERS; i++) {
		snprintf(text, sizeof(text), "key=%d", i);
		CHECK_INT(agree_answer(&page, text, 0), i + 1);
	}
	CHECK_INT(agree_answer(&page, "key=more", 0), 0);
	CHECK_INT(agree_answer(&page, "key=7", 0), 8);
	CHECK_INT(agree_answer(&page, "", 0), 0);
	page_clear();
	memset(long_text, 'x', CONTROL_HINTS_BYTES);
	long_text[CONTROL_HINTS_BYTES] = 0;
	CHECK_INT(agree_answer(&page, long_text, 0), 0);
	free(long_text);
}

/* Nothing is ever removed: if one rank finds no room, no rank does. */
static void a_full_table_is_full_for_all(void)
{
	uint32_t proposal, refused = 0, answer;
	bool mine;

	page_clear();
	proposal = agree_answer(&page, "a=1", 0);
	for (uint64_t i = 0; i < 3 * CONTROL_OPENINGS; i++) {
		uint32_t first = agree_decide(&page, opening_number(i), proposal, &mine);

		refused += !first;
		CHECK_INT(agree_decide(&page, opening_number(i), proposal, &mine), first);
		CHECK(agree_known(&page, opening_number(i), &answer) && answer == first);
	}
	CHECK(refused >= 2 * CONTROL_OPENINGS);
	/* Earlier decisions stay. */
	CHECK_INT(agree_decide(&page, opening_number(0), 0, &mine), proposal);
	CHECK_INT(agree_place(&page, opening_number(UINT64_C(1) << 40)), -1);
}

static void a_number_has_one_place(void)
{
	int place;

	page_clear();
	place = agree_place(&page, opening_number(1));
	CHECK(place >= 0);
	CHECK_INT(agree_place(&page, opening_number(1)), place);
	CHECK(agree_place(&page, opening_number(2)) != place);
	/* Also for a number whose upper 48 bits are 0. */
	CHECK(agree_place(&page, 5) >= 0);
}

struct rank {
	pthread_t thread;
	unsigned number;
	char (*chosen)[32];
};

static void *rank_run(void *arg)
{
	struct rank *r = arg;

	for (uint64_t i = 0; i < OPENINGS; i++) {
		char text[32];
		uint32_t plugin;
		bool mine;

		/* Every rank proposes a different answer, or none. */
		snprintf(text, sizeof(text), "rank=%u", r->number);
		if ((i + r->number) % 5 == 0)
			text[0] = 0;
		strcpy(r->chosen[i], agree_hints(&page,
						 agree_decide(&page, opening_number(i),
							      agree_answer(&page, text, 0), &mine),
						 &plugin));
	}
	return NULL;
}

static void ranks_that_race_agree(void)
{
	static char chosen[RANKS][OPENINGS][32];
	struct rank ranks[RANKS];
	size_t different = 0, none = 0;

	page_clear();
	for (unsigned i = 0; i < RANKS; i++) {
		ranks[i] = (struct rank){ .number = i, .chosen = chosen[i] };
		REQUIRE(!pthread_create(&ranks[i].thread, NULL, rank_run, &ranks[i]));
	}
	for (unsigned i = 0; i < RANKS; i++)
		pthread_join(ranks[i].thread, NULL);
	for (unsigned i = 0; i < OPENINGS; i++) {
		for (unsigned r = 1; r < RANKS; r++)
			different += strcmp(chosen[0][i], chosen[r][i]) != 0;
		none += !chosen[0][i][0];
	}
	CHECK_INT(different, 0);
	CHECK(none < OPENINGS);
}

TESTS(TEST(the_first_proposal_decides_for_all), TEST(answers_beyond_the_table_are_rejected),
      TEST(a_full_table_is_full_for_all), TEST(a_number_has_one_place), TEST(ranks_that_race_agree))
