/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trials on a simulated platform are exact, or noisy if requested.
 */
#include "tune/trial/simulated_runner.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "check.h"

static void open_runner(struct trial_runner *runner, double noise, uint64_t seed)
{
	REQUIRE(simulated_runner_open(runner, "hopper", "vpic", 2048, noise, seed, NULL) == 0);
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

	open_runner(&runner, 0, 1);
	CHECK(runner.ops->is_exact);
	CHECK(run_seconds(&runner, &nothing) == run_seconds(&runner, &nothing));
	runner.ops->close(runner.state);
}

static void runner_describes_platform_and_program(void)
{
	struct space space;
	struct trial_runner runner;

	open_runner(&runner, 0, 1);
	CHECK_TEXT(runner.platform, "simulated:hopper");
	CHECK_TEXT(runner.program, "vpic_io");
	CHECK(runner.fingerprint && *runner.fingerprint);
	CHECK_INT(runner.ranks, 2048);
	CHECK_INT(runner.context.filesystem, FILESYSTEM_LUSTRE);
	CHECK(runner.uses.hdf5 && runner.uses.mpi && runner.uses.collective && runner.uses.creates);
	CHECK_INT(simulated_runner_space(&runner, &space, NULL), 0);
	CHECK_INT(space_points(&space), 13440);
	CHECK(simulated_runner_peak(&runner) == 35e9);
	space_release(&space);
	runner.ops->close(runner.state);
}

static void noise_has_the_requested_deviation(void)
{
	enum { RUNS = 2000 };
	const struct param_set nothing = { 0 };
	double exact, sum = 0, squares = 0;
	struct trial_runner runner;

	open_runner(&runner, 0, 7);
	exact = run_seconds(&runner, &nothing);
	runner.ops->close(runner.state);
	open_runner(&runner, 0.1, 7);
	CHECK(!runner.ops->is_exact);
	for (int i = 0; i < RUNS; i++) {
		double logarithm = log(run_seconds(&runner, &nothing) / exact);

		sum += logarithm;
		squares += logarithm * logarithm;
	}
	/* Within five standard errors; the seed is fixed. */
	CHECK(fabs(sum / RUNS) < 5 * 0.1 / sqrt(RUNS));
	CHECK(fabs(sqrt(squares / RUNS) - 0.1) < 5 * 0.1 / sqrt(2 * RUNS));
	runner.ops->close(runner.state);
}

static void noise_depends_on_seed_and_run_number(void)
{
	const struct param_set nothing = { 0 };
	double first, second;
	struct trial_runner runner;

	open_runner(&runner, 0.1, 3);
	first = run_seconds(&runner, &nothing);
	second = run_seconds(&runner, &nothing);
	CHECK(first != second);
	runner.ops->close(runner.state);
	open_runner(&runner, 0.1, 3);
	simulated_runner_skip(&runner, 1);
	CHECK(run_seconds(&runner, &nothing) == second);
	runner.ops->close(runner.state);
	open_runner(&runner, 0.1, 4);
	CHECK(run_seconds(&runner, &nothing) != first);
	runner.ops->close(runner.state);
}

static void slow_trials_are_aborted(void)
{
	const struct trial_limits limits = { 10 };
	const struct param_set nothing = { 0 };
	struct trial trial;
	struct trial_runner runner;

	open_runner(&runner, 0, 1);
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

	REQUIRE(simulated_runner_open(&runner, "hopper", "vpic", 128, 0, 1, NULL) == 0);
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

static void wrong_names_and_noise_are_refused(void)
{
	struct err err = { 0 };
	struct trial_runner runner;

	CHECK_INT(simulated_runner_open(&runner, "hopper", "ior", 4, 0, 1, &err), -ENOENT);
	CHECK_INT(simulated_runner_open(&runner, "nowhere", "vpic", 4, 0, 1, &err), -ENOENT);
	CHECK_INT(simulated_runner_open(&runner, "hopper", "vpic", 0, 0, 1, &err), -EINVAL);
	CHECK_INT(simulated_runner_open(&runner, "hopper", "vpic", 4, -1, 1, &err), -EINVAL);
	CHECK_INT(simulated_runner_open(&runner, "hopper", "vpic", 4, NAN, 1, &err), -EINVAL);
}

TESTS(TEST(same_parameters_always_cost_the_same), TEST(runner_describes_platform_and_program),
      TEST(noise_has_the_requested_deviation), TEST(noise_depends_on_seed_and_run_number),
      TEST(slow_trials_are_aborted), TEST(effective_values_are_limited_by_the_platform),
      TEST(wrong_names_and_noise_are_refused))
