/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads and deletes probe data; probes_writer.c saves it.
 */
#include "store/probes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/store_internal.h"

/* The targets of a system, sorted by id. */
struct names {
	struct name {
		int64_t id;
		char *text;
	} * rows;
	size_t count, cap;
};

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->rows[i].text);
	free(names->rows);
}

#define AUTO_NAMES __attribute__((cleanup(names_release)))

static double read_real(struct statement *statement, int column)
{
	return store_is_null(statement, column) ? NAN : store_real(statement, column);
}

/* Finds the id of a system. */
static int find_system(struct store *store, const char *system, int64_t *id, struct err *err)
{
	struct statement *statement =
		store_query(store, err, "SELECT id FROM probe_system WHERE name = ?1", "t", system);
	int r = statement ? store_step(store, statement, err) : -EIO;

	if (!r)
		return err_set(err, ENOENT, "%s: no probe data of system \"%s\"", store_path(store),
			       system);
	if (r < 0)
		return r;
	*id = store_number(statement, 0);
	store_done(statement);
	return 0;
}

static int load_names(struct names *names, struct store *store, int64_t system, struct err *err)
{
	struct statement *statement = store_query(
		store, err, "SELECT id, name FROM probe_target WHERE system = ?1 ORDER BY id", "i",
		system);
	int r = statement ? 1 : -EIO;

	while (r > 0) {
		r = store_step(store, statement, err);
		if (r <= 0)
			break;
		names->rows =
			xgrow(names->rows, &names->cap, names->count + 1, sizeof(*names->rows));
		names->rows[names->count++] = (struct name){ store_number(statement, 0),
							     xstrdup(store_text(statement, 1)) };
	}
	return r;
}

static int name_compare(const void *key, const void *row)
{
	int64_t id = *(const int64_t *)key, other = ((const struct name *)row)->id;

	return (id > other) - (id < other);
}

/* Tries the target after that of the previous row first. */
static const struct name *find_name(const struct names *names, const struct name *before,
				    int64_t id)
{
	if (before && before + 1 < names->rows + names->count && before[1].id == id)
		return before + 1;
	if (!names->count)
		return NULL;
	return bsearch(&id, names->rows, names->count, sizeof(*names->rows), name_compare);
}

int probes_targets(struct store *store, const char *system, probes_target_seen seen, void *arg,
		   struct err *err)
{
	AUTO_NAMES struct names names = { 0 };
	int64_t id = 0;
	int r = find_system(store, system, &id, err);

	if (r >= 0)
		r = load_names(&names, store, id, err);
	for (size_t i = 0; r >= 0 && i < names.count && !seen(arg, names.rows[i].text); i++)
		;
	return r;
}

static int report_rows(struct store *store, struct statement *statement, const struct names *names,
		       probes_seen seen, void *arg, struct err *err)
{
	const struct name *name = NULL;
	int r = statement ? 1 : -EIO;

	while (r > 0) {
		struct probe row;

		r = store_step(store, statement, err);
		if (r <= 0)
			break;
		name = find_name(names, name, store_number(statement, 2));
		/* An unknown target means that the store is damaged; the row is useless. */
		if (!name)
			continue;
		row.target = name->text;
		row.number = (size_t)(name - names->rows);
		row.time_s = store_real(statement, 0);
		row.bytes = (uint64_t)store_number(statement, 1);
		row.seconds = store_real(statement, 3);
		row.outcome = (int)store_number(statement, 4);
		if (seen(arg, &row)) {
			store_done(statement);
			return 0;
		}
	}
	return r;
}

int probes_load(struct store *store, const char *system, double from_s, double to_s,
		probes_seen seen, void *arg, struct err *err)
{
	AUTO_NAMES struct names names = { 0 };
	struct statement *statement;
	int64_t id = 0;
	int r = find_system(store, system, &id, err);

	if (r >= 0)
		r = load_names(&names, store, id, err);
	if (r < 0)
		return r;
	/* CROSS JOIN makes SQLite use the tables in this order. */
	statement = store_query(store, err,
				"SELECT r.time, r.bytes, p.target, p.seconds, p.outcome "
				"FROM probe_round r CROSS JOIN probe p ON p.round = r.id "
				"WHERE r.system = ?1 AND r.time >= ?2 AND r.time < ?3 "
				"ORDER BY r.time, r.bytes, p.target",
				"idd", id, from_s, to_s);
	return report_rows(store, statement, &names, seen, arg, err);
}

int probes_sizes(struct store *store, const char *system, double from_s, double to_s,
		 uint64_t *sizes, size_t cap, struct err *err)
{
	struct statement *statement;
	int64_t id = 0;
	size_t count = 0;
	int r = find_system(store, system, &id, err);

	if (r < 0)
		return r;
	statement = store_query(store, err,
				"SELECT DISTINCT bytes FROM probe_round WHERE system = ?1 "
				"AND time >= ?2 AND time < ?3 ORDER BY bytes",
				"idd", id, from_s, to_s);
	r = statement ? 1 : -EIO;
	while (r > 0) {
		r = store_step(store, statement, err);
		if (r > 0 && count++ < cap)
			sizes[count - 1] = (uint64_t)store_number(statement, 0);
	}
	return r < 0 ? r : (int)count;
}

static int report_job(struct statement *statement, probes_job_seen seen, void *arg)
{
	double time_s = store_real(statement, 0);
	struct probe_job job;

	if (store_is_null(statement, 1))
		return seen(arg, time_s, NULL);
	job = (struct probe_job){ store_text(statement, 2), store_text(statement, 3),
				  store_text(statement, 4), store_text(statement, 5),
				  read_real(statement, 6),  read_real(statement, 7),
				  read_real(statement, 8),  read_real(statement, 9),
				  read_real(statement, 10) };
	return seen(arg, time_s, &job);
}

int probes_load_jobs(struct store *store, const char *system, double from_s, double to_s,
		     probes_job_seen seen, void *arg, struct err *err)
{
	struct statement *statement;
	int64_t id = 0;
	int r = find_system(store, system, &id, err);

	if (r < 0)
		return r;
	statement = store_query(
		store, err,
		"SELECT s.time, n.number, j.job, j.name, j.owner, j.queue, n.nodes, n.memory, "
		"n.virtual, n.used, n.allocated FROM probe_snapshot s "
		"LEFT JOIN probe_running n ON n.snapshot = s.id LEFT JOIN probe_job j ON j.id = "
		"n.job "
		"WHERE s.system = ?1 AND s.time >= ?2 AND s.time < ?3 ORDER BY s.time, n.number",
		"idd", id, from_s, to_s);
	r = statement ? 1 : -EIO;
	while (r > 0) {
		r = store_step(store, statement, err);
		if (r > 0 && report_job(statement, seen, arg)) {
			store_done(statement);
			return 0;
		}
	}
	return r;
}

int probes_load_nodes(struct store *store, const char *system, double from_s, double to_s,
		      probes_node_seen seen, void *arg, struct err *err)
{
	struct statement *statement;
	int64_t id = 0;
	int r = find_system(store, system, &id, err);

	if (r < 0)
		return r;
	statement = store_query(store, err,
				"SELECT time, a, b, c, d, e, f FROM probe_node WHERE system = ?1 "
				"AND time >= ?2 AND time < ?3 ORDER BY time",
				"idd", id, from_s, to_s);
	r = statement ? 1 : -EIO;
	while (r > 0) {
		double values[PROBE_NODE_VALUES];

		r = store_step(store, statement, err);
		if (r <= 0)
			break;
		for (int i = 0; i < PROBE_NODE_VALUES; i++)
			values[i] = read_real(statement, i + 1);
		if (seen(arg, store_real(statement, 0), values)) {
			store_done(statement);
			return 0;
		}
	}
	return r;
}

int probes_systems(struct store *store, probes_system_seen seen, void *arg, struct err *err)
{
	struct statement *statement = store_query(
		store, err,
		"WITH times AS (SELECT system, time FROM probe_round "
		"UNION ALL SELECT system, time FROM probe_snapshot) "
		"SELECT name, (SELECT count(*) FROM probe_target t WHERE t.system = s.id), "
		"(SELECT count(*) FROM probe_round r CROSS JOIN probe p ON p.round = r.id "
		"WHERE r.system = s.id), "
		"(SELECT count(*) FROM probe_snapshot n WHERE n.system = s.id), "
		"(SELECT min(time) FROM times WHERE system = s.id), "
		"(SELECT max(time) FROM times WHERE system = s.id) "
		"FROM probe_system s ORDER BY name",
		"");
	int r = statement ? 1 : -EIO;

	while (r > 0) {
		struct probe_system system;

		r = store_step(store, statement, err);
		if (r <= 0)
			break;
		system.name = store_text(statement, 0);
		system.targets = (uint64_t)store_number(statement, 1);
		system.rows = (uint64_t)store_number(statement, 2);
		system.snapshots = (uint64_t)store_number(statement, 3);
		system.from_s = read_real(statement, 4);
		system.to_s = read_real(statement, 5);
		if (seen(arg, &system)) {
			store_done(statement);
			return 0;
		}
	}
	return r;
}

/* Deletes the rows older than before_s and, if that is INFINITY, the system. */
static int delete_rows(struct store *store, int64_t system, double before_s, struct err *err)
{
	int r = store_run(store, err,
			  "DELETE FROM probe WHERE round IN (SELECT id FROM probe_round "
			  "WHERE system = ?1 AND time < ?2)",
			  "id", system, before_s);

	if (r >= 0)
		r = store_run(store, err, "DELETE FROM probe_round WHERE system = ?1 AND time < ?2",
			      "id", system, before_s);
	if (r >= 0)
		r = store_run(store, err,
			      "DELETE FROM probe_running WHERE snapshot IN (SELECT id FROM "
			      "probe_snapshot WHERE system = ?1 AND time < ?2)",
			      "id", system, before_s);
	if (r >= 0)
		r = store_run(store, err,
			      "DELETE FROM probe_snapshot WHERE system = ?1 AND time < ?2", "id",
			      system, before_s);
	if (r >= 0)
		r = store_run(store, err, "DELETE FROM probe_node WHERE system = ?1 AND time < ?2",
			      "id", system, before_s);
	if (r >= 0)
		r = store_run(store, err,
			      "DELETE FROM probe_job WHERE system = ?1 AND id NOT IN "
			      "(SELECT job FROM probe_running)",
			      "i", system);
	if (r < 0 || before_s < INFINITY)
		return r;
	r = store_run(store, err, "DELETE FROM probe_target WHERE system = ?1", "i", system);
	return r < 0 ? r
		     : store_run(store, err, "DELETE FROM probe_system WHERE id = ?1", "i", system);
}

/* Fails with -ENOENT if there is nothing to delete. */
static int check_older_rows(struct store *store, int64_t system, const char *name, double before_s,
			    struct err *err)
{
	int64_t found = store_first_number(
		store,
		store_query(
			store, err,
			"SELECT 1 FROM probe_round WHERE system = ?1 AND time < ?2 UNION ALL "
			"SELECT 1 FROM probe_snapshot WHERE system = ?1 AND time < ?2 UNION ALL "
			"SELECT 1 FROM probe_node WHERE system = ?1 AND time < ?2 LIMIT 1",
			"id", system, before_s),
		err);

	if (found || before_s == INFINITY)
		return found < 0 ? (int)found : 0;
	return err_set(err, ENOENT, "%s: no probe data of system \"%s\" is that old",
		       store_path(store), name);
}

int probes_forget(struct store *store, const char *system, double before_s, struct err *err)
{
	int64_t id = 0;
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = find_system(store, system, &id, err);
	if (r >= 0)
		r = check_older_rows(store, id, system, before_s, err);
	if (r >= 0)
		r = delete_rows(store, id, before_s, err);
	return store_end_with(store, r, err);
}
