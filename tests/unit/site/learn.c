/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/learn.h"

#include "observe/stats/mount_table.h"
#include "site_sample.h"
#include "store/durations.h"

#define CALLS 1000
#define DURATION_NS 5000

/* One process writes 4 KiB pieces: half of them in sequence, then with a constant stride. */
static char *write_trace(void)
{
	char *path = sample_path(".sluice");
	struct activity *all = xcalloc(CALLS, sizeof(*all));

	for (size_t i = 0; i < CALLS; i++) {
		all[i] = sample_strided(i);
		all[i].process = 1; /* a rank */
		all[i].duration_ns = i % 100 ? DURATION_NS : 50 * DURATION_NS;
		if (i < CALLS / 2)
			all[i].offset = (int64_t)i * 4096;
	}
	sample_write(&trace_container, path, all, CALLS, CALLS);
	free(all);
	return path;
}

struct found {
	uint64_t sequential, strided, all_programs, others;
	int64_t median_ns, slow_ns;
};

static int add_expectation(void *arg, const struct expectation *e)
{
	struct found *found = arg;

	CHECK_TEXT(e->call, "pwrite");
	CHECK_INT(e->size_class, durations_size_class(4096));
	if (!strcmp(e->program, "*")) {
		found->all_programs += e->calls;
	} else if (!strcmp(e->pattern, "sequential")) {
		found->sequential += e->calls;
		found->median_ns = e->median_ns;
		found->slow_ns = e->slow_ns;
	} else if (!strcmp(e->pattern, "strided")) {
		found->strided += e->calls;
	} else {
		found->others += e->calls;
	}
	return 0;
}

static void a_run_is_learned_from_once(void)
{
	AUTO_FREE char *path = write_trace();
	struct site_db *site = site_sample_open();
	struct build_options options = site_sample_options();
	struct import_totals imported = { 0 };
	struct learn_totals totals = { 0 };
	struct found found = { 0 };
	struct err err = { 0 };

	CHECK_INT(site_import(site, path, &options, &imported, &err), 0);
	for (int round = 0; round < 2; round++) {
		CHECK_INT(site_learn(site, &site_sample_config, NULL, &totals, &err), 0);
		CHECK_TEXT(err.text, "");
		CHECK_INT(totals.runs, 1);
		CHECK_INT(totals.activities, CALLS);
	}
	CHECK_INT(site_expectations(site, NULL, add_expectation, &found, &err), 0);
	CHECK_INT(found.all_programs, CALLS);
	CHECK_INT(found.sequential, CALLS / 2 - 1);
	CHECK(found.strided >= CALLS / 2 - 3);
	CHECK_INT(found.sequential + found.strided + found.others, CALLS);
	CHECK(found.median_ns > DURATION_NS * 0.8 && found.median_ns < DURATION_NS * 1.25);
	CHECK(found.slow_ns >= found.median_ns);
	found = (struct found){ 0 };
	CHECK_INT(site_expectations(site, "nothing", add_expectation, &found, &err), 0);
	CHECK_INT(found.all_programs, CALLS);
	CHECK_INT(found.sequential, 0);
	site_sample_close(site);
}

static int add_filesystem(void *arg, const struct expectation *e)
{
	struct buf *found = arg;

	if (strcmp(e->program, "*") != 0 && !strcmp(e->pattern, "sequential"))
		buf_printf(found, "%s:%llu ", e->filesystem, (unsigned long long)e->calls);
	return 0;
}

/* Learns the trace of write_trace(), which was recorded on node h; the mount points are those of
 * `host`. */
static void learn_with_mounts(struct buf *found, const char *mountinfo, const char *host)
{
	AUTO_FREE char *path = write_trace();
	struct site_db *site = site_sample_open();
	struct build_options options = site_sample_options();
	struct import_totals imported = { 0 };
	struct learn_totals totals = { 0 };
	struct mount_table mounts = { 0 };
	struct err err = { 0 };

	mount_table_parse(&mounts, mountinfo);
	options.mounts = &mounts;
	options.mounts_host = host;
	options.owner = "dir1";
	CHECK_INT(site_import(site, path, &options, &imported, &err), 0);
	CHECK_INT(site_learn(site, &site_sample_config, NULL, &totals, &err), 0);
	CHECK_TEXT(err.text, "");
	buf_clear(found);
	CHECK_INT(site_expectations(site, NULL, add_filesystem, found, &err), 0);
	mount_table_release(&mounts);
	site_sample_close(site);
}

static void durations_are_learned_per_file_system(void)
{
	AUTO_BUF struct buf found = { 0 };

	learn_with_mounts(&found, "1 1 0:1 / /data rw - nfs a:/x rw\n", "h");
	CHECK_TEXT(buf_text(&found), ":499 /data:499 ");
	learn_with_mounts(&found, "1 1 0:1 / /elsewhere rw - nfs a:/x rw\n", "h");
	CHECK_TEXT(buf_text(&found), ":499 /:499 ");
	/* On another node, /data may be another file system. */
	learn_with_mounts(&found, "1 1 0:1 / /data rw - nfs a:/x rw\n", "other");
	CHECK_TEXT(buf_text(&found), ":499 ");
	/* Everybody may read expectations; dir1 is the owner of the run. */
	learn_with_mounts(&found, "1 1 0:1 / /data/dir1 rw - nfs a:/x rw\n", "h");
	CHECK_TEXT(buf_text(&found), ":499 /data:499 ");
}

static void only_the_selected_classes_are_watched(void)
{
	AUTO_FREE char *path = write_trace();
	struct site_db *site = site_sample_open();
	struct build_options options = site_sample_options();
	struct import_totals imported = { 0 };
	struct learn_totals totals = { 0 };
	struct err err = { 0 };

	CHECK_INT(site_import(site, path, &options, &imported, &err), 0);
	CHECK_INT(config_set(&site_sample_config, SETTING_SITE_LEARN, "read,writes", "test", &err),
		  0);
	CHECK_INT(site_learn(site, &site_sample_config, NULL, &totals, &err), 0);
	CHECK_INT(totals.runs, 1);
	CHECK_INT(totals.activities, 0);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM expectation"), 0);
	site_sample_close(site);
}

TESTS(TEST(a_run_is_learned_from_once), TEST(durations_are_learned_per_file_system),
      TEST(only_the_selected_classes_are_watched))
