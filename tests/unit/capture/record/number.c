/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers in text, as the guest reads them.
 */
#include "check.h"

#include "capture/record/number.h"

static void numbers_follow_each_other(void)
{
	const char *at = " 12\t0 18446744073709551615\n";

	CHECK(number_read(&at) == 12);
	CHECK(number_read(&at) == 0);
	CHECK(number_read(&at) == UINT64_MAX);
	CHECK_TEXT(at, "\n");
}

static void a_number_that_is_too_large_is_the_largest(void)
{
	const char *more = "18446744073709551616", *much = "99999999999999999999999 7";

	CHECK(number_read(&more) == UINT64_MAX);
	CHECK_TEXT(more, "");
	CHECK(number_read(&much) == UINT64_MAX);
	CHECK_TEXT(much, " 7");
}

static void text_without_a_number_is_not_consumed(void)
{
	static const char *const texts[] = { "", " ", "-1", "x7", "\n3", "+2" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *at = texts[i];

		CHECK(number_read(&at) == 0);
		CHECK(at == texts[i]);
	}
}

TESTS(TEST(numbers_follow_each_other), TEST(a_number_that_is_too_large_is_the_largest),
      TEST(text_without_a_number_is_not_consumed))
