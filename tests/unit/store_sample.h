/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A store in a directory of its own, below the temporary directory of the test program.
 */
#ifndef SLUICE_TESTS_STORE_SAMPLE_H
#define SLUICE_TESTS_STORE_SAMPLE_H

#include <sqlite3.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "store/store.h"

struct sample {
	char directory[300];
	char *path; /* of the store, which may not exist yet */
};

static inline void sample_make(struct sample *sample)
{
	snprintf(sample->directory, sizeof(sample->directory), "%s/store-XXXXXX",
		 check_directory());
	REQUIRE(mkdtemp(sample->directory));
	sample->path = xprintf("%s/folder/store.db", sample->directory);
}

static inline struct store *sample_open(const struct sample *sample)
{
	struct store *store = NULL;
	struct err err = { 0 };

	if (store_open(&store, sample->path, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(store);
	return store;
}

/* Changes the file of the store, which must be closed, by SQL statements. */
static inline void sample_execute(const struct sample *sample, const char *sql)
{
	sqlite3 *db;

	REQUIRE(sqlite3_open(sample->path, &db) == SQLITE_OK);
	REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(db);
}

/* Turns the store, which must be closed, into one of an earlier version. */
static inline void sample_regress(const struct sample *sample, int version)
{
	static const char *const later[] = {
		[3] = "DROP TABLE element",
		[4] = "DROP TABLE probe_system; DROP TABLE probe_target; DROP TABLE probe_round;"
		      "DROP TABLE probe; DROP TABLE probe_snapshot; DROP TABLE probe_job;"
		      "DROP TABLE probe_running; DROP TABLE probe_node",
		[5] = "ALTER TABLE knowledge DROP COLUMN compared;"
		      "ALTER TABLE study_run DROP COLUMN compared",
		[6] = "DROP TABLE outcome; CREATE TABLE outcome (operation TEXT NOT NULL,"
		      " user TEXT NOT NULL, extension TEXT NOT NULL, size INTEGER NOT NULL,"
		      " hints TEXT NOT NULL, count INTEGER NOT NULL, bytes REAL NOT NULL,"
		      " seconds REAL NOT NULL, rate REAL NOT NULL, spread REAL NOT NULL,"
		      " PRIMARY KEY (operation, user, extension, size, hints)) WITHOUT ROWID",
		[7] = "DROP TABLE entry_run; ALTER TABLE knowledge DROP COLUMN demoted;"
		      "ALTER TABLE knowledge DROP COLUMN reason",
		[8] = "ALTER TABLE study DROP COLUMN gain; ALTER TABLE study DROP COLUMN gain_low;"
		      "ALTER TABLE study DROP COLUMN gain_high;"
		      "ALTER TABLE study DROP COLUMN conditions;"
		      "ALTER TABLE study_run DROP COLUMN foreign_load;"
		      "ALTER TABLE study_run DROP COLUMN frequency;"
		      "ALTER TABLE knowledge DROP COLUMN conditions",
	};
	AUTO_FREE char *mark = xprintf("PRAGMA user_version = %d", version);

	for (size_t v = (size_t)version + 1; v < sizeof(later) / sizeof(later[0]); v++)
		sample_execute(sample, later[v]);
	sample_execute(sample, mark);
}

static inline void sample_remove(struct sample *sample)
{
	nftw(sample->directory, check_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(sample->path);
}

#endif
