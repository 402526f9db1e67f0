/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/marks.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "observe/profile/profile.h"
#include "observe/tally/traffic.h"

enum { WRITE = 1, ACTIVITY, PHASE, MISUSE, CALLS };

static struct call_info calls[CALLS] = {
	[0] = { .name = "none", .class = CLASS_CONTROL },
	[WRITE] = { .name = "write", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[ACTIVITY] = { .name = "activity", .layer = LAYER_APPLICATION, .class = CLASS_ACTIVITY },
	[PHASE] = { .name = "phase", .layer = LAYER_APPLICATION, .class = CLASS_ACTIVITY },
	[MISUSE] = { .name = "misuse", .layer = LAYER_APPLICATION, .class = CLASS_ACTIVITY },
};

enum { DATA = 1, OUTER, INNER, READ_INPUT, SOLVE, FILES };
static char *files[] = { "", "/data", "outer", "inner", "read input", "solve" };

static struct process_info processes[2] = { { .parent = -1, .rank = -1 },
					    { .index = 1, .parent = -1, .rank = -1 } };
static struct trace_head head = {
	.calls = calls,
	.call_count = CALLS,
	.files = files,
	.file_count = FILES,
	.processes = processes,
	.process_count = 2,
	.end = { .duration_ns = 10000, .complete = true },
};

static void add(struct profile *p, uint32_t process, unsigned call, file_id name, uint64_t id,
		uint64_t parent, int64_t start_ns, int64_t duration_ns, int64_t result)
{
	struct activity a = {
		.process = process,
		.call = (uint16_t)call,
		.layer = calls[call].layer,
		.id = id,
		.parent = parent,
		.start_ns = start_ns,
		.duration_ns = duration_ns,
		.result = result,
		.handle = -1,
	};

	if (call == WRITE)
		a.file = name;
	else
		a.name = name;
	profile_add(p, &a);
}

static const struct mark *find(const struct profile *p, enum mark_kind kind, file_id name)
{
	static struct mark none;
	size_t count;
	const struct mark **list = marks_list(&p->marks, kind, &count);
	const struct mark *found = &none;

	for (size_t i = 0; i < count; i++)
		if (list[i]->name == name)
			found = list[i];
	free(list);
	return found;
}

static void fill(struct profile *p)
{
	profile_init(p, &head, NULL);
	add(p, 0, PHASE, READ_INPUT, 1, 0, 0, 0, 0);
	add(p, 0, WRITE, DATA, 2, 0, 100, 100, 10);
	add(p, 0, ACTIVITY, OUTER, 3, 0, 1000, 1000, 0);
	add(p, 0, ACTIVITY, INNER, 4, 3, 1100, 500, 0);
	add(p, 0, ACTIVITY, INNER, 5, 4, 1150, 400, 0);
	add(p, 0, WRITE, DATA, 6, 5, 1200, 100, 20);
	add(p, 0, WRITE, DATA, 7, 3, 1700, 100, 30);
	add(p, 1, WRITE, DATA, 1, 0, 1800, 10, 5);
	add(p, 0, PHASE, SOLVE, 8, 0, 1950, 0, 0);
	add(p, 0, WRITE, DATA, 9, 0, 3000, 500, 40);
	add(p, 0, MISUSE, OUTER, 10, 0, 3600, 0, 0);
}

static void io_counts_for_all_enclosing_activities_once(void)
{
	struct profile p;

	fill(&p);
	CHECK_INT(find(&p, MARK_ACTIVITY, OUTER)->calls, 1);
	CHECK_INT(find(&p, MARK_ACTIVITY, OUTER)->time_ns, 1000);
	CHECK_INT(find(&p, MARK_ACTIVITY, OUTER)->bytes[WRITING], 50);
	CHECK_INT(find(&p, MARK_ACTIVITY, OUTER)->io_ns, 200);
	/* An activity inside one of the same name counts, but neither its time nor its bytes. */
	CHECK_INT(find(&p, MARK_ACTIVITY, INNER)->calls, 2);
	CHECK_INT(find(&p, MARK_ACTIVITY, INNER)->time_ns, 500);
	CHECK_INT(find(&p, MARK_ACTIVITY, INNER)->bytes[WRITING], 20);
	CHECK_INT(find(&p, MARK_MISUSE, OUTER)->calls, 1);
	profile_release(&p);
}

static void a_phase_lasts_until_the_next_one_of_its_process(void)
{
	struct mark_beginning *phases;
	struct profile p;
	size_t count;

	fill(&p);
	/* The activity spans its end, which it must not move. */
	CHECK_INT(find(&p, MARK_PHASE, READ_INPUT)->time_ns, 1950);
	CHECK_INT(find(&p, MARK_PHASE, READ_INPUT)->bytes[WRITING], 60);
	CHECK_INT(find(&p, MARK_PHASE, SOLVE)->time_ns, 1650);
	CHECK_INT(find(&p, MARK_PHASE, SOLVE)->bytes[WRITING], 40);
	phases = marks_phases(&p.marks, &count);
	CHECK_INT(count, 2);
	CHECK_INT(phases[0].name, READ_INPUT);
	CHECK_INT(phases[1].start_ns, 1950);
	free(phases);
	profile_release(&p);
}

static void activities_are_not_io(void)
{
	struct profile p;

	fill(&p);
	CHECK_INT(p.summary.all.io.calls, 5);
	CHECK_INT(p.summary.all.io.time_ns, 810);
	CHECK_INT(p.summary.all.busy_ns, 810);
	CHECK_INT(p.summary.all.layers[LAYER_APPLICATION].calls, 6);
	CHECK(!map_get(&p.summary.all.files, sums_file_key(OUTER)));
	profile_release(&p);
}

static void names_beyond_the_limit_are_added_up(void)
{
	struct marks marks = { 0 };

	marks_init(&marks, &head);
	for (file_id i = 1; i <= MARKS_MAX + 10; i++)
		marks_get(&marks, MARK_ACTIVITY, i)->calls++;
	CHECK_INT(marks_get(&marks, MARK_ACTIVITY, 0)->calls, 10);
	marks_release(&marks);
}

static void merging_adds_up(void)
{
	const file_id same[FILES] = { 0, 1, 2, 3, 4, 5 };
	struct profile p, q;

	fill(&p);
	fill(&q);
	marks_merge(&p.marks, &q.marks, same, 100, 2);
	CHECK_INT(find(&p, MARK_ACTIVITY, OUTER)->bytes[WRITING], 100);
	CHECK_INT(find(&p, MARK_PHASE, SOLVE)->time_ns, 3300);
	CHECK_INT(p.marks.beginning_count, 4);
	CHECK_INT(p.marks.beginnings[3].start_ns, 2050);
	profile_release(&p);
	profile_release(&q);
}

TESTS(TEST(io_counts_for_all_enclosing_activities_once),
      TEST(a_phase_lasts_until_the_next_one_of_its_process), TEST(activities_are_not_io),
      TEST(names_beyond_the_limit_are_added_up), TEST(merging_adds_up))
