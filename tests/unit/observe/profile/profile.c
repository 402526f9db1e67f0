/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "observe/tally/traffic.h"
#include "profile_sample.h"

static bool same_bytes(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n) == 0;
}

static void check_rows(const struct profile *one, const struct profile *merged,
		       enum summary_table table)
{
	size_t n, m;
	AUTO_FREE struct summary_row *rows = summary_rows(&one->summary, table, &n);
	AUTO_FREE struct summary_row *others = summary_rows(&merged->summary, table, &m);

	REQUIRE(n == m);
	for (size_t i = 0; i < n; i++) {
		CHECK_TEXT(rows[i].name, others[i].name);
		CHECK(same_bytes(rows[i].tally, others[i].tally, sizeof(struct tally)));
		for (size_t k = 0; k < TALLY_MEASURES; k++) {
			struct spread a =
				summary_spread(&one->summary, &rows[i], &tally_measures[k]);
			struct spread b =
				summary_spread(&merged->summary, &others[i], &tally_measures[k]);

			CHECK(a.count == b.count && a.sum == b.sum && a.maximum == b.maximum);
			CHECK_INT(a.maximum_rank, b.maximum_rank);
		}
	}
}

static const struct cell *find_cell(const struct profile *p, unsigned layer, const char *path,
				    int32_t member)
{
	size_t n;
	AUTO_FREE const struct cell **list = cell_table_list(&p->cells, &n);

	for (size_t i = 0; i < n; i++) {
		if (list[i]->layer == layer && list[i]->member == member &&
		    strcmp(profile_file(p, list[i]->file), path) == 0)
			return list[i];
	}
	return NULL;
}

static void check_cell(const struct cell *a, const struct cell *b)
{
	CHECK(same_bytes(a->calls, b->calls, sizeof(a->calls)));
	CHECK(same_bytes(a->time_ns, b->time_ns, sizeof(a->time_ns)));
	CHECK(same_bytes(a->sizes, b->sizes, sizeof(a->sizes)));
	CHECK(same_bytes(a->size_ns, b->size_ns, sizeof(a->size_ns)));
	CHECK(same_bytes(a->common, b->common, sizeof(a->common)));
	CHECK(same_bytes(a->survey.strided, b->survey.strided, sizeof(a->survey.strided)));
	CHECK(same_bytes(a->survey.bytes, b->survey.bytes, sizeof(a->survey.bytes)));
	CHECK_INT(a->survey.first_ns, b->survey.first_ns);
	CHECK_INT(a->survey.last_ns, b->survey.last_ns);
	CHECK_INT(a->survey.sequential[WRITING], b->survey.sequential[WRITING]);
	CHECK_INT(a->creates, b->creates);
	CHECK_INT(a->collective[WRITING], b->collective[WRITING]);
	CHECK_INT(a->samples[WRITING][0].duration_ns, b->samples[WRITING][0].duration_ns);
	CHECK_INT(a->samples[WRITING][0].call.process, b->samples[WRITING][0].call.process);
	CHECK_INT(a->samples[WRITING][0].call.id, b->samples[WRITING][0].call.id);
}

static void check_cells(const struct profile *one, const struct profile *merged)
{
	size_t n;
	AUTO_FREE const struct cell **list = cell_table_list(&one->cells, &n);

	CHECK_INT(merged->cells.map.count, n);
	for (size_t i = 0; i < n; i++) {
		const struct cell *other = find_cell(
			merged, list[i]->layer, profile_file(one, list[i]->file), list[i]->member);

		REQUIRE(other);
		check_cell(list[i], other);
	}
}

static void check_timelines(const struct timeline *a, const struct timeline *b)
{
	CHECK_INT(a->bin_ns, b->bin_ns);
	CHECK(same_bytes(a->layers, b->layers, sizeof(a->layers)));
	CHECK(same_bytes(a->io, b->io, sizeof(a->io)));
	CHECK_INT(a->row_count, b->row_count);
	CHECK(same_bytes(a->rows, b->rows, a->row_count * TIMELINE_BINS * sizeof(*a->rows)));
	CHECK_INT(a->rasters.count, b->rasters.count);
}

static const struct call_node *find_node(const struct profile *p, const char *outer,
					 const char *inner, const char *path)
{
	for (size_t i = 1; i < p->tree.count; i++) {
		const struct call_node *node = &p->tree.nodes[i];
		const char *parent = p->head->calls[p->tree.nodes[node->parent].call].name;

		if (strcmp(p->head->calls[node->call].name, inner) == 0 &&
		    strcmp(node->parent ? parent : "", outer) == 0 &&
		    strcmp(profile_file(p, node->file), path) == 0)
			return node;
	}
	return NULL;
}

static void merged_parts_equal_one_pass(void)
{
	struct profile one, first, second;
	struct err err = { 0 };

	profile_both(&one, NULL);
	profile_parts(&first, &second, NULL);
	CHECK(profile_merge(&first, &second, &err) >= 0);
	profile_release(&second);
	CHECK_INT(first.parts, 2);
	CHECK_INT(first.summary.ranks.count, RANKS);
	CHECK_INT(first.summary.ranks.hosts, one.summary.ranks.hosts);
	CHECK_TEXT(first.summary.ranks.list[3].host, "n1");
	CHECK(same_bytes(&one.summary.all.io, &first.summary.all.io, sizeof(struct tally)));
	CHECK(same_bytes(&one.summary.all.storage, &first.summary.all.storage,
			 sizeof(struct tally)));
	CHECK_INT(one.summary.all.bytes_read_to_write, first.summary.all.bytes_read_to_write);
	CHECK(summary_io_share(&one.summary) == summary_io_share(&first.summary));
	check_rows(&one, &first, SUMMARY_LAYERS);
	check_rows(&one, &first, SUMMARY_FUNCTIONS);
	check_rows(&one, &first, SUMMARY_FILES);
	check_cells(&one, &first);
	check_timelines(&one.timeline, &first.timeline);
	CHECK_INT(one.tree.count, first.tree.count);
	CHECK(same_bytes(
		find_node(&one, "MPI_File_write_at_all", "pwrite", "/data/shared")->bytes,
		find_node(&first, "MPI_File_write_at_all", "pwrite", "/data/shared")->bytes,
		2 * sizeof(uint64_t)));
	profile_release(&one);
	profile_release(&first);
}

static void chains_show_amplification(void)
{
	const struct call_node *outer, *inner;
	struct profile p;

	profile_both(&p, NULL);
	outer = find_node(&p, "", "MPI_File_write_at_all", "/data/shared");
	inner = find_node(&p, "MPI_File_write_at_all", "pwrite", "/data/shared");
	REQUIRE(outer && inner);
	CHECK_INT(outer->calls, 400);
	CHECK_INT(outer->bytes[WRITING], 400 * 1000);
	CHECK_INT(inner->bytes[WRITING], 400 * 4096);
	CHECK(find_node(&p, "", "pwrite", "/data/0"));
	CHECK(!find_node(&p, "MPI_File_write_at_all", "pwrite", "/data/0"));
	CHECK_INT(p.tree.lost, 0);
	profile_release(&p);
}

static void cells_tell_sizes_collectives_and_slow_calls(void)
{
	const struct cell *cell;
	struct profile p;

	profile_both(&p, NULL);
	cell = find_cell(&p, LAYER_MPI, "/data/shared", 3);
	REQUIRE(cell);
	CHECK_INT(cell->calls[CLASS_WRITE], 100);
	CHECK_INT(cell->collective[WRITING], 100);
	CHECK_INT(cell->sizes[WRITING][cell_bin(1000)], 100);
	CHECK_INT(cell->size_ns[WRITING][cell_bin(1000)], cell->time_ns[CLASS_WRITE]);
	CHECK_INT(cell->common[WRITING][0].bytes, 1000);
	CHECK_INT(cell->common[WRITING][0].count, 100);
	CHECK_INT(cell->samples[WRITING][0].duration_ns, 130);
	CHECK_INT(cell->samples[WRITING][0].bytes, 1000);
	cell = find_cell(&p, LAYER_POSIX, "/data/2", 2);
	REQUIRE(cell);
	CHECK_INT(cell->creates, 1);
	CHECK_INT(cell->calls[CLASS_SYNC], 1);
	CHECK_INT(cell->time_ns[CLASS_SYNC], 500);
	CHECK_INT(survey_repeated_bytes(&cell->survey, WRITING), 0);
	cell = find_cell(&p, LAYER_POSIX, "/data/shared", 0);
	CHECK(survey_repeated_bytes(&cell->survey, READING) > 0);
	CHECK_INT(cell_bin_bytes(cell_bin(4096)), 4096);
	CHECK_INT(cell_bin(0), 0);
	profile_release(&p);
}

static void size_bins_are_powers_of_two(void)
{
	CHECK_INT(cell_bin(1), 1);
	CHECK_INT(cell_bin(4095), cell_bin(2048));
	CHECK_INT(cell_bin(UINT64_MAX), CELL_SIZE_BINS - 1);
}

static void timelines_keep_all_bytes_and_time(void)
{
	uint64_t bytes = 0, of_ranks = 0;
	int64_t time = 0;
	struct profile p;

	profile_both(&p, NULL);
	for (int i = 0; i < TIMELINE_BINS; i++) {
		bytes += p.timeline.io[i].bytes[WRITING];
		time += p.timeline.io[i].time_ns;
		for (size_t row = 0; row < p.timeline.row_count; row++)
			of_ranks += p.timeline.rows[row * TIMELINE_BINS + (size_t)i].bytes[WRITING];
	}
	CHECK_INT(bytes, p.summary.all.io.bytes_written);
	CHECK_INT(of_ranks, bytes);
	CHECK_INT(time, p.summary.all.io.time_ns);
	profile_release(&p);
}

static void bins_become_wider_if_the_run_is_longer(void)
{
	struct timeline t;
	struct timeline_span span;

	timeline_init(&t, 1000, 1);
	span = timeline_find(&t, 0, 1000);
	timeline_add(&t, &span, t.io, &(struct timeline_bin){ .calls = 1, .time_ns = 1000 });
	span = timeline_find(&t, 100000, 10);
	timeline_add(&t, &span, t.io, &(struct timeline_bin){ .calls = 1, .time_ns = 10 });
	CHECK(t.bin_ns * TIMELINE_BINS >= 100010);
	CHECK_INT(t.io[0].calls, 1);
	for (int i = 1; i < TIMELINE_BINS; i++)
		t.io[0].time_ns += t.io[i].time_ns;
	CHECK_INT(t.io[0].time_ns, 1010);
	timeline_release(&t);
}

static void rasters_tell_where_and_by_whom(void)
{
	const struct raster *raster;
	uint64_t bytes = 0;
	struct profile p;
	size_t i = 0;

	profile_both(&p, NULL);
	while (i < p.timeline.rasters.count && p.timeline.rasters.list[i]->layer != LAYER_MPI)
		i++;
	REQUIRE(i < p.timeline.rasters.count);
	raster = p.timeline.rasters.list[i];
	CHECK_INT(raster->bytes, 400 * 1000);
	CHECK_INT(raster->missed, 0);
	for (size_t k = 0; k < (size_t)RASTER_COLUMNS * RASTER_LINES; k++)
		bytes += raster->cells[k].bytes[WRITING];
	CHECK_INT(bytes, raster->bytes);
	CHECK_INT(raster->point_count, 400);
	CHECK_INT(raster->points[0].member, 0);
	CHECK(raster->line_bytes * RASTER_LINES >= 400 * 1000);
	profile_release(&p);
}

static void beyond_the_limit_cells_are_folded_but_sums_stay(void)
{
	struct profile_limits limits = { .cells = 2, .nodes = 2 };
	uint64_t bytes = 0, whole = 0;
	struct profile p, all;
	size_t n;
	const struct cell **list;

	profile_both(&p, &limits);
	profile_both(&all, NULL);
	list = cell_table_list(&p.cells, &n);
	CHECK(n <= 2 * limits.cells + LAYER_COUNT);
	for (size_t i = 0; i < n; i++)
		bytes += list[i]->survey.bytes[WRITING];
	free(list);
	list = cell_table_list(&all.cells, &n);
	for (size_t i = 0; i < n; i++)
		whole += list[i]->survey.bytes[WRITING];
	free(list);
	CHECK_INT(bytes, whole);
	CHECK(p.cells.folded_members > 0 && p.cells.folded_files > 0);
	CHECK(p.tree.lost > 0 && p.tree.folded > 0);
	CHECK(!all.tree.lost && !all.tree.folded);
	profile_release(&p);
	profile_release(&all);
}

static void totals_of_files_tell_how_ranks_share_them(void)
{
	struct file_total *totals;
	struct profile p;
	size_t n, i = 0;

	profile_both(&p, NULL);
	totals = profile_files(&p, &n);
	while (i < n && totals[i].layer != LAYER_MPI)
		i++;
	REQUIRE(i < n);
	CHECK_INT(totals[i].members, RANKS);
	CHECK_INT(totals[i].accessing[WRITING], RANKS);
	CHECK_INT(totals[i].sharing[WRITING], SHARING_INTERLEAVED);
	CHECK_INT(totals[i].total.survey.bytes[WRITING], 400 * 1000);
	profile_files_release(totals, n);
	profile_release(&p);
}

static void many_ranks_are_only_known_by_their_distribution(void)
{
	static struct process_info processes[SUMMARY_RANKS_MAX];
	struct trace_head head = { .calls = calls,
				   .call_count = CALLS,
				   .files = both_files,
				   .file_count = 6,
				   .processes = processes,
				   .process_count = SUMMARY_RANKS_MAX,
				   .end = { .duration_ns = RUN_NS } };
	struct profile many, few;
	struct err err = { 0 };
	struct spread spread;

	for (int i = 0; i < SUMMARY_RANKS_MAX; i++)
		processes[i] = (struct process_info){ .index = (uint32_t)i,
						      .parent = -1,
						      .rank = RANKS + i,
						      .ranks = RANKS + SUMMARY_RANKS_MAX };
	profile_both(&few, NULL);
	profile_init(&many, &head, NULL);
	CHECK(profile_merge(&many, &few, &err) >= 0);
	CHECK(!many.summary.of_rank);
	CHECK_INT(many.summary.ranks.count, RANKS + SUMMARY_RANKS_MAX);
	spread = summary_rank_spread(&many.summary, &sums_measures[SUMS_WRITTEN]);
	CHECK_INT(spread.count, RANKS + SUMMARY_RANKS_MAX);
	CHECK_INT(spread.sum, few.summary.all.io.bytes_written);
	CHECK_INT(many.summary.ranks.list[0].number, 0);
	profile_release(&many);
	profile_release(&few);
}

static void runs_with_and_without_ranks_do_not_mix(void)
{
	struct profile parallel, serial;
	struct err err = { 0 };

	profile_both(&parallel, NULL);
	job_init(&left, 0, 1, left_files, 4);
	left.processes[0].rank = -1;
	run_rank(&left, 0, 0);
	job_profile(&left, &serial, NULL);
	CHECK(profile_merge(&parallel, &serial, &err) < 0);
	CHECK(strstr(err.text, "ranks"));
	profile_release(&parallel);
	profile_release(&serial);
}

static void shares_add_up_to_the_share_of_io(void)
{
	struct profile p;
	size_t n;
	struct summary_row *rows;
	double sum = 0;

	profile_both(&p, NULL);
	rows = summary_rows(&p.summary, SUMMARY_FILES, &n);
	for (size_t i = 0; i < n; i++)
		sum += summary_share(&p.summary, (double)rows[i].tally->time_ns);
	CHECK(fabs(sum - summary_io_share(&p.summary)) < 1e-9);
	CHECK(summary_io_share(&p.summary) > 0 && summary_io_share(&p.summary) <= 1);
	free(rows);
	profile_release(&p);
}

TESTS(TEST(merged_parts_equal_one_pass), TEST(chains_show_amplification),
      TEST(cells_tell_sizes_collectives_and_slow_calls), TEST(size_bins_are_powers_of_two),
      TEST(timelines_keep_all_bytes_and_time), TEST(bins_become_wider_if_the_run_is_longer),
      TEST(rasters_tell_where_and_by_whom), TEST(beyond_the_limit_cells_are_folded_but_sums_stay),
      TEST(totals_of_files_tell_how_ranks_share_them),
      TEST(many_ranks_are_only_known_by_their_distribution),
      TEST(runs_with_and_without_ranks_do_not_mix), TEST(shares_add_up_to_the_share_of_io))
