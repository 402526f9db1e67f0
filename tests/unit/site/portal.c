/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/portal.h"

#include "check.h"

static void names_of_users_are_plain(void)
{
	static const char *const good[] = { "a", "alice", "Alice.B_2-x", "_x", "0" };
	static const char *const bad[] = { "",	       "none", "None",	 "-a",	".",   "..",
					   "a b",      "a\"b", "a'b",	 "a;b", "a/b", "a@REALM",
					   "\xc3\xa9", "a\n",  "a\\",	 "a,b", "%61", "a\x7f",
					   "*",	       "a$b",  "(alice)" };
	char longest[66] = { 0 };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(portal_is_user(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!portal_is_user(bad[i]));
	memset(longest, 'a', 63);
	CHECK(portal_is_user(longest));
	/* PostgreSQL would cut it, and take the role of another user. */
	longest[63] = 'a';
	CHECK(!portal_is_user(longest));
}

TESTS(TEST(names_of_users_are_plain))
