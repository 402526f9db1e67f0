/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: ATE-2.
 */
#include "store/knowledge.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "store/entry_runs.h"
#include "store/store_internal.h"

#define COLUMNS                                                                                 \
	"id, program, fingerprint, arguments, platform, filesystem, ranks, size, parameters, "  \
	"objective, before, after, gain, gain_low, gain_high, found, study, pinned, compared, " \
	"demoted, reason, conditions"

/* Why an existing entry may not be replaced. */
enum protection { PROTECTED_NOT, PROTECTED_BY_GAIN, PROTECTED_BY_PIN };

/* Finds the entry of a key. Returns 1, 0 if there is none, or -errno. */
static int find_key(struct store *store, const struct knowledge_key *key, int64_t *id,
		    enum protection *protection, struct err *err)
{
	struct statement *statement = store_query(
		store, err,
		"SELECT id, CASE WHEN pinned <> 0 THEN 2 WHEN parameters <> '' AND demoted = 0 "
		"THEN 1 "
		"ELSE 0 END FROM knowledge WHERE program = ?1 AND fingerprint = ?2 AND "
		"arguments = ?3 AND platform = ?4 AND filesystem = ?5 AND ranks = ?6 AND size = ?7",
		"tttttii", key->program, key->fingerprint, key->arguments, key->platform,
		key->filesystem, (int64_t)key->ranks, (int64_t)key->size_class);
	int r;

	if (!statement)
		return -EIO;
	r = store_step(store, statement, err);
	if (r > 0) {
		*id = store_number(statement, 0);
		*protection = (enum protection)store_number(statement, 1);
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
		"found, study, pinned, compared, demoted, reason, conditions) VALUES (?1, ?2, ?3, "
		"?4, ?5, ?6, "
		"?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21) "
		"ON CONFLICT (program, fingerprint, arguments, platform, filesystem, ranks, size) "
		"DO UPDATE SET parameters = excluded.parameters, objective = excluded.objective, "
		"before = excluded.before, after = excluded.after, gain = excluded.gain, "
		"gain_low = excluded.gain_low, gain_high = excluded.gain_high, "
		"found = excluded.found, study = excluded.study, pinned = excluded.pinned, "
		"compared = excluded.compared, demoted = excluded.demoted, "
		"reason = excluded.reason, conditions = excluded.conditions",
		"tttttiittddddditititt", k->key.program, k->key.fingerprint, k->key.arguments,
		k->key.platform, k->key.filesystem, (int64_t)k->key.ranks,
		(int64_t)k->key.size_class, k->parameters, k->objective, k->before, k->after,
		k->gain, k->gain_low, k->gain_high, k->found_ns, k->study, (int64_t)k->pinned,
		text_or_empty(k->compared), k->demoted_ns, text_or_empty(k->demoted_why),
		text_or_empty(k->conditions));
}

static int fail_protected(enum protection protection, int64_t id, const struct knowledge_key *key,
			  struct err *err)
{
	const char *why = protection == PROTECTED_BY_PIN
				  ? "is pinned; unpin it with 'sluice kb unpin'"
				  : "has a gain that an earlier tuning has proved; it is kept";

	return err_set(err, EEXIST, "entry %lld (%s, %u ranks) %s", (long long)id, key->program,
		       key->ranks, why);
}

static int put_locked(struct store *store, const struct knowledge *k, int64_t *id, struct err *err)
{
	enum protection protection = PROTECTED_NOT;
	int r = find_key(store, &k->key, id, &protection, err);

	if (r > 0 && (protection == PROTECTED_BY_PIN ||
		      (protection == PROTECTED_BY_GAIN && !*k->parameters)))
		return fail_protected(protection, *id, &k->key, err);
	if (r >= 0)
		r = write_row(store, k, err);
	if (r >= 0)
		r = find_key(store, &k->key, id, &protection, err);
	if (r > 0)
		r = entry_runs_reset(store, *id, err);
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
		      size_t *kept, struct err *err)
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
		*kept = left;
	return r;
}

static void read_row(struct statement *s, struct knowledge *k)
{
	*k = (struct knowledge){
		.id = store_number(s, 0),
		.key = { .program = store_text(s, 1),
			 .fingerprint = store_text(s, 2),
			 .arguments = store_text(s, 3),
			 .platform = store_text(s, 4),
			 .filesystem = store_text(s, 5),
			 .ranks = (uint32_t)store_number(s, 6),
			 .size_class = (unsigned)store_number(s, 7) },
		.parameters = store_text(s, 8),
		.objective = store_text(s, 9),
		.before = store_real(s, 10),
		.after = store_real(s, 11),
		.gain = store_real(s, 12),
		.gain_low = store_real(s, 13),
		.gain_high = store_real(s, 14),
		.found_ns = store_number(s, 15),
		.study = store_text(s, 16),
		.pinned = (int)store_number(s, 17) != 0,
		.compared = store_text(s, 18),
		.demoted_ns = store_number(s, 19),
		.demoted_why = store_text(s, 20),
		.conditions = store_text(s, 21),
	};
}

/* Calls seen() for each row until it stops. Returns the number of rows it was called for. */
static int report_rows(struct store *store, struct statement *statement, knowledge_seen seen,
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
	struct statement *statement = store_query(
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
	struct statement *statement =
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

/* In one transaction with change_entry(). */
static int forget_locked(struct store *store, int64_t id, struct err *err)
{
	int r = store_run(store, err, "DELETE FROM entry_run WHERE entry = ?1", "i", id);

	return r < 0 ? r : store_run(store, err, "DELETE FROM knowledge WHERE id = ?1", "i", id);
}

static int pin_locked(struct store *store, int64_t id, struct err *err)
{
	/* The runs that led to the demotion must not lead to the next one. */
	int r = store_run(store, err,
			  "DELETE FROM entry_run WHERE entry = ?1 AND applied <> 0 AND "
			  "(SELECT demoted FROM knowledge WHERE id = ?1) <> 0",
			  "i", id);

	return r < 0 ? r
		     : store_run(store, err,
				 "UPDATE knowledge SET pinned = 1, demoted = 0, reason = '' "
				 "WHERE id = ?1",
				 "i", id);
}

static int unpin_locked(struct store *store, int64_t id, struct err *err)
{
	return store_run(store, err, "UPDATE knowledge SET pinned = 0 WHERE id = ?1", "i", id);
}

/* Changes an entry, in one transaction with the check that it exists. */
static int change_entry(struct store *store, int64_t id,
			int (*change)(struct store *store, int64_t id, struct err *err),
			struct err *err)
{
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = knowledge_get(store, id, stop_at_first, NULL, err);
	if (r >= 0)
		r = change(store, id, err);
	return store_end_with(store, r, err);
}

int knowledge_forget(struct store *store, int64_t id, struct err *err)
{
	return change_entry(store, id, forget_locked, err);
}

int knowledge_pin(struct store *store, int64_t id, bool pinned, struct err *err)
{
	return change_entry(store, id, pinned ? pin_locked : unpin_locked, err);
}

int knowledge_demote(struct store *store, int64_t id, int64_t time_ns, const char *why,
		     struct err *err)
{
	return store_run(store, err, "UPDATE knowledge SET demoted = ?2, reason = ?3 WHERE id = ?1",
			 "iit", id, time_ns, why);
}

static bool is_known_alike(const char *a, const char *b)
{
	return a && b && *a && strcmp(a, b) == 0;
}

/* The set of enum knowledge_difference; 0: the keys are the same. */
static unsigned compare_keys(const struct knowledge_key *a, const struct knowledge_key *b)
{
	bool any_size = a->size_class == KNOWLEDGE_ANY_SIZE || b->size_class == KNOWLEDGE_ANY_SIZE;
	unsigned differs = 0;

	if (!any_size && a->size_class != b->size_class)
		differs |= KNOWLEDGE_SIZE;
	if (!text_equal(a->arguments, b->arguments))
		differs |= KNOWLEDGE_ARGUMENTS;
	if (a->ranks != b->ranks)
		differs |= KNOWLEDGE_RANKS;
	if (!text_equal(a->filesystem, b->filesystem))
		differs |= KNOWLEDGE_FILESYSTEM;
	if (!is_known_alike(a->fingerprint, b->fingerprint))
		differs |= KNOWLEDGE_CODE;
	if (!text_equal(a->program, b->program))
		differs |= KNOWLEDGE_NAME;
	if (!text_equal(a->platform, b->platform))
		differs |= KNOWLEDGE_PLATFORM;
	return differs;
}

/* The search for the entry that fits best. Rows come in order of preference among equals. */
struct best {
	const struct knowledge_key *key;
	int64_t id; /* 0: none yet */
	unsigned differs;
};

static int keep_best(void *arg, const struct knowledge *k)
{
	struct best *best = arg;
	unsigned differs = compare_keys(best->key, &k->key);

	if (differs && (!*k->parameters || k->demoted_ns))
		return 0;
	if (!best->id || differs < best->differs) {
		best->id = k->id;
		best->differs = differs;
	}
	return 0;
}

int knowledge_find(struct store *store, const struct knowledge_key *key, knowledge_seen seen,
		   void *arg, unsigned *differs, struct err *err)
{
	struct best best = { .key = key };
	/* Among equal matches the nearest size wins, then a pinned entry, then the latest one. */
	struct statement *statement = store_query(
		store, err,
		"SELECT " COLUMNS " FROM knowledge WHERE program = ?1 OR "
		"(fingerprint = ?2 AND ?2 <> '') ORDER BY CASE WHEN ?3 < 0 THEN 0 ELSE abs(size - "
		"?3) END, pinned DESC, "
		"found DESC, id DESC",
		"tti", key->program, key->fingerprint,
		key->size_class == KNOWLEDGE_ANY_SIZE ? INT64_C(-1) : (int64_t)key->size_class);
	int r;

	if (!statement)
		return -EIO;
	r = report_rows(store, statement, keep_best, &best, err);
	if (r < 0 || !best.id)
		return r < 0 ? r : 0;
	r = knowledge_get(store, best.id, seen, arg, err);
	if (r < 0)
		return r;
	*differs = best.differs;
	return 1;
}

int knowledge_last_bytes(struct store *store, const struct knowledge_key *key, double *bytes,
			 struct err *err)
{
	struct statement *statement = store_query(
		store, err,
		"SELECT r.bytes FROM entry_run r, knowledge k WHERE r.entry = k.id AND "
		"k.program = ?1 AND k.fingerprint = ?2 AND k.arguments = ?3 AND k.platform = ?4 "
		"AND k.filesystem = ?5 AND k.ranks = ?6 ORDER BY r.id DESC LIMIT 1",
		"ttttti", key->program, key->fingerprint, key->arguments, key->platform,
		key->filesystem, (int64_t)key->ranks);
	int r = statement ? store_step(store, statement, err) : -EIO;

	if (r < 0)
		return r;
	*bytes = r ? store_real(statement, 0) : NAN;
	if (r)
		store_done(statement);
	return 0;
}
