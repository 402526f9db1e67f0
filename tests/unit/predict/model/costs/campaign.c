/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/costs/campaign.h"

#include <errno.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

#define MIB (1ull << 20)

static struct campaign_request wish_sample(void)
{
	return (struct campaign_request){ .ranks = { { 2, 4 }, 2 },
					  .comm = true,
					  .storage = true,
					  .buffers = { { MIB, 4 * MIB }, 2 },
					  .placement = CAMPAIGN_TOPOLOGY,
					  .rounds = 4,
					  .repetitions = 3 };
}

static struct campaign made(const struct campaign_request *wish)
{
	struct campaign campaign = { 0 };
	struct err err = { 0 };

	if (campaign_make(&campaign, wish, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(campaign.count);
	return campaign;
}

static size_t count_of(const struct campaign *campaign, enum operation operation, uint64_t ranks)
{
	size_t n = 0;

	for (size_t i = 0; i < campaign->count; i++)
		n += campaign->cells[i].operation == operation && campaign->cells[i].ranks == ranks;
	return n;
}

static void dense_sizes_match_the_paper(void)
{
	struct campaign_request wish = wish_sample();
	struct campaign campaign;

	wish.is_dense = true;
	campaign = made(&wish);
	CHECK_INT(count_of(&campaign, OPERATION_ALLREDUCE, 4), 19); /* 4 B .. 1 MiB */
	CHECK_INT(count_of(&campaign, OPERATION_ALLTOALL, 4), 17);  /* 4 B .. 256 KiB */
	CHECK_INT(count_of(&campaign, OPERATION_BARRIER, 4), 1);
	campaign_release(&campaign);
	wish.is_dense = false;
	campaign = made(&wish);
	CHECK_INT(count_of(&campaign, OPERATION_ALLREDUCE, 4), 10);
	CHECK_INT(count_of(&campaign, OPERATION_ALLTOALL, 2), 9);
	campaign_release(&campaign);
}

static void exchanges_have_all_kinds_of_senders(void)
{
	struct campaign_request wish = wish_sample();
	AUTO_BUF struct buf text = { 0 };
	struct campaign campaign;

	wish.storage = false;
	wish.ranks = (struct campaign_numbers){ { 3 }, 1 };
	campaign = made(&wish);
	for (size_t i = 0; i < campaign.count; i++) {
		const struct campaign_cell *c = &campaign.cells[i];

		if (c->operation == OPERATION_ALLTOALLV && c->bytes == 4)
			buf_printf(&text, "%d>%d ", (int)c->senders, (int)c->receivers);
		CHECK(c->repetitions >= 5 && c->repetitions <= 100);
		CHECK(c->seconds > 0 && !c->written);
	}
	/* Receivers 1, 2, 3, with one sender each, all ranks, and the full matrix. */
	CHECK_TEXT(buf_text(&text), "1>1 3>1 2>2 3>2 6>2 3>3 9>3 ");
	campaign_release(&campaign);
}

static void cheap_operations_are_repeated_a_hundred_times(void)
{
	struct campaign_request wish = wish_sample();
	struct campaign campaign = made(&wish);

	CHECK_INT(campaign.cells[0].operation, OPERATION_ALLREDUCE);
	CHECK_INT(campaign.cells[0].bytes, 4);
	CHECK_INT(campaign.cells[0].repetitions, 100);
	campaign_release(&campaign);
}

static void the_largest_number_of_writers_has_partial_rounds(void)
{
	struct campaign_request wish = wish_sample();
	AUTO_BUF struct buf text = { 0 };
	struct campaign campaign;

	wish.comm = false;
	wish.ranks = (struct campaign_numbers){ { 4 }, 1 };
	campaign = made(&wish);
	campaign_write_cells(&campaign, 4, &text);
	CHECK_TEXT(buf_text(&text), "0 storage topology bypassed 1 1048576 4 3 1 -\n"
				    "1 storage topology bypassed 1 4194304 4 3 1 -\n"
				    "2 storage topology bypassed 2 1048576 4 3 1 -\n"
				    "3 storage topology bypassed 2 4194304 4 3 1 -\n"
				    "4 storage topology bypassed 4 1048576 4 3 1 1,2,4\n"
				    "5 storage topology bypassed 4 4194304 4 3 1 1,2,4\n");
	/* 4 rounds of 4 writers, and 1 + 2 + 4 writers in partial rounds; 3 repetitions. */
	CHECK_INT(campaign.cells[4].written, 3 * 23 * MIB);
	CHECK_INT(campaign.cells[4].file_bytes, 4 * 7 * MIB);
	CHECK_INT(campaign_remaining(&campaign, 0).file_bytes, 4 * 7 * 4 * MIB);
	CHECK_INT(campaign_remaining(&campaign, 3).cells, 0);
	campaign_release(&campaign);
}

static void pieces_are_measured_with_all_ranks(void)
{
	struct campaign_request wish = wish_sample();
	AUTO_BUF struct buf text = { 0 };
	struct campaign campaign;
	struct elements rows = { 0 };

	wish.comm = false;
	wish.ranks = (struct campaign_numbers){ { 2 }, 1 };
	wish.pieces = (struct campaign_numbers){ { 64, 8192 }, 2 };
	campaign = made(&wish);
	campaign_write_cells(&campaign, 2, &text);
	CHECK(strstr(buf_text(&text), "0 pieces p_write topology bypassed 2 64 2048 3 1\n"
				      "1 pieces p_write topology bypassed 2 8192 1024 3 1\n"
				      "2 pieces c_piece topology bypassed 2 64 2048 3 1\n"));
	CHECK(strstr(buf_text(&text), " pieces s_sieve topology bypassed 2 524288 16 3 1\n"));
	/* Aggregators exchange pieces, too. */
	CHECK(strstr(buf_text(&text), " pieces x_piece topology bypassed 1 64 2048 3 1\n"));
	CHECK(strstr(buf_text(&text), " pieces x_piece topology bypassed 2 8192 1024 3 1\n"));
	CHECK(strstr(buf_text(&text), " storage topology bypassed 1 1048576 4 3 1 -\n"));
	CHECK_INT(campaign.cells[1].file_bytes, 2 * 1024 * 8192);
	CHECK_INT(campaign_mark_measured(&campaign, &rows), 0);
	campaign_release(&campaign);
}

static void an_exceeded_cache_is_written_twice(void)
{
	struct campaign_request wish = wish_sample();
	struct campaign campaign;

	wish.cache = CAMPAIGN_EXCEEDED;
	wish.cache_bytes = 1000 * MIB;
	wish.comm = false;
	campaign = made(&wish);
	for (size_t i = 0; i < campaign.count; i++) {
		const struct campaign_cell *c = &campaign.cells[i];

		CHECK(c->rounds * c->writers * c->bytes >= 2000 * MIB);
		CHECK((c->rounds - 1) * c->writers * c->bytes < 2000 * MIB);
	}
	campaign_release(&campaign);
}

static void a_time_limit_thins_cells_evenly_and_keeps_the_ends(void)
{
	struct campaign_request wish = wish_sample();
	struct campaign full, thin;
	double all;

	wish.repetitions = 10;
	CHECK_INT(campaign_numbers(&wish.buffers, "buffers", "256K,512K,1M,2M,4M", NULL), 0);
	full = made(&wish);
	all = campaign_remaining(&full, 0).seconds;
	wish.budget_s = all / 5;
	thin = made(&wish);
	CHECK(campaign_remaining(&thin, 0).seconds <= all / 5);
	CHECK(thin.count < full.count && !thin.is_over);
	for (int o = 0; o < OPERATIONS; o++)
		for (uint64_t ranks = 2; ranks <= 4; ranks += 2)
			CHECK(!count_of(&full, (enum operation)o, ranks) ==
			      !count_of(&thin, (enum operation)o, ranks));
	CHECK_INT(thin.cells[0].bytes, 4);
	CHECK_INT(thin.cells[thin.count - 1].bytes, 4 * MIB);
	CHECK_INT(thin.cells[thin.count - 1].part_count, 3);
	for (size_t i = 0; i < thin.count; i++)
		CHECK(thin.cells[i].repetitions >= 3);
	campaign_release(&thin);
	wish.budget_s = 1e-3;
	thin = made(&wish);
	CHECK(thin.is_over && thin.count);
	campaign_release(&thin);
	wish.budget_s = all * 2;
	thin = made(&wish);
	CHECK_INT(thin.count, full.count);
	campaign_release(&thin);
	campaign_release(&full);
}

static const char *refusal(const struct campaign_request *wish)
{
	static struct err err;
	struct campaign campaign = { 0 };

	CHECK_INT(campaign_make(&campaign, wish, &err), -EINVAL);
	CHECK(!campaign.cells);
	return err.text;
}

static void impossible_plans_are_refused(void)
{
	struct campaign_request wish = wish_sample();

	wish.writers = (struct campaign_numbers){ { 2, 5 }, 2 };
	CHECK(strstr(refusal(&wish), "--writers: 5"));
	wish = wish_sample();
	wish.buffers = (struct campaign_numbers){ { 5000 }, 1 };
	CHECK(strstr(refusal(&wish), "4096"));
	wish = wish_sample();
	wish.cache = CAMPAIGN_EXCEEDED;
	CHECK(strstr(refusal(&wish), "cache"));
	wish.ranks.count = 0;
	CHECK(strstr(refusal(&wish), "ranks"));
}

static void lists_are_sorted_and_distinct(void)
{
	struct campaign_numbers numbers = { { 7 }, 1 };
	struct err err = { 0 };

	CHECK_INT(campaign_numbers(&numbers, "buffers", "4M,1K,4096K", &err), 0);
	CHECK_INT(numbers.count, 2);
	CHECK_INT(numbers.items[0], 1024);
	CHECK_INT(numbers.items[1], 4 * MIB);
	CHECK_INT(campaign_numbers(&numbers, "ranks", "2,,4", &err), -EINVAL);
	CHECK(strstr(err.text, "--ranks: \"\""));
	CHECK_INT(campaign_numbers(&numbers, "ranks", "0", &err), -EINVAL);
	CHECK_INT(numbers.count, 2);
}

static int take(struct campaign_intake *intake, const char *line)
{
	struct err err = { 0 };

	return campaign_parse_line(intake, line, 5, &err);
}

static struct campaign small(void)
{
	struct campaign_request wish = wish_sample();

	wish.comm = false;
	wish.ranks = (struct campaign_numbers){ { 4 }, 1 };
	wish.buffers = (struct campaign_numbers){ { MIB }, 1 };
	return made(&wish);
}

static void output_lines_become_rows(void)
{
	struct campaign campaign = small();
	struct campaign_intake intake = { .campaign = &campaign, .platform = "p", .ranks = 4 };
	const struct element *row;

	CHECK_INT(take(&intake, "some library complains"), CAMPAIGN_OTHER);
	CHECK_INT(take(&intake, "@nodes 2 4"), CAMPAIGN_OTHER);
	CHECK_INT(take(&intake, "@row 2 s_lock 4 0 1 0.25"), CAMPAIGN_ROW);
	CHECK_INT(take(&intake, "@row 2 s_nl_partial 1 5 1 0.125"), CAMPAIGN_ROW);
	CHECK(!campaign.cells[2].is_done);
	CHECK_INT(take(&intake, "@done 2"), CAMPAIGN_CELL);
	CHECK(campaign.cells[2].is_done);
	REQUIRE(intake.rows.count == 2);
	row = &intake.rows.rows[1];
	CHECK_TEXT(row->platform, "p");
	CHECK_TEXT(row->operation, "s_nl_partial");
	CHECK_TEXT(row->placement, "topology");
	CHECK_TEXT(row->cache, "bypassed");
	CHECK(row->nodes == 2 && row->cores == 2 && row->writers == 0.5);
	CHECK(row->bytes == MIB && row->round == 5 && row->repetition == 1);
	CHECK(row->seconds == 0.125 && row->time_ns == 5);
	elements_release(&intake.rows);
	campaign_release(&campaign);
}

static void invalid_output_lines_are_refused(void)
{
	struct campaign campaign = small();
	struct campaign_intake intake = { .campaign = &campaign, .platform = "p", .ranks = 4 };

	CHECK_INT(take(&intake, "@row 0 s_lock 1 0 0 1"), -EPROTO); /* before the nodes */
	CHECK_INT(take(&intake, "@nodes 1 1"), -EPROTO);	    /* four jobs of one rank */
	CHECK_INT(take(&intake, "@nodes 0 4"), -EPROTO);
	CHECK_INT(take(&intake, "@nodes 1 4"), CAMPAIGN_OTHER);
	CHECK_INT(take(&intake, "@row 99 s_lock 1 0 0 1"), -EPROTO);
	CHECK_INT(take(&intake, "@row 0 s_luck 1 0 0 1"), -EPROTO);
	CHECK_INT(take(&intake, "@row 0 s_lock 1 0 0 nan"), -EPROTO);
	CHECK_INT(take(&intake, "@row 0 s_lock 1 0"), -EPROTO);
	CHECK_INT(take(&intake, "@done 0"), -EPROTO); /* without a row */
	CHECK_INT(take(&intake, "@row 0 s_lock 1 0 0 1"), CAMPAIGN_ROW);
	CHECK_INT(take(&intake, "@row 1 s_lock 2 0 0 1"), -EPROTO); /* before the end of 0 */
	CHECK_INT(take(&intake, "@done 1"), -EPROTO);
	CHECK_INT(intake.rows.count, 1);
	elements_release(&intake.rows);
	campaign_release(&campaign);
}

/* Feeds all rows of a cell as the program would print them. */
static void do_cell(struct campaign_intake *intake, size_t id, bool with_reads)
{
	const struct campaign_cell *c = &intake->campaign->cells[id];
	AUTO_BUF struct buf line = { 0 };
	static const char *const names[] = { "s_lock", "r_first" };

	for (int k = 0; k <= with_reads; k++) {
		buf_clear(&line);
		buf_printf(&line, "@row %zu %s %d 0 0 1", id, names[k], (int)c->writers);
		CHECK_INT(take(intake, buf_text(&line)), CAMPAIGN_ROW);
	}
	for (size_t i = 0; i < c->part_count; i++) {
		buf_clear(&line);
		buf_printf(&line, "@row %zu s_nl_partial %d 4 0 1", id, (int)c->parts[i]);
		CHECK_INT(take(intake, buf_text(&line)), CAMPAIGN_ROW);
	}
}

static void measured_cells_are_not_repeated(void)
{
	struct campaign campaign = small();
	struct campaign_intake intake = { .campaign = &campaign, .platform = "p", .ranks = 4 };
	AUTO_BUF struct buf text = { 0 };
	struct elements rows = { 0 };

	take(&intake, "@nodes 1 4");
	for (size_t id = 0; id < 3; id++) {
		do_cell(&intake, id, id != 1);
		for (size_t i = 0; i < intake.rows.count; i++)
			elements_add(&rows, &intake.rows.rows[i]);
		intake.rows.count = 0;
	}
	/* Cell 1 has no rows of reads. */
	CHECK_INT(campaign_mark_measured(&campaign, &rows), 2);
	campaign_write_cells(&campaign, 4, &text);
	CHECK_TEXT(buf_text(&text), "1 storage topology bypassed 2 1048576 4 3 1 -\n");
	CHECK_INT(campaign_remaining(&campaign, 0).cells, 1);
	campaign.reads = false;
	CHECK_INT(campaign_mark_measured(&campaign, &rows), 3);
	campaign.cache = CAMPAIGN_WITHIN;
	CHECK_INT(campaign_mark_measured(&campaign, &rows), 0);
	/* The last row belonged to a partial round. */
	campaign.cache = CAMPAIGN_BYPASSED;
	rows.count--;
	CHECK_INT(campaign_mark_measured(&campaign, &rows), 2);
	CHECK(!campaign.cells[2].is_done);
	elements_release(&rows);
	elements_release(&intake.rows);
	campaign_release(&campaign);
}

TESTS(TEST(dense_sizes_match_the_paper), TEST(exchanges_have_all_kinds_of_senders),
      TEST(cheap_operations_are_repeated_a_hundred_times),
      TEST(the_largest_number_of_writers_has_partial_rounds),
      TEST(pieces_are_measured_with_all_ranks), TEST(an_exceeded_cache_is_written_twice),
      TEST(a_time_limit_thins_cells_evenly_and_keeps_the_ends), TEST(impossible_plans_are_refused),
      TEST(lists_are_sorted_and_distinct), TEST(output_lines_become_rows),
      TEST(invalid_output_lines_are_refused), TEST(measured_cells_are_not_repeated))
