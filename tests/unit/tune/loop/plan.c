/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: GA-11.
 */
#include "tune/loop/plan.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static const char space_text[] = "{\"schema\": \"sluice.space/1\", \"dimensions\": ["
				 "{\"name\": \"cb_nodes\", \"values\": [null, 1, 2]}]}";

static void fill_plan(struct tuning_plan *plan)
{
	static const char *const words[] = { "./my app", "it's", "\xff\xe9", "", NULL };

	*plan = (struct tuning_plan){
		.directory = xstrdup("/data/\xc3\xa4"),
		.search = xstrdup("genetic"),
		.settings = xstrdup("population=5"),
		.seed = 42,
		.objective = COST_WRITE,
		.runs = 77,
		.seconds = 12.5,
		.repeat = 2,
		.pairs = 6,
		.drift = 9,
		.slow = 4,
		.check = true,
		.allowed = TUNABLE_LAYOUT,
		.context = { .middleware = MIDDLEWARE_MPICH,
			     .filesystem = FILESYSTEM_NFS,
			     .allowed = TUNABLE_LAYOUT,
			     .ranks = 4,
			     .nodes = 2 },
	};
	plan->argv = xcalloc(5, sizeof(*plan->argv));
	for (size_t i = 0; words[i]; i++)
		plan->argv[i] = xstrdup(words[i]);
	REQUIRE(space_read_text(&plan->space, "s", space_text, strlen(space_text), NULL) == 0);
}

static void a_plan_is_read_back_unchanged(void)
{
	struct tuning_plan plan, back = { 0 };
	char one[TUNING_DIGEST], two[TUNING_DIGEST];
	AUTO_FREE char *text = NULL, *command = NULL;

	fill_plan(&plan);
	text = tuning_plan_write(&plan);
	CHECK_INT(tuning_plan_read(&back, text, NULL), 0);
	for (size_t i = 0; i < 4; i++)
		CHECK_TEXT(back.argv[i], plan.argv[i]);
	CHECK(back.argv[4] == NULL);
	CHECK_TEXT(back.directory, plan.directory);
	CHECK_TEXT(back.settings, "population=5");
	CHECK(!back.verify && !back.on && !back.space_text && back.check && !back.partial);
	CHECK_INT(back.seed, 42);
	CHECK_INT(back.objective, COST_WRITE);
	CHECK(back.seconds == 12.5 && back.slow == 4);
	CHECK_INT(back.space.count, 1);
	CHECK_INT(back.space.dimensions[0].count, 3);
	CHECK_INT(back.context.filesystem, FILESYSTEM_NFS);
	CHECK_INT(back.space.context.ranks, 4);
	tuning_plan_digest(&plan, one);
	tuning_plan_digest(&back, two);
	CHECK_TEXT(one, two);
	CHECK_INT(strlen(one), 32);
	command = tuning_plan_command(&back);
	CHECK_TEXT(command, "'./my app' 'it'\\''s' \xff\xe9 ''");
	tuning_plan_release(&plan);
	tuning_plan_release(&back);
}

/* The model and the access profile determine the course. */
static void a_model_is_read_back_with_its_access_profile(void)
{
	struct access_profile_row row = {
		{ .nodes = 1, .ranks = 4, .rank_bytes = 4096 }, 2.1, (char *)"/d/f", NULL
	};
	struct access_profile profile = { &row, 1, 1 };
	struct tuning_plan plan, back = { 0 };
	char without[TUNING_DIGEST], with[TUNING_DIGEST], other[TUNING_DIGEST];
	AUTO_FREE char *text = NULL, *damaged = NULL;

	fill_plan(&plan);
	tuning_plan_digest(&plan, without);
	plan.model = xstrdup("/m/hybrid.model");
	plan.model_digest = xstrdup("00ff");
	access_profile_copy(&plan.profile, &profile);
	tuning_plan_digest(&plan, with);
	CHECK(strcmp(without, with) != 0);
	text = tuning_plan_write(&plan);
	REQUIRE(tuning_plan_read(&back, text, NULL) == 0);
	CHECK_TEXT(back.model, "/m/hybrid.model");
	CHECK_TEXT(back.model_digest, "00ff");
	REQUIRE(back.profile.count == 1);
	CHECK(back.profile.rows[0].calls == 2.1);
	CHECK_INT(back.profile.rows[0].access.rank_bytes, 4096);
	tuning_plan_digest(&back, other);
	CHECK_TEXT(with, other);
	tuning_plan_release(&back);
	damaged = xstrdup(text);
	memcpy(strstr(damaged, "\"accessed\""), "\"accessex\"", 10);
	CHECK_INT(tuning_plan_read(&back, damaged, NULL), -EBADMSG);
	tuning_plan_release(&plan);
}

static void only_the_request_determines_the_digest(void)
{
	struct tuning_plan plan;
	char one[TUNING_DIGEST], two[TUNING_DIGEST];

	fill_plan(&plan);
	tuning_plan_digest(&plan, one);
	plan.context.ranks = 99; /* known only after the first run */
	tuning_plan_digest(&plan, two);
	CHECK_TEXT(one, two);
	plan.seed = 43;
	tuning_plan_digest(&plan, two);
	CHECK(strcmp(one, two) != 0);
	plan.seed = 42;
	plan.seconds = INFINITY;
	tuning_plan_digest(&plan, two);
	CHECK(strcmp(one, two) != 0);
	tuning_plan_release(&plan);
}

static void damaged_plans_are_refused(void)
{
	static const char *const texts[] = {
		"",
		"null",
		"[]",
		"{\"schema\": \"sluice.tuning/2\"}",
		"{\"schema\": \"sluice.tuning/1\"}",
		"{\"schema\": \"sluice.tuning/1\", \"asked\": {\"argv\": [\"a\"], \"search\": "
		"\"random\", \"runs\": 3, \"repeat\": 1, \"slow\": 3}, \"context\": {}}",
		"{\"schema\": \"sluice.tuning/1\", \"asked\": {\"argv\": [\"a\"], \"search\": "
		"\"random\", \"runs\": 3, \"repeat\": 1, \"slow\": 3, \"objective\": 17}, "
		"\"context\": {}, \"space\": {}}",
	};
	struct tuning_plan plan = { .seed = 5 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct err err = { 0 };

		CHECK(tuning_plan_read(&plan, texts[i], &err) < 0);
		CHECK(*err.text);
		CHECK_INT(plan.seed, 5);
	}
}

TESTS(TEST(a_plan_is_read_back_unchanged), TEST(a_model_is_read_back_with_its_access_profile),
      TEST(only_the_request_determines_the_digest), TEST(damaged_plans_are_refused))
