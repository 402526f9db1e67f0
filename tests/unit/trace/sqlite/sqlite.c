/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-32.
 */
#include "trace/sqlite/sqlite.h"

#include <errno.h>
#include <glob.h>
#include <sqlite3.h>

#include "trace_sample.h"

static void change_database(const char *path, const char *sql)
{
	sqlite3 *db;

	REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
	REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(db);
}

/* The error message of opening and reading the database after the change, or "". */
static const char *read_error(const char *sql)
{
	static struct err err;
	AUTO_FREE char *path = sample_path(".db");
	struct activity a = sample_strided(0), back;
	struct trace trace;

	err = (struct err){ 0 };
	sample_write(&trace_sqlite, path, &a, 1, 1);
	change_database(path, sql);
	if (trace_open(&trace, path, NULL, &err) == 0) {
		while (trace_next(&trace, &back, 1, &err) > 0)
			;
		trace_close(&trace);
	}
	unlink(path);
	return err.text;
}

static void foreign_databases_are_refused(void)
{
	AUTO_FREE char *path = sample_path(".db");
	struct err err = { 0 };
	struct trace trace;

	change_database(path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
	CHECK_INT(trace_open(&trace, path, NULL, &err), -EINVAL);
	CHECK_WORDS(err.text, path);
	CHECK_WORDS(err.text, "not a|trace");
	unlink(path);
}

static void forged_rows_are_refused(void)
{
	CHECK_TEXT(read_error("SELECT 1"), "");
	CHECK(strstr(read_error("UPDATE activities SET process = 99"), "activities: process"));
	CHECK(strstr(read_error("UPDATE activities SET file = -1"), "activities: file"));
	CHECK(strstr(read_error("UPDATE activities SET call = 77"), "activities: call"));
	CHECK(strstr(read_error("UPDATE activities SET layer = 'AIR'"), "activities: layer"));
	CHECK_WORDS(read_error("UPDATE files SET id = 7 WHERE id = 3"), "files|7");
	CHECK(strstr(read_error("UPDATE clock SET den = 0"), "table clock"));
	CHECK(strstr(read_error("UPDATE activities SET name = 40"), "activities: name"));
	CHECK(strstr(read_error("UPDATE activities SET hints = 40"), "activities: hints"));
	CHECK_WORDS(read_error("UPDATE processes SET ranks = 5000000000"), "ranks|range");
	CHECK(strstr(read_error("DROP TABLE losses"), "losses"));
	CHECK(strstr(read_error("DROP TABLE hosts"), "hosts"));
	CHECK_WORDS(read_error("UPDATE statistics SET scale = 0 WHERE number = 1"),
		    "statistics|statistic 1|scale 0");
	CHECK_WORDS(read_error("UPDATE samples SET statistic = -1"), "statistic|range");
	CHECK_TEXT(read_error("UPDATE samples SET statistic = 77; UPDATE notes SET process = 99"),
		   "");
	CHECK_WORDS(read_error("UPDATE losses SET records = -1"), "losses|records|range");
	CHECK_WORDS(read_error("UPDATE hosts SET offset_ns = -9223372036854775807"),
		    "hosts|offset_ns|range");
	CHECK_WORDS(
		read_error("ALTER TABLE files RENAME TO f; CREATE VIEW files AS SELECT * FROM f"),
		"files|table");
	CHECK(strstr(read_error("PRAGMA user_version = 8"), "schema version 8"));
}

static void databases_of_schema_1_are_read(void)
{
	AUTO_FREE char *path = sample_path(".db");
	struct activity a = sample_strided(0);
	AUTO_FREE struct activity *back = NULL;
	size_t got;

	sample_write(&trace_sqlite, path, &a, 1, 1);
	change_database(path, "DROP TABLE statistics; DROP TABLE samples; DROP TABLE notes;"
			      "DROP TABLE hosts; ALTER TABLE processes DROP COLUMN ranks;"
			      "ALTER TABLE activities DROP COLUMN span;"
			      "ALTER TABLE activities DROP COLUMN variable;"
			      "ALTER TABLE activities DROP COLUMN collective;"
			      "ALTER TABLE activities DROP COLUMN hints;"
			      "ALTER TABLE activities DROP COLUMN name; PRAGMA user_version = 1");
	back = sample_read(path, NULL, &got);
	REQUIRE(got == 1);
	CHECK(activity_equal(&a, back));
	CHECK(!back->name && !back->span);
	unlink(path);
}

static void databases_of_schema_2_are_read(void)
{
	AUTO_FREE char *path = sample_path(".db");
	struct activity a = sample_activity(1);
	AUTO_FREE struct activity *back = NULL;
	size_t got;

	a.hints = 0;
	sample_write(&trace_sqlite, path, &a, 1, 1);
	change_database(path, "ALTER TABLE activities DROP COLUMN hints; PRAGMA user_version = 2");
	back = sample_read(path, NULL, &got);
	REQUIRE(got == 1);
	CHECK(activity_equal(&a, back));
	unlink(path);
}

static void rows_are_read_in_order_of_time(void)
{
	AUTO_FREE char *path = sample_path(".db");
	AUTO_FREE struct activity *all = sample_many(3000), *back = NULL;
	size_t got;

	sample_write(&trace_sqlite, path, all, 3000, 7);
	qsort(all, 3000, sizeof(*all), activity_compare);
	back = sample_read(path, NULL, &got);
	CHECK_INT(got, 3000);
	CHECK_INT(sample_differences(all, back, 3000), 0);
	unlink(path);
}

static void the_temporary_file_is_removed_at_the_end(void)
{
	AUTO_FREE char *path = sample_path(".db");
	AUTO_FREE char *drafts = xprintf("%s.*.tmp", path);
	glob_t found = { 0 };
	struct run_clock clock = { (char *)"tsc", 0, 1, 3, 0 };
	void *w = sample_create(&trace_sqlite, path);

	CHECK_INT(glob(drafts, 0, NULL, &found), 0);
	globfree(&found);
	CHECK(access(path, F_OK) < 0);
	sample_finish(&trace_sqlite, w);
	CHECK_INT(glob(drafts, 0, NULL, &found), GLOB_NOMATCH);
	CHECK(access(path, F_OK) == 0);
	CHECK_INT(trace_sqlite.create(&w, path, &sample_run, &clock, sample_calls, SAMPLE_CALLS,
				      NULL),
		  -EINVAL);
	unlink(path);
}

TESTS(TEST(foreign_databases_are_refused), TEST(forged_rows_are_refused),
      TEST(databases_of_schema_1_are_read), TEST(databases_of_schema_2_are_read),
      TEST(rows_are_read_in_order_of_time), TEST(the_temporary_file_is_removed_at_the_end))
