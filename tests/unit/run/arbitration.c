/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/arbitration.h"

#include <string.h>

#include "check.h"
#include "contract/outcomes.h"
#include "params/set.h"

static void put(struct param_set *set, const char *name, const char *value, const char *file)
{
	param_set_put(set, tunable_by_name(name), value, file, NULL, 0, NULL);
}

static void the_first_source_decides_and_others_are_noted(void)
{
	struct arbitration a = { 0 };
	struct param_set user = { 0 }, placed = { 0 };

	put(&user, "cb_nodes", "4", NULL);
	put(&user, "cb_nodes", "2", "*.h5");
	put(&placed, "cb_nodes", "8", NULL);
	put(&placed, "striping_factor", "3", NULL);
	arbitration_add(&a, SOURCE_USER, "mine.json", &user, NULL);
	CHECK(arbitration_has(&a, tunable_by_name("cb_nodes")));
	CHECK(!arbitration_has(&a, tunable_by_name("striping_factor")));
	/* Values of one source for several files are no conflict. */
	CHECK_INT(a.conflicts.len, 0);
	arbitration_add(&a, SOURCE_PLACEMENT, "forecast", &placed, NULL);
	CHECK_TEXT(buf_text(&a.conflicts), "user\tcb_nodes\t4 (user: mine.json) instead of 8 "
					   "(placement: forecast)\n");
	CHECK(arbitration_has(&a, tunable_by_name("striping_factor")));
	/* Patterns come first, and sources in their order. */
	CHECK(strstr(buf_text(&a.best), "*.h5\tcb_nodes\t2\tuser\n*\tcb_nodes\t4\tuser\n") ==
	      buf_text(&a.best));
	arbitration_clear(&a);
	CHECK(!arbitration_has(&a, tunable_by_name("cb_nodes")));
	arbitration_release(&a);
	param_set_release(&user);
	param_set_release(&placed);
}

static void equal_values_are_no_conflict(void)
{
	struct arbitration a = { 0 };
	struct param_set set = { 0 };

	put(&set, "cb_nodes", "4", NULL);
	arbitration_add(&a, SOURCE_USER, "a", &set, NULL);
	arbitration_add(&a, SOURCE_KNOWLEDGE, "b", &set, "why");
	CHECK_INT(a.conflicts.len, 0);
	arbitration_release(&a);
	param_set_release(&set);
}

static void what_is_withheld_is_noted_with_the_reason(void)
{
	struct arbitration a = { 0 };
	struct param_set set = { 0 };

	put(&set, "cb_nodes", "4", NULL);
	arbitration_add(&a, SOURCE_KNOWLEDGE, "entry 3", &set, "only as a whole");
	CHECK(!arbitration_has(&a, tunable_by_name("cb_nodes")));
	CHECK_TEXT(buf_text(&a.conflicts),
		   "default\tcb_nodes\tthe default instead of 4 (knowledge: "
		   "entry 3): only as a whole\n");
	arbitration_release(&a);
	param_set_release(&set);
}

static void guests_note_each_conflict_once_and_count_it(void)
{
	static struct outcomes outcomes;
	char key[16];

	for (int i = 0; i < 3; i++)
		outcomes_note_conflict(&outcomes, "cb_nodes", SOURCE_PROGRAM, "1", SOURCE_PLUGIN,
				       "2");
	outcomes_note_conflict(&outcomes, "cb_nodes", SOURCE_PROGRAM, "1", SOURCE_PLUGIN, "3");
	CHECK_INT(atomic_load(&outcomes.conflicts[0].times), 3);
	CHECK_INT(atomic_load(&outcomes.conflicts[1].times), 1);
	CHECK_INT(atomic_load(&outcomes.conflicts[2].state), OUTCOME_CONFLICT_FREE);
	for (int i = 0; i < OUTCOMES_CONFLICTS; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		outcomes_note_conflict(&outcomes, key, SOURCE_PROGRAM, "1", SOURCE_PLUGIN, "3");
	}
	CHECK_INT(atomic_load(&outcomes.conflicts_over), 2);
}

TESTS(TEST(the_first_source_decides_and_others_are_noted), TEST(equal_values_are_no_conflict),
      TEST(what_is_withheld_is_noted_with_the_reason),
      TEST(guests_note_each_conflict_once_and_count_it))
