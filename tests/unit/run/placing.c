/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forecasts become lists of targets with their shares, within the limits of the site's policy.
 */
#include "check.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "params/set.h"
#include "predict/forecast/site.h"
#include "run/placing.h"

#define DIRECTORIES "[targets]\na = /mnt/a\nb = /mnt/b\nc = /mnt/c\nd = /mnt/d\n"

/* A target that is busy with this probability; a busy one is three times as slow. */
static struct placement_target target_with(double busy)
{
	return (struct placement_target){
		.busy = busy, .idle_s = 1, .busy_s = 3, .idle_sd = .1, .busy_sd = .3
	};
}

static const struct placement_target nothing = { .busy = NAN, .idle_s = NAN, .busy_s = NAN };

/* The parameters of a site in one line, or "!" and the error. */
static const char *place(const char *ini, enum placement_rule rule,
			 const struct placement_target *rows)
{
	static char shown[4096];
	AUTO_BUF struct buf line = { 0 };
	struct param_set set = { 0 };
	struct err err = { 0 };
	struct site site;
	int r;

	site_init(&site);
	if (site_parse(&site, "test", ini, strlen(ini), &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	r = placing_set(&site, rule, rows, &set, &err);
	param_set_line(&set, &line);
	snprintf(shown, sizeof(shown), "%s%s", r < 0 ? "!" : "",
		 r < 0 ? err.text : buf_text(&line));
	CHECK(r >= 0 || !set.count);
	param_set_release(&set);
	site_release(&site);
	return shown;
}

static void busy_directories_get_less(void)
{
	struct placement_target rows[] = { target_with(0), target_with(1), target_with(0),
					   target_with(0) };

	CHECK_TEXT(place(DIRECTORIES, PLACEMENT_EQUAL, rows),
		   "spread_directories=/mnt/a*1,/mnt/b*1,/mnt/c*1,/mnt/d*1");
	/* By 1 / t: 3 to 1, in steps of 1 / 256. */
	CHECK_TEXT(place(DIRECTORIES, PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*77,/mnt/b*26,/mnt/c*77,/mnt/d*77");
	/* A target without a forecast counts as the mean of the others. */
	rows[3] = nothing;
	CHECK(strstr(place(DIRECTORIES, PLACEMENT_EXPECTED, rows), "/mnt/d*"));
}

static void only_allowed_targets_get_files(void)
{
	struct placement_target rows[] = { target_with(0), target_with(0), target_with(0),
					   target_with(0) };

	CHECK_TEXT(place(DIRECTORIES "[placement]\nallow = a, c*\n", PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*1,/mnt/c*1");
	CHECK_WORDS(place(DIRECTORIES "[placement]\nallow = nobody\n", PLACEMENT_EQUAL, rows),
		    "target|site");
	CHECK_WORDS(place("", PLACEMENT_EQUAL, rows), "target|site");
}

static void only_files_that_match_the_patterns_are_placed(void)
{
	struct placement_target rows[] = { target_with(0), target_with(0), target_with(0),
					   target_with(0) };

	CHECK_TEXT(place(DIRECTORIES "[placement]\nallow = a,b\nfiles = *.h5, out/*\n",
			 PLACEMENT_EQUAL, rows),
		   "spread_directories=/mnt/a*1,/mnt/b*1@*.h5 "
		   "spread_directories=/mnt/a*1,/mnt/b*1@out/*");
}

/* The limits of a site are multiples of the equal share. */
static void shares_stay_within_the_limits_of_the_site(void)
{
	struct placement_target rows[] = { target_with(0), target_with(1), target_with(1),
					   target_with(1) };

	CHECK_TEXT(place(DIRECTORIES, PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*128,/mnt/b*43,/mnt/c*43,/mnt/d*43");
	CHECK_TEXT(place(DIRECTORIES "[placement]\nmost_extra = 1.25\n", PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*80,/mnt/b*59,/mnt/c*59,/mnt/d*59");
}

static void each_kind_of_target_has_its_own_list(void)
{
	static const char ini[] = "[targets]\n"
				  "one = lustre:/scratch,ost=3\n"
				  "server = lustre:/scratch,oss=4|5\n"
				  "fast = ceph:/ceph,pool=fast\n"
				  "slow = ceph:/ceph,pool=slow\n"
				  "plain = /mnt/a\n";
	struct placement_target rows[] = { target_with(0), target_with(0), target_with(0),
					   target_with(1), nothing };

	CHECK_TEXT(place(ini, PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*1 spread_osts=3*2,4*1,5*1 "
		   "spread_pools=fast*3,slow*1");
}

static void targets_on_two_file_systems_are_refused(void)
{
	struct placement_target rows[] = { target_with(0), target_with(0) };

	CHECK_WORDS(place("[targets]\na = lustre:/one,ost=3\nb = lustre:/two,ost=3\n",
			  PLACEMENT_EQUAL, rows),
		    "file systems");
	CHECK_TEXT(place("[targets]\na = lustre:/one,ost=3\nb = lustre:/two,ost=4\n"
			 "[placement]\nallow = b\n",
			 PLACEMENT_EQUAL, rows),
		   "spread_osts=4*1");
}

TESTS(TEST(busy_directories_get_less), TEST(only_allowed_targets_get_files),
      TEST(only_files_that_match_the_patterns_are_placed),
      TEST(shares_stay_within_the_limits_of_the_site), TEST(each_kind_of_target_has_its_own_list),
      TEST(targets_on_two_file_systems_are_refused))
