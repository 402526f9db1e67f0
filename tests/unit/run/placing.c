/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From forecasts to lists of destinations: who gets how much, and what the site's policy forbids.
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

/* A target that is idle, or three times as slow for sure. */
static struct placement_target known(double busy)
{
	return (struct placement_target){
		.busy = busy, .idle_s = 1, .busy_s = 3, .idle_sd = .1, .busy_sd = .3
	};
}

static const struct placement_target nothing = { .busy = NAN, .idle_s = NAN, .busy_s = NAN };

/* The parameters of a site in one line, or "!" and what is said. */
static const char *placed(const char *ini, enum placement_rule rule,
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
	struct placement_target rows[] = { known(0), known(1), known(0), known(0) };

	CHECK_TEXT(placed(DIRECTORIES, PLACEMENT_EQUAL, rows),
		   "spread_directories=/mnt/a*1,/mnt/b*1,/mnt/c*1,/mnt/d*1");
	/* By 1 / t: 3 to 1, in steps of 1 / 256. */
	CHECK_TEXT(placed(DIRECTORIES, PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*77,/mnt/b*26,/mnt/c*77,/mnt/d*77");
	/* Of whom nothing is known counts as the mean of the others. */
	rows[3] = nothing;
	CHECK(strstr(placed(DIRECTORIES, PLACEMENT_EXPECTED, rows), "/mnt/d*"));
}

static void the_site_says_who_may_get_anything(void)
{
	struct placement_target rows[] = { known(0), known(0), known(0), known(0) };

	CHECK_TEXT(placed(DIRECTORIES "[placement]\nallow = a, c*\n", PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*1,/mnt/c*1");
	CHECK(strstr(placed(DIRECTORIES "[placement]\nallow = nobody\n", PLACEMENT_EQUAL, rows),
		     "no target that files may be put on"));
	CHECK(strstr(placed("", PLACEMENT_EQUAL, rows), "no target that files may be put on"));
}

static void the_site_says_which_files(void)
{
	struct placement_target rows[] = { known(0), known(0), known(0), known(0) };

	CHECK_TEXT(placed(DIRECTORIES "[placement]\nallow = a,b\nfiles = *.h5, out/*\n",
			  PLACEMENT_EQUAL, rows),
		   "spread_directories=/mnt/a*1,/mnt/b*1@*.h5 "
		   "spread_directories=/mnt/a*1,/mnt/b*1@out/*");
}

/* The limits of a site are multiples of the equal share. */
static void the_site_says_how_uneven_it_may_be(void)
{
	struct placement_target rows[] = { known(0), known(1), known(1), known(1) };

	CHECK_TEXT(placed(DIRECTORIES, PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*128,/mnt/b*43,/mnt/c*43,/mnt/d*43");
	CHECK_TEXT(placed(DIRECTORIES "[placement]\nmost_extra = 1.25\n", PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*80,/mnt/b*59,/mnt/c*59,/mnt/d*59");
}

static void every_kind_has_its_list(void)
{
	static const char ini[] = "[targets]\n"
				  "one = lustre:/scratch,ost=3\n"
				  "server = lustre:/scratch,oss=4|5\n"
				  "fast = ceph:/ceph,pool=fast\n"
				  "slow = ceph:/ceph,pool=slow\n"
				  "plain = /mnt/a\n";
	struct placement_target rows[] = { known(0), known(0), known(0), known(1), nothing };

	CHECK_TEXT(placed(ini, PLACEMENT_EXPECTED, rows),
		   "spread_directories=/mnt/a*1 spread_osts=3*2,4*1,5*1 "
		   "spread_pools=fast*3,slow*1");
}

static void targets_of_two_file_systems_are_not_mixed(void)
{
	struct placement_target rows[] = { known(0), known(0) };

	CHECK(strstr(placed("[targets]\na = lustre:/one,ost=3\nb = lustre:/two,ost=3\n",
			    PLACEMENT_EQUAL, rows),
		     "several file systems, /one and /two"));
	CHECK_TEXT(placed("[targets]\na = lustre:/one,ost=3\nb = lustre:/two,ost=4\n"
			  "[placement]\nallow = b\n",
			  PLACEMENT_EQUAL, rows),
		   "spread_osts=4*1");
}

TESTS(TEST(busy_directories_get_less), TEST(the_site_says_who_may_get_anything),
      TEST(the_site_says_which_files), TEST(the_site_says_how_uneven_it_may_be),
      TEST(every_kind_has_its_list), TEST(targets_of_two_file_systems_are_not_mixed))
