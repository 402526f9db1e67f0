/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/knowledge.h"

#include <errno.h>
#include <sqlite3.h>

#include "base/err.h"
#include "base/text.h"
#include "store/store_internal.h"

#define COLUMNS                                                                                \
	"id, program, fingerprint, arguments, platform, filesystem, ranks, size, parameters, " \
	"objective, before, after, gain, gain_low, gain_high, found, study, pinned, compared"

/* Finds the entry of a key. Returns 1, 0 if there is none, or -errno. */
static int find_key(struct store *store, const struct knowledge_key *key, int64_t *id, bool *pinned,
		    struct err *err)
{
	struct sqlite3_stmt *statement = store_query(
		store, err,
		"SELECT id, pinned FROM knowledge WHERE program = ?1 AND fingerprint = ?2 AND "
		"arguments = ?3 AND platform = ?4 AND filesystem = ?5 AND ranks = ?6 AND size = ?7",
		"tttttii", key->program, key->fingerprint, key->arguments, key->platform,
		key->filesystem, (int64_t)key->ranks, (int64_t)key->size_class);
	int r;

	if (!statement)
		return -EIO;
	r = store_step(store, statement, err);
	if (r > 0) {
		*id = sqlite3_column_int64(statement, 0);
		*pinned = sqlite3_column_int(statement, 1) != 0;
		store_done(statement);
	}
	return r;
}

static int write_row(struct store *store, const struct knowledge *k, struct err *err)
{
	return store_run(
		store, err,
		"INSERT INTO knowledge (program, fingerprint, arguments, platform, filesystem, "
		"ranks, size, parameters, objective, before, after, gain, gain_low, gain_high, "
		"found, study, pinned, compared) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
		"?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) "
		"ON CONFLICT (program, fingerprint, arguments, platform, filesystem, ranks, size) "
		"DO UPDATE SET parameters = excluded.parameters, objective = excluded.objective, "
		"before = excluded.before, after = excluded.after, gain = excluded.gain, "
		"gain_low = excluded.gain_low, gain_high = excluded.gain_high, "
		"found = excluded.found, study = excluded.study, pinned = excluded.pinned, "
		"compared = excluded.compared",
		"tttttiittddddditit", k->key.program, k->key.fingerprint, k->key.arguments,
		k->key.platform, k->key.filesystem, (int64_t)k->key.ranks,
		(int64_t)k->key.size_class, k->parameters, k->objective, k->before, k->after,
		k->gain, k->gain_low, k->gain_high, k->found_ns, k->study, (int64_t)k->pinned,
		text_or_empty(k->compared));
}

static int put_locked(struct store *store, const struct knowledge *k, int64_t *id, struct err *err)
{
	bool pinned = false;
	int r = find_key(store, &k->key, id, &pinned, err);

	if (r > 0 && pinned)
		return err_set(
			err, EEXIST,
			"entry %lld (%s, %u ranks) is pinned; unpin it with 'sluice kb unpin'",
			(long long)*id, k->key.program, k->key.ranks);
	if (r >= 0)
		r = write_row(store, k, err);
	if (r >= 0)
		r = find_key(store, &k->key, id, &pinned, err);
	return r < 0 ? r : 0;
}

int knowledge_put(struct store *store, const struct knowledge *knowledge, int64_t *id,
		  struct err *err)
{
	int64_t given = 0;
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = put_locked(store, knowledge, &given, err);
	if (r < 0) {
		store_end(store, 0, NULL);
		return r;
	}
	r = store_end(store, 1, err);
	if (r >= 0 && id)
		*id = given;
	return r;
}

int knowledge_put_all(struct store *store, const struct knowledge *const *list, size_t count,
		      size_t *pinned, struct err *err)
{
	size_t left = 0;
	int64_t id;
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count && (r >= 0 || r == -EEXIST); i++) {
		r = put_locked(store, list[i], &id, err);
		left += r == -EEXIST;
	}
	if (r < 0 && r != -EEXIST) {
		store_end(store, 0, NULL);
		return r;
	}
	r = store_end(store, 1, err);
	if (r >= 0)
		*pinned = left;
	return r;
}

static void read_row(struct sqlite3_stmt *s, struct knowledge *k)
{
	*k = (struct knowledge){
		.id = sqlite3_column_int64(s, 0),
		.key = { .program = store_text(s, 1),
			 .fingerprint = store_text(s, 2),
			 .arguments = store_text(s, 3),
			 .platform = store_text(s, 4),
			 .filesystem = store_text(s, 5),
			 .ranks = (uint32_t)sqlite3_column_int64(s, 6),
			 .size_class = (unsigned)sqlite3_column_int64(s, 7) },
		.parameters = store_text(s, 8),
		.objective = store_text(s, 9),
		.before = sqlite3_column_double(s, 10),
		.after = sqlite3_column_double(s, 11),
		.gain = sqlite3_column_double(s, 12),
		.gain_low = sqlite3_column_double(s, 13),
		.gain_high = sqlite3_column_double(s, 14),
		.found_ns = sqlite3_column_int64(s, 15),
		.study = store_text(s, 16),
		.pinned = sqlite3_column_int(s, 17) != 0,
		.compared = store_text(s, 18),
	};
}

/* Calls seen() for each row until it stops. Returns the number of rows it was called for. */
static int report_rows(struct store *store, struct sqlite3_stmt *statement, knowledge_seen seen,
		       void *arg, struct err *err)
{
	struct knowledge knowledge;
	int r, count = 0;

	while ((r = store_step(store, statement, err)) > 0) {
		read_row(statement, &knowledge);
		count++;
		if (seen(arg, &knowledge)) {
			store_done(statement);
			return count;
		}
	}
	return r < 0 ? r : count;
}

int knowledge_list(struct store *store, knowledge_seen seen, void *arg, struct err *err)
{
	struct sqlite3_stmt *statement = store_query(
		store, err, "SELECT " COLUMNS " FROM knowledge ORDER BY program, ranks, id", "");
	int r;

	if (!statement)
		return -EIO;
	r = report_rows(store, statement, seen, arg, err);
	return r < 0 ? r : 0;
}

static int fail_missing(int64_t id, struct err *err)
{
	return err_set(err, ENOENT, "unknown entry %lld; 'sluice kb list' shows all",
		       (long long)id);
}

int knowledge_get(struct store *store, int64_t id, knowledge_seen seen, void *arg, struct err *err)
{
	struct sqlite3_stmt *statement =
		store_query(store, err, "SELECT " COLUMNS " FROM knowledge WHERE id = ?1", "i", id);
	int r;

	if (!statement)
		return -EIO;
	r = report_rows(store, statement, seen, arg, err);
	return r < 0 ? r : r ? 0 : fail_missing(id, err);
}

static int stop_at_first(void *arg, const struct knowledge *knowledge)
{
	(void)arg;
	(void)knowledge;
	return 1;
}

/* Changes an entry, in one transaction with the check that it exists. */
static int change_entry(struct store *store, int64_t id, const char *sql, const char *format,
			int64_t value, struct err *err)
{
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = knowledge_get(store, id, stop_at_first, NULL, err);
	if (r >= 0)
		r = store_run(store, err, sql, format, id, value);
	return store_end_with(store, r, err);
}

int knowledge_forget(struct store *store, int64_t id, struct err *err)
{
	return change_entry(store, id, "DELETE FROM knowledge WHERE id = ?1", "i", 0, err);
}

int knowledge_pin(struct store *store, int64_t id, bool pinned, struct err *err)
{
	return change_entry(store, id, "UPDATE knowledge SET pinned = ?2 WHERE id = ?1", "ii",
			    pinned, err);
}

enum { FIT_NONE, FIT_OTHER_CODE, FIT_OTHER_ARGUMENTS, FIT_SAME };

struct found {
	const struct knowledge_key *key;
	knowledge_seen seen;
	void *arg;
	int fit;
};

static int rate_fit(const struct knowledge_key *a, const struct knowledge_key *b)
{
	if (!a->fingerprint || !text_equal(a->fingerprint, b->fingerprint))
		return FIT_OTHER_CODE;
	return a->arguments && text_equal(a->arguments, b->arguments) ? FIT_SAME
								      : FIT_OTHER_ARGUMENTS;
}

static int report_found(void *arg, const struct knowledge *knowledge)
{
	struct found *found = arg;

	found->fit = rate_fit(found->key, &knowledge->key);
	found->seen(found->arg, knowledge);
	return 1;
}

int knowledge_find(struct store *store, const struct knowledge_key *key, knowledge_seen seen,
		   void *arg, struct err *err)
{
	struct found found = { key, seen, arg, FIT_NONE };
	/* Among equal matches the nearest size wins, then a pinned entry, then the latest one. */
	struct sqlite3_stmt *statement = store_query(
		store, err,
		"SELECT " COLUMNS " FROM knowledge WHERE program = ?1 AND ranks = ?2 AND "
		"platform = ?3 AND filesystem = ?4 "
		"ORDER BY fingerprint = ?5 DESC, arguments = ?6 DESC, abs(size - ?7), "
		"pinned DESC, found DESC, id DESC LIMIT 1",
		"titttti", key->program, (int64_t)key->ranks, key->platform, key->filesystem,
		key->fingerprint, key->arguments, (int64_t)key->size_class);
	int r;

	if (!statement)
		return -EIO;
	r = report_rows(store, statement, report_found, &found, err);
	return r < 0 ? r : found.fit;
}
