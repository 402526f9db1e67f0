/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/option.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "check.h"

struct args {
	bool verbose, json;
	const char *name;
	uint64_t count, limit, size;
	int64_t time_ns;
	struct option_span span;
	int when, mode;
	struct option_list items;
};

static const struct option rows[] = {
	{ 'v', "verbose", NULL, NULL, "say more", OPTION_FLAG, offsetof(struct args, verbose) },
	{ 'j', "json", NULL, NULL, "print JSON", OPTION_FLAG, offsetof(struct args, json) },
	{ 'N', "name", "NAME", NULL, "a name", OPTION_TEXT, offsetof(struct args, name) },
	{ 'n', "count", "N", "50", "a count", OPTION_COUNT, offsetof(struct args, count) },
	{ 0, "limit", "N", NULL, "a limit", OPTION_COUNT, offsetof(struct args, limit) },
	{ 0, "size", "SIZE", "64K", "a size", OPTION_SIZE, offsetof(struct args, size) },
	{ 0, "time", "TIME", NULL, "a time", OPTION_TIME, offsetof(struct args, time_ns) },
	{ 0, "span", "FROM:TO", NULL, "a span", OPTION_SPAN, offsetof(struct args, span) },
	{ 0, "when", "auto|yes|no", "auto", "a choice", OPTION_CHOICE,
	  offsetof(struct args, when) },
	{ 0, "mode", "a|b", NULL, "a choice", OPTION_CHOICE, offsetof(struct args, mode) },
	{ 'i', "item", "ITEM", NULL, "a list", OPTION_LIST, offsetof(struct args, items) },
	{ 0, "versus", NULL, NULL, "divides operands", OPTION_DIVIDER, 0 },
	{ 0 }
};

static struct err last_err;

/* Parses up to 15 words, which end with NULL; the operands stay in `words`. */
static char *words[16];

static int parse(struct args *args, enum option_order order, const char *const *given)
{
	int n = 0;

	while (given[n]) {
		words[n] = (char *)given[n];
		n++;
	}
	words[n] = NULL;
	last_err = (struct err){ 0 };
	return option_parse(rows, order, args, n, words, &last_err);
}

#define PARSE(args, order, ...) parse(args, order, (const char *const[]){ __VA_ARGS__, NULL })

static void defaults_are_filled_in(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "x"), 1);
	CHECK_TEXT(words[0], "x");
	CHECK(!a.verbose && !a.json && !a.name);
	CHECK_INT(a.count, 50);
	CHECK(a.limit == OPTION_NONE);
	CHECK_INT(a.size, 65536);
	CHECK_INT(a.when, 0);
	CHECK_INT(a.mode, -1);
	CHECK_INT(a.items.count, 0);
}

static void every_spelling_of_a_value_is_read(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--count=7", "--name", "x y", "-v"), 0);
	CHECK_INT(a.count, 7);
	CHECK_TEXT(a.name, "x y");
	CHECK(a.verbose);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "-n8", "-vjN", "--x"), 0);
	CHECK_INT(a.count, 8);
	CHECK(a.verbose && a.json);
	CHECK_TEXT(a.name, "--x");
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--name="), 0);
	CHECK_TEXT(a.name, "");
}

static void operands_may_be_mixed_until_two_dashes(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "a", "-v", "-", "--", "-j", "b"), 4);
	CHECK(a.verbose && !a.json);
	CHECK_TEXT(words[0], "a");
	CHECK_TEXT(words[1], "-");
	CHECK_TEXT(words[2], "-j");
	CHECK_TEXT(words[3], "b");
	CHECK(!words[4]);
}

static void a_program_keeps_its_own_options(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_STOP_FIRST, "-v", "ls", "-j", "--", "x"), 4);
	CHECK(a.verbose && !a.json);
	CHECK_TEXT(words[0], "ls");
	CHECK_TEXT(words[1], "-j");
	CHECK_TEXT(words[2], "--");
	CHECK_INT(PARSE(&a, OPTION_STOP_FIRST, "--", "-j"), 1);
	CHECK_TEXT(words[0], "-j");
}

static void times_sizes_and_choices_are_read(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--time", "250us", "--size", "1.5G", "--when=no",
			"--span", "1:2.5"),
		  0);
	CHECK_INT(a.time_ns, 250000);
	CHECK_INT(a.size, 3ll << 29);
	CHECK_INT(a.when, 2);
	CHECK_INT(a.span.from_ns, 1000000000);
	CHECK_INT(a.span.to_ns, 2500000000);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--span", ":5ms"), 0);
	CHECK_INT(a.span.from_ns, 0);
	CHECK_INT(a.span.to_ns, 5000000);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--span", "5ms:"), 0);
	CHECK_INT(a.span.to_ns, 0);
}

static void a_list_grows_and_is_released(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "-i", "x", "--item=y"), 0);
	REQUIRE(a.items.count == 2);
	CHECK_TEXT(a.items.items[0], "x");
	CHECK_TEXT(a.items.items[1], "y");
	option_release(rows, &a);
	CHECK(!a.items.items);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "-i", "x", "--nope"), -EINVAL);
	CHECK(!a.items.items);
}

static void mistakes_are_named(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--nope=1"), -EINVAL);
	CHECK(strstr(last_err.text, "--nope"));
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "-x"), -EINVAL);
	CHECK(strstr(last_err.text, "-x"));
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--count"), -EINVAL);
	CHECK(strstr(last_err.text, "--count"));
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--count", "many"), -EINVAL);
	CHECK(strstr(last_err.text, "\"many\""));
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--when", "maybe"), -EINVAL);
	CHECK(strstr(last_err.text, "auto|yes|no"));
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--when", ""), -EINVAL);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--json=1"), -EINVAL);
	CHECK(strstr(last_err.text, "--json"));
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--size", "99999999P"), -EINVAL);
	CHECK(strstr(last_err.text, "99999999P"));
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--span", "3:2"), -EINVAL);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--span", "3"), -EINVAL);
}

static void typos_get_a_suggestion(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--verbsoe"), -EINVAL);
	CHECK(strstr(last_err.text, "--verbose?"));
}

static void included_rows_fill_the_member_struct(void)
{
	struct outer {
		uint64_t top;
		struct args inner;
	} outer;
	static const struct option outer_rows[] = {
		{ 't', "top", "N", "7", "show N rows", OPTION_COUNT, offsetof(struct outer, top) },
		OPTION_INCLUDE(rows, offsetof(struct outer, inner)),
		{ 0 }
	};
	char *given[] = { (char *)"--size=1K", (char *)"-i", (char *)"x", (char *)"-t3", NULL };

	CHECK_INT(option_parse(outer_rows, OPTION_ANYWHERE, &outer, 4, given, NULL), 0);
	CHECK_INT(outer.top, 3);
	CHECK_INT(outer.inner.size, 1024);
	CHECK_INT(outer.inner.count, 50);
	CHECK_INT(outer.inner.items.count, 1);
	option_release(outer_rows, &outer);
	CHECK(!outer.inner.items.items);
}

static void help_is_in_every_table(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--help"), OPTION_HELP_WANTED);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "-vh"), OPTION_HELP_WANTED);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--", "-h"), 1);
}

static void choices_have_names(void)
{
	char name[8];

	CHECK_INT(option_choice("auto|yes|no", "yes", 3), 1);
	CHECK_INT(option_choice("auto|yes|no", "ye", 2), -1);
	option_choice_name("auto|yes|no", 2, name, sizeof(name));
	CHECK_TEXT(name, "no");
	option_choice_name("auto|yes|no", 3, name, sizeof(name));
	CHECK_TEXT(name, "");
	option_choice_name("a_very_long_name", 0, name, sizeof(name));
	CHECK_TEXT(name, "a_very_");
}

#define SKIP(...)                                                                    \
	option_skip(rows, (int)(sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *)), \
		    (char *[]){ __VA_ARGS__ })

static void options_are_skipped_as_they_are_parsed(void)
{
	CHECK_INT(SKIP("program", "-v"), 0);
	CHECK_INT(SKIP("--", "-v"), 1);
	CHECK_INT(SKIP("-v", "--size=1K", "--size", "2K", "-i", "x", "-n5", "program"), 7);
	CHECK_INT(SKIP("-v", "-", "x"), 1);
	CHECK_INT(SKIP("-v"), 1);
	CHECK_INT(SKIP("--size"), -EINVAL);
	CHECK_INT(SKIP("--nonsense", "x"), -EINVAL);
	CHECK_INT(SKIP("--verbose=yes", "x"), -EINVAL);
	CHECK_INT(SKIP("--help", "x"), -EINVAL);
	CHECK_INT(SKIP("-vh", "x"), -EINVAL);
}

static void dividers_and_two_dashes_stay_among_operands(void)
{
	struct args a;

	CHECK_INT(PARSE(&a, OPTION_KEEP_DASHES, "a", "-v", "--versus", "b", "-j"), 3);
	CHECK_TEXT(words[1], "--versus");
	CHECK(a.verbose && a.json);
	CHECK_INT(PARSE(&a, OPTION_KEEP_DASHES, "-v", "--", "a", "-j"), 3);
	CHECK_TEXT(words[0], "--");
	CHECK(a.verbose && !a.json);
	CHECK_INT(PARSE(&a, OPTION_ANYWHERE, "--versus=b"), -EINVAL);
	CHECK_INT(SKIP("-v", "--versus", "x"), 2);
}

TESTS(TEST(defaults_are_filled_in), TEST(every_spelling_of_a_value_is_read),
      TEST(operands_may_be_mixed_until_two_dashes), TEST(a_program_keeps_its_own_options),
      TEST(times_sizes_and_choices_are_read), TEST(a_list_grows_and_is_released),
      TEST(mistakes_are_named), TEST(typos_get_a_suggestion),
      TEST(included_rows_fill_the_member_struct), TEST(help_is_in_every_table),
      TEST(choices_have_names), TEST(options_are_skipped_as_they_are_parsed),
      TEST(dividers_and_two_dashes_stay_among_operands))
