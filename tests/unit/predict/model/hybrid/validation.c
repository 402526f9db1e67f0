/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calibration with simulated measurements whose errors are known.
 */
#include "predict/model/hybrid/validation.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"

#define SETTINGS 4
#define CASES_MAX 400

static const struct environment somewhere = { .time_s = 1000, .load = 1, .cores = 2 };

/* Measured = predicted * bias of the transfer * noise of the access * noise of the case. */
static void simulate(struct validation_case *cases, size_t groups, double common, double own,
		     uint64_t seed)
{
	static const double bias[TRANSFERS] = { 2, 1, 0.5, 3 };
	struct random random;

	random_init(&random, seed);
	for (size_t g = 0; g < groups; g++) {
		double shared = common * random_normal(&random);

		for (size_t i = 0; i < SETTINGS; i++) {
			struct validation_case *one = &cases[g * SETTINGS + i];

			*one = (struct validation_case){ .group = g,
							 .transfer = (enum transfer)i,
							 .is_default = i == 0,
							 .ranks = 2 + 2 * (double)(g % 2),
							 .bytes = 1024.0 * (double)(1 + g) };
			one->predicted = exp(3 * random_normal(&random));
			one->measured = one->predicted * bias[i] *
					exp(shared + own * random_normal(&random));
		}
	}
}

static struct validation make(const struct validation_case *cases, size_t count)
{
	struct validation v = { 0 };
	struct err err = { 0 };

	REQUIRE(validation_make(&v, cases, count, 5, &somewhere, &err) == 0);
	return v;
}

static void corrections_remove_the_bias_of_each_transfer(void)
{
	struct validation_case cases[CASES_MAX];
	struct validation v;

	simulate(cases, 50, 0.1, 0.1, 1);
	v = make(cases, 50 * SETTINGS);
	CHECK(fabs(validation_correction(&v, false, TRANSFER_COLLECTIVE) / 2 - 1) < 0.15);
	CHECK(fabs(validation_correction(&v, false, TRANSFER_SIEVED) / 0.5 - 1) < 0.15);
	CHECK(fabs(validation_correction(&v, false, TRANSFER_PIECES) / 3 - 1) < 0.15);
	CHECK(validation_correction(&v, true, TRANSFER_PIECES) == 1);
	validation_release(&v);
}

/* Counts held-out times inside the intervals of a calibration. */
static size_t count_inside(const struct validation *v, const struct validation_case *held,
			   size_t count, double coverage)
{
	double margin = validation_margin(v, VALIDATION_TIMES, coverage);
	size_t inside = 0;

	for (size_t i = 0; i < count; i++) {
		double guess = held[i].predicted *
			       validation_correction(v, held[i].is_read, held[i].transfer);

		inside += fabs(log(held[i].measured / guess)) <= margin;
	}
	return inside;
}

/* 100 simulated machines: the mean coverage of new accesses is what was claimed, and the measured
 * coverage agrees with it. */
static void held_out_accesses_are_covered_as_claimed(void)
{
	enum { MACHINES = 100, GROUPS = 30, HELD = 50 };
	struct validation_case cases[CASES_MAX], held[CASES_MAX];
	double inside = 0, measured = 0;

	for (uint64_t m = 0; m < MACHINES; m++) {
		struct validation v;

		simulate(cases, GROUPS, 0.3, 0.3, 2 * m + 1);
		simulate(held, HELD, 0.3, 0.3, 2 * m + 2);
		v = make(cases, GROUPS * SETTINGS);
		inside += (double)count_inside(&v, held, HELD * SETTINGS, 0.9) / (HELD * SETTINGS);
		measured += validation_measured_coverage(&v, VALIDATION_TIMES, 0.9);
		validation_release(&v);
	}
	CHECK(inside / MACHINES > 0.87 && inside / MACHINES < 0.93);
	CHECK(fabs(measured / MACHINES - inside / MACHINES) < 0.03);
}

/* Errors that all settings of an access share do not affect gains. */
static void gains_are_known_better_than_times(void)
{
	struct validation_case cases[CASES_MAX];
	struct validation v;

	simulate(cases, 40, 1, 0.05, 3);
	v = make(cases, 40 * SETTINGS);
	CHECK(validation_margin(&v, VALIDATION_GAINS, 0.9) <
	      validation_margin(&v, VALIDATION_TIMES, 0.9) / 4);
	CHECK_INT(v.residuals[VALIDATION_TIMES].count, 40 * SETTINGS);
	CHECK_INT(v.residuals[VALIDATION_GAINS].count, 40 * (SETTINGS - 1));
	CHECK(validation_measured_coverage(&v, VALIDATION_GAINS, 0.9) > 0.8);
	validation_release(&v);
}

/* Groups of one fold are far off, so intervals made from the others do not hold them. */
static void a_coverage_that_accesses_do_not_have_is_not_supported(void)
{
	struct validation_case cases[CASES_MAX];
	struct validation v;

	simulate(cases, 40, 0.1, 0.1, 4);
	v = make(cases, 40 * SETTINGS);
	CHECK(validation_supports(&v, VALIDATION_TIMES, 0.9));
	validation_release(&v);
	for (size_t i = 0; i < 40 * SETTINGS; i++)
		if (cases[i].group % 5 == 0)
			cases[i].measured *= 100;
	v = make(cases, 40 * SETTINGS);
	CHECK(validation_measured_coverage(&v, VALIDATION_TIMES, 0.75) < 0.9);
	CHECK(!validation_supports(&v, VALIDATION_TIMES, 0.999));
	validation_release(&v);
}

/* Held-out cases change no interval, but decide whether its coverage is supported. */
static void held_out_cases_only_measure_the_coverage(void)
{
	struct validation_case cases[CASES_MAX];
	struct validation v, with;
	size_t count = 40 * SETTINGS, held = 40 * SETTINGS;

	simulate(cases, 40, 0.1, 0.1, 8);
	simulate(cases + count, 40, 0.1, 0.1, 9);
	for (size_t i = 0; i < held; i++) {
		cases[count + i].is_held = true;
		cases[count + i].group += 40;
	}
	v = make(cases, count);
	with = make(cases, count + held);
	CHECK(validation_margin(&with, VALIDATION_TIMES, 0.9) ==
	      validation_margin(&v, VALIDATION_TIMES, 0.9));
	CHECK(validation_correction(&with, false, TRANSFER_SIEVED) ==
	      validation_correction(&v, false, TRANSFER_SIEVED));
	CHECK_INT(with.checked[VALIDATION_TIMES], held);
	CHECK_INT(with.checked[VALIDATION_GAINS], held / SETTINGS * (SETTINGS - 1));
	CHECK(fabs(validation_measured_coverage(&with, VALIDATION_TIMES, 0.9) -
		   (double)count_inside(&v, cases + count, held, 0.9) / (double)held) < 1e-9);
	CHECK(validation_supports(&with, VALIDATION_TIMES, 0.9));
	validation_release(&with);
	/* The machine has become twice as slow. */
	for (size_t i = 0; i < held; i++)
		cases[count + i].measured *= 2;
	with = make(cases, count + held);
	CHECK(validation_measured_coverage(&with, VALIDATION_TIMES, 0.9) < 0.1);
	CHECK(!validation_supports(&with, VALIDATION_TIMES, 0.9));
	CHECK(validation_supports(&with, VALIDATION_GAINS, 0.9));
	validation_release(&with);
	validation_release(&v);
}

static void few_accesses_give_no_interval(void)
{
	struct validation_case cases[CASES_MAX];
	struct validation v = { 0 };
	struct err err = { 0 };

	simulate(cases, 2, 0.1, 0.1, 5);
	v = make(cases, 2 * SETTINGS);
	CHECK(isinf(validation_margin(&v, VALIDATION_TIMES, 0.9)));
	CHECK(isnan(validation_measured_coverage(&v, VALIDATION_TIMES, 0.9)));
	CHECK(!validation_supports(&v, VALIDATION_TIMES, 0.9));
	validation_release(&v);
	CHECK_INT(validation_make(&v, cases, SETTINGS, 5, &somewhere, &err), -ENODATA);
	cases[5].measured = 0;
	CHECK_INT(validation_make(&v, cases, 2 * SETTINGS, 5, &somewhere, &err), -EINVAL);
	CHECK_INT(v.count, 0);
}

static void only_accesses_like_the_measured_ones_are_covered(void)
{
	struct access access = { .nodes = 1, .ranks = 4, .rank_bytes = 8192 };
	struct validation none = { 0 }, v;
	struct validation_case cases[CASES_MAX];

	simulate(cases, 20, 0.1, 0.1, 6);
	v = make(cases, 20 * SETTINGS);
	CHECK(validation_covers(&v, &access, TRANSFER_SIEVED));
	CHECK(!validation_covers(&none, &access, TRANSFER_SIEVED));
	access.is_read = true;
	CHECK(!validation_covers(&v, &access, TRANSFER_SIEVED));
	access.is_read = false;
	access.ranks = 64;
	CHECK(!validation_covers(&v, &access, TRANSFER_SIEVED));
	access.ranks = 2;
	access.rank_bytes = 1 << 30;
	CHECK(!validation_covers(&v, &access, TRANSFER_SIEVED));
	validation_release(&v);
}

static void a_saved_calibration_is_the_same(void)
{
	struct validation_case cases[CASES_MAX];
	AUTO_BUF struct buf buf = { 0 };
	struct validation v, again = { 0 };
	struct err err = { 0 };
	struct blob blob;

	simulate(cases, 20, 0.1, 0.1, 7);
	v = make(cases, 20 * SETTINGS);
	validation_save(&v, &buf);
	blob_init(&blob, buf.data, buf.len);
	REQUIRE(validation_load(&again, &blob, &err) == 0);
	CHECK_INT(again.count, v.count);
	CHECK_INT(again.repeat, 5);
	CHECK(again.environment.load == 1);
	CHECK(validation_margin(&again, VALIDATION_GAINS, 0.9) ==
	      validation_margin(&v, VALIDATION_GAINS, 0.9));
	validation_release(&again);
	for (size_t n = 0; n < buf.len; n += 13) {
		blob_init(&blob, buf.data, n);
		CHECK(validation_load(&again, &blob, &err) < 0);
	}
	validation_release(&v);
}

TESTS(TEST(corrections_remove_the_bias_of_each_transfer),
      TEST(held_out_accesses_are_covered_as_claimed), TEST(gains_are_known_better_than_times),
      TEST(a_coverage_that_accesses_do_not_have_is_not_supported),
      TEST(held_out_cases_only_measure_the_coverage), TEST(few_accesses_give_no_interval),
      TEST(only_accesses_like_the_measured_ones_are_covered), TEST(a_saved_calibration_is_the_same))
