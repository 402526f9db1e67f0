/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/agreement.h"

#include <errno.h>

#include "base/clock.h"
#include "base/err.h"
#include "site/site_internal.h"
#include "store/store_internal.h"

/* Older rows are of another job that had the same id, or of none that still asks. */
#define STALE_NS (600 * NS_PER_S)

int site_agreement_vote(struct site_db *site, const char *job, const char *node, uint32_t ranks,
			uint32_t votes, uint64_t digest, struct err *err)
{
	int64_t now = clock_realtime_ns();
	int r = store_run(site->store, err,
			  "DELETE FROM agreement WHERE changed_ns < ?1 OR changed_ns > ?2", "ii",
			  now - STALE_NS, now + STALE_NS);

	if (r < 0)
		return r;
	return store_run(site->store, err,
			 "INSERT INTO agreement (job, node, ranks, votes, digest, state, "
			 "changed_ns) VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6) ON CONFLICT (job, node) "
			 "DO UPDATE SET votes = excluded.votes, changed_ns = excluded.changed_ns",
			 "ttiiii", job, node, (int64_t)ranks, (int64_t)votes, (int64_t)digest, now);
}

int site_agreement_confirm(struct site_db *site, const char *job, const char *node, struct err *err)
{
	return store_run(site->store, err,
			 "UPDATE agreement SET state = 1 WHERE job = ?1 AND node = ?2", "tt", job,
			 node);
}

static void read_view(struct statement *rows, struct agreement_view *view)
{
	int64_t verdict = store_number(rows, 6);

	*view = (struct agreement_view){
		.votes = (uint64_t)store_number(rows, 0),
		.is_same = store_number(rows, 1) == store_number(rows, 2) &&
			   store_number(rows, 3) == store_number(rows, 4),
		.is_confirmed = store_number(rows, 5) == 1,
		.verdict = verdict == VERDICT_GRANTED || verdict == VERDICT_REFUSED
				   ? (enum agreement_verdict)verdict
				   : VERDICT_NONE,
	};
}

int site_agreement_read(struct site_db *site, const char *job, struct agreement_view *view,
			struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT sum(votes), min(digest), max(digest), min(ranks), max(ranks), min(state), "
		"(SELECT state FROM agreement WHERE job = ?1 AND node = '') FROM agreement "
		"WHERE job = ?1 AND node <> ''",
		"t", job);
	int r = rows ? store_step(site->store, rows, err) : -EIO;

	if (r <= 0)
		return r < 0 ? r : err_set(err, EIO, "the database returned no row");
	read_view(rows, view);
	store_done(rows);
	return 0;
}

int site_agreement_decide(struct site_db *site, const char *job, enum agreement_verdict proposal,
			  enum agreement_verdict *verdict, struct err *err)
{
	struct agreement_view view;
	int r = store_run(site->store, err,
			  "INSERT INTO agreement (job, node, ranks, votes, digest, state, "
			  "changed_ns) VALUES (?1, '', 0, 0, 0, ?2, ?3) ON CONFLICT (job, node) DO "
			  "NOTHING",
			  "tii", job, (int64_t)proposal, clock_realtime_ns());

	if (r >= 0)
		r = site_agreement_read(site, job, &view, err);
	if (r < 0)
		return r;
	*verdict = view.verdict;
	return 0;
}
