/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of destinations with weights: the accepted syntax, the refused lists, and how shares become
 * weights.
 */
#include "check.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "params/set.h"
#include "params/spread.h"

/* Returns the value of a list, or "!" and the error. The memory is static. */
static const char *parsed(const char *name, const char *text)
{
	static char shown[1024];
	struct err err = { 0 };
	AUTO_FREE char *value = tunable_parse(tunable_by_name(name), text, &err);

	snprintf(shown, sizeof(shown), "%s%s", value ? "" : "!", value ? value : err.text);
	return shown;
}

static void blanks_around_commas_and_asterisks_are_removed(void)
{
	CHECK_TEXT(parsed("spread_directories", "/mnt/a*3,/mnt/b"), "/mnt/a*3,/mnt/b");
	CHECK_TEXT(parsed("spread_directories", " /mnt/a * 3,\n\t/mnt/b * 1 "),
		   "/mnt/a*3,/mnt/b*1");
	CHECK_TEXT(parsed("spread_osts", "3*2, 7"), "3*2,7");
	CHECK_TEXT(parsed("spread_pools", "fast*4096"), "fast*4096");
}

static void invalid_lists_are_refused(void)
{
	static const char *const wrong[] = { "/a*",    "/a*0", "/a*x",	 "/a,",	    ",/a",
					     "/a,,/b", "*3",   "/a*3/b", "/a*4097", "/a*3*2" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(strstr(parsed("spread_directories", wrong[i]), "!spread_directories: "));
	CHECK(strstr(parsed("spread_directories", "/a*3,/a"), "twice"));
	CHECK(strstr(parsed("spread_directories", "/a*4000,/b*97"), "4096"));
	CHECK(strstr(parsed("spread_directories", "/a b,/c"), "\"/a b\""));
}

static void directories_are_absolute_and_clean(void)
{
	static const char *const wrong[] = { "a",      "./a",	  "/",	   "/a/",  "/a//b",
					     "/a/./b", "/a/../b", "/a/..", "/a/.", "/.." };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(strstr(parsed("spread_directories", wrong[i]), "!spread_directories: "));
	CHECK_TEXT(parsed("spread_directories", "/a/.b/..c"), "/a/.b/..c");
	CHECK(strstr(parsed("spread_osts", "a*3"), "!spread_osts: "));
	CHECK(strstr(parsed("spread_osts", "65536"), "!"));
	CHECK(strstr(parsed("spread_pools", "it's"), "!"));
}

/* 288 servers by their directories, and 512 targets, in the page of a run. */
static void the_lists_of_a_large_system_fit_into_the_page(void)
{
	static char page[PARAMETERS_BYTES];
	AUTO_BUF struct buf list = { 0 };
	struct param_set set = { 0 };
	struct err err = { 0 };

	for (int i = 0; i < 288; i++)
		buf_printf(&list, "%s/lustre/atlas/scratch/oss%03d/files*%d", i ? "," : "", i,
			   i % 14 + 1);
	CHECK_INT(param_set_put(&set, tunable_by_name("spread_directories"), buf_text(&list), NULL,
				NULL, 0, &err),
		  0);
	buf_clear(&list);
	for (int i = 0; i < 512; i++)
		buf_printf(&list, "%s%d*%d", i ? "," : "", i, i % 7 + 1);
	CHECK_INT(param_set_put(&set, tunable_by_name("spread_osts"), buf_text(&list), NULL, NULL,
				0, &err),
		  0);
	CHECK_INT(param_set_compile(&set, false, page, &err), 0);
	buf_puts(&list, ",600");
	CHECK_INT(param_set_put(&set, tunable_by_name("spread_osts"), buf_text(&list), NULL, NULL,
				0, &err),
		  -EINVAL);
	CHECK(strstr(err.text, "more than 512"));
	param_set_release(&set);
}

static const char *written(const char *const *names, const double *shares, size_t count)
{
	static char shown[1024];
	AUTO_BUF struct buf list = { 0 };
	struct err err = { 0 };
	int r = spread_write(names, shares, count, &list, &err);

	snprintf(shown, sizeof(shown), "%s%s", r < 0 ? "!" : "",
		 r < 0 ? err.text : buf_text(&list));
	return shown;
}

static void shares_become_small_weights(void)
{
	static const char *const names[] = { "/a", "/b", "/c", "/d" };

	CHECK_TEXT(written(names, (double[]){ .25, .25, .25, .25 }, 4), "/a*1,/b*1,/c*1,/d*1");
	CHECK_TEXT(written(names, (double[]){ 3, 0, 1, 0 }, 4), "/a*3,/c*1");
	CHECK_TEXT(written(names, (double[]){ .5, .3, .2, 0 }, 4), "/a*128,/b*77,/c*51");
	CHECK_TEXT(written(names, (double[]){ 1, 1e-9, -1, 0 }, 4), "/a*1");
	CHECK(strstr(written(names, (double[]){ 0, 0, 0, 0 }, 4), "!no destination"));
	CHECK(strstr(written((const char *const[]){ "a b" }, (double[]){ 1 }, 1), "!\"a b\""));
}

/* Every list that is written can be read, however many there are. */
static void a_written_list_can_be_read(void)
{
	static char text[PARAMETERS_DESTINATIONS][8];
	static const char *names[PARAMETERS_DESTINATIONS];
	static double shares[PARAMETERS_DESTINATIONS];

	for (size_t count = 1; count <= PARAMETERS_DESTINATIONS; count += 73) {
		AUTO_BUF struct buf list = { 0 };
		struct err err = { 0 };

		for (size_t i = 0; i < count; i++) {
			snprintf(text[i], sizeof(text[i]), "%zu", i);
			names[i] = text[i];
			shares[i] = (double)(1 + i * 7919 % 100);
		}
		REQUIRE(spread_write(names, shares, count, &list, &err) == 0);
		AUTO_FREE char *value =
			tunable_parse(tunable_by_name("spread_osts"), buf_text(&list), &err);
		CHECK_TEXT(value, buf_text(&list));
	}
}

TESTS(TEST(blanks_around_commas_and_asterisks_are_removed), TEST(invalid_lists_are_refused),
      TEST(directories_are_absolute_and_clean), TEST(the_lists_of_a_large_system_fit_into_the_page),
      TEST(shares_become_small_weights), TEST(a_written_list_can_be_read))
