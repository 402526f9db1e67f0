/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/conditions.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "check.h"
#include "trace/format.h"

/* Two runs of the same program, which tests change. */
static struct note notes[2][8];
static struct process_info processes[2];
static struct trace_head heads[2];

static void set_note(int run, size_t i, const char *kind, const char *name, const char *value)
{
	notes[run][i] = (struct note){ .process = -1,
				       .source = (char *)kind,
				       .kind = (char *)kind,
				       .name = (char *)name,
				       .value = (char *)value };
	heads[run].note_count = i + 1;
}

static void make_heads(void)
{
	for (int run = 0; run < 2; run++) {
		processes[run] = (struct process_info){ .rank = -1, .program = "/bin/app" };
		heads[run] = (struct trace_head){ .run = { .command = "app 1", .host = "n1" },
						  .processes = &processes[run],
						  .process_count = 1,
						  .notes = notes[run] };
		set_note(run, 0, NOTE_PROGRAM, PROGRAM_NAME, "app");
		set_note(run, 1, NOTE_PROGRAM, PROGRAM_FINGERPRINT, "build:1");
		set_note(run, 2, NOTE_PROGRAM, PROGRAM_ARGUMENTS, "1");
	}
}

static void note_condition(void *arg, const struct condition *condition, const char *before,
			   const char *after)
{
	buf_printf(arg, "%s/%s: %s -> %s\n", condition->kind, condition->name,
		   before ? before : "none", after ? after : "none");
}

static void check_changes(const char *expected)
{
	AUTO_BUF struct buf found = { 0 };
	struct conditions before, after;

	conditions_init(&before, &heads[0]);
	conditions_init(&after, &heads[1]);
	conditions_compare(&before, &after, note_condition, &found);
	CHECK_TEXT(buf_text(&found), expected);
	conditions_release(&before);
	conditions_release(&after);
}

static void equal_runs_have_equal_conditions(void)
{
	make_heads();
	check_changes("");
}

static void what_differs_is_named(void)
{
	make_heads();
	set_note(1, 1, NOTE_PROGRAM, PROGRAM_FINGERPRINT, "build:2");
	set_note(1, 2, NOTE_PROGRAM, PROGRAM_ARGUMENTS, "2");
	heads[1].run.command = "app 2";
	heads[1].run.host = "n2";
	processes[1].ranks = 4;
	check_changes("program/binary: build:1 -> build:2\n"
		      "program/arguments: 1 -> 2\n"
		      "program/command: app 1 -> app 2\n"
		      "scale/ranks: 0 -> 4\n"
		      "machine/host: n1 -> n2\n");
}

static void variables_and_parameters_can_be_missing(void)
{
	make_heads();
	set_note(0, 3, NOTE_PROGRAM, PROGRAM_VARIABLE "ROMIO_HINTS", "/a");
	set_note(1, 3, NOTE_PROGRAM, PROGRAM_VARIABLE "OMP_NUM_THREADS", "8");
	set_note(1, 4, NOTE_APPLIED, "given", "cb_nodes=4");
	notes[1][4].source = "parameters";
	check_changes("environment/ROMIO_HINTS: /a -> none\n"
		      "parameters/given: none -> cb_nodes=4\n"
		      "environment/OMP_NUM_THREADS: none -> 8\n");
}

/* A trace of an earlier version says nothing about the build and the environment. */
static void what_a_run_does_not_know_is_no_change(void)
{
	make_heads();
	set_note(1, 3, NOTE_PROGRAM, PROGRAM_VARIABLE "ROMIO_HINTS", "/a");
	heads[0].note_count = 0;
	check_changes("");
	CHECK(!conditions_fact(&heads[0], PROGRAM_FINGERPRINT));
	CHECK_TEXT(conditions_fact(&heads[1], PROGRAM_FINGERPRINT), "build:1");
}

TESTS(TEST(equal_runs_have_equal_conditions), TEST(what_differs_is_named),
      TEST(variables_and_parameters_can_be_missing), TEST(what_a_run_does_not_know_is_no_change))
