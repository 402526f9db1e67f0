/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/body.h"

#include "base/err.h"
#include "check.h"

static struct body *read_text(const char *text)
{
	return body_read(text, strlen(text), NULL);
}

static void members_have_their_types(void)
{
	struct body *body = read_text("{\"a\": \"text\", \"n\": -7, \"b\": true, "
				      "\"tags\": [\"x\", \"\"], \"mixed\": [\"x\", 1], \"e\": []}");
	int64_t n = 0;
	bool flag = false;

	CHECK(body);
	CHECK(strcmp(body_text(body, "a"), "text") == 0);
	CHECK(!body_text(body, "n"));
	CHECK(!body_text(body, "missing"));
	CHECK(body_integer(body, "n", &n));
	CHECK_INT(n, -7);
	CHECK(!body_integer(body, "a", &n));
	CHECK(body_flag(body, "b", &flag) && flag);
	CHECK(!body_flag(body, "n", &flag));
	CHECK_INT(body_text_count(body, "tags"), 2);
	CHECK(strcmp(body_text_at(body, "tags", 0), "x") == 0);
	CHECK_INT(body_text_count(body, "mixed"), -1);
	CHECK_INT(body_text_count(body, "a"), -1);
	CHECK_INT(body_text_count(body, "e"), 0);
	body_free(body);
}

static void anything_else_is_refused(void)
{
	static const char *const wrong[] = { "",
					     "[]",
					     "\"a\"",
					     "{",
					     "{}x",
					     "{\"a\": 1, \"a\": 2}",
					     "{\"a\": \"\xff\"}",
					     "{\"a\": \"\\u0000\"}" };
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		err = (struct err){ 0 };
		CHECK(!body_read(wrong[i], strlen(wrong[i]), &err));
		CHECK(err.text[0]);
	}
}

static void deep_nesting_is_refused(void)
{
	static char deep[65536];

	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	CHECK(!body_read(deep, sizeof(deep), NULL));
}

TESTS(TEST(members_have_their_types), TEST(anything_else_is_refused), TEST(deep_nesting_is_refused))
