/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/advice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "model_sample.h"
#include "params/space.h"

/* Lustre: contiguous writes are collective. */
static const char small_machine[] = "[machine]\nname = small\nromio = lustre\n[nodes]\ncores = 4\n"
				    "[storage]\nblock = 4K\n"
				    "[defaults]\nnode_aggregators = 4\ncb_buffer_size = 1M\n"
				    "striping_factor = 8\nstriping_unit = 1M\n";

static struct advice *advice_make(struct hybrid *hybrid)
{
	struct advice *advice = NULL;
	char path[32];

	model_save(hybrid, small_machine, 1, path);
	CHECK_INT(advice_open(&advice, path, NULL), 0);
	unlink(path);
	REQUIRE(advice);
	return advice;
}

static const struct access writes = { .nodes = 2, .ranks = 8, .rank_bytes = 3 << 20 };
static const struct access large = { .nodes = 2, .ranks = 8, .rank_bytes = 16 << 20 };
static const struct access reads = {
	.is_read = true, .nodes = 2, .ranks = 8, .rank_bytes = 3 << 20
};

static void set_put(struct param_set *set, const char *name, const char *value, const char *file)
{
	REQUIRE(param_set_put(set, tunable_by_name(name), value, file, NULL, 0, NULL) >= 0);
}

static double time_of(const struct hybrid *hybrid, const struct access *access,
		      uint64_t aggregators, uint64_t buffer)
{
	struct settings settings = { .aggregators = aggregators, .buffer_bytes = buffer };
	double seconds = NAN;

	hybrid_times(hybrid, access, &settings, 1, &seconds, NULL);
	return seconds;
}

static void times_of_all_calls_are_added_up(void)
{
	struct access_profile_row rows[] = { { writes, 3, NULL, NULL }, { large, 2, NULL, NULL } };
	struct access_profile profile = { rows, 2, 2 };
	struct hybrid hybrid = { 0 };
	struct advice *advice = advice_make(&hybrid);
	struct param_set set = { 0 };

	REQUIRE(advice_set_profile(advice, &profile, NULL) == 0);
	CHECK(!advice_note(advice));
	CHECK(advice_seconds(advice, &set) ==
	      3 * time_of(&hybrid, &writes, 0, 0) + 2 * time_of(&hybrid, &large, 0, 0));
	set_put(&set, "cb_nodes", "3", NULL);
	set_put(&set, "cb_buffer_size", "4M", NULL);
	CHECK(advice_seconds(advice, &set) ==
	      3 * time_of(&hybrid, &writes, 3, 4 << 20) + 2 * time_of(&hybrid, &large, 3, 4 << 20));
	CHECK(time_of(&hybrid, &large, 3, 4 << 20) != time_of(&hybrid, &large, 0, 0));
	/* A parameter that the model does not know. */
	double before = advice_seconds(advice, &set);
	set_put(&set, "alignment", "0,4096", NULL);
	CHECK(advice_seconds(advice, &set) == before);
	param_set_release(&set);
	advice_close(advice);
	hybrid_release(&hybrid);
}

static void parameters_override_hints_of_the_program(void)
{
	struct access_profile_row row = { writes, 1, (char *)"/d/out.h5",
					  (char *)"cb_nodes=3;access_style=write_once" };
	struct access_profile profile = { &row, 1, 1 };
	struct hybrid hybrid = { 0 };
	struct advice *advice = advice_make(&hybrid);
	struct param_set set = { 0 };

	REQUIRE(advice_set_profile(advice, &profile, NULL) == 0);
	CHECK(advice_seconds(advice, &set) == time_of(&hybrid, &writes, 3, 0));
	/* Hints of another file, and of this one. */
	set_put(&set, "cb_nodes", "1", "other.h5");
	CHECK(advice_seconds(advice, &set) == time_of(&hybrid, &writes, 3, 0));
	set_put(&set, "cb_nodes", "1", "out.h5");
	CHECK(advice_seconds(advice, &set) == time_of(&hybrid, &writes, 1, 0));
	param_set_release(&set);
	advice_close(advice);
	hybrid_release(&hybrid);
}

static void prior_predicts_the_points_of_a_space(void)
{
	static const char *const nodes[] = { "", "1", "3", "7", NULL };
	static const char *const sizes[] = { "1M", "4M", NULL };
	struct access_profile_row row = { writes, 1, NULL, NULL };
	struct access_profile profile = { &row, 1, 1 };
	struct hybrid hybrid = { 0 };
	struct advice *advice = advice_make(&hybrid);
	const struct search_prior *prior;
	struct space space = { 0 };

	REQUIRE(advice_set_profile(advice, &profile, NULL) == 0);
	REQUIRE(space_add(&space, "cb_nodes", nodes, NULL, NULL) >= 0);
	REQUIRE(space_add(&space, "cb_buffer_size", sizes, NULL, NULL) >= 0);
	prior = advice_prior(advice, &space);
	CHECK(prior->cost(prior->arg, (size_t[]){ 0, 0 }) == time_of(&hybrid, &writes, 0, 1 << 20));
	CHECK(prior->cost(prior->arg, (size_t[]){ 3, 1 }) == time_of(&hybrid, &writes, 7, 4 << 20));
	/* Again, from the cache. */
	CHECK(prior->cost(prior->arg, (size_t[]){ 3, 1 }) == time_of(&hybrid, &writes, 7, 4 << 20));
	space_release(&space);
	advice_close(advice);
	hybrid_release(&hybrid);
}

/* Reads were not benchmarked. */
static void unpredictable_accesses_are_left_out_with_a_note(void)
{
	struct access_profile_row rows[] = { { writes, 3, NULL, NULL }, { reads, 2, NULL, NULL } };
	struct access_profile both = { rows, 2, 2 }, neither = { rows + 1, 1, 1 }, nothing = { 0 };
	struct hybrid hybrid = { 0 };
	struct advice *advice = advice_make(&hybrid);
	struct param_set set = { 0 };
	struct err err = { 0 };

	REQUIRE(advice_set_profile(advice, &both, &err) == 0);
	CHECK(advice_note(advice) && strstr(advice_note(advice), "1 of 2 kinds"));
	CHECK(advice_seconds(advice, &set) == 3 * time_of(&hybrid, &writes, 0, 0));
	CHECK_INT(advice_set_profile(advice, &neither, &err), -ENODATA);
	CHECK(strstr(err.text, "cannot predict"));
	CHECK(isnan(advice_seconds(advice, &set)));
	CHECK_INT(advice_set_profile(advice, &nothing, &err), -ENODATA);
	CHECK(strstr(err.text, "no collective"));
	advice_close(advice);
	hybrid_release(&hybrid);
}

static void another_model_has_another_digest(void)
{
	struct hybrid one = { 0 }, two = { 0 };
	struct advice *a = NULL, *b = NULL, *c = NULL;
	char path[32], other[32];
	struct err err = { 0 };

	model_save(&one, small_machine, 1, path);
	model_save(&two, small_machine, 2, other);
	REQUIRE(advice_open(&a, path, NULL) == 0 && advice_open(&b, path, NULL) == 0 &&
		advice_open(&c, other, NULL) == 0);
	CHECK_TEXT(advice_digest(a), advice_digest(b));
	CHECK(strcmp(advice_digest(a), advice_digest(c)) != 0);
	CHECK_INT(strlen(advice_digest(a)), ADVICE_DIGEST - 1);
	advice_close(a);
	advice_close(b);
	advice_close(c);
	REQUIRE(truncate(path, 100) == 0);
	CHECK(advice_open(&a, path, &err) < 0);
	CHECK(strstr(err.text, path));
	unlink(path);
	unlink(other);
	CHECK_INT(advice_open(&a, path, &err), -ENOENT);
	CHECK(strstr(err.text, "sluice model fit") && strstr(err.text, path));
	hybrid_release(&one);
	hybrid_release(&two);
}

TESTS(TEST(times_of_all_calls_are_added_up), TEST(parameters_override_hints_of_the_program),
      TEST(prior_predicts_the_points_of_a_space),
      TEST(unpredictable_accesses_are_left_out_with_a_note), TEST(another_model_has_another_digest))
