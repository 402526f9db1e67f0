/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart/scale.h"

#include <math.h>

#include "check.h"

/* All labels of a scale, separated by "|". */
static const char *list_labels(const struct scale *scale, size_t about)
{
	static char text[SCALE_TICKS_MAX * (SCALE_LABEL + 1)];
	double ticks[SCALE_TICKS_MAX];
	size_t count = scale_ticks(scale, about, ticks);
	char label[SCALE_LABEL];

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		strcat(text, i ? "|" : "");
		strcat(text, scale_label(scale, ticks[i], label));
	}
	return text;
}

static const char *linear_labels(enum scale_unit unit, double low, double high, size_t about)
{
	struct scale scale;

	scale_init(&scale, unit, low, high);
	return list_labels(&scale, about);
}

static const char *logarithmic_labels(enum scale_unit unit, double low, double high, size_t about)
{
	struct scale scale;

	scale_init_logarithmic(&scale, unit, low, high);
	return list_labels(&scale, about);
}

static void ticks_are_round_numbers_of_their_unit(void)
{
	CHECK_TEXT(linear_labels(SCALE_NUMBER, 0, 9.7, 5), "0|2|4|6|8");
	CHECK_TEXT(linear_labels(SCALE_NUMBER, 0, 25000, 5), "0|5 k|10 k|15 k|20 k|25 k");
	CHECK_TEXT(linear_labels(SCALE_COUNT, -0.5, 2.5, 9), "0|1|2");
	CHECK_TEXT(linear_labels(SCALE_BYTES, 0, 20 << 20, 5),
		   "0|4 MiB|8 MiB|12 MiB|16 MiB|20 MiB");
	CHECK_TEXT(linear_labels(SCALE_RATE, 0, 3e9, 3), "0|1 GiB/s|2 GiB/s");
	CHECK_TEXT(linear_labels(SCALE_SECONDS, 0, 0.0042, 4), "0|2 ms|4 ms");
	CHECK_TEXT(linear_labels(SCALE_SECONDS, 0, 200, 4), "0|1 min|2 min|3 min");
	CHECK_TEXT(linear_labels(SCALE_SECONDS, 0, 4 * 3600, 4), "0|1 h|2 h|3 h|4 h");
	CHECK_TEXT(linear_labels(SCALE_SHARE, 0, 1, 4), "0 %|50 %|100 %");
	/* 2018-03-09 20:00 to 2018-03-10 08:00 */
	CHECK_TEXT(linear_labels(SCALE_DATE, 1520625600, 1520668800, 6),
		   "20:00|22:00|Mar 10|02:00|04:00|06:00|08:00");
}

static void logarithmic_ticks_are_powers(void)
{
	CHECK_TEXT(logarithmic_labels(SCALE_BYTES, 1, 1 << 30, 6),
		   "1 B|32 B|1 KiB|32 KiB|1 MiB|32 MiB|1 GiB");
	CHECK_TEXT(logarithmic_labels(SCALE_SECONDS, 1e-6, 1, 6),
		   "1 µs|10 µs|100 µs|1 ms|10 ms|100 "
		   "ms|1 s");
	CHECK_TEXT(logarithmic_labels(SCALE_NUMBER, 1, 100, 8), "1|2|5|10|20|50|100");
	CHECK_TEXT(logarithmic_labels(SCALE_SECONDS, 10, 4000, 6), "10 s|20 s|1 min|2 min|5 min|"
								   "10 min|20 min|1 h");
	CHECK_TEXT(logarithmic_labels(SCALE_SECONDS, 0.1, 100000, 6),
		   "100 ms|1 s|10 s|1 min|10 min|"
		   "1 h|10 h|1 d");
	/* Less than a decade. */
	CHECK_TEXT(logarithmic_labels(SCALE_SECONDS, 1, 4, 4), "1 s|2 s|3 s|4 s");
}

static void places_are_shares_of_the_axis(void)
{
	struct scale scale;

	scale_init(&scale, SCALE_NUMBER, 10, 20);
	CHECK_NEAR(scale_place(&scale, 10), 0, 1e-12);
	CHECK_NEAR(scale_place(&scale, 15), 0.5, 1e-12);
	CHECK_NEAR(scale_place(&scale, 30), 2, 1e-12);
	CHECK(isnan(scale_place(&scale, NAN)) && isnan(scale_place(&scale, INFINITY)));
	scale_init_logarithmic(&scale, SCALE_NUMBER, 1, 100);
	CHECK_NEAR(scale_place(&scale, 10), 0.5, 1e-12);
	CHECK(isnan(scale_place(&scale, 0)) && isnan(scale_place(&scale, -1)));
}

static void every_range_has_a_scale_with_ticks(void)
{
	static const double ends[] = { 0,     1,      -3,   5e-324, 1e-300,   1e300,
				       1e308, -1e308, 1e15, NAN,    INFINITY, -INFINITY };
	enum { ENDS = sizeof(ends) / sizeof(*ends) };

	for (int i = 0; i < ENDS * ENDS * 14; i++) {
		double low = ends[i % ENDS], high = ends[i / ENDS % ENDS], ticks[SCALE_TICKS_MAX];
		enum scale_unit unit = (enum scale_unit)(i / (ENDS * ENDS) / 2);
		char label[SCALE_LABEL];
		struct scale scale;
		size_t count;

		if (i / (ENDS * ENDS) % 2)
			scale_init_logarithmic(&scale, unit, low, high);
		else
			scale_init(&scale, unit, low, high);
		CHECK(isfinite(scale.low) && isfinite(scale.high) && scale.low < scale.high);
		scale_round(&scale, 5);
		CHECK(isfinite(scale.low) && isfinite(scale.high) && scale.low < scale.high);
		count = scale_ticks(&scale, 5, ticks);
		CHECK(count <= SCALE_TICKS_MAX);
		for (size_t k = 0; k < count; k++) {
			CHECK(isfinite(ticks[k]) && (!k || ticks[k] > ticks[k - 1]));
			CHECK(*scale_label(&scale, ticks[k], label));
		}
	}
}

static void rounding_ends_at_a_tick(void)
{
	struct scale scale;

	scale_init(&scale, SCALE_BYTES, 0, (3 << 20) + 5);
	scale_round(&scale, 4);
	CHECK_NEAR(scale.high, 4 << 20, 0);
	CHECK_NEAR(scale.low, 0, 0);
	scale_init(&scale, SCALE_NUMBER, 0.13, 0.87);
	scale_round(&scale, 4);
	CHECK_NEAR(scale.low, 0, 1e-9);
	CHECK_NEAR(scale.high, 1, 1e-9);
}

TESTS(TEST(ticks_are_round_numbers_of_their_unit), TEST(logarithmic_ticks_are_powers),
      TEST(places_are_shares_of_the_axis), TEST(every_range_has_a_scale_with_ticks),
      TEST(rounding_ends_at_a_tick))
