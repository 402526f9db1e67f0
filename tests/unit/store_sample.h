/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A store in a directory of its own, which goes with it.
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
	char directory[64];
	char *path; /* of the store, which need not be there yet */
};

static inline void sample_make(struct sample *sample)
{
	strcpy(sample->directory, "/tmp/sluice-store.XXXXXX");
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

/* The store, which is closed, as an earlier version left it. */
static inline void sample_regress(const struct sample *sample, int version)
{
	static const char *const later[] = {
		[3] = "DROP TABLE element",
		[4] = "DROP TABLE probe_system; DROP TABLE probe_target; DROP TABLE probe_round;"
		      "DROP TABLE probe; DROP TABLE probe_snapshot; DROP TABLE probe_job;"
		      "DROP TABLE probe_running; DROP TABLE probe_node",
	};
	AUTO_FREE char *mark = xprintf("PRAGMA user_version = %d", version);
	sqlite3 *db;

	REQUIRE(sqlite3_open(sample->path, &db) == SQLITE_OK);
	for (size_t v = (size_t)version + 1; v < sizeof(later) / sizeof(later[0]); v++)
		REQUIRE(sqlite3_exec(db, later[v], NULL, NULL, NULL) == SQLITE_OK);
	REQUIRE(sqlite3_exec(db, mark, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(db);
}

static inline void sample_remove(struct sample *sample)
{
	AUTO_FREE char *command = xprintf("rm -rf '%s'", sample->directory);

	CHECK(system(command) == 0);
	free(sample->path);
}

#endif
