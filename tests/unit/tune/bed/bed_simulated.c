/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A described platform as a test bed: trials are exact or noisy as asked for.
 */
#include "tune/bed/bed_simulated.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "check.h"

static void bed_of(struct bed *bed, double noise, uint64_t seed)
{
	REQUIRE(bed_simulated_open(bed, "hopper", "vpic", 2048, noise, seed, NULL) == 0);
}

static double seconds_of(struct bed *bed, const struct param_set *set)
{
	struct trial trial;
	double seconds;

	REQUIRE(bed->ops->run(bed->state, set, NULL, &trial, NULL) == 0);
	CHECK_INT(trial.state, TRIAL_GOOD);
	CHECK(trial.io_s == trial.run_s && trial.write_bytes == 512.0 * (1u << 30));
	seconds = trial.io_s;
	trial_release(&trial);
	return seconds;
}

static void same_parameters_always_cost_the_same(void)
{
	const struct param_set nothing = { 0 };
	struct bed bed;

	bed_of(&bed, 0, 1);
	CHECK(bed.ops->is_exact);
	CHECK(seconds_of(&bed, &nothing) == seconds_of(&bed, &nothing));
	bed.ops->close(bed.state);
}

static void bed_says_where_and_what_it_runs(void)
{
	struct space space;
	struct bed bed;

	bed_of(&bed, 0, 1);
	CHECK_TEXT(bed.platform, "simulated:hopper");
	CHECK_TEXT(bed.program, "vpic_io");
	CHECK(bed.fingerprint && *bed.fingerprint);
	CHECK_INT(bed.ranks, 2048);
	CHECK_INT(bed.context.filesystem, FILESYSTEM_LUSTRE);
	CHECK(bed.uses.hdf5 && bed.uses.mpi && bed.uses.collective && bed.uses.creates);
	CHECK_INT(bed_simulated_space(&bed, &space, NULL), 0);
	CHECK_INT(space_points(&space), 13440);
	CHECK(bed_simulated_peak(&bed) == 35e9);
	space_release(&space);
	bed.ops->close(bed.state);
}

static void noise_has_the_deviation_that_was_asked_for(void)
{
	enum { RUNS = 2000 };
	const struct param_set nothing = { 0 };
	double exact, sum = 0, squares = 0;
	struct bed bed;

	bed_of(&bed, 0, 7);
	exact = seconds_of(&bed, &nothing);
	bed.ops->close(bed.state);
	bed_of(&bed, 0.1, 7);
	CHECK(!bed.ops->is_exact);
	for (int i = 0; i < RUNS; i++) {
		double logarithm = log(seconds_of(&bed, &nothing) / exact);

		sum += logarithm;
		squares += logarithm * logarithm;
	}
	/* Five standard errors; the seed is fixed. */
	CHECK(fabs(sum / RUNS) < 5 * 0.1 / sqrt(RUNS));
	CHECK(fabs(sqrt(squares / RUNS) - 0.1) < 5 * 0.1 / sqrt(2 * RUNS));
	bed.ops->close(bed.state);
}

static void noise_goes_by_seed_and_number_of_the_run(void)
{
	const struct param_set nothing = { 0 };
	double first, second;
	struct bed bed;

	bed_of(&bed, 0.1, 3);
	first = seconds_of(&bed, &nothing);
	second = seconds_of(&bed, &nothing);
	CHECK(first != second);
	bed.ops->close(bed.state);
	bed_of(&bed, 0.1, 3);
	bed_simulated_skip(&bed, 1);
	CHECK(seconds_of(&bed, &nothing) == second);
	bed.ops->close(bed.state);
	bed_of(&bed, 0.1, 4);
	CHECK(seconds_of(&bed, &nothing) != first);
	bed.ops->close(bed.state);
}

static void what_takes_too_long_is_ended(void)
{
	const struct bed_limits limits = { 10 };
	const struct param_set nothing = { 0 };
	struct trial trial;
	struct bed bed;

	bed_of(&bed, 0, 1);
	CHECK_INT(bed.ops->run(bed.state, &nothing, &limits, &trial, NULL), 0);
	CHECK_INT(trial.state, TRIAL_SLOW);
	CHECK(trial.run_s == 10 && trial.reason);
	trial_release(&trial);
	bed.ops->close(bed.state);
}

static void effective_values_are_cut_to_what_is_there(void)
{
	struct param_set set = { 0 };
	struct trial trial;
	struct bed bed;

	REQUIRE(bed_simulated_open(&bed, "hopper", "vpic", 128, 0, 1, NULL) == 0);
	REQUIRE(!param_set_put(&set, tunable_by_name("cb_nodes"), "2048", NULL, NULL, 0, NULL));
	REQUIRE(!param_set_put(&set, tunable_by_name("striping_factor"), "500", NULL, NULL, 0,
			       NULL));
	CHECK_INT(bed.ops->run(bed.state, &set, NULL, &trial, NULL), 0);
	CHECK_TEXT(trial.effective, "striping_factor=156;striping_unit=1048576;cb_nodes=128;"
				    "cb_buffer_size=16777216;alignment=0,1");
	trial_release(&trial);
	param_set_release(&set);
	bed.ops->close(bed.state);
}

static void wrong_names_and_noise_are_refused(void)
{
	struct err err = { 0 };
	struct bed bed;

	CHECK_INT(bed_simulated_open(&bed, "hopper", "ior", 4, 0, 1, &err), -ENOENT);
	CHECK_INT(bed_simulated_open(&bed, "nowhere", "vpic", 4, 0, 1, &err), -ENOENT);
	CHECK_INT(bed_simulated_open(&bed, "hopper", "vpic", 0, 0, 1, &err), -EINVAL);
	CHECK_INT(bed_simulated_open(&bed, "hopper", "vpic", 4, -1, 1, &err), -EINVAL);
	CHECK_INT(bed_simulated_open(&bed, "hopper", "vpic", 4, NAN, 1, &err), -EINVAL);
}

TESTS(TEST(same_parameters_always_cost_the_same), TEST(bed_says_where_and_what_it_runs),
      TEST(noise_has_the_deviation_that_was_asked_for),
      TEST(noise_goes_by_seed_and_number_of_the_run), TEST(what_takes_too_long_is_ended),
      TEST(effective_values_are_cut_to_what_is_there), TEST(wrong_names_and_noise_are_refused))
