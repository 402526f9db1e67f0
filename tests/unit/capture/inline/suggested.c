/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which suggestion of the watcher a rank finds for an access.
 * Papers: SIOX-2.
 */
#include "check.h"

#include "capture/inline/suggested.c"

static struct suggestion table[SUGGESTIONS];
static const struct history_access usual = {
	.bytes = 4096, .span = 12288, .is_write = true, .is_collective = true, .is_strided = true
};

static void table_make(void)
{
	memset((void *)table, 0, sizeof(table));
	for (unsigned i = 0; i < 2; i++) {
		table[i].is_write = true;
		table[i].ranks = 4;
		table[i].bytes = 4096;
		table[i].span = 12288u << i;
		table[i].opened = suggestion_hash("cb_nodes=2");
		strcpy(table[i].hints, "romio_cb_write=disable;romio_ds_write=disable");
		atomic_store(&table[i].state, SUGGESTION_VALID);
	}
}

static unsigned find_with(const char *opened, uint32_t ranks, const char *own,
			  const struct history_access *access)
{
	uint32_t keys = *own ? 1u << hints_change_index(own) : 0;

	return suggested_find(table, suggestion_hash(opened), ranks, keys, access);
}

static void only_accesses_like_the_measured_ones_have_a_suggestion(void)
{
	struct history_access access = usual;

	table_make();
	CHECK_INT(find_with("cb_nodes=2", 4, "", &usual), SUGGESTED_FIRST);
	CHECK_TEXT(suggested_hints(table, SUGGESTED_FIRST), table[0].hints);
	access.span *= 2;
	CHECK_INT(find_with("cb_nodes=2", 4, "", &access), SUGGESTED_FIRST + 1);
	access.span *= 2;
	CHECK_INT(find_with("cb_nodes=2", 4, "", &access), 0);
	access = usual;
	access.bytes++;
	CHECK_INT(find_with("cb_nodes=2", 4, "", &access), 0);
	access = usual;
	access.is_write = false;
	CHECK_INT(find_with("cb_nodes=2", 4, "", &access), 0);
	access = usual;
	access.is_collective = false;
	CHECK_INT(find_with("cb_nodes=2", 4, "", &access), 0);
	CHECK_INT(find_with("cb_nodes=2", 3, "", &usual), 0);
	CHECK_INT(find_with("", 4, "", &usual), 0);
}

static void suggestions_end_for_good_when_nobody_extends_them(void)
{
	_Atomic uint64_t until = 0;

	/* Before the first collector has begun, nobody measures, but nothing has ended. */
	CHECK(!suggestions_are_measured(&until, 100));
	CHECK(suggestions_extend(&until, 200));
	CHECK(suggestions_are_measured(&until, 100));
	CHECK(suggestions_are_measured(&until, 200));
	CHECK(suggestions_extend(&until, 300));
	CHECK(suggestions_are_measured(&until, 201));
	CHECK(!suggestions_are_measured(&until, 301));
	CHECK(!suggestions_extend(&until, 400));
	CHECK(!suggestions_are_measured(&until, 350));
}

static void hints_of_the_program_keep_the_others_from_changing(void)
{
	table_make();
	CHECK_INT(find_with("cb_nodes=2", 4, "romio_ds_write", &usual), 0);
	CHECK_INT(find_with("cb_nodes=2", 4, "romio_ds_read", &usual), SUGGESTED_FIRST);
	/* What cannot change while a file is open is not used, whoever wrote it. */
	strcpy(table[0].hints, "cb_nodes=1");
	CHECK_INT(find_with("cb_nodes=2", 4, "", &usual), 0);
}

static void a_withdrawn_suggestion_is_not_found(void)
{
	table_make();
	atomic_store(&table[0].state, SUGGESTION_WITHDRAWN);
	CHECK_INT(find_with("cb_nodes=2", 4, "", &usual), 0);
	/* Other ranks may still have to change to it. */
	CHECK_TEXT(suggested_hints(table, SUGGESTED_FIRST), table[0].hints);
	/* The rows behind are. */
	table[1].span = usual.span;
	CHECK_INT(find_with("cb_nodes=2", 4, "", &usual), SUGGESTED_FIRST + 1);
}

static void choices_of_a_plan_are_no_suggestions(void)
{
	table_make();
	CHECK(!suggested_hints(table, 0));
	CHECK(!suggested_hints(table, HISTORY_CHOICES));
	CHECK(!suggested_hints(table, SUGGESTED_FIRST + SUGGESTIONS));
}

TESTS(TEST(suggestions_end_for_good_when_nobody_extends_them),
      TEST(only_accesses_like_the_measured_ones_have_a_suggestion),
      TEST(hints_of_the_program_keep_the_others_from_changing),
      TEST(a_withdrawn_suggestion_is_not_found), TEST(choices_of_a_plan_are_no_suggestions))
