/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-40.
 */
#include "learn/table/preparation.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"

enum { ROWS = 40 };

/* The columns that the reference used, too; the value depends on the row number. */
static double column_a(double i)
{
	return exp(sin(i * 1.7) * 1.3 + i / 40);
}

static double column_b(double i)
{
	return pow(3 + cos(i * 2.3) + i * 0.05, 3);
}

static double column_c(double i)
{
	return sin(i * 0.9) * 4 + fmod(i, 7) * 0.8 - 1;
}

static double column_d(double i)
{
	return exp(3 * sin(i * 1.1));
}

static double column_e(double i)
{
	return 2 + sin(i);
}

static double column_f(double i)
{
	return column_a(i) * column_b(i);
}

static double column_g(double i)
{
	return i * 0.5;
}

typedef double column_rule(double i);

static void matrix_make(double *x, size_t width, column_rule *const *rules)
{
	for (size_t i = 0; i < ROWS; i++) {
		for (size_t j = 0; j < width; j++)
			x[i * width + j] = rules[j]((double)i);
	}
}

static bool near(double a, double b, double tolerance)
{
	bool good = fabs(a - b) <= tolerance * fmax(1, fabs(b));

	if (!good)
		printf("%.17g is not %.17g\n", a, b);
	return good;
}

/* Fits one column, scaled, and returns its power. */
static double power_of(const char *recipe, column_rule *rule, double factor)
{
	struct preparation preparation;
	double x[ROWS], lambda;

	for (size_t i = 0; i < ROWS; i++)
		x[i] = rule((double)i) * factor;
	REQUIRE(preparation_fit(&preparation, recipe, x, ROWS, 1, NULL) == 0);
	lambda = preparation_lambda(&preparation, 0);
	for (size_t i = 0; i < ROWS; i++)
		CHECK(isfinite(x[i]));
	preparation_release(&preparation);
	return lambda;
}

static double one_over_b(double i)
{
	return 1 / column_b(i);
}

/* scipy.stats.boxcox(), 1.10.1 */
static void boxcox_powers_are_those_of_scipy(void)
{
	column_rule *const rules[] = { column_a, column_b };
	static const double expected[] = { 0, 8.3913446170268173, 1.3079926425160655,
					   3.9841725020721648 };
	struct preparation preparation;
	double x[ROWS * 2];

	CHECK(near(power_of("boxcox", column_a, 1), -0.00716955408253, 1e-6));
	CHECK(near(power_of("boxcox", column_b, 1), 0.305621964416, 1e-6));
	CHECK(near(power_of("boxcox", one_over_b, 1), -0.305621932875, 1e-6));
	matrix_make(x, 2, rules);
	REQUIRE(preparation_fit(&preparation, "boxcox", x, ROWS, 2, NULL) == 0);
	for (size_t i = 0; i < 4; i++)
		CHECK(near(x[i], expected[i], 1e-6));
	preparation_release(&preparation);
}

/* A power does not depend on the unit, and digits survive in any unit. */
static void boxcox_power_does_not_depend_on_the_unit(void)
{
	static const double factors[] = { 1e-300, 1e-150, 1e-12, 1e12, 1e150, 1e300 };

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		CHECK(near(power_of("boxcox", column_a, factors[i]), -0.00716955408253, 1e-5));
		CHECK(near(power_of("boxcox", column_b, factors[i]), 0.305621964416, 1e-5));
	}
}

static double narrow_and_far(double i)
{
	return 1e9 / pow(1 + column_e(i), 0.4);
}

/* x^-2 of 1e9 is 1e-18, which vanishes beside 1: the plain formula would give a constant. */
static void powers_keep_digits_of_large_values(void)
{
	static const char *const recipes[] = { "boxcox,centre,scale", "yeojohnson,centre,scale" };

	for (size_t k = 0; k < 2; k++) {
		struct preparation preparation;
		double x[ROWS], raw[ROWS], sum = 0;

		for (size_t i = 0; i < ROWS; i++)
			raw[i] = x[i] = narrow_and_far((double)i);
		REQUIRE(preparation_fit(&preparation, recipes[k], x, ROWS, 1, NULL) == 0);
		CHECK(preparation_lambda(&preparation, 0) < -1);
		for (size_t i = 0; i < ROWS; i++) {
			sum += x[i] * x[i];
			for (size_t j = 0; j < i; j++)
				CHECK((raw[i] < raw[j]) == (x[i] < x[j]));
		}
		CHECK(near(sum, ROWS - 1, 1e-9));
		preparation_release(&preparation);
	}
}

/* sklearn PowerTransformer(method="yeo-johnson", standardize=False), 1.2.1 */
static void yeojohnson_powers_are_those_of_scikit_learn(void)
{
	static const double powers[] = { -0.42916198520569326, 0.29339836850889739,
					 0.62645650829638932, 2.4291620047699896,
					 1.7066016672000119 };
	static const double row[] = { 1.1331511821177136, 4.0678073988273278, 2.1681483948576155,
				      -1.1331511668087539, -4.0678071791870769 };
	column_rule *const rules[] = { column_a, column_b, column_c, column_a, column_b };
	struct preparation preparation;
	double x[ROWS * 5];

	matrix_make(x, 5, rules);
	for (size_t i = 0; i < ROWS; i++) {
		x[i * 5 + 3] *= -1;
		x[i * 5 + 4] *= -1;
	}
	REQUIRE(preparation_fit(&preparation, "yeojohnson", x, ROWS, 5, NULL) == 0);
	for (size_t j = 0; j < 5; j++) {
		CHECK(near(preparation_lambda(&preparation, j), powers[j], 1e-6));
		CHECK(near(x[5 + j], row[j], 1e-6));
	}
	preparation_release(&preparation);
	/* Values that would overflow under most powers. */
	CHECK(isfinite(power_of("yeojohnson", column_c, 1e300)));
	CHECK(isfinite(power_of("yeojohnson", column_d, -1e300)));
	CHECK(isfinite(power_of("yeojohnson", column_c, 1e-300)));
}

/* R: caret::BoxCoxTrans(), caret 6.0, and predict() of it */
static void caret_powers_are_those_of_caret(void)
{
	column_rule *const rules[] = { column_a, column_b, column_d, column_e };
	static const double powers[] = { 0, 0.3, 0, 0.7 };
	static const double rows[2][4] = {
		{ 0, 8.2740075106149948, 0, 0.89214970387495862 },
		{ 1.314164253588209, 3.9513237717128833, 2.6736220801843062, 1.53887042612812075 },
	};
	struct preparation preparation;
	double x[ROWS * 4];

	matrix_make(x, 4, rules);
	REQUIRE(preparation_fit(&preparation, "boxcox=caret", x, ROWS, 4, NULL) == 0);
	for (size_t j = 0; j < 4; j++) {
		CHECK(near(preparation_lambda(&preparation, j), powers[j], 1e-12));
		CHECK(near(x[j], rows[0][j], 1e-12));
		CHECK(near(x[4 + j], rows[1][j], 1e-12));
	}
	preparation_release(&preparation);
	CHECK(near(power_of("boxcox=caret", one_over_b, 1), -0.3, 1e-12));
}

static double flags(double i)
{
	return fmod(i, 2) + 1;
}

static double three_and_sine(double i)
{
	return 3 + sin(i);
}

static double ten_and_sine(double i)
{
	return 10 + sin(i);
}

static void columns_without_a_power_are_unchanged(void)
{
	column_rule *const rules[] = { flags, column_c, column_g };
	struct preparation preparation;
	double x[ROWS * 3], before[ROWS * 3];

	matrix_make(x, 3, rules);
	memcpy(before, x, sizeof(x));
	REQUIRE(preparation_fit(&preparation, "boxcox", x, ROWS, 3, NULL) == 0);
	CHECK(memcmp(before, x, sizeof(x)) == 0);
	for (size_t j = 0; j < 3; j++)
		CHECK(isnan(preparation_lambda(&preparation, j)));
	CHECK(isnan(preparation_lambda(&preparation, 3)));
	preparation_release(&preparation);
	/*
	 * R: the lambda of caret::BoxCoxTrans() is 0.8 and 1.2. Its predict() leaves the first
	 * column unchanged, because -2 + 28 * 0.1 is slightly more than 0.8, and transforms the
	 * second.
	 */
	CHECK(isnan(power_of("boxcox=caret", three_and_sine, 1)));
	CHECK(near(power_of("boxcox=caret", ten_and_sine, 1), 1.2, 1e-12));
}

/* numpy: (x - x.mean(0)) / x.std(0, ddof=1) */
static void centre_and_scale_are_exact(void)
{
	column_rule *const rules[] = { column_a, column_b, column_c };
	static const double first[] = { 0.52379276822959497, -1.2861995173368441,
					0.74066746239912096 };
	static const double last[] = { -0.34375161233906104, 0.78114821579054783,
				       -0.6722161466382981 };
	static const char *const recipes[] = { "centre,scale", "center, scale", "scale,centre",
					       "none,centre,scale,centre,scale" };

	for (size_t k = 0; k < 4; k++) {
		struct preparation preparation;
		double x[ROWS * 3];

		matrix_make(x, 3, rules);
		REQUIRE(preparation_fit(&preparation, recipes[k], x, ROWS, 3, NULL) == 0);
		CHECK(k > 1 || preparation.count == 1);
		for (size_t j = 0; j < 3; j++) {
			CHECK(near(x[3 + j], first[j], 1e-13));
			CHECK(near(x[39 * 3 + j], last[j], 1e-13));
		}
		preparation_release(&preparation);
	}
}

static double constant(double i)
{
	(void)i;
	return 0.1;
}

static double large_constant(double i)
{
	(void)i;
	return 1e17 / 3;
}

static void constant_columns_and_extreme_sizes_stay_sound(void)
{
	column_rule *const rules[] = { constant, large_constant, column_c, column_c };
	struct preparation preparation;
	double x[ROWS * 4];

	matrix_make(x, 4, rules);
	for (size_t i = 0; i < ROWS; i++) {
		x[i * 4 + 2] *= 1e307;
		x[i * 4 + 3] *= 1e-307;
	}
	REQUIRE(preparation_fit(&preparation, "centre,scale", x, ROWS, 4, NULL) == 0);
	for (size_t i = 0; i < ROWS; i++) {
		CHECK(fabs(x[i * 4]) < 1e-16);
		CHECK(fabs(x[i * 4 + 1]) < 10);
		CHECK(near(x[i * 4 + 2], x[i * 4 + 3], 1e-9));
		CHECK(fabs(x[i * 4 + 2]) < 4);
	}
	preparation_release(&preparation);
	/* A single row has no deviation. */
	REQUIRE(preparation_fit(&preparation, "boxcox,centre,scale,pca", x, 1, 4, NULL) == 0);
	CHECK(x[0] == 0);
	preparation_release(&preparation);
}

/* sklearn PCA(), 1.2.1 */
static const double loadings[5][5] = {
	{ 0.0054458327939315857, 0.094688159572329483, 0.00089453067352103033, 0.99545908714366249,
	  0.0080561144459367889 },
	{ -0.022922696892485373, 0.99259813635735106, -0.0090038657819944655, -0.094862934491487069,
	  0.071717806211093235 },
	{ 0.083174942593651602, -0.069952245647571437, 0.013489410766169857, -0.0018574534897532744,
	  0.99398349982136003 },
	{ 0.028922447430862256, 0.010648528667567311, 0.99940689161521634, -0.0019458780575106643,
	  -0.015237434902933389 },
	{ 0.9958364895059364, 0.027863673533760396, -0.030364963445496419, -0.0074157203216385619,
	  -0.080970846313728112 },
};
static const double score_first[] = { -147.63047511038022, 4.0749300278199039, -8.9256564590639922,
				      -2.1732004665838422, 0.17383780409324365 };
static const double score_last[] = { -16.175557042867645, 38.6447320118059, 7.1051957660705556,
				     -1.0766820686044696, -0.36980606253685494 };
static column_rule *const pca_rules[] = { column_a, column_b, column_c, column_f, column_g };

static size_t pca_count(const char *recipe)
{
	struct preparation preparation;
	double x[ROWS * 5];
	size_t count;

	matrix_make(x, 5, pca_rules);
	REQUIRE(preparation_fit(&preparation, recipe, x, ROWS, 5, NULL) == 0);
	for (size_t c = 0; c < preparation.width_out; c++)
		CHECK(near(x[39 * preparation.width_out + c], score_last[c], 1e-9));
	count = preparation.width_out;
	preparation_release(&preparation);
	return count;
}

static void components_are_those_of_scikit_learn(void)
{
	struct preparation preparation;
	double x[ROWS * 5];

	matrix_make(x, 5, pca_rules);
	REQUIRE(preparation_fit(&preparation, "pca", x, ROWS, 5, NULL) == 0);
	CHECK_INT(preparation.width_out, 5);
	for (size_t j = 0; j < 5; j++) {
		double zero[5] = { 0 }, unit[5] = { 0 };

		unit[j] = 1;
		preparation_apply(&preparation, zero, zero);
		preparation_apply(&preparation, unit, unit);
		for (size_t c = 0; c < 5; c++)
			CHECK(near(unit[c] - zero[c], loadings[c][j], 1e-9));
		CHECK(near(x[j], score_first[j], 1e-9));
	}
	preparation_release(&preparation);
	CHECK_INT(pca_count("pca"), 5);
	CHECK_INT(pca_count("pca=3"), 3);
	CHECK_INT(pca_count("pca=0.95"), 1);
	CHECK_INT(pca_count("pca=0.999"), 2);
	CHECK_INT(pca_count("pca=0.99999"), 5);
}

/* Also PCA(): nine columns and six rows, in which three directions have variance. */
static void wide_inputs_give_the_components_that_vary(void)
{
	static const double first[] = { -2.9825860243044247, 2.0888740920085249,
					0.35982036507114756 };
	static const double last[] = { 4.2327575647878479, 1.1396532025952562,
				       -0.5662925788354416 };
	struct preparation preparation;
	double x[54];

	for (int i = 0; i < 54; i++) {
		int row = i / 9, c = i % 9;

		x[i] = sin(1 + row * 9 + c * c * 0.7) + c * 0.1 * row;
	}
	REQUIRE(preparation_fit(&preparation, "pca", x, 6, 9, NULL) == 0);
	REQUIRE(preparation.width_out == 3);
	for (size_t c = 0; c < 3; c++) {
		CHECK(near(x[c], first[c], 1e-9));
		CHECK(near(x[15 + c], last[c], 1e-9));
	}
	preparation_release(&preparation);
}

/* Rows come in blocks; the triangle must not lose any of them. */
static void many_rows_give_uncorrelated_scores(void)
{
	enum { MANY = 3000, WIDTH = 7 };
	AUTO_FREE double *x = xcalloc(MANY * WIDTH, sizeof(*x));
	struct preparation preparation;
	struct random random;
	double before = 0, after = 0;

	random_init(&random, 9);
	for (size_t i = 0; i < MANY; i++) {
		double shared = random_normal(&random);

		for (size_t j = 0; j < WIDTH; j++)
			x[i * WIDTH + j] =
				pow(10, (double)j) * (random_normal(&random) + shared + 3);
	}
	for (size_t j = 0; j < WIDTH; j++) {
		double mean = 0;

		for (size_t i = 0; i < MANY; i++)
			mean += x[i * WIDTH + j] / MANY;
		for (size_t i = 0; i < MANY; i++)
			before += pow(x[i * WIDTH + j] - mean, 2);
	}
	REQUIRE(preparation_fit(&preparation, "pca", x, MANY, WIDTH, NULL) == 0);
	REQUIRE(preparation.width_out == WIDTH);
	for (size_t c = 0; c < WIDTH; c++) {
		double most = 0;

		for (size_t d = 0; d <= c; d++) {
			double product = 0, one = 0, other = 0;

			for (size_t i = 0; i < MANY; i++) {
				product += x[i * WIDTH + c] * x[i * WIDTH + d];
				one += x[i * WIDTH + c] * x[i * WIDTH + c];
				other += x[i * WIDTH + d] * x[i * WIDTH + d];
			}
			if (d < c)
				CHECK(fabs(product) < 1e-8 * sqrt(one * other) + 1e-13 * other);
			else
				after += product;
		}
		for (size_t i = 0; i < MANY; i++) {
			if (fabs(x[i * WIDTH + c]) > fabs(most))
				most = x[i * WIDTH + c];
		}
		CHECK(most > 0);
	}
	CHECK(near(after, before, 1e-12));
	preparation_release(&preparation);
}

static const char *const all_recipes[] = {
	"",
	"none",
	"boxcox",
	"boxcox=caret,centre",
	"yeojohnson,scale",
	"centre,scale",
	"boxcox,centre,scale,pca=0.9999",
	"scale,pca=2,centre,scale",
	"pca,yeojohnson",
};
enum { RECIPES = sizeof(all_recipes) / sizeof(all_recipes[0]) };

static void one_row_is_transformed_as_in_the_fit(void)
{
	for (size_t k = 0; k < RECIPES; k++) {
		struct preparation preparation;
		double x[ROWS * 5], raw[ROWS * 5], out[5];
		size_t width;

		matrix_make(raw, 5, pca_rules);
		memcpy(x, raw, sizeof(x));
		REQUIRE(preparation_fit(&preparation, all_recipes[k], x, ROWS, 5, NULL) == 0);
		width = preparation.width_out;
		for (size_t i = 0; i < ROWS; i++) {
			preparation_apply(&preparation, raw + i * 5, out);
			for (size_t c = 0; c < width; c++)
				CHECK(near(out[c], x[i * width + c], 1e-12));
			/* Works in place and packs: every row moves toward the front. */
			preparation_apply(&preparation, raw + i * 5, raw + i * width);
			CHECK(memcmp(raw + i * width, out, width * sizeof(*out)) == 0);
		}
		preparation_release(&preparation);
	}
}

/* More columns than the small stack frame holds. */
static void wide_rows_are_transformed_too(void)
{
	enum { WIDTH = 200, MANY = 20 };
	AUTO_FREE double *x = xcalloc(MANY * WIDTH, sizeof(*x)), *raw = NULL;
	struct preparation preparation;
	double out[WIDTH];

	for (size_t i = 0; i < MANY * WIDTH; i++)
		x[i] = sin((double)i * (double)i * 0.37) + (double)(i % WIDTH);
	raw = xcalloc(MANY * WIDTH, sizeof(*raw));
	memcpy(raw, x, MANY * WIDTH * sizeof(*x));
	REQUIRE(preparation_fit(&preparation, "centre,scale,pca=10", x, MANY, WIDTH, NULL) == 0);
	REQUIRE(preparation.width_out == 10);
	preparation_apply(&preparation, raw + 7 * WIDTH, out);
	for (size_t c = 0; c < 10; c++)
		CHECK(near(out[c], x[7 * 10 + c], 1e-12));
	preparation_release(&preparation);
}

static void values_outside_of_the_domain_stay_finite(void)
{
	static const double strange[] = { 0, -1, -1e300, 1e300, 1e-320, 5e-324, -0.0 };
	column_rule *const rules[] = { one_over_b, column_a, column_b, column_c };

	for (size_t k = 0; k < RECIPES; k++) {
		struct preparation preparation;
		double x[ROWS * 4], in[4], out[4];

		matrix_make(x, 4, rules);
		REQUIRE(preparation_fit(&preparation, all_recipes[k], x, ROWS, 4, NULL) == 0);
		for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
			for (size_t j = 0; j < 4; j++)
				in[j] = strange[i];
			preparation_apply(&preparation, in, out);
			for (size_t c = 0; c < preparation.width_out; c++)
				CHECK(!isnan(out[c]));
		}
		preparation_release(&preparation);
	}
}

static void refuse(const char *recipe, const char *words)
{
	struct err err = { 0 };

	CHECK_INT(preparation_check(recipe, &err), -EINVAL);
	CHECK_WORDS(err.text, words);
}

static void invalid_recipes_are_rejected(void)
{
	struct preparation preparation = { .width_in = 77 };
	double x[4] = { 1, 2, 3, 4 }, hole[4] = { 1, 2, NAN, 4 };
	struct err err;

	refuse("box", "\"box\"");
	refuse("centre=1", "centre|no value");
	refuse("boxcox=R", "boxcox|caret");
	refuse("pca=1.5", "pca");
	refuse("pca=", "pca");
	refuse("pca=-1", "pca");
	refuse("pca,pca", "once");
	for (size_t k = 0; k < RECIPES; k++)
		CHECK_INT(preparation_check(all_recipes[k], NULL), 0);
	CHECK_INT(preparation_check(NULL, NULL), 0);
	CHECK_INT(preparation_fit(&preparation, "pca=3", x, 2, 2, &err), -EINVAL);
	CHECK(strstr(err.text, "pca=3"));
	CHECK_INT(preparation_fit(&preparation, "scale", x, 0, 2, &err), -EINVAL);
	CHECK_INT(preparation_fit(&preparation, "scale", hole, 2, 2, &err), -EDOM);
	CHECK(strstr(err.text, "row 2"));
	CHECK_INT(preparation.width_in, 77);
}

static void saved_preparation_does_the_same(void)
{
	for (size_t k = 0; k < RECIPES; k++) {
		AUTO_BUF struct buf bytes = { 0 };
		struct preparation preparation, loaded;
		double x[ROWS * 5], raw[ROWS * 5], a[5], b[5];
		struct blob blob;

		matrix_make(raw, 5, pca_rules);
		memcpy(x, raw, sizeof(x));
		REQUIRE(preparation_fit(&preparation, all_recipes[k], x, ROWS, 5, NULL) == 0);
		preparation_save(&preparation, &bytes);
		blob_init(&blob, buf_text(&bytes), bytes.len);
		REQUIRE(preparation_load(&loaded, &blob, NULL) == 0);
		CHECK(blob.at == blob.end);
		CHECK(loaded.width_in == 5);
		CHECK(loaded.width_out == preparation.width_out);
		for (size_t i = 0; i < ROWS; i++) {
			preparation_apply(&preparation, raw + i * 5, a);
			preparation_apply(&loaded, raw + i * 5, b);
			CHECK(memcmp(a, b, loaded.width_out * sizeof(*a)) == 0);
		}
		preparation_release(&preparation);
		preparation_release(&loaded);
	}
}

/* Loads bytes and uses the result if it is accepted. */
static bool try_load(const char *bytes, size_t n)
{
	static double in[PREPARATION_WIDTH_MAX], out[PREPARATION_WIDTH_MAX];
	struct preparation loaded;
	struct blob blob;
	struct err err;

	blob_init(&blob, bytes, n);
	if (preparation_load(&loaded, &blob, &err) < 0)
		return false;
	CHECK(loaded.width_in <= PREPARATION_WIDTH_MAX);
	CHECK(loaded.width_out <= loaded.width_in);
	preparation_apply(&loaded, in, out);
	preparation_release(&loaded);
	return true;
}

static void damaged_preparation_is_rejected_or_harmless(void)
{
	struct random random;

	random_init(&random, 4);
	for (size_t k = 0; k < RECIPES; k++) {
		AUTO_BUF struct buf bytes = { 0 };
		struct preparation preparation;
		double x[ROWS * 5];

		matrix_make(x, 5, pca_rules);
		REQUIRE(preparation_fit(&preparation, all_recipes[k], x, ROWS, 5, NULL) == 0);
		preparation_save(&preparation, &bytes);
		preparation_release(&preparation);
		for (size_t n = 0; n < bytes.len; n++) {
			AUTO_FREE char *cut = xmalloc(n);

			memcpy(cut, bytes.data, n);
			CHECK(!try_load(cut, n));
		}
		for (size_t i = 0; i < 2000; i++) {
			AUTO_FREE char *flipped = xmalloc(bytes.len);

			memcpy(flipped, bytes.data, bytes.len);
			for (size_t j = 0; j <= i % 3; j++)
				flipped[random_below(&random, bytes.len)] ^=
					(char)(1 << random_below(&random, 8));
			try_load(flipped, bytes.len);
		}
	}
}

static void missing_values_become_the_median_of_the_rows_at_hand(void)
{
	double x[] = { 1, NAN, 2, 10, NAN, 20, 3, 30, 4, 60 }, row[] = { NAN, NAN }, out[2];
	struct preparation preparation;
	struct err err;

	CHECK_INT(preparation_fit(&preparation, "centre", x, 5, 2, &err), -EDOM);
	REQUIRE(preparation_fit(&preparation, "fill", x, 5, 2, &err) == 0);
	CHECK(x[1] == 25);
	CHECK(x[4] == 2.5);
	CHECK(x[0] == 1);
	preparation_apply(&preparation, row, out);
	CHECK(out[0] == 2.5);
	CHECK(out[1] == 25);
	preparation_release(&preparation);
	x[0] = INFINITY;
	CHECK_INT(preparation_fit(&preparation, "fill,centre", x, 5, 2, &err), -EDOM);
}

TESTS(TEST(missing_values_become_the_median_of_the_rows_at_hand),
      TEST(boxcox_powers_are_those_of_scipy), TEST(boxcox_power_does_not_depend_on_the_unit),
      TEST(powers_keep_digits_of_large_values), TEST(yeojohnson_powers_are_those_of_scikit_learn),
      TEST(caret_powers_are_those_of_caret), TEST(columns_without_a_power_are_unchanged),
      TEST(centre_and_scale_are_exact), TEST(constant_columns_and_extreme_sizes_stay_sound),
      TEST(components_are_those_of_scikit_learn), TEST(wide_inputs_give_the_components_that_vary),
      TEST(many_rows_give_uncorrelated_scores), TEST(one_row_is_transformed_as_in_the_fit),
      TEST(wide_rows_are_transformed_too), TEST(values_outside_of_the_domain_stay_finite),
      TEST(invalid_recipes_are_rejected), TEST(saved_preparation_does_the_same),
      TEST(damaged_preparation_is_rejected_or_harmless))
