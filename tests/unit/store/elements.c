/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/elements.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "store/studies.h"
#include "store_sample.h"

static struct element row_sample(const char *operation, int64_t repetition, double seconds)
{
	struct element row = { .nodes = 2,
			       .cores = 16,
			       .senders = 3,
			       .receivers = 4,
			       .writers = 0.3125,
			       .bytes = 0x1p33,
			       .round = 7,
			       .repetition = repetition,
			       .seconds = seconds,
			       .time_ns = 1234567890123456789 };

	snprintf(row.platform, sizeof(row.platform), "here");
	snprintf(row.operation, sizeof(row.operation), "%s", operation);
	snprintf(row.placement, sizeof(row.placement), "topology");
	snprintf(row.cache, sizeof(row.cache), "bypassed");
	return row;
}

static bool is_same(const struct element *a, const struct element *b)
{
	return strcmp(a->platform, b->platform) == 0 && strcmp(a->operation, b->operation) == 0 &&
	       strcmp(a->placement, b->placement) == 0 && strcmp(a->cache, b->cache) == 0 &&
	       a->nodes == b->nodes && a->cores == b->cores && a->senders == b->senders &&
	       a->receivers == b->receivers && a->writers == b->writers && a->bytes == b->bytes &&
	       a->round == b->round && a->repetition == b->repetition && a->seconds == b->seconds &&
	       a->time_ns == b->time_ns;
}

static void rows_are_loaded_unchanged_and_in_order(void)
{
	const struct element rows[] = { row_sample("s_lock", 1, 0.1), row_sample("ar", 0, 1e-7),
					row_sample("s_lock", 0, 0.3) };
	struct elements out = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(elements_save(store, rows, 3, NULL), 0);
	store_close(store);
	store = sample_open(&sample);
	CHECK_INT(elements_load(store, "here", NULL, &out, NULL), 0);
	REQUIRE(out.count == 3);
	for (size_t i = 0; i < 3; i++)
		CHECK(is_same(&out.rows[i], &rows[i]));
	CHECK_INT(elements_load(store, "here", "ar", &out, NULL), 0);
	REQUIRE(out.count == 4);
	CHECK(is_same(&out.rows[3], &rows[1]));
	CHECK_INT(elements_load(store, "there", NULL, &out, NULL), 0);
	CHECK_INT(out.count, 4);
	elements_release(&out);
	store_close(store);
	sample_remove(&sample);
}

static void an_existing_row_is_replaced_in_its_place(void)
{
	struct element rows[] = { row_sample("ar", 0, 1), row_sample("ar", 1, 2) };
	struct elements out = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(elements_save(store, rows, 2, NULL), 0);
	rows[0].seconds = 9;
	rows[0].time_ns = 5;
	CHECK_INT(elements_save(store, rows, 1, NULL), 0);
	/* Another cache handling makes another row. */
	snprintf(rows[1].cache, sizeof(rows[1].cache), "within");
	CHECK_INT(elements_save(store, &rows[1], 1, NULL), 0);
	CHECK_INT(elements_load(store, "here", NULL, &out, NULL), 0);
	REQUIRE(out.count == 3);
	CHECK(out.rows[0].seconds == 9 && out.rows[0].time_ns == 5);
	CHECK(out.rows[1].seconds == 2);
	elements_release(&out);
	store_close(store);
	sample_remove(&sample);
}

/* SQLite stores NAN as NULL, which the table refuses; then no row may be saved. */
static void all_rows_are_saved_or_none(void)
{
	const struct element rows[] = { row_sample("ar", 0, 1), row_sample("ar", 1, NAN) };
	struct elements out = { 0 };
	struct err err = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK(elements_save(store, rows, 2, &err) < 0);
	CHECK(strstr(err.text, "NOT NULL") || strstr(err.text, "not-null"));
	CHECK_INT(elements_load(store, "here", NULL, &out, NULL), 0);
	CHECK_INT(out.count, 0);
	CHECK_INT(elements_save(store, rows, 1, NULL), 0);
	store_close(store);
	sample_remove(&sample);
}

static int keep_platform(void *arg, const char *platform, uint64_t rows)
{
	buf_printf(arg, "%s %llu;", platform, (unsigned long long)rows);
	return 0;
}

static int stop_at_once(void *arg, const char *platform, uint64_t rows)
{
	keep_platform(arg, platform, rows);
	return 1;
}

static void platforms_are_listed_and_forgotten_one_by_one(void)
{
	struct element rows[] = { row_sample("ar", 0, 1), row_sample("ar", 1, 1),
				  row_sample("ar", 0, 1) };
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	snprintf(rows[2].platform, sizeof(rows[2].platform), "a b");
	CHECK_INT(elements_save(store, rows, 3, NULL), 0);
	CHECK_INT(elements_platforms(store, keep_platform, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), "a b 1;here 2;");
	buf_clear(&text);
	CHECK_INT(elements_platforms(store, stop_at_once, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), "a b 1;");
	CHECK_INT(elements_forget(store, "here", NULL), 0);
	CHECK_INT(elements_forget(store, "here", &err), -ENOENT);
	CHECK(strstr(err.text, "\"here\""));
	buf_clear(&text);
	CHECK_INT(elements_platforms(store, keep_platform, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), "a b 1;");
	store_close(store);
	sample_remove(&sample);
}

/* A store of version 2 has studies but no table of elements. */
static void a_store_of_version_2_is_migrated(void)
{
	const struct element row = row_sample("ar", 0, 1);
	struct study study = {
		.command = "c", .plan = "p", .digest = "d", .state = "running", .changed_ns = 1
	};
	struct study_run run = { .number = 1,
				 .phase = "search",
				 .parameters = "",
				 .effective = "",
				 .state = "good",
				 .digest = "" };
	struct elements out = { 0 };
	struct sample sample;
	struct store *store;
	int64_t id = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(study_begin(store, &study, &run, &id, NULL), 0);
	store_close(store);
	sample_regress(&sample, 2);
	store = sample_open(&sample);
	CHECK_INT(elements_save(store, &row, 1, NULL), 0);
	CHECK_INT(elements_load(store, "here", NULL, &out, NULL), 0);
	CHECK_INT(out.count, 1);
	CHECK_INT(study_set_state(store, id, "done", 2, NULL), 0);
	elements_release(&out);
	store_close(store);
	sample_remove(&sample);
}

static void saved_rows_survive_a_kill(void)
{
	const struct element row = row_sample("ar", 0, 1);
	struct elements out = { 0 };
	struct sample sample;
	struct store *store;
	int status;
	pid_t pid;

	sample_make(&sample);
	pid = fork();
	if (pid == 0) {
		store = sample_open(&sample);
		if (elements_save(store, &row, 1, NULL) < 0)
			_exit(1);
		raise(SIGKILL);
	}
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
	store = sample_open(&sample);
	CHECK_INT(elements_load(store, "here", NULL, &out, NULL), 0);
	CHECK_INT(out.count, 1);
	elements_release(&out);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(rows_are_loaded_unchanged_and_in_order), TEST(an_existing_row_is_replaced_in_its_place),
      TEST(all_rows_are_saved_or_none), TEST(platforms_are_listed_and_forgotten_one_by_one),
      TEST(a_store_of_version_2_is_migrated), TEST(saved_rows_survive_a_kill))
