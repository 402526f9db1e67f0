/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Site descriptions: the installed ones, defaults, and errors with file and line.
 * Papers: WAN-22, WAN-AC-2.
 */
#include "predict/forecast/site.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static int parse(struct site *site, const char *text, struct err *err)
{
	*err = (struct err){ 0 };
	return site_parse(site, "mine.ini", text, strlen(text), err);
}

static void installed_sites_are_found_by_name(void)
{
	static const char *const shipped[] = { "titan", "cori", "generic" };

	for (size_t i = 0; i < 3; i++) {
		struct err err = { 0 };
		struct site site;

		CHECK_INT(site_load(&site, shipped[i], &err), 0);
		CHECK_TEXT(err.text, "");
		CHECK_TEXT(site.name, shipped[i]);
		CHECK(*site.batch && *site.debug);
		site_release(&site);
	}
}

static void classes_of_titan_match_the_paper(void)
{
	static const struct {
		double nodes;
		size_t class;
	} bounds[] = { { 1, 4 },    { 125, 4 },	 { 126, 3 },   { 312, 3 },   { 313, 2 },
		       { 3749, 2 }, { 3750, 1 }, { 11249, 1 }, { 11250, 0 }, { 18688, 0 } };
	struct site titan, usual;

	REQUIRE(site_load(&titan, "titan", NULL) == 0);
	site_init(&usual);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		CHECK_INT(site_class(&titan, bounds[i].nodes), bounds[i].class);
		CHECK_INT(site_class(&usual, bounds[i].nodes), bounds[i].class);
	}
	CHECK_INT(site_class(&titan, NAN), 4);
	CHECK_TEXT(titan.reader, "pbs");
	site_release(&titan);
	site_release(&usual);
}

static void empty_file_is_a_site(void)
{
	struct err err;
	struct site site;

	CHECK_INT(parse(&site, "", &err), 0);
	CHECK_TEXT(site.reader, "auto");
	CHECK_INT(site.target_count, 0);
	CHECK(site.bounds[3] == 126 && site.most_extra > 1 && site.least == 0);
	site_release(&site);
}

static void all_values_can_be_set(void)
{
	static const char text[] = "[site]\nname = here\n"
				   "[jobs]\nreader = scontrol\ncommand = cat jobs | sort\n"
				   "batch = long,huge*\nbatch = wide\ndebug = quick\n"
				   "[classes]\nextra_large = 40\nlarge = 30\nmedium = 20\nsmall = "
				   "10\n"
				   "[targets]\na = /mnt/a\nost3 = lustre:/scratch,ost=3\n"
				   "[placement]\nallow = a\nallow = ost*\nfiles = *.h5\n"
				   "most_extra = 2.5\nleast = 0.25\n";
	struct err err;
	struct site site;

	CHECK_INT(parse(&site, text, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_TEXT(site.name, "here");
	CHECK_TEXT(site.jobs_command, "cat jobs | sort");
	CHECK_TEXT(site.batch, "long,huge*,wide");
	CHECK_TEXT(site.debug, "quick");
	CHECK_INT(site_class(&site, 29), 2);
	REQUIRE(site.target_count == 2);
	CHECK_TEXT(site.targets[1].name, "ost3");
	CHECK_TEXT(site.targets[1].place, "lustre:/scratch,ost=3");
	CHECK_TEXT(site.allow, "a,ost*");
	CHECK_TEXT(site.files, "*.h5");
	CHECK(site.most_extra == 2.5 && site.least == 0.25);
	site_release(&site);
}

static void several_schedulers_can_be_listed(void)
{
	static const char text[] = "[schedulers]\ntitan = slurm-text\n"
				   "rhea = pbs ssh rhea  qstat -f\n";
	struct err err;
	struct site site;

	CHECK_INT(parse(&site, text, &err), 0);
	CHECK_TEXT(err.text, "");
	REQUIRE(site.scheduler_count == 2);
	CHECK_TEXT(site.schedulers[0].name, "titan");
	CHECK_TEXT(site.schedulers[0].reader, "slurm-text");
	CHECK_TEXT(site.schedulers[0].command, "");
	CHECK_TEXT(site.schedulers[1].reader, "pbs");
	CHECK_TEXT(site.schedulers[1].command, "ssh rhea  qstat -f");
	CHECK_TEXT(site.reader, "auto");
	site_release(&site);
}

static void errors_name_file_and_line(void)
{
	static const char *const wrong[][2] = {
		{ "[site]\nnam = x\n", "mine.ini:2:|'nam'" },
		{ "[sites]\nname = x\n", "[sites]" },
		{ "[jobs]\nbatch = a\nreader = a\nreader = b\n", "mine.ini:4:|reader" },
		{ "[jobs]\nreader = lsf\n", "slurm-text|slurm-json|scontrol|pbs" },
		{ "[classes]\nlarge = many\n", "mine.ini:2:|large|'many'" },
		{ "[classes]\nlarge = 20000\n", "extra_large|11250|large|20000" },
		{ "[targets]\na = /x\na = /y\n", "mine.ini:3:|target|'a'" },
		{ "[targets]\na b = /x\n", "mine.ini:2:|target name" },
		{ "[targets]\na@b = /x\n", "mine.ini:2:|target name" },
		{ "[targets]\na =\n", "mine.ini:2:|place|'a'" },
		{ "[schedulers]\na = lsf bjobs\n", "[schedulers]|a|slurm-text|pbs" },
		{ "[schedulers]\na = pbs\na = pbs\n", "mine.ini:3:|scheduler|'a'" },
		{ "[schedulers]\na b = pbs\n", "mine.ini:2:|scheduler name" },
		{ "[schedulers]\na =\n", "mine.ini:2:|READER|'a'" },
		{ "[placement]\nleast = 2\n", "mine.ini:2:|least|'2'" },
		{ "[placement]\nmost = 2\n", "'most'" },
		{ "name = x\n", "mine.ini:1: " },
		{ "[site]\nname =\n", "name|empty" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct site site = { .name = "untouched" };
		struct err err;

		CHECK_INT(parse(&site, wrong[i][0], &err), -EINVAL);
		CHECK_WORDS(err.text, wrong[i][1]);
		CHECK_TEXT(site.name, "untouched");
	}
}

static void too_long_list_is_refused(void)
{
	AUTO_FREE char *line = xprintf("batch = %0150d\n", 7);
	AUTO_FREE char *text = xprintf("[jobs]\n%s%s", line, line);
	struct err err;
	struct site site;

	CHECK_INT(parse(&site, text, &err), -EINVAL);
	CHECK_WORDS(err.text, "mine.ini:3:|batch|long");
}

static void patterns_match_names(void)
{
	CHECK(site_name_matches("batch", "batch"));
	CHECK(site_name_matches("regular*, low", "regular_knl"));
	CHECK(site_name_matches("regular* , low ", "low"));
	CHECK(!site_name_matches("regular,low", "lower"));
	CHECK(!site_name_matches("", "batch"));
	CHECK(!site_name_matches("", ""));
	CHECK(!site_name_matches(" , ,", ""));
	CHECK(site_name_matches("*", ""));
}

TESTS(TEST(installed_sites_are_found_by_name), TEST(classes_of_titan_match_the_paper),
      TEST(empty_file_is_a_site), TEST(all_values_can_be_set),
      TEST(several_schedulers_can_be_listed), TEST(errors_name_file_and_line),
      TEST(too_long_list_is_refused), TEST(patterns_match_names))
