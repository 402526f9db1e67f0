/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/status.h"

#include <errno.h>

#include "site/site_internal.h"

static int read_runs(struct site_db *site, struct site_status *s, struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT count(*), count(DISTINCT owner), coalesce(min(started_ns), 0), "
		"coalesce(max(started_ns), 0), coalesce(sum(CASE WHEN a.run IS NULL THEN kept ELSE "
		"0 END), 0), coalesce(sum(a.activities), 0) FROM run r LEFT JOIN archive a ON "
		"a.run = r.id",
		"");
	int64_t *const to[] = { &s->runs,    &s->users,	     &s->first_ns,
				&s->last_ns, &s->activities, &s->archived };
	int r = rows ? store_step(site->store, rows, err) : -EIO;

	if (r <= 0)
		return r < 0 ? r : -EIO;
	for (int i = 0; i < 6; i++)
		*to[i] = store_number(rows, i);
	store_done(rows);
	return 0;
}

static int64_t query_one(struct site_db *site, const char *sql, struct err *err)
{
	return store_first_number(site->store, store_query(site->store, err, sql, ""), err);
}

/* Only administrators see the nodes. */
static void read_nodes(struct site_db *site, struct site_status *s)
{
	struct statement *rows = store_query(
		site->store, NULL,
		"SELECT count(*), coalesce(max(changed), 0) FROM source WHERE sequence > 0", "");

	s->nodes = -1;
	if (!rows || store_step(site->store, rows, NULL) <= 0)
		return;
	s->nodes = store_number(rows, 0);
	s->heard_ns = store_number(rows, 1);
	store_done(rows);
}

int site_status(struct site_db *site, struct site_status *status, struct err *err)
{
	struct site_status s = { 0 };
	int r = store_version(site->store, &s.version, err);

	if (r >= 0)
		r = read_runs(site, &s, err);
	if (r < 0)
		return r;
	s.findings = query_one(site, "SELECT count(*) FROM finding", err);
	if (s.findings < 0)
		return (int)s.findings;
	s.bytes = query_one(site,
			    site_is_postgres(site)
				    ? "SELECT pg_database_size(current_database())"
				    : "SELECT page_count * page_size FROM pragma_page_count(), "
				      "pragma_page_size()",
			    NULL);
	if (site_is_postgres(site))
		s.partitions = query_one(site,
					 "SELECT count(*) FROM pg_inherits WHERE inhparent = "
					 "'activity'::regclass",
					 NULL);
	read_nodes(site, &s);
	*status = s;
	return 0;
}
