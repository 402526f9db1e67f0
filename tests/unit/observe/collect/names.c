/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/names.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"

static void a_name_has_one_id(void)
{
	struct names names = { 0 };
	bool is_new;

	CHECK_TEXT(names_text(&names, 0), "");
	CHECK_INT(names_id(&names, "/a", &is_new), 1);
	CHECK(is_new);
	CHECK_INT(names_id(&names, "/b", &is_new), 2);
	CHECK(is_new);
	CHECK_INT(names_id(&names, "/a", &is_new), 1);
	CHECK(!is_new);
	CHECK_TEXT(names_text(&names, 2), "/b");
	CHECK_INT(names.over, 0);
	names_release(&names);
	names_release(&names);
}

static void names_beyond_the_limit_share_one_entry(void)
{
	struct names names = { 0 };
	char text[32];
	bool is_new;

	for (unsigned i = 0; i < NAMES_MAX; i++) {
		snprintf(text, sizeof(text), "/file-%u", i);
		CHECK_INT(names_id(&names, text, &is_new), i + 1);
	}
	CHECK_INT(names_id(&names, "/one more", &is_new), NAMES_MAX + 1);
	CHECK(is_new);
	CHECK_TEXT(names_text(&names, NAMES_MAX + 1), NAMES_OTHER);
	CHECK_INT(names_id(&names, "/another", &is_new), NAMES_MAX + 1);
	CHECK(!is_new);
	CHECK_INT(names.over, 2);
	CHECK_INT(names_id(&names, "/file-77", &is_new), 78);
	CHECK_INT(names_id(&names, NAMES_OTHER, &is_new), NAMES_MAX + 1);
	CHECK_INT(names.over, 2);
	names_release(&names);
}

static void long_names_are_bounded_by_their_bytes(void)
{
	struct names names = { 0 };
	AUTO_FREE char *text = xcalloc(4097, 1);
	bool is_new;

	for (unsigned i = 0; i < 2 * NAMES_BYTES_MAX / 4096; i++) {
		memset(text, 'x', 4096);
		snprintf(text, 16, "%015u", i);
		text[15] = '/';
		names_id(&names, text, &is_new);
	}
	CHECK(names.texts_bytes <= NAMES_BYTES_MAX + sizeof(NAMES_OTHER));
	CHECK(names.over > 0);
	names_release(&names);
}

TESTS(TEST(a_name_has_one_id), TEST(names_beyond_the_limit_share_one_entry),
      TEST(long_names_are_bounded_by_their_bytes))
