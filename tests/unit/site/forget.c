/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/forget.h"

#include <errno.h>
#include <sys/stat.h>

#include "site/archive.h"
#include "site_sample.h"
#include "store/outcomes.h"

#define UUID "0123456789abcdef0123456789abcdef"
#define CALLS 500

static void import_sample(struct site_db *site, const char *path, const char *owner, int expected)
{
	struct build_options options = site_sample_options();
	struct import_totals totals = { 0 };
	struct err err = { 0 };

	options.owner = owner;
	CHECK_INT(site_import(site, path, &options, &totals, &err), expected);
}

/* No row of the user is left in any table that is about runs. */
static void check_nothing_left(struct site_db *site)
{
	for (size_t i = 0; i < schema_table_count; i++) {
		AUTO_FREE char *sql = xprintf("SELECT count(*) FROM \"%s\"", schema_tables[i].name);

		if (schema_tables[i].access == ACCESS_RUN ||
		    schema_tables[i].access == ACCESS_CONCERNED ||
		    schema_tables[i].access == ACCESS_OWNER)
			CHECK_INT(site_sample_count(site, sql), 0);
		store_forget_statements(site->store);
	}
}

static void a_forgotten_run_is_gone_everywhere_and_does_not_come_back(void)
{
	AUTO_FREE char *path = site_sample_trace(CALLS);
	AUTO_FREE char *archive = xprintf("%s/archive", check_directory());
	AUTO_FREE char *dataset = archive_path(archive, UUID);
	struct site_db *site = site_sample_open();
	struct forget_totals totals = { 0 };
	struct archive_totals archived = { 0 };
	struct err err = { 0 };
	struct stat st;

	import_sample(site, path, "ann", 0);
	CHECK_INT(archive_run(site, archive, UUID, &archived, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_INT(archived.activities, CALLS);
	CHECK(stat(dataset, &st) == 0);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM activity"), 0);
	CHECK_INT(site_sample_count(site, "SELECT activities FROM archive"), CALLS);
	/* A second time, there is nothing to move, and the files stay. */
	CHECK_INT(archive_run(site, archive, UUID, &archived, &err), 0);
	CHECK_INT(archived.runs, 1);
	CHECK(stat(dataset, &st) == 0);

	CHECK_INT(forget_run(site, archive, UUID, &totals, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_INT(totals.runs, 1);
	CHECK_INT(totals.archives, 1);
	CHECK(stat(dataset, &st) != 0);
	check_nothing_left(site);
	CHECK_INT(forget_run(site, archive, UUID, &totals, &err), -ENOENT);
	import_sample(site, path, "ann", -EPERM);
	check_nothing_left(site);
	CHECK_INT(forget_compact(site, &totals.partitions, &err), 0);
	CHECK_INT(totals.partitions, site_is_postgres(site) ? 1 : 0);
	CHECK_INT(forget_vacuum(site, &err), 0);
	site_sample_close(site);
}

static void a_forgotten_user_loses_runs_and_learned_data_but_others_do_not(void)
{
	AUTO_FREE char *path = site_sample_trace(CALLS);
	AUTO_FREE char *archive = xprintf("%s/archive", check_directory());
	struct site_db *site = site_sample_open();
	struct forget_totals totals = { 0 };
	struct outcome_key key = { "read", "ann", "app", "nc", "", 3 };
	struct err err = { 0 };

	import_sample(site, path, "ann", 0);
	CHECK_INT(outcomes_add(site->store, &key, "r", "a=1", 10, 1, &err), 0);
	CHECK_INT(forget_user(site, archive, "bob", &totals, &err), 0);
	CHECK_INT(totals.runs, 0);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run"), 1);
	CHECK_INT(forget_user(site, archive, "ann", &totals, &err), 0);
	CHECK_INT(totals.runs, 1);
	check_nothing_left(site);
	import_sample(site, path, "ann", -EPERM);
	/* The same trace of another user is not concerned, except by its id. */
	import_sample(site, path, "carl", -EPERM);
	site_sample_close(site);
}

static void retention_moves_old_calls_and_removes_older_runs(void)
{
	AUTO_FREE char *path = site_sample_trace(CALLS);
	AUTO_FREE char *archive = xprintf("%s/archive-2", check_directory());
	struct site_db *site = site_sample_open();
	struct archive_totals totals = { 0 };
	struct err err = { 0 };

	import_sample(site, path, "ann", 0);
	CHECK_INT(config_set(&site_sample_config, SETTING_SITE_ARCHIVE, archive, "test", &err), 0);
	CHECK_INT(config_set(&site_sample_config, SETTING_SITE_KEEP_RUNS, "0", "test", &err), 0);
	CHECK_INT(archive_retain(site, &site_sample_config, NULL, &totals, &err), 0);
	CHECK_INT(totals.activities, CALLS);
	CHECK_INT(totals.runs, 1);
	CHECK_INT(totals.removed, 0);
	CHECK_INT(totals.partitions, site_is_postgres(site) ? 1 : 0);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run"), 1);
	CHECK(site_sample_count(site, "SELECT count(*) FROM aggregate") > 0);
	CHECK_INT(config_set(&site_sample_config, SETTING_SITE_KEEP_RUNS, "30d", "test", &err), 0);
	CHECK_INT(archive_retain(site, &site_sample_config, NULL, &totals, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_INT(totals.removed, 1);
	check_nothing_left(site);
	site_sample_close(site);
}

TESTS(TEST(a_forgotten_run_is_gone_everywhere_and_does_not_come_back),
      TEST(a_forgotten_user_loses_runs_and_learned_data_but_others_do_not),
      TEST(retention_moves_old_calls_and_removes_older_runs))
