/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A store in a directory of its own, below the temporary directory of the test program. If
 * CHECK_DATABASE names a PostgreSQL database, the store is a new schema there instead; so all tests
 * of the store can be run on both (tests/run/store_postgres.sh).
 */
#ifndef SLUICE_TESTS_STORE_SAMPLE_H
#define SLUICE_TESTS_STORE_SAMPLE_H

#include <sqlite3.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "store/store.h"
#include "store/store_internal.h"

struct sample {
	char directory[300];
	char *path; /* of the store, which may not exist yet; or connection string */
	bool is_server;
};

static inline void sample_make(struct sample *sample)
{
	static int number;
	const char *server = getenv("CHECK_DATABASE");

	snprintf(sample->directory, sizeof(sample->directory), "%s/store-XXXXXX",
		 check_directory());
	REQUIRE(mkdtemp(sample->directory));
	sample->path = xprintf("%s/folder/store.db", sample->directory);
	sample->is_server = server != NULL;
	if (server) {
		struct store *store = NULL;

		free(sample->path);
		sample->path = xprintf("%s options='-c search_path=sample_%d_%d'", server,
				       (int)getpid(), number++);
		REQUIRE(store_connect(&store, sample->path, NULL) >= 0);
		REQUIRE(store_migrate(store, SCHEMA_VERSION, NULL) >= 0);
		store_close(store);
	}
}

static inline struct store *sample_open(const struct sample *sample)
{
	struct store *store = NULL;
	struct err err = { 0 };

	/* A file is migrated when it is opened, a server is not. */
	if (sample->is_server) {
		REQUIRE(store_connect(&store, sample->path, NULL) >= 0);
		REQUIRE(store_migrate(store, SCHEMA_VERSION, NULL) >= 0);
		store_close(store);
		store = NULL;
	}
	if (store_open(&store, sample->path, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(store);
	return store;
}

/* Changes the file of the store, which must be closed, by SQL statements. */
static inline void sample_execute(const struct sample *sample, const char *sql)
{
	sqlite3 *db;

	if (sample->is_server) {
		struct store *store = NULL;

		REQUIRE(store_connect(&store, sample->path, NULL) >= 0);
		REQUIRE(store_execute(store, sql, NULL) >= 0);
		store_close(store);
		return;
	}
	REQUIRE(sqlite3_open(sample->path, &db) == SQLITE_OK);
	REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(db);
}

/* Turns the store, which must be closed, into one of an earlier version. */
static inline void sample_regress(const struct sample *sample, int version)
{
	struct store *store = NULL;

	REQUIRE(store_connect(&store, sample->path, NULL) >= 0);
	REQUIRE(store_migrate(store, version, NULL) >= 0);
	store_close(store);
}

static inline void sample_remove(struct sample *sample)
{
	if (sample->is_server)
		sample_execute(sample, "DO $$ BEGIN EXECUTE format('DROP SCHEMA %I CASCADE', "
				       "current_schema()); END $$");
	nftw(sample->directory, check_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(sample->path);
}

#endif
