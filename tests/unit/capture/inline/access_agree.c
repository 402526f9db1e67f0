/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The agreement of ranks on the hints of an open file: here, threads are the ranks.
 * Papers: SIOX-39.
 */
#include "check.h"

#include <pthread.h>

#include "capture/inline/access_agree.c"

enum { RANKS = 4, ACCESSES = 3000 };

static struct control page;
static struct control_changes *file;

static void page_clear(void)
{
	memset((void *)&page, 0, sizeof(page));
	file = access_entry(&page, 77);
}

/* The choices of this test differ in one hint each. */
static uint32_t differ(const void *arg, unsigned from, unsigned to)
{
	(void)arg;
	return 1u << from | 1u << to;
}

static struct access_step ask_within(uint32_t access, unsigned wanted, uint32_t limit)
{
	return access_decide(file, &(struct access_rank){ .access = access,
							  .ranks = RANKS,
							  .limit = limit,
							  .wanted = wanted,
							  .has_opinion = true,
							  .differ = differ });
}

static struct access_step ask(uint32_t access, unsigned wanted)
{
	return ask_within(access, wanted, CONTROL_CHANGES_MAX - 1);
}

static void join_all(void)
{
	for (int i = 0; i < RANKS; i++)
		access_join(file, 5, 0);
}

static void the_first_rank_decides_for_all(void)
{
	struct access_step step;

	page_clear();
	join_all();
	step = ask(1, 2);
	CHECK_INT(step.choice, 2);
	CHECK_INT(step.keys, 1 | 1 << 2);
	CHECK(step.is_mine);
	step = ask(1, 1);
	CHECK_INT(step.choice, 2);
	CHECK_INT(step.keys, 1 | 1 << 2);
	CHECK(!step.is_mine);
	/* Nothing changes, and not later for this access either. */
	CHECK_INT(ask(2, 2).keys, 0);
	CHECK_INT(ask(2, 1).keys, 0);
	CHECK_INT(ask(3, 1).choice, 1);
	/* Ranks that are late find what the others have done. */
	CHECK_INT(ask(1, 0).choice, 2);
	CHECK_INT(ask(2, 0).keys, 0);
	CHECK_INT(ask(3, 0).choice, 1);
}

static void nothing_changes_until_all_ranks_take_part(void)
{
	page_clear();
	for (int i = 0; i < RANKS - 1; i++)
		access_join(file, 5, 0);
	CHECK_INT(ask(1, 1).keys, 0);
	/* A rank with other values is not counted. */
	access_join(file, 6, 0);
	CHECK_INT(ask(2, 1).keys, 0);
	access_join(file, 5, 0);
	CHECK_INT(ask(2, 1).keys, 0);
	CHECK(ask(3, 1).keys);
}

static void hints_of_the_program_stay(void)
{
	page_clear();
	join_all();
	access_keep(file, 1 << 2);
	CHECK_INT(ask(1, 2).keys, 1);
	access_keep(file, 1 << 2 | 1 << 1);
	CHECK_INT(ask(2, 1).keys, 0);
}

static void the_last_change_restores_the_hints(void)
{
	page_clear();
	join_all();
	CHECK_INT(ask_within(1, 1, 3).choice, 1);
	CHECK_INT(ask_within(2, 2, 3).choice, 2);
	CHECK_INT(ask_within(3, 1, 3).choice, 1);
	CHECK(ask_within(4, 1, 3).keys);
	CHECK_INT(ask_within(4, 1, 3).choice, 0);
	for (uint32_t i = 5; i < 20; i++)
		CHECK_INT(ask_within(i, i % 3, 3).keys, 0);
	page_clear();
	join_all();
	CHECK_INT(ask_within(1, 1, 0).keys, 0);
}

static void a_rank_without_data_has_no_opinion(void)
{
	page_clear();
	join_all();
	ask(1, 2);
	CHECK_INT(access_decide(file, &(struct access_rank){ .access = 2,
							     .ranks = RANKS,
							     .limit = 9,
							     .wanted = 0,
							     .differ = differ })
			  .keys,
		  0);
	CHECK_INT(ask(3, 2).keys, 0);
}

static void the_table_is_full_for_all(void)
{
	page_clear();
	for (uint64_t i = 1; i < CONTROL_CHANGED_FILES; i++)
		CHECK(access_entry(&page, i << 32 | 9));
	CHECK(!access_entry(&page, 123456));
	CHECK(access_entry(&page, 77) == file);
}

struct rank {
	unsigned seed;
	struct access_step steps[ACCESSES];
};

static void *rank_run(void *arg)
{
	struct rank *rank = arg;

	for (uint32_t i = 1; i <= ACCESSES; i++) {
		if (i == 1)
			access_join(file, 5, 0);
		/* At most accesses of the same rank want the same, so that changes are spread. */
		rank->steps[i - 1] = ask(i, (i / 97 + (rand_r(&rank->seed) % 16 == 0)) % 3);
	}
	return NULL;
}

static void ranks_that_race_agree(void)
{
	static struct rank ranks[RANKS];

	for (int round = 0; round < 20; round++) {
		pthread_t threads[RANKS];
		unsigned mine = 0, changes = 0;

		page_clear();
		for (int i = 0; i < RANKS; i++) {
			ranks[i].seed = (unsigned)(round * RANKS + i);
			pthread_create(&threads[i], NULL, rank_run, &ranks[i]);
		}
		for (int i = 0; i < RANKS; i++)
			pthread_join(threads[i], NULL);
		for (int a = 0; a < ACCESSES; a++) {
			changes += ranks[0].steps[a].keys != 0;
			for (int i = 0; i < RANKS; i++) {
				CHECK_INT(ranks[i].steps[a].keys, ranks[0].steps[a].keys);
				if (ranks[0].steps[a].keys)
					CHECK_INT(ranks[i].steps[a].choice,
						  ranks[0].steps[a].choice);
				mine += ranks[i].steps[a].is_mine;
			}
		}
		CHECK_INT(mine, changes);
		CHECK(changes <= CONTROL_CHANGES_MAX);
	}
}

TESTS(TEST(the_first_rank_decides_for_all), TEST(nothing_changes_until_all_ranks_take_part),
      TEST(hints_of_the_program_stay), TEST(the_last_change_restores_the_hints),
      TEST(a_rank_without_data_has_no_opinion), TEST(the_table_is_full_for_all),
      TEST(ranks_that_race_agree))
