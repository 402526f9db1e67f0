/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The accesses that calibrate a model, and the lines that are exchanged with collective_io.
 */
#include "predict/model/measure/validate.h"

#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "check.h"
#include "predict/model/counts/counts.h"
#include "predict/model/machine.h"

static const struct machine generic = {
	.romio = ROMIO_GENERIC, .cores = 4, .node_aggregators = 1, .buffer_bytes = 16 << 20
};
static const struct campaign_numbers two_and_four = { { 2, 4 }, 2 };
static const struct validate_range usual = { .machine = &generic,
					     .ranks = &two_and_four,
					     .least_piece = 64 };

static void every_access_has_its_default_and_other_transfers(void)
{
	struct validate_plan plan;
	size_t seen[TRANSFERS] = { 0 };

	validate_draw(&plan, &usual, 30, 7);
	CHECK_INT(plan.access_count, 60);
	for (size_t i = 0; i < plan.count; i++) {
		const struct validate_case *one = &plan.cases[i];
		static const struct settings initial;
		struct access access = validate_access(&plan, one->group, VALIDATE_WRITE);
		struct counts counts;

		CHECK_INT(access_check(&access, NULL), 0);
		REQUIRE(counts_compute(&counts, &generic, &access, &one->settings, NULL) == 0);
		seen[counts.transfer]++;
		if (!i || plan.cases[i - 1].group != one->group)
			CHECK(settings_equal(&one->settings, &initial));
	}
	for (int t = 0; t < TRANSFERS; t++)
		CHECK(seen[t] >= 20);
	validate_release(&plan);
}

static bool accesses_are_same(const struct validate_plan *a, const struct validate_plan *b)
{
	for (size_t i = 0; i < a->access_count; i++)
		if (a->accesses[i].rank_bytes != b->accesses[i].rank_bytes ||
		    a->accesses[i].block_bytes != b->accesses[i].block_bytes)
			return false;
	return a->access_count == b->access_count;
}

static void a_seed_determines_the_accesses(void)
{
	struct validate_plan a, b, c;

	validate_draw(&a, &usual, 10, 1);
	validate_draw(&b, &usual, 10, 1);
	validate_draw(&c, &usual, 10, 2);
	CHECK(accesses_are_same(&a, &b));
	CHECK(!accesses_are_same(&a, &c));
	validate_release(&a);
	validate_release(&b);
	validate_release(&c);
}

static void accesses_match_what_was_measured(void)
{
	struct validate_range range = usual;
	struct validate_plan plan;
	size_t striped = 0;

	/* Two nodes, up to four stripes, no pieces. */
	range.nodes[0] = range.nodes[1] = 2;
	range.most_stripes = 4;
	range.least_piece = 0;
	validate_draw(&plan, &range, 20, 3);
	for (size_t i = 0; i < plan.count; i++) {
		const struct settings *s = &plan.cases[i].settings;

		striped += s->stripes > 1;
		CHECK(s->stripes == 0 || s->stripes == 2 || s->stripes == 4);
		CHECK(!s->stripes == !s->stripe_bytes);
	}
	CHECK(striped >= 2 * plan.access_count);
	for (size_t g = 0; g < plan.access_count; g++) {
		CHECK_INT(plan.accesses[g].nodes, 2);
		CHECK_INT(plan.accesses[g].pattern, ACCESS_CONTIGUOUS);
	}
	validate_release(&plan);
}

static void settings_are_added_once(void)
{
	struct settings s = { .aggregators = 1, .buffer_bytes = 12345 };
	struct validate_plan plan;
	size_t count, at;

	validate_draw(&plan, &usual, 2, 1);
	count = plan.count;
	CHECK_INT(validate_find_or_add(&plan, 0, &(struct settings){ 0 }), 0);
	at = validate_find_or_add(&plan, 1, &s);
	CHECK_INT(at, count);
	CHECK_INT(validate_find_or_add(&plan, 1, &s), count);
	CHECK_INT(validate_find_or_add(&plan, 2, &s), count + 1);
	CHECK_INT(plan.cases[at].group, 1);
	validate_release(&plan);
}

static void lines_name_the_hints_of_both_directions(void)
{
	struct access access = { .pattern = ACCESS_STRIDED,
				 .nodes = 1,
				 .ranks = 2,
				 .rank_bytes = 1024,
				 .block_bytes = 64,
				 .stride_bytes = 64 };
	struct validate_case one = { .settings = { .buffering = BUFFERING_DISABLED,
						   .sieving = BUFFERING_DISABLED } };
	struct validate_plan plan = {
		.accesses = &access, .access_count = 1, .cases = &one, .count = 1
	};
	AUTO_BUF struct buf out = { 0 };

	CHECK_INT(validate_write_line(&plan, 0, &generic, &out, NULL), 0);
	CHECK_TEXT(buf_text(&out), "1024/64 romio_cb_write=disable romio_ds_write=disable "
				   "romio_cb_read=disable romio_ds_read=disable\n");
}

static void runs_are_taken_from_the_output(void)
{
	static const size_t cases[] = { 1 };
	struct validate_library library = { 0 };
	struct validate_plan plan;
	struct validate_case *one;

	validate_draw(&plan, &usual, 1, 1);
	one = &plan.cases[1];
	validate_take_line(&plan, cases, 1,
			   "collective_io library=/lib/a b.so version=MPICH Version: 4.0.2",
			   &library);
	CHECK_TEXT(library.path, "/lib/a b.so");
	CHECK_TEXT(library.version, "MPICH Version: 4.0.2");
	validate_take_line(&plan, cases, 1,
			   "collective_io nodes=2 library=/lib/a b.so version=MPICH Version: 4.0.2",
			   &library);
	CHECK_INT(library.nodes, 2);
	validate_take_line(&plan, cases, 1,
			   "collective_io direction=write ranks=2 size=1 case=1 elapsed_s=0.5 x",
			   &library);
	validate_take_line(&plan, cases, 1,
			   "collective_io direction=write ranks=2 size=1 case=1 elapsed_s=0.7 x",
			   &library);
	validate_take_line(&plan, cases, 1,
			   "collective_io direction=read ranks=2 size=1 case=1 elapsed_s=0.2 x",
			   &library);
	/* Other lines, cases that do not exist, and times that are not positive. */
	validate_take_line(&plan, cases, 1, "warning: case=1 elapsed_s=9", &library);
	validate_take_line(&plan, cases, 1, "collective_io direction=write case=2 elapsed_s=9",
			   &library);
	validate_take_line(&plan, cases, 1, "collective_io direction=write case=1 elapsed_s=0",
			   &library);
	CHECK(fabs(validate_median(one, VALIDATE_WRITE) - 0.6) < 1e-12);
	CHECK(validate_median(one, VALIDATE_READ) == 0.2);
	CHECK(isnan(validate_median(&plan.cases[0], VALIDATE_READ)));
	validate_release(&plan);
}

TESTS(TEST(every_access_has_its_default_and_other_transfers), TEST(a_seed_determines_the_accesses),
      TEST(accesses_match_what_was_measured), TEST(settings_are_added_once),
      TEST(lines_name_the_hints_of_both_directions), TEST(runs_are_taken_from_the_output))
