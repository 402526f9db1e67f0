/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/judge/conformal.h"

#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"

enum { STEPS = 5000, FIRST = 500, SEEDS = 5 };

static void margin_is_the_corrected_quantile(void)
{
	double truth[99], guess[99] = { 0 };
	struct conformal conformal;

	for (int i = 0; i < 99; i++)
		truth[i] = (i % 2 ? 1 : -1) * (double)((i * 37) % 99 + 1);
	CHECK_INT(conformal_fit(&conformal, truth, guess, NULL, 99, NULL), 0);
	/* ceil(100 * coverage), although 100 * 0.07 is not 7 in binary. */
	CHECK(conformal_margin(&conformal, 0.9) == 90);
	CHECK(conformal_margin(&conformal, 0.905) == 91);
	CHECK(conformal_margin(&conformal, 0.07) == 7);
	CHECK(conformal_margin(&conformal, 0.99) == 99);
	CHECK(conformal_margin(&conformal, 0.991) == INFINITY);
	CHECK(conformal_margin(&conformal, 1) == INFINITY);
	CHECK(conformal_margin(&conformal, 0) == 0);
	conformal_release(&conformal);
}

static void few_rows_give_infinite_intervals(void)
{
	static const double truth[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, guess[9] = { 0 };
	struct conformal conformal;

	conformal_fit(&conformal, truth, guess, NULL, 9, NULL);
	CHECK(conformal_margin(&conformal, 0.9) == 9);
	conformal_release(&conformal);
	conformal_fit(&conformal, truth, guess, NULL, 8, NULL);
	CHECK(conformal_margin(&conformal, 0.9) == INFINITY);
	conformal_release(&conformal);
	CHECK(conformal_margin(&conformal, 0.5) == INFINITY);
}

static void errors_are_in_units_of_the_spread(void)
{
	static const double truth[] = { 1, 2, 30 }, guess[3] = { 0 }, spread[] = { 1, 1, 10 };
	struct conformal conformal;
	struct err err = { 0 };

	conformal_fit(&conformal, truth, guess, spread, 3, NULL);
	CHECK(conformal_margin(&conformal, 0.75) == 3);
	conformal_release(&conformal);
	CHECK(conformal_fit(&conformal, truth, guess, (double[]){ 1, 0, 1 }, 3, &err) < 0);
	CHECK(strstr(err.text, "positive"));
	CHECK(conformal_fit(&conformal, (double[]){ 1, NAN }, guess, NULL, 2, &err) < 0);
	CHECK(strstr(err.text, "finite"));
	CHECK(!conformal.errors);
}

/* A promised coverage of 0.8 from 19 rows holds on average over many draws of these rows. */
static void coverage_holds_on_average(void)
{
	struct random random;
	size_t covered = 0;

	random_init(&random, 3);
	for (int round = 0; round < 20000; round++) {
		double truth[19], guess[19] = { 0 };
		struct conformal conformal;

		for (int i = 0; i < 19; i++)
			truth[i] = random_normal(&random);
		conformal_fit(&conformal, truth, guess, NULL, 19, NULL);
		covered += fabs(random_normal(&random)) <= conformal_margin(&conformal, 0.8);
		conformal_release(&conformal);
	}
	CHECK(fabs((double)covered / 20000 - 0.8) < 0.01);
}

static void a_saved_object_is_loaded_unchanged(void)
{
	static const double truth[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, guess[9] = { 0 };
	struct conformal conformal, loaded = { 0 };
	AUTO_BUF struct buf buf = { 0 };
	struct blob blob;

	conformal_fit(&conformal, truth, guess, NULL, 9, NULL);
	conformal_save(&conformal, &buf);
	conformal_release(&conformal);
	blob_init(&blob, buf.data, buf.len);
	CHECK_INT(conformal_load(&loaded, &blob, NULL), 0);
	CHECK(blob.at == blob.end);
	CHECK(loaded.count == 9);
	CHECK(conformal_margin(&loaded, 0.9) == 9);
	conformal_release(&loaded);
	for (size_t n = 0; n < buf.len; n++) {
		blob_init(&blob, buf.data, n);
		CHECK(conformal_load(&loaded, &blob, NULL) < 0);
	}
}

static void damaged_bytes_do_no_harm(void)
{
	static const double truth[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, guess[9] = { 0 };
	struct conformal conformal;
	AUTO_BUF struct buf buf = { 0 };

	conformal_fit(&conformal, truth, guess, NULL, 9, NULL);
	conformal_save(&conformal, &buf);
	conformal_release(&conformal);
	for (size_t bit = 0; bit < 8 * buf.len; bit++) {
		struct blob blob;

		buf.data[bit / 8] ^= (char)(1 << bit % 8);
		blob_init(&blob, buf.data, buf.len);
		if (conformal_load(&conformal, &blob, NULL) == 0) {
			CHECK(conformal_margin(&conformal, 0.5) >= 0);
			conformal_release(&conformal);
		}
		buf.data[bit / 8] ^= (char)(1 << bit % 8);
	}
}

static void ring_forgets_the_oldest_error(void)
{
	struct adaptive adaptive;

	adaptive_init(&adaptive, 0.75, 0.01, 3);
	CHECK(adaptive_margin(&adaptive) == INFINITY);
	for (int i = 1; i <= 3; i++)
		adaptive_seed(&adaptive, 10 * i);
	CHECK(adaptive_margin(&adaptive) == 30); /* ceil(4 * 0.75) is the third of three */
	adaptive_seed(&adaptive, 5);		 /* drops 10 */
	CHECK(adaptive.sorted[0] == 5);
	CHECK(adaptive.sorted[1] == 20);
	CHECK(adaptive.sorted[2] == 30);
	adaptive_seed(&adaptive, 25); /* drops 20 */
	adaptive_seed(&adaptive, NAN);
	CHECK(adaptive.sorted[0] == 5);
	CHECK(adaptive.sorted[1] == 25);
	CHECK(adaptive.sorted[2] == 30);
	CHECK_INT(adaptive.seen, 0);
	CHECK(adaptive.missing == 0.25);
	adaptive_release(&adaptive);
}

static void level_moves_by_step_and_is_not_clipped(void)
{
	struct adaptive adaptive;

	adaptive_init(&adaptive, 0.9, 0.5, 100);
	for (int i = 1; i <= 99; i++)
		adaptive_seed(&adaptive, i);
	CHECK(adaptive_margin(&adaptive) == 90);
	adaptive_learn(&adaptive, 90, 95); /* missed: 0.1 + 0.5 * (0.1 - 1) */
	CHECK(fabs(adaptive.missing + 0.35) < 1e-12);
	CHECK(adaptive_margin(&adaptive) == INFINITY);
	for (int i = 0; i < 8; i++)
		adaptive_learn(&adaptive, INFINITY, 1); /* eight times + 0.05 */
	CHECK(fabs(adaptive.missing - 0.05) < 1e-12);
	CHECK(isfinite(adaptive_margin(&adaptive)));
	for (int i = 0; i < 20; i++)
		adaptive_learn(&adaptive, INFINITY, 1);
	CHECK(adaptive.missing > 1);
	CHECK(adaptive_margin(&adaptive) == 0);
	CHECK(adaptive.seen == 29);
	CHECK(adaptive.covered == 28);
	adaptive_release(&adaptive);
}

/* Errors that triple in waves and jump once, like those of a model whose environment drifts. */
static double drifting_error(struct random *random, int step)
{
	double scale = 1 + (double)step / STEPS + 0.5 * sin(step / 300.) + (step > STEPS / 2);

	return fabs(scale * random_normal(random));
}

static void adaptive_coverage_survives_drift(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		double first[FIRST], zero[FIRST] = { 0 }, margin;
		struct conformal fixed;
		struct adaptive adaptive;
		struct random random;
		size_t covered = 0;

		random_init(&random, seed);
		adaptive_init(&adaptive, 0.9, 0.02, FIRST);
		for (int i = 0; i < FIRST; i++) {
			first[i] = drifting_error(&random, 0);
			adaptive_seed(&adaptive, first[i]);
		}
		conformal_fit(&fixed, first, zero, NULL, FIRST, NULL);
		for (int i = 0; i < STEPS; i++) {
			double error = drifting_error(&random, i);

			margin = adaptive_margin(&adaptive);
			adaptive_learn(&adaptive, margin, error);
			covered += error <= conformal_margin(&fixed, 0.9);
		}
		CHECK((double)adaptive.covered > 0.89 * STEPS);
		CHECK((double)adaptive.covered < 0.91 * STEPS);
		CHECK((double)covered < 0.80 * STEPS);
		conformal_release(&fixed);
		adaptive_release(&adaptive);
	}
}

TESTS(TEST(margin_is_the_corrected_quantile), TEST(few_rows_give_infinite_intervals),
      TEST(errors_are_in_units_of_the_spread), TEST(coverage_holds_on_average),
      TEST(a_saved_object_is_loaded_unchanged), TEST(damaged_bytes_do_no_harm),
      TEST(ring_forgets_the_oldest_error), TEST(level_moves_by_step_and_is_not_clipped),
      TEST(adaptive_coverage_survives_drift))
