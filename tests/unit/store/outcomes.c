/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-40.
 */
#include "store/outcomes.h"

#include <math.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "store/store_internal.h"
#include "store_sample.h"

#define MIB 1048576.0

static const struct outcome_key writes = { "write", "ann", "app", "nc", "/s", 10 };

static const struct outcomes_filter all, ann = { .user = "ann" };

struct found {
	struct outcome outcome;
	size_t rows;
	struct buf text;
};

static int keep(void *arg, const struct outcome_key *key, const char *hints,
		const struct outcome *outcome)
{
	struct found *f = arg;

	f->outcome = *outcome;
	f->rows++;
	buf_printf(&f->text, "%s/%s/%s/%s", key->operation, key->user, key->program,
		   key->extension);
	if (strcmp(key->filesystem, "/s") != 0)
		buf_printf(&f->text, "@%s", key->filesystem);
	buf_printf(&f->text, "/%u[%s] ", key->size_class, hints);
	return 0;
}

static void mean_and_spread_of_rates_are_kept(void)
{
	static const double rates[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct found found = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	for (int i = 0; i < 8; i++)
		CHECK_INT(outcomes_add(store, &writes, "1", "a=1", 8 * MIB * rates[i], 8, NULL), 0);
	CHECK_INT(outcomes_list(store, &all, keep, &found, NULL), 0);
	CHECK_INT(found.rows, 1);
	CHECK_TEXT(buf_text(&found.text), "write/ann/app/nc/10[a=1] ");
	CHECK_INT(found.outcome.count, 8);
	CHECK(fabs(found.outcome.rate / MIB - 5) < 1e-9);
	CHECK(fabs(found.outcome.spread / MIB / MIB - 32) < 1e-9);
	CHECK(fabs(outcome_deviation(&found.outcome) / MIB - sqrt(32.0 / 7)) < 1e-9);
	CHECK_INT(found.outcome.bytes, 320 * MIB);
	CHECK_INT(found.outcome.seconds, 64);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static void joined_outcomes_equal_those_of_all_opens(void)
{
	static const double rates[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct outcome whole = { 0 }, parts[2] = { { 0 }, { 0 } };

	for (int i = 0; i < 8; i++) {
		struct outcome one = { 1, 1, rates[i], 1, rates[i], 0 };

		outcome_join(&whole, &one);
		outcome_join(&parts[i > 2], &one);
	}
	outcome_join(&parts[0], &parts[1]);
	CHECK_INT(parts[0].count, 8);
	CHECK(fabs(parts[0].rate - 5) < 1e-9 && fabs(whole.rate - 5) < 1e-9);
	CHECK(fabs(parts[0].spread - 32) < 1e-9 && fabs(whole.spread - 32) < 1e-9);
	outcome_join(&whole, &(struct outcome){ 0 });
	CHECK_INT(whole.count, 8);
	CHECK(outcome_deviation(&(struct outcome){ .count = 1 }) == 0);
}

static void each_key_and_set_of_hints_has_its_own_row(void)
{
	struct outcome_key other = writes;
	struct found found = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	outcomes_add(store, &writes, "1", "a=1", 1, 1, NULL);
	outcomes_add(store, &writes, "1", "", 1, 1, NULL);
	other.user = "bob";
	outcomes_add(store, &other, "1", "", 1, 1, NULL);
	other.extension = "";
	outcomes_add(store, &other, "1", "", 1, 1, NULL);
	other.operation = "read";
	other.size_class = 3;
	outcomes_add(store, &other, "1", "", 1, 1, NULL);
	other.filesystem = "/t";
	outcomes_add(store, &other, "1", "", 1, 1, NULL);
	CHECK_INT(outcomes_list(store, &all, keep, &found, NULL), 0);
	CHECK_TEXT(buf_text(&found.text), "read/bob/app//3[] read/bob/app/@/t/3[] "
					  "write/ann/app/nc/10[] write/ann/app/nc/10[a=1] "
					  "write/bob/app//10[] write/bob/app/nc/10[] ");
	buf_clear(&found.text);
	CHECK_INT(outcomes_list(store, &ann, keep, &found, NULL), 0);
	CHECK_TEXT(buf_text(&found.text), "write/ann/app/nc/10[] write/ann/app/nc/10[a=1] ");
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static void runs_are_counted_not_opens(void)
{
	struct outcomes_filter joined = { .joins_users = true, .joins_extensions = true };
	struct outcome_key other = { "write", "bob", "app", "h5", "/s", 10 };
	struct found found = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	/* Two runs that store their outcomes by turns. */
	for (int i = 0; i < 6; i++)
		outcomes_add(store, &writes, i % 2 ? "one" : "two", "a=1", 1, 1, NULL);
	CHECK_INT(outcomes_list(store, &all, keep, &found, NULL), 0);
	CHECK_INT(found.rows, 1);
	CHECK_INT(found.outcome.runs, 2);
	CHECK_INT(found.outcome.count, 6);
	/* One of them, and a third run, also have files of another kind. */
	outcomes_add(store, &other, "two", "a=1", 3, 1, NULL);
	outcomes_add(store, &other, "three", "a=1", 1, 1, NULL);
	CHECK_INT(outcomes_list(store, &joined, keep, &found, NULL), 0);
	CHECK_INT(found.rows, 2);
	CHECK_INT(found.outcome.runs, 3);
	CHECK_INT(found.outcome.count, 8);
	CHECK_NEAR(found.outcome.rate, 1.25, 1e-9);
	CHECK_NEAR(found.outcome.spread, 3.5, 1e-9);
	CHECK_TEXT(buf_text(&found.text), "write/ann/app/nc/10[a=1] write/*/app/*/10[a=1] ");
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static void the_number_of_rows_is_bounded(void)
{
	struct found found = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(store_begin(store, NULL), 0);
	for (int i = 0; i < 2 * 3 * OUTCOMES_RUNS; i++) {
		AUTO_FREE char *run = xprintf("run %d", i / 2);

		CHECK_INT(outcomes_add(store, &writes, run, "a=1", 1, 1, NULL), 0);
	}
	CHECK_INT(store_end(store, 1, NULL), 0);
	CHECK_INT(outcomes_list(store, &all, keep, &found, NULL), 0);
	CHECK_INT(found.outcome.runs, OUTCOMES_RUNS + 1);
	CHECK_INT(found.outcome.count, 2 * 3 * OUTCOMES_RUNS);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static void rows_of_an_earlier_version_are_kept(void)
{
	struct found found = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store_close(sample_open(&sample));
	sample_regress(&sample, 5);
	sample_execute(&sample, "INSERT INTO outcome VALUES"
				" ('read', 'ann', 'nc', 3, '', 7, 70, 2, 35, 4),"
				" ('write', 'ann', 'nc', 3, 'a=1', 9, 90, 2, 45, 5)");
	store = sample_open(&sample);
	CHECK_INT(outcomes_list(store, &all, keep, &found, NULL), 0);
	CHECK_TEXT(buf_text(&found.text), "read/ann//nc@/3[] write/ann//nc@/3[a=1] ");
	CHECK_INT(found.outcome.runs, 1);
	CHECK_INT(found.outcome.count, 9);
	CHECK_NEAR(found.outcome.rate, 45, 1e-9);
	CHECK_NEAR(found.outcome.spread, 5, 1e-9);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static void classes_are_powers_of_four(void)
{
	CHECK_INT(outcomes_size_class(0), 0);
	CHECK_INT(outcomes_size_class(3), 0);
	CHECK_INT(outcomes_size_class(4), 1);
	CHECK_INT(outcomes_size_class(4095), 5);
	CHECK_INT(outcomes_size_class(4096), 6);
	CHECK_INT(outcomes_size_class(1e30), OUTCOMES_SIZE_CLASSES - 1);
}

static void outcomes_without_bytes_or_time_are_refused(void)
{
	struct found found = { 0 };
	struct err err = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK(outcomes_add(store, &writes, "1", "", 0, 1, &err) < 0);
	CHECK(outcomes_add(store, &writes, "1", "", 1, 0, &err) < 0);
	CHECK(outcomes_add(store, &writes, "1", "", NAN, 1, &err) < 0);
	/* Invalid rows in the file are ignored. */
	CHECK_INT(
		store_run(
			store, NULL,
			"INSERT INTO outcome VALUES ('write', 'x', 'p', '', '', -3, 'a=1', 'r', 0, "
			"1, 1, 1, 0)",
			""),
		0);
	/* PostgreSQL checks types. */
	if (!sample.is_server)
		CHECK_INT(
			store_run(
				store, NULL,
				"INSERT INTO outcome VALUES ('write', 'x', 'p', '', '', 3, 'a=1', "
				"'r', 'no', 'no', 'no', 'no', 'no')",
				""),
			0);
	CHECK_INT(outcomes_list(store, &all, keep, &found, NULL), 0);
	CHECK_INT(found.rows, 0);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static void credit_often(const char *path, int times)
{
	struct store *store = NULL;
	struct err err = { 0 };

	store_open(&store, path, &err);
	for (int i = 0; !err.code && i < times; i++) {
		store_begin(store, &err);
		if (!err.code)
			outcomes_add(store, &writes, "1", "a=1", 1 + i % 2 * 2, 1, &err);
		if (!err.code)
			outcomes_add_opens(store, "ann", "nc", 2, 1, &err);
		if (!err.code)
			store_end(store, 1, &err);
	}
	if (err.code)
		printf("%s\n", err.text);
	fflush(stdout);
	store_close(store);
	_exit(err.code != 0);
}

static void concurrent_processes_lose_no_outcome(void)
{
	enum { PROCESSES = 4, TIMES = 50 };
	struct found found = { 0 };
	uint64_t opens = 0, explored = 0;
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	for (int i = 0; i < PROCESSES; i++) {
		pid_t child = fork();

		REQUIRE(child >= 0);
		if (!child)
			credit_often(sample.path, TIMES);
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		CHECK(wait(&status) > 0 && status == 0);
	}
	store = sample_open(&sample);
	CHECK_INT(outcomes_list(store, &all, keep, &found, NULL), 0);
	CHECK_INT(found.outcome.count, PROCESSES * TIMES);
	CHECK(fabs(found.outcome.rate - 2) < 1e-9);
	CHECK_NEAR(found.outcome.spread, PROCESSES * TIMES, 1e-6);
	CHECK_INT(outcomes_count_opens(store, "ann", &opens, &explored, NULL), 0);
	CHECK_INT(opens, 2 * PROCESSES * TIMES);
	CHECK_INT(explored, PROCESSES * TIMES);
	CHECK_INT(outcomes_count_opens(store, "bob", &opens, &explored, NULL), 0);
	CHECK_INT(opens, 0);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(mean_and_spread_of_rates_are_kept), TEST(joined_outcomes_equal_those_of_all_opens),
      TEST(each_key_and_set_of_hints_has_its_own_row), TEST(runs_are_counted_not_opens),
      TEST(the_number_of_rows_is_bounded), TEST(rows_of_an_earlier_version_are_kept),
      TEST(classes_are_powers_of_four), TEST(outcomes_without_bytes_or_time_are_refused),
      TEST(concurrent_processes_lose_no_outcome))
