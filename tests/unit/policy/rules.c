/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/rules.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/err.h"
#include "check.h"
#include "contract/policy.h"
#include "contract/spool.h"

static struct policy page;
static struct err err;

static int parse(const char *text)
{
	err = (struct err){ 0 };
	return rules_parse(&page, "test.policy", text, strlen(text), &err);
}

static void rules_keep_their_order(void)
{
	CHECK_INT(parse("[policy]\n"
			"skip = sh, bash\tsrun\n"
			"limit = 1M\n"
			"rule = mode=off user=root\n"
			"rule = mode=trace  group=4711 partition=debug* sample=12.5%\n"
			"rule = program=/opt/* mode=counters sample=3\n"
			"rule = mode=flight\n"),
		  0);
	CHECK_INT(page.rule_count, 4);
	CHECK_INT(page.chunks_max, 16);
	CHECK(!memcmp(page.skip, "sh\n\nbash\nsrun\n", 15));
	CHECK(page.rules[0].mode == POLICY_OFF && page.rules[0].user == 0 &&
	      page.rules[0].group == POLICY_NOBODY && page.rules[0].sample == POLICY_ALL);
	CHECK(page.rules[1].mode == POLICY_TRACE && page.rules[1].group == 4711 &&
	      page.rules[1].sample == 1250);
	CHECK_TEXT(page.rules[1].partition, "debug*");
	CHECK(page.rules[2].mode == POLICY_COUNTERS && page.rules[2].sample == 300);
	CHECK_TEXT(page.rules[2].program, "/opt/*");
	CHECK(page.rules[3].mode == POLICY_FLIGHT && !page.rules[3].program[0]);
}

static void an_empty_file_records_nothing(void)
{
	CHECK_INT(parse(""), 0);
	CHECK_INT(page.rule_count, 0);
	CHECK(page.chunks_max > SPOOL_FIRST_CHUNKS);
}

static void errors_name_file_and_line_and_change_nothing(void)
{
	static const char *const wrong[][2] = {
		{ "rule = user=root", "no mode" },
		{ "rule = mode=all", "invalid mode 'all'" },
		{ "rule = mode=off user=no-such-user-here", "unknown user" },
		{ "rule = mode=off group=no-such-group-here", "unknown group" },
		{ "rule = mode=off user=-1", "unknown user" },
		{ "rule = mode=off user=4294967295", "unknown user" },
		{ "rule = mode=off trace", "invalid word 'trace'" },
		{ "rule = mode=off color=red", "invalid word 'color'" },
		{ "rule = mode=off mode=trace", "mode twice" },
		{ "rule = mode=off sample=101%", "invalid sample" },
		{ "rule = mode=off sample=nan", "invalid sample" },
		{ "rule = mode=off program=", "program has no value" },
		{ "rules = mode=off", "unknown key 'rules'" },
		{ "limit = 1", "limit" },
		{ "skip = a\nskip = b", "duplicate skip" },
		{ "[other]\na = b", "other" },
	};
	char text[512];

	CHECK_INT(parse("[policy]\nrule = mode=trace\n"), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "[policy]\n%s\n", wrong[i][0]);
		CHECK(parse(text) < 0);
		CHECK(strstr(err.text, "test.policy:2: ") == err.text ||
		      strstr(err.text, "test.policy:3: ") == err.text);
		if (!strstr(err.text, wrong[i][1]))
			CHECK_TEXT(err.text, wrong[i][1]);
		CHECK_INT(page.rule_count, 1);
	}
}

static void the_number_of_rules_is_limited(void)
{
	static char text[POLICY_RULES * 32];
	size_t n = (size_t)sprintf(text, "[policy]\n");

	for (int i = 0; i < POLICY_RULES; i++)
		n += (size_t)sprintf(text + n, "rule = mode=off\n");
	CHECK_INT(parse(text), 0);
	CHECK_INT(page.rule_count, POLICY_RULES);
	sprintf(text + n, "rule = mode=off\n");
	CHECK(parse(text) < 0);
	CHECK(strstr(err.text, "too many rules") != NULL);
}

static void long_values_are_rejected(void)
{
	static char text[2 * POLICY_SKIP_BYTES];
	size_t n = (size_t)sprintf(text, "[policy]\nrule = mode=off partition=");

	memset(text + n, 'x', POLICY_PARTITION_BYTES);
	CHECK(parse(text) < 0);
	CHECK(strstr(err.text, "too long") != NULL);
	text[n + POLICY_PARTITION_BYTES - 1] = 0;
	CHECK_INT(parse(text), 0);
}

static void a_file_that_others_can_write_is_refused(void)
{
	static const char path[] = "rules-test.policy";
	FILE *file = fopen(path, "w");

	REQUIRE(file);
	fputs("[policy]\nrule = mode=trace\n", file);
	fclose(file);
	REQUIRE(chmod(path, 0644) == 0);
	err = (struct err){ 0 };
	CHECK_INT(rules_load(&page, path, &err), 0);
	REQUIRE(chmod(path, 0666) == 0);
	CHECK_INT(rules_load(&page, path, &err), -EPERM);
	unlink(path);
	CHECK_INT(rules_load(&page, path, &err), -ENOENT);
}

TESTS(TEST(rules_keep_their_order), TEST(an_empty_file_records_nothing),
      TEST(errors_name_file_and_line_and_change_nothing), TEST(the_number_of_rules_is_limited),
      TEST(long_values_are_rejected), TEST(a_file_that_others_can_write_is_refused))
