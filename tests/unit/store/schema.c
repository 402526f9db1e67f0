/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/schema.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "store/catalog.h"
#include "store/knowledge.h"
#include "store/outcomes.h"
#include "store_sample.h"

/*
 * The statements by which the versions 1 to 8 created their tables, before the schema was a table.
 * Stores of users were made by them, so they must not change.
 */
static const char *const versions[] = {
	"CREATE TABLE attribute (id INTEGER PRIMARY KEY, domain TEXT NOT NULL, name TEXT NOT NULL,"
	" type TEXT NOT NULL, UNIQUE (domain, name));"
	"CREATE TABLE attribute_note (attribute INTEGER NOT NULL REFERENCES attribute, key TEXT "
	"NOT NULL,"
	" value TEXT NOT NULL, PRIMARY KEY (attribute, key)) WITHOUT ROWID;"
	"CREATE TABLE thing (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, of INTEGER NOT NULL,"
	" name TEXT NOT NULL, UNIQUE (kind, of, name));"
	"CREATE TABLE fact (run TEXT NOT NULL, process INTEGER NOT NULL, key TEXT NOT NULL,"
	" value TEXT NOT NULL, PRIMARY KEY (run, process, key)) WITHOUT ROWID;"
	/* Histograms of call durations, see durations.h. */
	"CREATE TABLE duration (host TEXT NOT NULL, layer TEXT NOT NULL, call TEXT NOT NULL,"
	" size INTEGER NOT NULL, bin INTEGER NOT NULL, count INTEGER NOT NULL,"
	" PRIMARY KEY (host, layer, call, size, bin)) WITHOUT ROWID;"
	/* Transfer rates by hints, see outcomes.h. */
	"CREATE TABLE outcome (operation TEXT NOT NULL, user TEXT NOT NULL, extension TEXT NOT "
	"NULL,"
	" size INTEGER NOT NULL, hints TEXT NOT NULL, count INTEGER NOT NULL, bytes REAL NOT NULL,"
	" seconds REAL NOT NULL, rate REAL NOT NULL, spread REAL NOT NULL,"
	" PRIMARY KEY (operation, user, extension, size, hints)) WITHOUT ROWID;"
	"CREATE TABLE trial (user TEXT NOT NULL, extension TEXT NOT NULL, opens INTEGER NOT NULL,"
	" explored INTEGER NOT NULL, PRIMARY KEY (user, extension)) WITHOUT ROWID;",
	/* Tunings, see studies.h, and the knowledge base, see knowledge.h. */
	"CREATE TABLE study (id INTEGER PRIMARY KEY, command TEXT NOT NULL, plan TEXT NOT NULL,"
	" digest TEXT NOT NULL, state TEXT NOT NULL, begun INTEGER NOT NULL,"
	" changed INTEGER NOT NULL);"
	"CREATE TABLE study_run (study INTEGER NOT NULL REFERENCES study, number INTEGER NOT NULL,"
	" phase TEXT NOT NULL, point INTEGER NOT NULL, parameters TEXT NOT NULL,"
	" effective TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, cost REAL,"
	" run REAL NOT NULL, io REAL NOT NULL, read REAL NOT NULL, written REAL NOT NULL,"
	" digest TEXT NOT NULL, begun INTEGER NOT NULL, PRIMARY KEY (study, number)) WITHOUT ROWID;"
	"CREATE TABLE knowledge (id INTEGER PRIMARY KEY, program TEXT NOT NULL,"
	" fingerprint TEXT NOT NULL, arguments TEXT NOT NULL, platform TEXT NOT NULL,"
	" filesystem TEXT NOT NULL, ranks INTEGER NOT NULL, size INTEGER NOT NULL,"
	" parameters TEXT NOT NULL, objective TEXT NOT NULL, before REAL NOT NULL,"
	" after REAL NOT NULL, gain REAL NOT NULL, gain_low REAL NOT NULL, gain_high REAL NOT NULL,"
	" found INTEGER NOT NULL, study TEXT NOT NULL, pinned INTEGER NOT NULL,"
	" UNIQUE (program, fingerprint, arguments, platform, filesystem, ranks, size));",
	/* Benchmarks of elementary operations, see elements.h. */
	"CREATE TABLE element (id INTEGER PRIMARY KEY, platform TEXT NOT NULL,"
	" operation TEXT NOT NULL, placement TEXT NOT NULL, cache TEXT NOT NULL,"
	" nodes REAL NOT NULL, cores REAL NOT NULL, senders REAL NOT NULL, receivers REAL NOT NULL,"
	" writers REAL NOT NULL, bytes REAL NOT NULL, round INTEGER NOT NULL,"
	" repetition INTEGER NOT NULL, seconds REAL NOT NULL, time INTEGER NOT NULL,"
	" UNIQUE (platform, operation, placement, cache, nodes, cores, senders, receivers, writers,"
	" bytes, round, repetition));",
	/* Probes of storage targets, and the jobs that ran meanwhile, see probes.h. */
	"CREATE TABLE probe_system (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE probe_target (id INTEGER PRIMARY KEY, system INTEGER NOT NULL,"
	" name TEXT NOT NULL, UNIQUE (system, name));"
	"CREATE TABLE probe_round (id INTEGER PRIMARY KEY, system INTEGER NOT NULL,"
	" time REAL NOT NULL, bytes INTEGER NOT NULL, UNIQUE (system, time, bytes));"
	"CREATE TABLE probe (round INTEGER NOT NULL, target INTEGER NOT NULL,"
	" seconds REAL NOT NULL, outcome INTEGER NOT NULL, PRIMARY KEY (round, target))"
	" WITHOUT ROWID;"
	"CREATE TABLE probe_snapshot (id INTEGER PRIMARY KEY, system INTEGER NOT NULL,"
	" time REAL NOT NULL, UNIQUE (system, time));"
	"CREATE TABLE probe_job (id INTEGER PRIMARY KEY, system INTEGER NOT NULL,"
	" job TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL, queue TEXT NOT NULL,"
	" UNIQUE (system, job, name, owner, queue));"
	"CREATE TABLE probe_running (snapshot INTEGER NOT NULL, number INTEGER NOT NULL,"
	" job INTEGER NOT NULL, nodes REAL, memory REAL, virtual REAL, used REAL, allocated REAL,"
	" PRIMARY KEY (snapshot, number)) WITHOUT ROWID;"
	"CREATE TABLE probe_node (system INTEGER NOT NULL, time REAL NOT NULL, a REAL, b REAL,"
	" c REAL, d REAL, e REAL, f REAL, PRIMARY KEY (system, time)) WITHOUT ROWID;",
	/* How the data of a tuning's runs was compared, see knowledge.h. */
	"ALTER TABLE knowledge ADD COLUMN compared TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE study_run ADD COLUMN compared TEXT NOT NULL DEFAULT '';",
	/* Transfer rates also by program and run. Those of earlier versions have neither. */
	"ALTER TABLE outcome RENAME TO outcome_before;"
	"CREATE TABLE outcome (operation TEXT NOT NULL, user TEXT NOT NULL, program TEXT NOT NULL,"
	" extension TEXT NOT NULL, size INTEGER NOT NULL, hints TEXT NOT NULL, run TEXT NOT NULL,"
	" count INTEGER NOT NULL, bytes REAL NOT NULL, seconds REAL NOT NULL, rate REAL NOT NULL,"
	" spread REAL NOT NULL,"
	" PRIMARY KEY (operation, user, program, extension, size, hints, run)) WITHOUT ROWID;"
	"INSERT INTO outcome SELECT operation, user, '', extension, size, hints, '', count, bytes,"
	" seconds, rate, spread FROM outcome_before;"
	"DROP TABLE outcome_before;",
	/* Entries that were demoted, and the runs that they are judged by, see entry_runs.h.
	 * Entries of earlier versions get the runs of their tunings. */
	"ALTER TABLE knowledge ADD COLUMN demoted INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE knowledge ADD COLUMN reason TEXT NOT NULL DEFAULT '';"
	"CREATE TABLE entry_run (id INTEGER PRIMARY KEY, entry INTEGER NOT NULL,"
	" applied INTEGER NOT NULL, cost REAL NOT NULL, bytes REAL NOT NULL, time INTEGER NOT "
	"NULL);"
	"CREATE INDEX entry_run_entry ON entry_run (entry, applied, id);"
	"INSERT INTO entry_run (entry, applied, cost, bytes, time) "
	"SELECT k.id, 0, r.cost, r.read + r.written, r.begun FROM knowledge k, study_run r "
	"WHERE k.study <> '' AND r.study = CAST(k.study AS INTEGER) AND r.state = 'good' AND "
	"r.cost > 0 AND r.parameters = (SELECT f.parameters FROM study_run f WHERE f.study = "
	"r.study ORDER BY f.number LIMIT 1)"
	" ORDER BY k.id, r.number;",
	/* What a tuning has proved, and the conditions of its runs. */
	"ALTER TABLE study ADD COLUMN gain REAL;"
	"ALTER TABLE study ADD COLUMN gain_low REAL;"
	"ALTER TABLE study ADD COLUMN gain_high REAL;"
	"ALTER TABLE study ADD COLUMN conditions TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE study_run ADD COLUMN foreign_load REAL;"
	"ALTER TABLE study_run ADD COLUMN frequency REAL;"
	"ALTER TABLE knowledge ADD COLUMN conditions TEXT NOT NULL DEFAULT '';",
};

enum { OLD_VERSIONS = sizeof(versions) / sizeof(versions[0]) };

/* Appends name, type, nullability and part in the key of all columns, and all indexes. */
static void describe(struct buf *out, const char *path)
{
	sqlite3_stmt *rows = NULL;
	sqlite3 *db;

	REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
	REQUIRE(sqlite3_prepare_v2(db,
				   "SELECT m.name, c.name, c.type, c.\"notnull\", c.pk > 0 FROM "
				   "sqlite_master m, pragma_table_xinfo(m.name) c "
				   "WHERE m.type = 'table' ORDER BY 1, 2",
				   -1, &rows, NULL) == SQLITE_OK);
	while (sqlite3_step(rows) == SQLITE_ROW) {
		for (int i = 0; i < 5; i++)
			buf_printf(out, "%s ", (const char *)sqlite3_column_text(rows, i));
		buf_putc(out, '\n');
	}
	sqlite3_finalize(rows);
	REQUIRE(sqlite3_prepare_v2(db,
				   "SELECT m.name, i.\"unique\", group_concat(x.name) FROM "
				   "sqlite_master m, pragma_index_list(m.name) i, "
				   "pragma_index_info(i.name) x WHERE m.type = 'table' GROUP BY "
				   "m.name, i.name ORDER BY 1, 3",
				   -1, &rows, NULL) == SQLITE_OK);
	while (sqlite3_step(rows) == SQLITE_ROW)
		buf_printf(out, "%s %d (%s)\n", (const char *)sqlite3_column_text(rows, 0),
			   sqlite3_column_int(rows, 1), (const char *)sqlite3_column_text(rows, 2));
	sqlite3_finalize(rows);
	sqlite3_close(db);
}

static void make_old(const struct sample *sample, int version)
{
	AUTO_FREE char *mark = xprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
				       0x736c7374, version);
	AUTO_FREE char *folder = xprintf("%s/folder", sample->directory);

	REQUIRE(mkdir(folder, 0700) == 0);
	for (int v = 0; v < version; v++)
		sample_execute(sample, versions[v]);
	sample_execute(sample, mark);
	REQUIRE(chmod(sample->path, 0600) == 0);
}

static void change_version(const struct sample *sample, int version)
{
	struct store *store = NULL;
	struct err err = { 0 };
	int now = -1;

	REQUIRE(store_connect(&store, sample->path, &err) >= 0);
	CHECK_INT(store_migrate(store, version, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_INT(store_version(store, &now, NULL), 0);
	CHECK_INT(now, version);
	store_close(store);
}

static void generated_tables_equal_those_of_all_earlier_versions(void)
{
	for (int version = 1; version <= OLD_VERSIONS; version++) {
		AUTO_BUF struct buf old = { 0 }, new = { 0 };
		struct sample sample;

		sample_make(&sample);
		if (sample.is_server) {
			sample_remove(&sample);
			return;
		}
		make_old(&sample, version);
		describe(&old, sample.path);
		sample_remove(&sample);
		sample_make(&sample);
		change_version(&sample, version);
		describe(&new, sample.path);
		CHECK_TEXT(buf_text(&new), buf_text(&old));
		sample_remove(&sample);
	}
}

static void stores_of_all_earlier_versions_are_migrated_and_keep_their_rows(void)
{
	for (int version = 1; version <= OLD_VERSIONS; version++) {
		AUTO_BUF struct buf migrated = { 0 }, fresh = { 0 };
		struct sample sample;
		struct store *store;

		sample_make(&sample);
		if (sample.is_server) {
			sample_remove(&sample);
			return;
		}
		make_old(&sample, version);
		sample_execute(&sample, "INSERT INTO thing (id, kind, of, name) VALUES "
					"(7, 'node', 0, 'n1')");
		store = sample_open(&sample);
		CHECK_INT(catalog_thing(store, THING_NODE, 0, "n1", NULL), 7);
		store_close(store);
		describe(&migrated, sample.path);
		sample_remove(&sample);
		sample_make(&sample);
		store_close(sample_open(&sample));
		describe(&fresh, sample.path);
		CHECK_TEXT(buf_text(&migrated), buf_text(&fresh));
		sample_remove(&sample);
	}
}

static int count_entry(void *arg, const struct knowledge *k)
{
	++*(int *)arg;
	CHECK_TEXT(k->key.program, "app");
	return 0;
}

static void every_version_can_be_reached_from_every_other_one(void)
{
	struct sample sample;

	sample_make(&sample);
	for (int from = 0; from <= SCHEMA_VERSION; from++)
		for (int to = 0; to <= SCHEMA_VERSION; to++) {
			change_version(&sample, from);
			change_version(&sample, to);
		}
	change_version(&sample, SCHEMA_VERSION);
	store_close(sample_open(&sample));
	sample_remove(&sample);
}

static void rows_survive_a_way_down_and_up(void)
{
	struct knowledge entry = { .key = { "app", "f", "a", "p", "fs", 4, 3 },
				   .parameters = "{}",
				   .objective = "time",
				   .before = 2,
				   .after = 1,
				   .gain = 2,
				   .gain_low = 1.5,
				   .gain_high = 2.5,
				   .found_ns = 5,
				   .study = "",
				   .compared = "" };
	struct sample sample;
	struct store *store;
	int count = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &entry, NULL, NULL), 0);
	store_close(store);
	change_version(&sample, 2);
	store = sample_open(&sample);
	CHECK_INT(knowledge_list(store, count_entry, &count, NULL), 0);
	CHECK_INT(count, 1);
	store_close(store);
	sample_remove(&sample);
}

static int describe_outcome(void *arg, const struct outcome_key *key, const char *hints,
			    const struct outcome *outcome)
{
	buf_printf(arg, "%s '%s' %s %.0f ", key->program, key->filesystem, hints, outcome->bytes);
	return 0;
}

/* What was learned before file systems were told apart is of an unknown one; on the way down, file
 * systems are forgotten. */
static void outcomes_get_and_lose_their_file_system(void)
{
	struct outcome_key key = { "write", "ann", "app", "nc", "/s", 3 };
	AUTO_BUF struct buf before = { 0 }, after = { 0 };
	struct outcomes_filter all = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(outcomes_add(store, &key, "1", "a=1", 10, 1, NULL), 0);
	CHECK_INT(outcomes_add(store, &key, "1", "b=1", 20, 1, NULL), 0);
	CHECK_INT(outcomes_list(store, &all, describe_outcome, &before, NULL), 0);
	CHECK_TEXT(buf_text(&before), "app '/s' a=1 10 app '/s' b=1 20 ");
	store_close(store);
	change_version(&sample, 11);
	change_version(&sample, 12);
	store = sample_open(&sample);
	CHECK_INT(outcomes_list(store, &all, describe_outcome, &after, NULL), 0);
	CHECK_TEXT(buf_text(&after), "app '' a=1 10 app '' b=1 20 ");
	store_close(store);
	sample_remove(&sample);
}

static void an_unknown_version_is_refused(void)
{
	struct sample sample;
	struct store *store = NULL;
	struct err err = { 0 };

	sample_make(&sample);
	REQUIRE(store_connect(&store, sample.path, NULL) >= 0);
	CHECK_INT(store_migrate(store, SCHEMA_VERSION + 1, &err), -EINVAL);
	CHECK_WORDS(err.text, "unknown version");
	store_close(store);
	sample_remove(&sample);
}

static void every_column_of_a_list_exists(void)
{
	for (size_t i = 0; i < schema_table_count; i++) {
		const struct schema_table *t = &schema_tables[i];
		const char *lists[] = { t->key, t->unique, t->index, t->partitioned };

		CHECK(t->since >= 1 && t->since <= SCHEMA_VERSION && *t->help);
		for (size_t k = 0; k < 4; k++) {
			AUTO_FREE char *copy = xstrdup(lists[k] ? lists[k] : "");
			char *rest = NULL;

			for (char *name = strtok_r(copy, ", ", &rest); name;
			     name = strtok_r(NULL, ", ", &rest))
				CHECK(schema_column(t, name) >= 0);
		}
		for (size_t c = 0; c < t->count; c++) {
			const struct schema_column *column = &t->columns[c];

			CHECK(column->since <= SCHEMA_VERSION);
			CHECK(!column->since || column->nullable || column->fallback);
		}
	}
}

TESTS(TEST(generated_tables_equal_those_of_all_earlier_versions),
      TEST(stores_of_all_earlier_versions_are_migrated_and_keep_their_rows),
      TEST(every_version_can_be_reached_from_every_other_one), TEST(rows_survive_a_way_down_and_up),
      TEST(outcomes_get_and_lose_their_file_system), TEST(an_unknown_version_is_refused),
      TEST(every_column_of_a_list_exists))
