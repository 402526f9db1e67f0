/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/counted.h"

#include "check.h"
#include "observe/profile/profile.h"
#include "observe/tally/traffic.h"
#include "trace/usage.h"

static struct usage new_usage(void)
{
	struct usage usage = { 0 };

	usage.value[USAGE_OPENS] = 2;
	usage.value[USAGE_ALIGNMENT_BYTES] = 4096;
	return usage;
}

static void accesses_without_gaps_are_sequential(void)
{
	struct usage usage = new_usage();
	struct cell cell = { 0 };

	usage.value[USAGE_WRITES] = 10;
	usage.value[USAGE_BYTES_WRITTEN] = 10 << 20;
	usage.value[USAGE_FORWARD_WRITES] = usage.value[USAGE_CONSECUTIVE_WRITES] = 8;
	usage.value[USAGE_WRITE_SIZES_4] = 10;
	usage.value[USAGE_SIZE] = 1 << 20;
	usage.value[USAGE_COUNT_1] = 10;
	counted_add_usage(&cell, &usage);
	CHECK_INT(cell.survey.accesses[WRITING], 10);
	CHECK_INT(cell.survey.sequential[WRITING], 10); /* both opens start at the beginning */
	CHECK_INT(cell.survey.long_seeks[WRITING], 0);
	CHECK_INT(cell.survey.aligned[WRITING][SURVEY_4K], 10);
	CHECK_INT(cell.survey.aligned[WRITING][SURVEY_1M], 0);
	CHECK_INT(cell.sizes[WRITING][cell_bin(1 << 20)], 10);
	CHECK_INT(cell.common[WRITING][0].bytes, 1 << 20);
	CHECK_INT(cell.common[WRITING][0].count, 10);
	CHECK_INT(cell.calls[CLASS_WRITE], 10);
	CHECK_INT(cell.calls[CLASS_OPEN], 2);
	survey_release(&cell.survey);
}

static void frequent_gaps_are_strides_and_the_rest_long_seeks(void)
{
	struct usage usage = new_usage();
	struct cell cell = { 0 };

	usage.value[USAGE_READS] = 100;
	usage.value[USAGE_FORWARD_READS] = 70;
	usage.value[USAGE_CONSECUTIVE_READS] = 10;
	usage.value[USAGE_UNALIGNED] = 50;
	usage.value[USAGE_SIZE] = 100;
	usage.value[USAGE_COUNT_1] = 90;
	usage.value[USAGE_READ_SIZES] = 100;
	usage.value[USAGE_GAP] = 1000;
	usage.value[USAGE_GAP_COUNT] = 30;
	usage.value[USAGE_GAP_2] = 1 << 20;
	usage.value[USAGE_GAP_COUNT_2] = 20;
	counted_add_usage(&cell, &usage);
	CHECK_INT(cell.survey.sequential[READING], 12);
	CHECK_INT(cell.survey.short_seeks[READING], 30);
	CHECK_INT(cell.survey.long_seeks[READING], 58);
	CHECK_INT(cell.survey.strided[READING][0], 30); /* up to 4 KiB */
	CHECK_INT(cell.survey.strided[READING][3], 20); /* up to 16 MiB */
	CHECK_INT(cell.survey.aligned[READING][SURVEY_512], 50);
	CHECK_INT(cell.sizes[READING][cell_bin(100)], 90);
	CHECK_INT(cell.sizes[READING][cell_bin(16)], 10); /* in the middle of up to 100 B */
	survey_release(&cell.survey);
}

static void metadata_time_is_divided_by_calls(void)
{
	struct usage usage = new_usage();
	struct cell cell = { 0 };

	usage.value[USAGE_STATS] = 6;
	usage.value[USAGE_METADATA_NS] = 800;
	usage.value[USAGE_SYNCS] = 3;
	usage.value[USAGE_WRITE_NS] = 70; /* all writes are activities: the time of the syncs */
	usage.value[USAGE_COLLECTIVE_WRITES] = 4;
	counted_add_usage(&cell, &usage);
	counted_add_usage(&cell, &usage);
	CHECK_INT(cell.calls[CLASS_STAT], 12);
	CHECK_INT(cell.time_ns[CLASS_STAT], 1200);
	CHECK_INT(cell.time_ns[CLASS_OPEN], 400);
	CHECK_INT(cell.time_ns[CLASS_SYNC], 140);
	CHECK_INT(cell.time_ns[CLASS_WRITE], 0);
	CHECK_INT(cell.collective[WRITING], 8);
	survey_release(&cell.survey);
}

static void streams_have_their_average_size(void)
{
	struct usage usage = { 0 };
	struct cell cell = { 0 };

	usage.value[USAGE_READS] = 5;
	usage.value[USAGE_BYTES_READ] = 5000;
	counted_add_usage(&cell, &usage);
	CHECK_INT(cell.sizes[READING][cell_bin(1000)], 5);
	CHECK_INT(cell.survey.sequential[READING], 0);
	survey_release(&cell.survey);
}

static void shared_usages_belong_to_no_rank(void)
{
	struct process_info processes[] = {
		{ .index = 0, .parent = -1, .rank = 0, .ranks = 2, .host = (char *)"" },
		{ .index = 1, .parent = -1, .rank = 1, .ranks = 2, .host = (char *)"" },
		{ .index = 2, .parent = -1, .rank = -1, .ranks = 2, .host = (char *)"" },
	};
	char *files[] = { (char *)"", (char *)"/data/shared", (char *)"/data/own" };
	struct usage usages[2] = { { .process = 2, .file = 1, .layer = (char *)"POSIX" },
				   { .process = 1, .file = 2, .layer = (char *)"POSIX" } };
	struct flow flows[] = { { 1, (char *)"POSIX", 0, 500, 0, 4096 },
				{ 1, (char *)"MPI", 500, 500, 0, 1024 } };
	struct aggregate rows[] = {
		{ .process = 2, .file = 1, .group = GROUP_READ, .calls = 1, .duration_ns = 40 },
		{ .process = 1, .file = 2, .group = GROUP_READ, .calls = 1, .duration_ns = 20 },
	};
	struct trace_head head = { .processes = processes,
				   .process_count = 3,
				   .files = files,
				   .file_count = 3,
				   .usages = usages,
				   .usage_count = 2,
				   .flows = flows,
				   .flow_count = 2,
				   .aggregates = rows,
				   .aggregate_count = 2,
				   .end = { .duration_ns = 1000 } };
	struct profile profile;
	const struct cell **cells;
	struct file_total *totals;
	size_t count;
	uint64_t requested = 0;

	usages[0].value[USAGE_READS] = usages[1].value[USAGE_READS] = 1;
	profile_init(&profile, &head, NULL);
	cells = cell_table_list(&profile.cells, &count);
	REQUIRE(count == 2);
	CHECK_INT(cells[0]->file, 1);
	CHECK_INT(cells[0]->member, CELL_OTHERS);
	CHECK_INT(cells[0]->group, 2);
	CHECK_INT(cells[1]->member, 1);
	free(cells);
	totals = profile_files(&profile, &count);
	REQUIRE(count == 2);
	CHECK_INT(totals[0].accessing[READING], 2);
	CHECK_INT(totals[0].sharers, 2);
	CHECK_INT(totals[0].sharing[READING], SHARING_UNKNOWN);
	CHECK_INT(totals[1].accessing[READING], 1);
	profile_files_release(totals, count);
	/* Of POSIX and MPI-IO, the program requested the latter. */
	for (unsigned i = 0; i < TIMELINE_BINS; i++)
		requested += profile.timeline.io[i].bytes[WRITING];
	CHECK_NEAR((double)requested, 1024, 4);
	CHECK(!summary_knows_ranks(&profile.summary));
	CHECK_INT(profile.summary.group.time_ns, 40);
	CHECK_NEAR(summary_io_time_ns(&profile.summary), 30, 0.01);
	profile_release(&profile);
}

TESTS(TEST(accesses_without_gaps_are_sequential),
      TEST(frequent_gaps_are_strides_and_the_rest_long_seeks),
      TEST(metadata_time_is_divided_by_calls), TEST(streams_have_their_average_size),
      TEST(shared_usages_belong_to_no_rank))
