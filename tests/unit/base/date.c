/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/date.h"

#include <errno.h>
#include <math.h>

#include "check.h"

static void dates_and_seconds_are_read_as_utc(void)
{
	static const struct {
		const char *text;
		double time_s;
	} rows[] = {
		{ "1520708288", 1520708288 },
		{ "1520708288.5", 1520708288.5 },
		{ "2018-03-10T18:58:08", 1520708288 },
		{ "2018-03-10 18:58:08", 1520708288 },
		{ "2018-03-10T18:58", 1520708280 },
		{ "2018-03-10", 1520640000 },
		{ "1970-01-01", 0 },
		{ "0", 0 },
	};
	double time_s;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		time_s = -1;
		CHECK_INT(date_parse(rows[i].text, &time_s), 0);
		CHECK_NEAR(time_s, rows[i].time_s, 0);
	}
}

static void an_invalid_time_is_refused_and_changes_nothing(void)
{
	static const char *const texts[] = { "",	   "noon",	  "inf",   "0x10", "1.2.3",
					     "2018-13-01", "2018-03-10x", "18:58", "." };
	double time_s = 7;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK_INT(date_parse(texts[i], &time_s), -EINVAL);
	CHECK_NEAR(time_s, 7, 0);
}

static void times_are_written_as_dates(void)
{
	char text[DATE_TEXT];

	CHECK_TEXT(date_text(text, 1520708288.9), "2018-03-10 18:58:08");
	CHECK_TEXT(date_text(text, INFINITY), "-");
	CHECK_TEXT(date_text(text, NAN), "-");
}

TESTS(TEST(dates_and_seconds_are_read_as_utc), TEST(an_invalid_time_is_refused_and_changes_nothing),
      TEST(times_are_written_as_dates))
