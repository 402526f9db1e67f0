/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/unit.h"

#include <errno.h>

#include "check.h"

static void sizes_are_read_as_people_write_them(void)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 },
		{ "512", 512 },
		{ "64K", 65536 },
		{ "64k", 65536 },
		{ "1.5M", 1572864 },
		{ "2GiB", 2147483648u },
		{ "10 MB", 10485760 },
		{ "7B", 7 },
		{ ".5K", 512 },
		{ "1P", 1ull << 50 },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "",	  " 1",	  "-1",	 "+1",	"K",  "1X",
					   "1K1", "0x10", "nan", "inf", "1e", "1Ki" };
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_INT(unit_parse_bytes(good[i].text, &bytes), 0);
		CHECK(bytes == good[i].bytes);
	}
	bytes = 77;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(unit_parse_bytes(bad[i], &bytes), -EINVAL);
	CHECK_INT(unit_parse_bytes("1e300P", &bytes), -ERANGE);
	CHECK_INT(bytes, 77);
}

static void times_are_read_with_their_unit(void)
{
	int64_t ns = -1;

	CHECK_INT(unit_parse_ns("2", &ns), 0);
	CHECK_INT(ns, 2000000000);
	CHECK_INT(unit_parse_ns("1.5ms", &ns), 0);
	CHECK_INT(ns, 1500000);
	CHECK_INT(unit_parse_ns("40ns", &ns), 0);
	CHECK_INT(ns, 40);
	CHECK_INT(unit_parse_ns("2m", &ns), 0);
	CHECK_INT(ns, 120000000000);
	CHECK_INT(unit_parse_ns("1h", &ns), 0);
	CHECK_INT(ns, 3600000000000);
	CHECK_INT(unit_parse_ns("5 fortnights", &ns), -EINVAL);
	CHECK_INT(unit_parse_ns("-1s", &ns), -EINVAL);
	CHECK_INT(unit_parse_ns("1e30h", &ns), -ERANGE);
	CHECK_INT(ns, 3600000000000);
}

static void counts_are_digits_only(void)
{
	uint64_t n = 5;

	CHECK_INT(unit_parse_count("12", &n), 0);
	CHECK_INT(n, 12);
	CHECK_INT(unit_parse_count("-1", &n), -EINVAL);
	CHECK_INT(unit_parse_count("1.0", &n), -EINVAL);
	CHECK_INT(unit_parse_count("99999999999999999999", &n), -ERANGE);
	CHECK_INT(n, 12);
}

static void sizes_print_with_three_digits(void)
{
	char out[UNIT_TEXT];

	CHECK_TEXT(unit_bytes(out, 0), "0 B");
	CHECK_TEXT(unit_bytes(out, 999), "999 B");
	CHECK_TEXT(unit_bytes(out, 1000), "0.98 KiB");
	CHECK_TEXT(unit_bytes(out, 1536), "1.50 KiB");
	CHECK_TEXT(unit_bytes(out, 12.3 * 1024), "12.3 KiB");
	CHECK_TEXT(unit_bytes(out, 0x1p40), "1.00 TiB");
	CHECK_TEXT(unit_bytes(out, 9.996 * 1024), "10.0 KiB");
}

static void times_print_in_the_fitting_unit(void)
{
	char out[UNIT_TEXT];

	CHECK_TEXT(unit_ns(out, 40), "40 ns");
	CHECK_TEXT(unit_ns(out, 1500), "1.50 us");
	CHECK_TEXT(unit_ns(out, 12300000), "12.3 ms");
	CHECK_TEXT(unit_ns(out, 4000000000), "4.00 s");
	CHECK_TEXT(unit_ns(out, 123000000000), "2 min 3 s");
	CHECK_TEXT(unit_ns(out, 3900000000000), "1 h 5 min");
	CHECK_TEXT(unit_ns(out, 999999), "1.00 ms");
}

static void rates_and_shares_need_a_whole(void)
{
	char out[UNIT_TEXT];

	CHECK_TEXT(unit_rate(out, 1 << 20, 1000000000), "1.00 MiB/s");
	CHECK_TEXT(unit_rate(out, 10, 0), "-");
	CHECK_TEXT(unit_share(out, 1, 8), "12.5%");
	CHECK_TEXT(unit_share(out, 1, 0), "-");
}

TESTS(TEST(sizes_are_read_as_people_write_them), TEST(times_are_read_with_their_unit),
      TEST(counts_are_digits_only), TEST(sizes_print_with_three_digits),
      TEST(times_print_in_the_fitting_unit), TEST(rates_and_shares_need_a_whole))
