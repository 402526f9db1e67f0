/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests are checked before anything is run, and become plans.
 */
#include "tune/loop/request.h"

#include <errno.h>
#include <math.h>

#include "base/config.h"
#include "base/err.h"
#include "check.h"

static char *command[] = { "./app", "in.nc", NULL };

static struct tuning_request good_request(void)
{
	return (struct tuning_request){
		.argv = command,
		.search = "genetic",
		.settings = "population=5",
		.runs = 40,
		.max_time_s = INFINITY,
		.repeat = 3,
		.pairs = 5,
		.slow = 3,
		.seed = 1,
		.check_data = true,
	};
}

/* The request is refused, and the message begins with the name of the option. */
static void check_refused(struct tuning_request request, const char *option)
{
	struct err err = { 0 };

	CHECK_INT(tuning_request_check(&request, &err), -EINVAL);
	CHECK(strncmp(err.text, option, strlen(option)) == 0);
}

static void values_out_of_range_are_refused(void)
{
	struct tuning_request request = good_request();

	CHECK_INT(tuning_request_check(&request, NULL), 0);
	request.runs = 1;
	check_refused(request, "runs");
	request = good_request();
	request.pairs = 3;
	check_refused(request, "pairs");
	request = good_request();
	request.slow = 1;
	check_refused(request, "timeout-factor");
	request = good_request();
	request.seed = UINT64_MAX;
	check_refused(request, "seed");
}

static void searches_and_their_settings_are_checked(void)
{
	struct tuning_request request = good_request();

	request.search = "clever";
	check_refused(request, "search");
	request = good_request();
	request.settings = "population=-1";
	check_refused(request, "search");
}

static void models_are_refused_where_they_cannot_be_used(void)
{
	struct tuning_request request = good_request();

	request.model = "x.model";
	check_refused(request, "model");
	request = good_request();
	request.search = "model";
	request.settings = NULL;
	CHECK_INT(tuning_request_check(&request, NULL), 0);
	request.simulate = "hopper";
	check_refused(request, "search");
}

static void a_dry_run_of_a_simulated_platform_has_its_space(void)
{
	struct tuning_request request = good_request();
	struct tuning_plan plan = { 0 };
	struct config config;
	double run_s = 0;

	config_init(&config);
	config_set(&config, SETTING_STORE_PATH, "/nonexistent/store.db", "test", NULL);
	request.argv = NULL;
	request.simulate = "hopper";
	request.kernel = "vpic";
	request.ranks = 2048;
	REQUIRE(tuning_request_dry_run(&request, &config, &plan, &run_s, NULL) == 0);
	CHECK_INT(space_points(&plan.space), 13440);
	CHECK_TEXT(plan.on, "simulated:hopper");
	CHECK(!plan.check);
	CHECK(isnan(run_s));
	tuning_plan_release(&plan);
	config_release(&config);
}

TESTS(TEST(values_out_of_range_are_refused), TEST(searches_and_their_settings_are_checked),
      TEST(models_are_refused_where_they_cannot_be_used),
      TEST(a_dry_run_of_a_simulated_platform_has_its_space))
