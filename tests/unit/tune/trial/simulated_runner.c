/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trials on a simulated platform.
 */
#include "tune/trial/simulated_runner.h"

#include <errno.h>

#include "base/err.h"
#include "check.h"

static void open_runner(struct trial_runner *runner)
{
	REQUIRE(simulated_runner_open(runner, "hopper", "vpic", 2048, NULL) == 0);
}

static double run_seconds(struct trial_runner *runner, const struct param_set *set)
{
	struct trial trial;
	double seconds;

	REQUIRE(runner->ops->run(runner->state, set, NULL, &trial, NULL) == 0);
	CHECK_INT(trial.state, TRIAL_GOOD);
	CHECK(trial.io_s == trial.run_s && trial.write_bytes == 512.0 * (1u << 30));
	seconds = trial.io_s;
	trial_release(&trial);
	return seconds;
}

static void same_parameters_always_cost_the_same(void)
{
	const struct param_set nothing = { 0 };
	struct trial_runner runner;

	open_runner(&runner);
	CHECK(runner.ops->is_exact);
	CHECK(run_seconds(&runner, &nothing) == run_seconds(&runner, &nothing));
	runner.ops->close(runner.state);
}

static void runner_describes_platform_and_program(void)
{
	struct space space;
	struct trial_runner runner;

	open_runner(&runner);
	CHECK_TEXT(runner.platform, "simulated:hopper");
	CHECK_TEXT(runner.program, "vpic_io");
	CHECK(runner.fingerprint && *runner.fingerprint);
	CHECK_INT(runner.ranks, 2048);
	CHECK_INT(runner.context.filesystem, FILESYSTEM_LUSTRE);
	CHECK(runner.uses.hdf5 && runner.uses.mpi && runner.uses.collective && runner.uses.creates);
	CHECK_INT(simulated_runner_space(&runner, &space, NULL), 0);
	CHECK_INT(space_points(&space), 13440);
	space_release(&space);
	runner.ops->close(runner.state);
}

static void slow_trials_are_aborted(void)
{
	const struct trial_limits limits = { .seconds = 10 };
	const struct param_set nothing = { 0 };
	struct trial trial;
	struct trial_runner runner;

	open_runner(&runner);
	CHECK_INT(runner.ops->run(runner.state, &nothing, &limits, &trial, NULL), 0);
	CHECK_INT(trial.state, TRIAL_SLOW);
	CHECK(trial.run_s == 10 && trial.reason);
	trial_release(&trial);
	runner.ops->close(runner.state);
}

static void effective_values_are_limited_by_the_platform(void)
{
	struct param_set set = { 0 };
	struct trial trial;
	struct trial_runner runner;

	REQUIRE(simulated_runner_open(&runner, "hopper", "vpic", 128, NULL) == 0);
	REQUIRE(!param_set_put(&set, tunable_by_name("cb_nodes"), "2048", NULL, NULL, 0, NULL));
	REQUIRE(!param_set_put(&set, tunable_by_name("striping_factor"), "500", NULL, NULL, 0,
			       NULL));
	CHECK_INT(runner.ops->run(runner.state, &set, NULL, &trial, NULL), 0);
	CHECK_TEXT(trial.effective, "striping_factor=156;striping_unit=1048576;cb_nodes=128;"
				    "cb_buffer_size=16777216;alignment=0,1");
	trial_release(&trial);
	param_set_release(&set);
	runner.ops->close(runner.state);
}

static void unknown_names_and_ranks_are_refused(void)
{
	struct err err = { 0 };
	struct trial_runner runner;

	CHECK_INT(simulated_runner_open(&runner, "hopper", "ior", 4, &err), -ENOENT);
	CHECK_INT(simulated_runner_open(&runner, "nowhere", "vpic", 4, &err), -ENOENT);
	CHECK_INT(simulated_runner_open(&runner, "hopper", "vpic", 0, &err), -EINVAL);
}

TESTS(TEST(same_parameters_always_cost_the_same), TEST(runner_describes_platform_and_program),

      TEST(slow_trials_are_aborted), TEST(effective_values_are_limited_by_the_platform),
      TEST(unknown_names_and_ranks_are_refused))
