/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/access.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "store/store_internal.h"

static const char *const roles[] = { ACCESS_ROLE_USER, ACCESS_ROLE_ADMIN, ACCESS_ROLE_NODE,
				     ACCESS_ROLE_WEB };

/* The condition is computed once per query, not once per row. */
#define IS_ADMIN "(SELECT pg_has_role(current_user, '" ACCESS_ROLE_ADMIN "', 'member'))"

static const char *owner_column(const struct schema_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->columns[i].type == COLUMN_OWNER)
			return table->columns[i].name;
	return NULL;
}

/* What a row must fulfil to be read or deleted, and to be added. NULL: no policy. */
static char *read_condition(const struct schema_table *table)
{
	switch (table->access) {
	case ACCESS_OWNER:
	case ACCESS_CONCERNED:
		return xprintf("\"%s\" = current_user OR " IS_ADMIN, owner_column(table));
	case ACCESS_RUN:
		return xstrdup("run IN (SELECT id FROM run)");
	case ACCESS_STUDY:
		return xstrdup("study IN (SELECT id FROM study)");
	default:
		return NULL;
	}
}

static char *write_condition(const struct schema_table *table)
{
	switch (table->access) {
	case ACCESS_OWNER:
		return xprintf("\"%s\" = current_user", owner_column(table));
	case ACCESS_CONCERNED:
		return xstrdup("false");
	case ACCESS_RUN:
		return xstrdup("run IN (SELECT id FROM run WHERE owner = current_user)");
	case ACCESS_STUDY:
		return xstrdup("study IN (SELECT id FROM study WHERE owner = current_user)");
	default:
		return NULL;
	}
}

static void put_table_access(struct buf *sql, const struct schema_table *table)
{
	AUTO_FREE char *reads = read_condition(table), *writes = write_condition(table);
	const char *name = table->name;

	buf_printf(sql,
		   "REVOKE ALL ON \"%s\" FROM PUBLIC;\n"
		   "GRANT SELECT, INSERT, UPDATE, DELETE ON \"%s\" TO " ACCESS_ROLE_NODE ";\n"
		   "GRANT SELECT, DELETE ON \"%s\" TO " ACCESS_ROLE_ADMIN ";\n",
		   name, name, name);
	if (table->access == ACCESS_ALL)
		buf_printf(sql, "GRANT SELECT ON \"%s\" TO " ACCESS_ROLE_USER ";\n", name);
	if (!reads)
		return;
	/* Nodes and the reasoner of the system believe what these tables say. */
	buf_printf(sql,
		   "REVOKE ALL ON \"%s\" FROM " ACCESS_ROLE_USER ";\n"
		   "GRANT %s ON \"%s\" TO " ACCESS_ROLE_USER ";\n"
		   "ALTER TABLE \"%s\" ENABLE ROW LEVEL SECURITY;\n"
		   "DROP POLICY IF EXISTS sluice_rows ON \"%s\";\n"
		   "CREATE POLICY sluice_rows ON \"%s\" USING (%s) WITH CHECK (%s);\n",
		   name,
		   table->access == ACCESS_CONCERNED ? "SELECT, DELETE"
						     : "SELECT, INSERT, UPDATE, DELETE",
		   name, name, name, name, reads, writes);
}

static void put_roles(struct buf *sql)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		buf_printf(sql,
			   "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') "
			   "THEN CREATE ROLE %s NOLOGIN; END IF; END $$;\n",
			   roles[i], roles[i]);
	buf_puts(sql, "GRANT " ACCESS_ROLE_USER " TO " ACCESS_ROLE_ADMIN ", " ACCESS_ROLE_NODE ";\n"
		      "DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO " ACCESS_ROLE_USER
		      "', current_schema()); END $$;\n"
		      "ALTER ROLE " ACCESS_ROLE_WEB " NOINHERIT;\n"
		      "DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO " ACCESS_ROLE_WEB
		      "', current_schema()); END $$;\n");
}

/*
 * The web server may take the roles of all users, but not of those whom policies do not restrict.
 * Does nothing in a database whose roles an earlier version has made.
 */
static const char share_users[] =
	"DO $$ DECLARE name text; BEGIN\n"
	"IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '" ACCESS_ROLE_WEB
	"') THEN RETURN; END IF;\n"
	"FOR name IN SELECT rolname FROM pg_roles WHERE rolcanlogin AND NOT rolsuper AND NOT "
	"rolbypassrls AND pg_has_role(oid, '" ACCESS_ROLE_USER
	"', 'member') AND NOT pg_has_role(oid, '" ACCESS_ROLE_WEB "', 'member') LOOP\n"
	"  EXECUTE format('GRANT %I TO " ACCESS_ROLE_WEB "', name);\n"
	"END LOOP;\n"
	"FOR name IN SELECT u.rolname FROM pg_auth_members m JOIN pg_roles u ON u.oid = m.roleid "
	"WHERE m.member = '" ACCESS_ROLE_WEB "'::regrole AND (u.rolsuper OR u.rolbypassrls OR NOT "
	"u.rolcanlogin OR NOT pg_has_role(u.oid, '" ACCESS_ROLE_USER "', 'member')) LOOP\n"
	"  EXECUTE format('REVOKE %I FROM " ACCESS_ROLE_WEB "', name);\n"
	"END LOOP;\n"
	"END $$;\n";

/*
 * Functions that do for their callers what these have no right to do. %I is the schema. A partition
 * is attached, not created in place, because that does not wait for those who add rows.
 */
static const char functions[] =
	"DO $do$ BEGIN\n"
	"EXECUTE format($sql$\n"
	"CREATE OR REPLACE FUNCTION sluice_make_partition(day bigint) RETURNS integer\n"
	"LANGUAGE plpgsql SECURITY DEFINER SET search_path = %1$I, pg_temp AS $body$\n"
	"DECLARE part text := 'activity_' || day;\n"
	"BEGIN\n"
	"  IF to_regclass(part) IS NOT NULL THEN RETURN 0; END IF;\n"
	"  IF day < 10957 OR day > extract(epoch FROM now()) / 86400 + 3 THEN\n"
	"    RAISE EXCEPTION 'the day %% is out of range', day USING ERRCODE = '22008';\n"
	"  END IF;\n"
	"  PERFORM pg_advisory_xact_lock(8317427302);\n"
	/* Another connection may have made it meanwhile, which the caches of this one need not
	   show. */
	"  BEGIN\n"
	"    EXECUTE format('CREATE TABLE %%I (LIKE activity INCLUDING DEFAULTS)', part);\n"
	"  EXCEPTION WHEN duplicate_table THEN RETURN 0;\n"
	"  END;\n"
	"  EXECUTE format('ALTER TABLE activity ATTACH PARTITION %%I FOR VALUES FROM (%%s) TO "
	"(%%s)',\n"
	"    part, day * 86400000000000, (day + 1) * 86400000000000);\n"
	"  RETURN 1;\n"
	"END $body$\n"
	"$sql$, current_schema());\n"
	"EXECUTE format($sql$\n"
	"CREATE OR REPLACE FUNCTION sluice_drop_empty_partitions() RETURNS integer\n"
	"LANGUAGE plpgsql SECURITY DEFINER SET search_path = %1$I, pg_temp AS $body$\n"
	"DECLARE part text; used boolean; dropped integer := 0;\n"
	"BEGIN\n"
	"  LOCK TABLE ONLY activity IN ACCESS EXCLUSIVE MODE;\n"
	"  FOR part IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = "
	"i.inhrelid\n"
	"    WHERE i.inhparent = 'activity'::regclass ORDER BY 1 LOOP\n"
	"    EXECUTE format('SELECT EXISTS (SELECT FROM %%I)', part) INTO used;\n"
	"    IF NOT used THEN EXECUTE format('DROP TABLE %%I', part); dropped := dropped + 1; "
	"END IF;\n"
	"  END LOOP;\n"
	"  RETURN dropped;\n"
	"END $body$\n"
	"$sql$, current_schema());\n"
	"EXECUTE format($sql$\n"
	"CREATE OR REPLACE FUNCTION sluice_is_forgotten(run_uuid text, run_owner text, started "
	"bigint)\n"
	"RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = %1$I, pg_temp AS "
	"$body$\n"
	"  SELECT count(*) FROM forgotten WHERE uuid IN (run_uuid, 'user:' || run_owner)\n"
	"    AND before_ns >= started\n"
	"$body$\n"
	"$sql$, current_schema());\n"
	"END $do$;\n"
	"REVOKE ALL ON FUNCTION sluice_make_partition(bigint), sluice_drop_empty_partitions(), "
	"sluice_is_forgotten(text, text, bigint) FROM PUBLIC;\n"
	"GRANT EXECUTE ON FUNCTION sluice_make_partition(bigint), "
	"sluice_is_forgotten(text, text, bigint) TO " ACCESS_ROLE_USER ";\n"
	"GRANT EXECUTE ON FUNCTION sluice_drop_empty_partitions() TO " ACCESS_ROLE_NODE
	", " ACCESS_ROLE_ADMIN ";\n";

/* Users may say of their own runs, and of themselves, that they are to be forgotten. */
static const char forgotten_policy[] =
	"GRANT INSERT ON forgotten TO " ACCESS_ROLE_USER ";\n"
	"ALTER TABLE forgotten ENABLE ROW LEVEL SECURITY;\n"
	"DROP POLICY IF EXISTS sluice_read ON forgotten;\n"
	"DROP POLICY IF EXISTS sluice_add ON forgotten;\n"
	"CREATE POLICY sluice_read ON forgotten FOR SELECT USING (" IS_ADMIN ");\n"
	"CREATE POLICY sluice_add ON forgotten FOR INSERT WITH CHECK (" IS_ADMIN
	" OR uuid = 'user:' || current_user OR uuid IN (SELECT uuid FROM run WHERE owner = "
	"current_user));\n";

/* Calls with names instead of numbers. The view has the rights of its reader. */
static const char views[] =
	"DROP VIEW IF EXISTS activities;\n"
	"CREATE VIEW activities WITH (security_invoker = true) AS SELECT r.uuid AS run_uuid, "
	"r.owner, r.job, r.program, p.rank, a.process, to_timestamp(a.time_ns / 1e9) AS started, "
	"a.time_ns, a.duration_ns, coalesce(a.layer, c.layer) AS layer, c.name AS function, "
	"c.class, f.path AS file, a.size, a.position, a.result, coalesce(a.error, 0) AS error, "
	"a.id, a.parent, a.collective FROM activity a JOIN run r ON r.id = a.run "
	"JOIN run_process p ON p.run = a.run AND p.process = a.process "
	"JOIN run_call c ON c.run = a.run AND c.call = a.call "
	"LEFT JOIN run_file f ON f.run = a.run AND f.file = a.file;\n"
	"GRANT SELECT ON activities TO " ACCESS_ROLE_USER ";\n";

int access_init(struct store *store, struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };
	int r;

	if (store_dialect(store) != DIALECT_POSTGRES)
		return 0;
	put_roles(&sql);
	for (size_t i = 0; i < schema_table_count; i++)
		put_table_access(&sql, &schema_tables[i]);
	buf_puts(&sql,
		 "GRANT SELECT ON schema_version TO " ACCESS_ROLE_USER ", " ACCESS_ROLE_WEB ";\n");
	buf_puts(&sql, functions);
	buf_puts(&sql, forgotten_policy);
	buf_puts(&sql, views);
	buf_puts(&sql, share_users);
	r = store_begin(store, err);
	if (r < 0)
		return r;
	r = store_end_with(store, store_execute(store, buf_text(&sql), err), err);
	if (r == -EACCES)
		return err_set(err, EACCES,
			       "%s: creating roles and policies needs the rights of a superuser; "
			       "run 'sluice site init' as the user postgres",
			       store_path(store));
	return r;
}

/* Runs a statement whose %I is a name, which the server quotes. */
static int execute_with_name(struct store *store, const char *pattern, const char *name,
			     struct err *err)
{
	struct statement *rows =
		store_query(store, err, "SELECT format(?1, ?2)", "tt", pattern, name);
	AUTO_FREE char *sql = NULL;
	int r = rows ? store_step(store, rows, err) : -EIO;

	if (r <= 0)
		return r < 0 ? r : -EIO;
	sql = xstrdup(store_text(rows, 0));
	store_done(rows);
	return store_execute(store, sql, err);
}

static int check_server(struct store *store, struct err *err)
{
	if (store_dialect(store) == DIALECT_POSTGRES)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "%s: an SQLite file has no users; the mode of the file decides who may "
		       "read it",
		       store_path(store));
}

static bool is_role(const char *role)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(role, roles[i]))
			return true;
	return false;
}

static int grant_locked(struct store *store, const char *user, const char *role, struct err *err)
{
	AUTO_FREE char *grant = xprintf("GRANT %s TO %%I", role);
	int64_t exists = store_first_number(
		store,
		store_query(store, err, "SELECT count(*) FROM pg_roles WHERE rolname = ?1", "t",
			    user),
		err);
	int r = exists < 0 ? (int)exists : 0;

	if (!r && !exists)
		r = execute_with_name(store, "CREATE ROLE %I LOGIN", user, err);
	if (r >= 0)
		r = execute_with_name(store, grant, user, err);
	if (r >= 0 && !strcmp(role, ACCESS_ROLE_NODE))
		r = execute_with_name(store, "ALTER ROLE %I BYPASSRLS", user, err);
	return r < 0 ? r : store_execute(store, share_users, err);
}

int access_grant(struct store *store, const char *user, const char *role, struct err *err)
{
	int r = check_server(store, err);

	if (r >= 0 && !is_role(role))
		return err_set(err, EINVAL, "%s: unknown role", role);
	if (r >= 0)
		r = store_begin(store, err);
	if (r < 0)
		return r;
	return store_end_with(store, grant_locked(store, user, role, err), err);
}

int access_revoke(struct store *store, const char *user, const char *role, struct err *err)
{
	AUTO_FREE char *revoke = xprintf("REVOKE %s FROM %%I", role);
	int r = check_server(store, err);

	if (r >= 0 && !is_role(role))
		return err_set(err, EINVAL, "%s: unknown role", role);
	if (r >= 0)
		r = execute_with_name(store, revoke, user, err);
	return r < 0 ? r : store_execute(store, share_users, err);
}

/* The users that have the role now; store_free_texts() frees the list. */
static int list_members(struct store *store, const char *role, char ***out, struct err *err)
{
	return store_read_texts(
		store,
		store_query(store, err,
			    "SELECT u.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = "
			    "m.roleid JOIN pg_roles u ON u.oid = m.member WHERE r.rolname = ?1 "
			    "ORDER BY 1",
			    "t", role),
		out, err);
}

static bool is_in_list(char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

int access_sync_group(struct store *store, const char *group, size_t *changed, struct err *err)
{
	struct group *found = getgrnam(group);
	char **members = NULL;
	size_t count = 0;
	int r = check_server(store, err);

	if (r >= 0 && !found)
		return err_set(err, ENOENT, "%s: unknown group; check the setting site.group",
			       group);
	if (r >= 0)
		r = list_members(store, ACCESS_ROLE_ADMIN, &members, err);
	for (char **user = found ? found->gr_mem : NULL; r >= 0 && user && *user; user++)
		if (!is_in_list(members, *user)) {
			r = access_grant(store, *user, ACCESS_ROLE_ADMIN, err);
			count++;
		}
	if (r >= 0 && !is_in_list(members, "root"))
		r = access_grant(store, "root", ACCESS_ROLE_ADMIN, err);
	for (char **user = members; r >= 0 && user && *user; user++)
		if (strcmp(*user, "root") != 0 && !is_in_list(found->gr_mem, *user)) {
			r = access_revoke(store, *user, ACCESS_ROLE_ADMIN, err);
			count++;
		}
	store_free_texts(members);
	if (r >= 0)
		*changed = count;
	return r;
}
