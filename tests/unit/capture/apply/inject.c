/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules and chunk shapes: reading the compiled parameters, matching rules with files, prefixes of
 * names, and shapes of chunks.
 * Papers: H5T-AC-6.
 */
#include "check.h"

#include <unistd.h>

#include "capture/apply/chunk.c"
#include "capture/apply/rules.c"

static struct rules rules;
static char page[PARAMETERS_BYTES];

/* Reads a page with this text and returns its places. */
static uint32_t read_page(const char *text)
{
	memset(page, 'x', sizeof(page));
	snprintf(page, sizeof(page), "%s", text);
	return rules_read(&rules, page);
}

#define TITLE PARAMETERS_TITLE "parameters\n"

static void lines_become_rules(void)
{
	CHECK_INT(
		read_page(TITLE "hint\t*\t*\tcb_nodes\t4\nlayout\ta.h5\t*\tstriping_unit\t65536\n"),
		RULES_ON | 1u << PLACE_HINT | 1u << PLACE_LAYOUT);
	CHECK_INT(rules.count, 2);
	CHECK(!rules.application_wins);
	CHECK_TEXT(rules.rule[1].file, "a.h5");
	CHECK_TEXT(rules.rule[1].value, "65536");
	CHECK_INT(read_page(PARAMETERS_TITLE "application\n"), RULES_ON);
	CHECK(rules.application_wins);
	CHECK_INT(read_page(TITLE "access\t*\t*\talignment\t0,4096\n"),
		  RULES_ON | RULES_ALIGN | 1u << PLACE_ACCESS);
	CHECK_INT(read_page(TITLE "access\t*\tgrid\trdcc_nbytes\t1048576\n"),
		  RULES_ON | RULES_CACHE | 1u << PLACE_ACCESS);
	/* A value may be empty, or have blanks in it. */
	read_page(TITLE "hint\t*\t*\tk\t\nhint\t*\t*\tl\ta b\n");
	CHECK_INT(rules.count, 2);
	CHECK_TEXT(rules.rule[0].value, "");
	CHECK_TEXT(rules.rule[1].value, "a b");
}

static void ratios_are_read_and_written(void)
{
	static const char *const good[] = { "0", "1", "0.75", "0.000001", "0.5" };
	static const char *const bad[] = { "", ".", "1.5", "2", "0.1234567", "0.5x", "x", "-1" };
	double ratio;
	char text[16];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK(rules_parse_ratio(good[i], &ratio));
		rules_put_ratio(text, ratio);
		CHECK_TEXT(text, good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!rules_parse_ratio(bad[i], &ratio));
}

static void malformed_lines_are_ignored(void)
{
	CHECK_INT(read_page(""), 0);
	CHECK_INT(read_page("sluice-parameters 2 parameters\nhint\t*\t*\ta\t1\n"), 0);
	CHECK_INT(read_page(PARAMETERS_TITLE "somebody\n"), 0);
	CHECK_INT(read_page(PARAMETERS_TITLE "parameters"), 0);
	CHECK_INT(read_page(TITLE "nowhere\t*\t*\ta\t1\nhint\t*\t*\tb\t2\n"),
		  RULES_ON | 1u << PLACE_HINT);
	CHECK_INT(rules.count, 1);
	/* After a malformed line nothing is read. */
	read_page(TITLE "hint\t*\t*\ta\t1\nhint\t*\ta\nhint\t*\t*\tb\t2\n");
	CHECK_INT(rules.count, 1);
	read_page(TITLE "hint\t*\t*\ta\t1\nhint\t*\t*\tcut");
	CHECK_INT(rules.count, 1);
	read_page(TITLE "hint\t\t*\ta\t1\n");
	CHECK_INT(rules.count, 0);
}

static void a_full_page_is_read_to_its_end(void)
{
	size_t used;

	memset(page, 0, sizeof(page));
	strcpy(page, TITLE);
	used = strlen(page);
	while (used + 16 < sizeof(page))
		used += (size_t)sprintf(page + used, "hint\t*\t*\tk\t1\n");
	CHECK(rules_read(&rules, page) == (RULES_ON | 1u << PLACE_HINT));
	CHECK_INT(rules.count, RULES_MAX);
	memset(page, 'h', sizeof(page));
	CHECK_INT(rules_read(&rules, page), 0);
}

static const char *value(const char *path, const char *object, const char *name)
{
	char full[RULES_PATH_BYTES];

	return rules_value(&rules, PLACE_DATASET, rules_path(full, path), object, name);
}

static void the_first_rule_that_matches_is_used(void)
{
	read_page(TITLE "dataset\t/data/*.h5\trho\tc\t1\ndataset\tspecial.h5\t*\tc\t2\n"
			"dataset\t*\t*\tc\t3\ndataset\t*\t*\td\t4\nhint\t*\t*\tc\t5\n");
	CHECK_TEXT(value("/data/x.h5", "rho", "c"), "1");
	CHECK_TEXT(value("/data/x.h5", "/group/rho", "c"), "1");
	CHECK_TEXT(value("/data/x.h5", "p", "c"), "3");
	CHECK_TEXT(value("/data/special.h5", "p", "c"), "2");
	CHECK_TEXT(value("/data/special.h5", "p", "d"), "4");
	CHECK(!value("/data/special.h5", "p", "e"));
}

static void objects_match_with_and_without_a_leading_slash(void)
{
	char name[RULES_PATH_BYTES];

	CHECK_TEXT(rules_object(name, "", "v1"), "/v1");
	CHECK_TEXT(rules_object(name, "/", "v1"), "/v1");
	CHECK_TEXT(rules_object(name, "/a", "b//./v1"), "/a/b/v1");
	CHECK(rules_match_object("v1", "/v1"));
	CHECK(rules_match_object("/v1", "/v1"));
	CHECK(rules_match_object("v1", "/a/v1"));
	CHECK(!rules_match_object("/v1", "/a/v1"));
	CHECK(rules_match_object("a/v1", "/a/v1"));
	CHECK(rules_match_object("/a/v?", "/a/v1"));
	CHECK(rules_match_object("*", ""));
	CHECK(!rules_match_object("v1", ""));
}

static void outcomes_are_noted(void)
{
	static struct outcomes outcomes;

	rules.outcomes = &outcomes;
	read_page(TITLE "hint\ta\t*\tcb_nodes\t4\nhint\t*\t*\tcb_nodes\t2\naccess\t*\t*\tx\t1\n");
	rules_next(&rules, NULL, PLACE_HINT, "/b", "");
	rules_note_refusal(&rules, "cb_nodes", "ompio");
	rules_note_refusal(&rules, "cb_nodes", "a word without a row");
	rules_note_applied(&rules, "x");
	rules_note_applied(&rules, "no rule");
	rules.outcomes = NULL;
	CHECK_INT(outcomes.places, 1u << PLACE_HINT);
	CHECK_INT(outcomes.matched[0], 1u << 1);
	CHECK_INT(outcomes.refused[0], 1u << OUTCOME_OMPIO | 1u << OUTCOME_OTHER);
	CHECK_INT(outcomes.refused[1], 0);
	CHECK_INT(outcomes.applied[0], 1u << 2);
}

static void each_name_is_returned_once(void)
{
	const struct parameters_line *rule = NULL;
	char seen[64] = "";

	read_page(TITLE
		  "hint\ta*\t*\tx\t1\nhint\t*\t*\ty\t2\nhint\t*\t*\tx\t3\nprefix\t*\t*\tz\t4\n");
	while ((rule = rules_next(&rules, rule, PLACE_HINT, "/d/a.h5", "")))
		strcat(strcat(seen, rule->value), " ");
	CHECK_TEXT(seen, "1 2 ");
	CHECK(!rules_next(&rules, NULL, PLACE_LAYOUT, "/d/a.h5", ""));
}

/* Ranks may write the same path in different ways, and must find the same rules. */
static void spellings_of_a_path_are_normalized(void)
{
	char here[RULES_PATH_BYTES], one[RULES_PATH_BYTES], two[RULES_PATH_BYTES];

	CHECK_TEXT(rules_path(one, "/a//b/./c/../d"), "/a/b/d");
	CHECK_TEXT(rules_path(one, "/.."), "/");
	CHECK_TEXT(rules_path(one, "/a/../../b"), "/b");
	CHECK_TEXT(rules_path(one, "ufs:/a/b"), "/a/b");
	CHECK_TEXT(rules_path(one, "/a:b"), "/a:b");
	REQUIRE(getcwd(here, sizeof(here)));
	CHECK_TEXT(rules_path(one, "x.h5"), rules_path(two, "./y/../x.h5"));
	CHECK(!strncmp(one, here, strlen(here)));
	memset(here, 'a', sizeof(here) - 1);
	here[0] = '/';
	here[sizeof(here) - 1] = 0;
	CHECK_TEXT(rules_path(one, here), "");
}

static void patterns_match_names_ends_or_whole_paths(void)
{
	CHECK(rules_match("*", "/a/b.h5"));
	CHECK(rules_match("b.h5", "/a/b.h5"));
	CHECK(!rules_match("b.h5", "/b.h5/c"));
	CHECK(rules_match("a/b.h5", "/x/a/b.h5"));
	CHECK(rules_match("./a/b.h5", "/x/a/b.h5"));
	CHECK(!rules_match("a/b.h5", "/x/aa/b.h5"));
	CHECK(rules_match("/x/*/b.h5", "/x/a/b.h5"));
	CHECK(!rules_match("/a/b.h5", "/x/a/b.h5"));
	CHECK(rules_match("*/out?.h5", "/x/out1.h5"));
}

static const char *prefixed(const char *value, const char *path)
{
	static char to[RULES_PATH_BYTES];

	return rules_prefix(to, "bglockless", value, path);
}

static void a_prefix_is_added_once(void)
{
	char *path = malloc(RULES_PATH_BYTES);

	CHECK_TEXT(prefixed("bglockless:", "/gpfs/x"), "bglockless:/gpfs/x");
	CHECK_TEXT(prefixed("true", "x"), "bglockless:x");
	CHECK(!prefixed("false", "x"));
	CHECK(!prefixed("", "x"));
	CHECK(!prefixed("bglockless:", "bglockless:/gpfs/x"));
	CHECK(!prefixed("bglockless:", "ufs:/gpfs/x"));
	memset(path, 'a', RULES_PATH_BYTES - 1);
	path[RULES_PATH_BYTES - 1] = 0;
	CHECK(!prefixed("bglockless:", path));
	path[RULES_PATH_BYTES - 12] = 0;
	CHECK(prefixed("bglockless:", path));
	free(path);
}

#define DIMS(...) ((const unsigned long long[]){ __VA_ARGS__ })

static const char *shape(const char *value, int rank, const unsigned long long *dims,
			 uint64_t bytes)
{
	static char text[256];
	unsigned long long chunk[CHUNK_RANK_MAX];
	size_t used = 0;

	if (!chunk_shape(value, rank, dims, bytes, chunk))
		return "none";
	for (int i = 0; i < rank; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu", i ? "," : "",
					 chunk[i]);
	return text;
}

static void a_shape_must_suit_its_dataset(void)
{
	CHECK_TEXT(shape("1,26,327680", 3, DIMS(4, 26, 1000000), 4), "1,26,327680");
	CHECK_TEXT(shape("1,26,327680", 3, DIMS(4, 25, 1000000), 4), "none");
	CHECK_TEXT(shape("1,26", 3, DIMS(4, 26, 100), 4), "none");
	CHECK_TEXT(shape("1,26,3,4", 3, DIMS(4, 26, 100), 4), "none");
	CHECK_TEXT(shape("1,0", 2, DIMS(4, 26), 4), "none");
	CHECK_TEXT(shape("1,x", 2, DIMS(4, 26), 4), "none");
	CHECK_TEXT(shape("4,", 1, DIMS(4), 4), "4");
	CHECK_TEXT(shape("4,,", 1, DIMS(4), 4), "none");
	CHECK_TEXT(shape("4,", 2, DIMS(4, 4), 4), "none");
	CHECK_TEXT(shape("1,4", 0, DIMS(4), 4), "none");
	/* HDF5 limits a chunk to less than 4 GiB. */
	CHECK_TEXT(shape("65536,65536", 2, DIMS(65536, 65536), 1), "none");
	CHECK_TEXT(shape("65536,65535", 2, DIMS(65536, 65536), 1), "65536,65535");
}

static void a_size_is_converted_to_a_shape(void)
{
	CHECK_TEXT(shape("1048576", 1, DIMS(1048576), 4), "262144");
	CHECK_TEXT(shape("4096", 2, DIMS(8, 512), 4), "2,512");
	CHECK_TEXT(shape("1024", 2, DIMS(8, 512), 4), "1,256");
	CHECK_TEXT(shape("1000000", 2, DIMS(8, 512), 4), "8,512");
	CHECK_TEXT(shape("3", 2, DIMS(8, 512), 4), "1,1");
	CHECK_TEXT(shape("100", 1, DIMS(7), 8), "7");
	CHECK_TEXT(shape("24", 1, DIMS(7), 8), "2");
	CHECK_TEXT(shape("0", 1, DIMS(7), 8), "none");
	CHECK_TEXT(shape("4096", 2, DIMS(0, 5), 4), "none");
	CHECK_TEXT(shape("4K", 1, DIMS(7), 8), "none");
	/* A size larger than the dataset: one chunk, if it is below the limit. */
	CHECK_TEXT(shape("99999999999", 1, DIMS(8589934592), 8), "none");
	CHECK_TEXT(shape("1048576", 2, DIMS(UINT64_MAX, UINT64_MAX), 8), "1,131072");
}

TESTS(TEST(lines_become_rules), TEST(ratios_are_read_and_written),
      TEST(malformed_lines_are_ignored), TEST(a_full_page_is_read_to_its_end),
      TEST(the_first_rule_that_matches_is_used),
      TEST(objects_match_with_and_without_a_leading_slash), TEST(outcomes_are_noted),
      TEST(each_name_is_returned_once), TEST(spellings_of_a_path_are_normalized),
      TEST(patterns_match_names_ends_or_whole_paths), TEST(a_prefix_is_added_once),
      TEST(a_shape_must_suit_its_dataset), TEST(a_size_is_converted_to_a_shape))
