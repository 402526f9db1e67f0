/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: GA-12.
 */
#include "store/studies.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"
#include "store/store_internal.h"

#define STUDY_COLUMNS                                                     \
	"SELECT id, command, plan, digest, state, begun, changed, gain, " \
	"gain_low, gain_high, conditions FROM study "

int study_begin(struct store *store, const struct study *study, const struct study_run *first,
		int64_t *id, struct err *err)
{
	struct statement *statement;
	int64_t made = 0;
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = -EIO;
	statement = store_query(store, err,
				"INSERT INTO study (command, plan, digest, state, begun, changed) "
				"VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
				"ttttii", study->command, study->plan, study->digest, study->state,
				study->begun_ns, study->changed_ns);
	if (statement) {
		while ((r = store_step(store, statement, err)) > 0)
			made = store_number(statement, 0);
	}
	if (r >= 0 && first)
		r = study_add_run(store, made, first, err);
	r = store_end_with(store, r, err);
	if (r >= 0)
		*id = made;
	return r;
}

int study_set_state(struct store *store, int64_t id, const char *state, int64_t changed_ns,
		    struct err *err)
{
	return store_run(store, err, "UPDATE study SET state = ?2, changed = ?3 WHERE id = ?1",
			 "iti", id, state, changed_ns);
}

int study_set_result(struct store *store, int64_t id, double gain, double low, double high,
		     const char *conditions, struct err *err)
{
	return store_run(store, err,
			 "UPDATE study SET gain = ?2, gain_low = ?3, gain_high = ?4, "
			 "conditions = ?5 WHERE id = ?1",
			 "idddt", id, gain, low, high, conditions);
}

int study_add_run(struct store *store, int64_t id, const struct study_run *run, struct err *err)
{
	return store_run(store, err,
			 "INSERT INTO study_run (study, number, phase, point, parameters, "
			 "effective, state, reason, cost, run, io, read, written, digest, begun, "
			 "compared, foreign_load, frequency) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
			 "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
			 "iitittttdddddtitdd", id, run->number, run->phase, (int64_t)run->point,
			 run->parameters, text_or_empty(run->effective), run->state,
			 text_or_empty(run->reason), run->cost, run->run_s, run->io_s,
			 run->read_bytes, run->write_bytes, text_or_empty(run->digest),
			 run->begun_ns, text_or_empty(run->compared), run->foreign, run->frequency);
}

static double real_or_nan(struct statement *s, int column)
{
	bool is_null = store_is_null(s, column);

	return is_null ? NAN : store_real(s, column);
}

static int report_run(struct statement *s, study_run_seen seen, void *arg)
{
	struct study_run run = {
		.number = store_number(s, 0),
		.phase = store_text(s, 1),
		.point = (uint64_t)store_number(s, 2),
		.parameters = store_text(s, 3),
		.effective = store_text(s, 4),
		.state = store_text(s, 5),
		.reason = store_text(s, 6),
		.cost = real_or_nan(s, 7),
		.run_s = store_real(s, 8),
		.io_s = store_real(s, 9),
		.read_bytes = store_real(s, 10),
		.write_bytes = store_real(s, 11),
		.digest = store_text(s, 12),
		.begun_ns = store_number(s, 13),
		.compared = store_text(s, 14),
		.foreign = real_or_nan(s, 15),
		.frequency = real_or_nan(s, 16),
	};

	return seen(arg, &run);
}

int study_runs(struct store *store, int64_t id, study_run_seen seen, void *arg, struct err *err)
{
	struct statement *statement =
		store_query(store, err,
			    "SELECT number, phase, point, parameters, effective, state, reason, "
			    "cost, run, io, read, written, digest, begun, compared, "
			    "foreign_load, frequency FROM study_run "
			    "WHERE study = ?1 ORDER BY number",
			    "i", id);
	int r, stop = 0;

	if (!statement)
		return -EIO;
	while ((r = store_step(store, statement, err)) > 0) {
		if (!stop)
			stop = report_run(statement, seen, arg);
	}
	return r;
}

static int report_study(struct statement *s, study_seen seen, void *arg)
{
	struct study study = {
		.id = store_number(s, 0),
		.command = store_text(s, 1),
		.plan = store_text(s, 2),
		.digest = store_text(s, 3),
		.state = store_text(s, 4),
		.begun_ns = store_number(s, 5),
		.changed_ns = store_number(s, 6),
		.gain = real_or_nan(s, 7),
		.gain_low = real_or_nan(s, 8),
		.gain_high = real_or_nan(s, 9),
		.conditions = store_text(s, 10),
	};

	return seen(arg, &study);
}

/* Calls seen() for each row until it stops. Returns the number of rows. */
static int report_studies(struct store *store, struct statement *statement, study_seen seen,
			  void *arg, struct err *err)
{
	int r, stop = 0, count = 0;

	if (!statement)
		return -EIO;
	while ((r = store_step(store, statement, err)) > 0) {
		count++;
		if (!stop)
			stop = report_study(statement, seen, arg);
	}
	return r < 0 ? r : count;
}

int study_list(struct store *store, study_seen seen, void *arg, struct err *err)
{
	int r = report_studies(store, store_query(store, err, STUDY_COLUMNS "ORDER BY id", ""),
			       seen, arg, err);

	return r < 0 ? r : 0;
}

int study_get(struct store *store, int64_t id, study_seen seen, void *arg, struct err *err)
{
	int r = report_studies(store,
			       store_query(store, err, STUDY_COLUMNS "WHERE id = ?1", "i", id),
			       seen, arg, err);

	if (!r)
		return err_set(err, ENOENT, "unknown tuning %lld; 'sluice kb tunings' shows all",
			       (long long)id);
	return r < 0 ? r : 0;
}

int study_find(struct store *store, const char *digest, study_seen seen, void *arg, struct err *err)
{
	int r = report_studies(
		store,
		store_query(store, err,
			    STUDY_COLUMNS "WHERE state = 'running' AND (?1 IS NULL OR digest = ?1) "
					  "ORDER BY changed DESC, id DESC LIMIT 1",
			    "t", digest),
		seen, arg, err);

	if (!r)
		return err_set(err, ENOENT, "no unfinished tuning%s",
			       digest ? " of this command with these options" : "");
	return r < 0 ? r : 0;
}

static int stop_at_first(void *arg, const struct study *study)
{
	(void)arg;
	(void)study;
	return 1;
}

int study_forget(struct store *store, int64_t id, struct err *err)
{
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	r = study_get(store, id, stop_at_first, NULL, err);
	if (r >= 0)
		r = store_run(store, err, "DELETE FROM study_run WHERE study = ?1", "i", id);
	if (r >= 0)
		r = store_run(store, err, "DELETE FROM study WHERE id = ?1", "i", id);
	return store_end_with(store, r, err);
}
