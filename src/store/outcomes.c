/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-40.
 */
#include "store/outcomes.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "store/store_internal.h"

unsigned outcomes_size_class(double bytes)
{
	unsigned class = 0;

	for (; bytes >= 4 && class < OUTCOMES_SIZE_CLASSES - 1; bytes /= 4)
		class ++;
	return class;
}

int outcomes_add(struct store *store, const struct outcome_key *key, const char *run,
		 const char *hints, double bytes, double seconds, struct err *err)
{
	if (!(bytes > 0) || !(seconds > 0))
		return err_set(err, EINVAL, "bytes and seconds of an outcome must be positive");
	/* Welford's algorithm; the columns on the right-hand side have the old values. */
	return store_run(
		store, err,
		"INSERT INTO outcome (operation, \"user\", program, extension, filesystem, size, "
		"hints, run, count, bytes, seconds, rate, spread) "
		"SELECT ?1, ?2, ?3, ?4, ?12, ?5, ?6, CASE WHEN count(*) < ?8 THEN ?7 ELSE '' END, "
		"1, ?9, ?10, ?11, 0 FROM outcome WHERE operation = ?1 AND \"user\" = ?2 AND "
		"program = ?3 AND extension = ?4 AND filesystem = ?12 AND size = ?5 AND "
		"hints = ?6 AND run <> ?7 ON CONFLICT "
		"(operation, \"user\", program, extension, filesystem, size, hints, run) "
		"DO UPDATE SET count = outcome.count + 1, bytes = outcome.bytes + excluded.bytes, "
		"seconds = outcome.seconds + excluded.seconds, "
		"rate = outcome.rate + (excluded.rate - outcome.rate) / (outcome.count + 1), "
		"spread = outcome.spread + (excluded.rate - outcome.rate) * "
		"(excluded.rate - outcome.rate) * outcome.count / (outcome.count + 1.0)",
		"ttttittidddt", key->operation, key->user, key->program, key->extension,
		(int64_t)key->size_class, hints, run, (int64_t)OUTCOMES_RUNS, bytes, seconds,
		bytes / seconds, key->filesystem);
}

void outcome_join(struct outcome *sum, const struct outcome *more)
{
	double n = (double)sum->count, m = (double)more->count, apart = more->rate - sum->rate;

	if (!more->count)
		return;
	sum->count += more->count;
	sum->bytes += more->bytes;
	sum->seconds += more->seconds;
	sum->rate += apart * m / (n + m);
	sum->spread += more->spread + apart * apart * n * m / (n + m);
}

double outcome_deviation(const struct outcome *outcome)
{
	return outcome->count < 2 ? 0 : sqrt(outcome->spread / (double)(outcome->count - 1));
}

static int report_row(struct statement *s, outcomes_seen seen, void *arg)
{
	struct outcome_key key = {
		store_text(s, 0), store_text(s, 1), store_text(s, 2),
		store_text(s, 3), store_text(s, 4), (unsigned)store_number(s, 5)
	};
	struct outcome outcome = { (uint64_t)store_number(s, 7),
				   (uint64_t)store_number(s, 8),
				   store_real(s, 9),
				   store_real(s, 10),
				   store_real(s, 11),
				   fmax(0, store_real(s, 12)) };

	/* Other programs can change the file. */
	if (!outcome.count || !(outcome.bytes > 0) || !(outcome.seconds > 0) || !(outcome.rate > 0))
		return 0;
	return seen(arg, &key, store_text(s, 6), &outcome);
}

int outcomes_list(struct store *store, const struct outcomes_filter *filter, outcomes_seen seen,
		  void *arg, struct err *err)
{
	struct statement *statement = store_query(
		store, err,
		"SELECT operation, CASE ?2 WHEN 1 THEN '*' ELSE \"user\" END AS user_key, program, "
		"CASE ?3 WHEN 1 THEN '*' ELSE extension END AS extension_key, filesystem, size, "
		"hints, count(DISTINCT run), "
		"sum(count), sum(bytes), sum(seconds), sum(count * rate) / sum(count), "
		"sum(spread) + sum(count * rate * rate) - "
		"sum(count * rate) * sum(count * rate) / sum(count) FROM outcome "
		"WHERE (?1 IS NULL OR \"user\" = ?1) AND size BETWEEN 0 AND ?4 AND count > 0 AND "
		"bytes > 0 AND seconds > 0 AND rate > 0 AND spread >= 0 "
		"GROUP BY operation, user_key, program, extension_key, filesystem, size, hints "
		"ORDER BY operation, user_key, program, extension_key, filesystem, size, hints",
		"tiii", filter->user, (int64_t)filter->joins_users,
		(int64_t)filter->joins_extensions, (int64_t)OUTCOMES_SIZE_CLASSES - 1);
	int r = 0, stop = 0;

	if (!statement)
		return -EIO;
	while (!stop && (r = store_step(store, statement, err)) > 0)
		stop = report_row(statement, seen, arg);
	if (stop)
		store_done(statement);
	return stop ? 0 : r;
}

int outcomes_add_opens(struct store *store, const char *user, const char *extension, uint64_t opens,
		       uint64_t explored, struct err *err)
{
	return store_run(store, err,
			 "INSERT INTO trial (\"user\", extension, opens, explored) "
			 "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (\"user\", extension) DO UPDATE "
			 "SET opens = trial.opens + excluded.opens, "
			 "explored = trial.explored + excluded.explored",
			 "ttii", user, extension, (int64_t)opens, (int64_t)explored);
}

int outcomes_count_opens(struct store *store, const char *user, uint64_t *opens, uint64_t *explored,
			 struct err *err)
{
	struct statement *statement = store_query(
		store, err, "SELECT sum(opens), sum(explored) FROM trial WHERE \"user\" = ?1", "t",
		user);
	int64_t sums[2] = { 0, 0 };
	int r;

	if (!statement)
		return -EIO;
	while ((r = store_step(store, statement, err)) > 0)
		for (int i = 0; i < 2; i++)
			sums[i] = store_number(statement, i);
	if (r < 0)
		return r;
	*opens = sums[0] > 0 ? (uint64_t)sums[0] : 0;
	*explored = sums[1] > 0 ? (uint64_t)sums[1] : 0;
	return 0;
}

int outcomes_forget(struct store *store, struct err *err)
{
	int r = store_run(store, err, "DELETE FROM outcome", "");

	return r < 0 ? r : store_run(store, err, "DELETE FROM trial", "");
}
