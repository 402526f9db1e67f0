/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/losses.h"

#include "check.h"

static struct note note(const char *kind, const char *name, const char *value)
{
	return (struct note){ .time_ns = -1,
			      .process = -1,
			      .source = (char *)LOSSES_SOURCE,
			      .kind = (char *)kind,
			      .name = (char *)name,
			      .value = (char *)value };
}

static void lost_calls_are_summed_by_cause(void)
{
	struct loss_info losses[] = { { 0, 5, 0 }, { 1, 7, 2 } };
	struct note notes[] = { note(NOTE_LOST, "spool_limit", "5"),
				note(NOTE_LOST, "no_space", "4"),
				note(NOTE_LOST, "spool_limit", "3") };
	struct trace_head head = {
		.losses = losses, .loss_count = 2, .notes = notes, .note_count = 3
	};
	struct losses sum = losses_sum(&head);

	CHECK_INT(sum.records, 12);
	CHECK_INT(sum.threads, 2);
	CHECK_INT(sum.processes, 2);
	CHECK_INT(sum.by_cause[LOSS_SPOOL_LIMIT], 8);
	CHECK_INT(sum.by_cause[LOSS_NO_SPACE], 4);
	CHECK_INT(sum.by_cause[LOSS_UNKNOWN], 0);
}

static void losses_without_a_note_have_an_unknown_cause(void)
{
	struct loss_info losses[] = { { 0, 5, 0 } };
	struct note notes[] = { note(NOTE_LOST, "of a later version", "2") };
	struct trace_head head = { .losses = losses, .loss_count = 1 };

	CHECK_INT(losses_sum(&head).by_cause[LOSS_UNKNOWN], 5);
	head.notes = notes;
	head.note_count = 1;
	CHECK_INT(losses_sum(&head).by_cause[LOSS_UNKNOWN], 5);
}

static void notes_cannot_exceed_the_losses(void)
{
	struct loss_info losses[] = { { 0, 5, 0 } };
	struct note notes[] = { note(NOTE_LOST, "no_space", "18446744073709551615"), { 0 } };
	struct trace_head head = {
		.losses = losses, .loss_count = 1, .notes = notes, .note_count = 2
	};

	CHECK_INT(losses_sum(&head).by_cause[LOSS_NO_SPACE], 5);
}

static void unrecorded_processes_are_summed_over_nodes(void)
{
	struct note notes[] = { note(NOTE_UNRECORDED, "static", "2 /a b"),
				note(NOTE_UNRECORDED, "static", "1 /a b"),
				note(NOTE_UNRECORDED, "go", "1 "),
				note(NOTE_UNRECORDED, "go", "4 /c"),
				note(NOTE_UNRECORDED, "user", "x") };
	struct trace_head head = { .notes = notes, .note_count = 5 };
	struct losses sum = losses_sum(&head);

	CHECK_INT(sum.unrecorded_processes, 8);
	CHECK_INT(sum.unrecorded[LOSS_STATIC].processes, 3);
	CHECK_TEXT(sum.unrecorded[LOSS_STATIC].program, "/a b");
	CHECK(!sum.unrecorded[LOSS_STATIC].has_others);
	CHECK_INT(sum.unrecorded[LOSS_GO].processes, 5);
	CHECK_TEXT(sum.unrecorded[LOSS_GO].program, "/c");
	CHECK(sum.unrecorded[LOSS_GO].has_others);
}

static void every_cause_has_a_name_and_a_text(void)
{
	for (unsigned i = 0; i < LOSS_CAUSES; i++) {
		CHECK(loss_texts[i].name && loss_texts[i].what && loss_texts[i].brief);
		for (unsigned k = 0; k < i; k++)
			CHECK(strcmp(loss_texts[i].name, loss_texts[k].name) != 0);
	}
}

TESTS(TEST(lost_calls_are_summed_by_cause), TEST(losses_without_a_note_have_an_unknown_cause),
      TEST(notes_cannot_exceed_the_losses), TEST(unrecorded_processes_are_summed_over_nodes),
      TEST(every_cause_has_a_name_and_a_text))
