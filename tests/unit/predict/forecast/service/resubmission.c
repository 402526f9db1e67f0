/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loop of resubmission with the commands of a PBS that are shell scripts.
 */
#include "predict/forecast/service/resubmission.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "predict/forecast/site.h"

static char folder[64];
static struct err err;

static void put(const char *name, const char *text)
{
	AUTO_FREE char *path = xprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "we");

	REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0);
	REQUIRE(chmod(path, 0700) == 0);
}

/* The queue is empty at every query, so each job ends at once. */
static void make_commands(void)
{
	AUTO_FREE char *path = NULL;

	snprintf(folder, sizeof(folder), "/tmp/sluice-resubmission.XXXXXX");
	REQUIRE(mkdtemp(folder));
	put("qsub", "#!/bin/sh\necho 5.sdb\n");
	put("qstat", "#!/bin/sh\nexit 0\n");
	put("script.sh", "#!/bin/sh\n");
	path = xprintf("%s:%s", folder, getenv("PATH"));
	setenv("PATH", path, 1);
}

static void remove_commands(const char *lock)
{
	const char *const names[] = { "qsub", "qstat", "script.sh", lock };

	for (int i = 0; i < 4; i++) {
		AUTO_FREE char *path = xprintf("%s/%s", folder, names[i]);

		unlink(path);
	}
	CHECK_INT(rmdir(folder), 0);
}

static void count_event(void *arg, enum resubmission_event event, const char *id, const char *text)
{
	int *counts = arg;

	(void)text;
	CHECK_TEXT(id, "5.sdb");
	counts[event]++;
}

static int run(struct resubmission *outcome, double min_runtime_s, int *counts)
{
	AUTO_FREE char *script = xprintf("%s/script.sh", folder);
	AUTO_FREE char *store = xprintf("%s/store.db", folder);
	struct resubmission_options options = { .script = script,
						.name = "job",
						.store_path = store,
						.max_jobs = 3,
						.max_failures = 2,
						.min_runtime_s = min_runtime_s,
						.every_s = 0.01,
						.duration_s = INFINITY,
						.on_event = count_event,
						.arg = counts };
	struct site site;
	int r;

	site_init(&site);
	snprintf(site.reader, sizeof(site.reader), "pbs");
	options.site = &site;
	err = (struct err){ 0 };
	r = resubmission_run(outcome, &options, &err);
	site_release(&site);
	return r;
}

static void loop_ends_after_the_wanted_jobs(void)
{
	int counts[RESUBMISSION_CANCEL_FAILED + 1] = { 0 };
	struct resubmission outcome;

	make_commands();
	CHECK_INT(run(&outcome, 0, counts), 0);
	CHECK_INT(outcome.end, RESUBMISSION_BY_COUNT);
	CHECK_INT(outcome.count, 3);
	CHECK(!isnan(outcome.jobs[2].ended_s));
	CHECK_INT(counts[RESUBMISSION_SUBMITTED], 3);
	CHECK_INT(counts[RESUBMISSION_ENDED], 3);
	resubmission_release(&outcome);
	remove_commands("store.db.submit-job");
}

static void early_ends_stop_the_loop(void)
{
	int counts[RESUBMISSION_CANCEL_FAILED + 1] = { 0 };
	struct resubmission outcome;

	make_commands();
	CHECK_INT(run(&outcome, 3600, counts), -ECANCELED);
	CHECK_INT(outcome.end, RESUBMISSION_BY_FAILURES);
	CHECK_INT(counts[RESUBMISSION_ENDED_EARLY], 2);
	CHECK(strstr(err.text, "--min-runtime"));
	resubmission_release(&outcome);
	remove_commands("store.db.submit-job");
}

static void names_are_safe_in_commands(void)
{
	CHECK(resubmission_name_is_valid("slc-1_a"));
	CHECK(!resubmission_name_is_valid(""));
	CHECK(!resubmission_name_is_valid("-a"));
	CHECK(!resubmission_name_is_valid("a,b"));
	CHECK(!resubmission_name_is_valid("a b"));
}

TESTS(TEST(loop_ends_after_the_wanted_jobs), TEST(early_ends_stop_the_loop),
      TEST(names_are_safe_in_commands))
