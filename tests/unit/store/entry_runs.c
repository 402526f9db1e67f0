/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/entry_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "store/knowledge.h"
#include "store/studies.h"
#include "store_sample.h"

static const struct knowledge entry = {
	.key = { .program = "vpic",
		 .fingerprint = "f1",
		 .arguments = "",
		 .platform = "p",
		 .filesystem = "local",
		 .ranks = 4,
		 .size_class = 5 },
	.parameters = "winner",
	.objective = "io",
	.before = 2,
	.after = 1,
	.gain = 2,
	.gain_low = 1.5,
	.gain_high = 3,
	.study = "",
};

/* "d1.5 a2 a!": costs without (d) and with (a) parameters; "!" is a failure. */
static void check_runs(struct store *store, int64_t id, const char *expected)
{
	AUTO_BUF struct buf text = { 0 };
	struct entry_run *runs = NULL;
	size_t count = 0;

	CHECK_INT(entry_runs_read(store, id, &runs, &count, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		buf_printf(&text, "%s%c", i ? " " : "", runs[i].is_applied ? 'a' : 'd');
		buf_printf(&text, isinf(runs[i].cost) ? "!" : "%g", runs[i].cost);
	}
	CHECK_TEXT(buf_text(&text), expected);
	free(runs);
}

static void add(struct store *store, int64_t id, bool is_applied, double cost, double bytes)
{
	struct entry_run run = { is_applied, cost, bytes, 1 };

	CHECK_INT(entry_runs_add(store, id, &run, NULL), 0);
}

static void add_study_run(struct store *store, int64_t study, int64_t number,
			  const char *parameters, const char *state, double cost)
{
	struct study_run run = { .number = number,
				 .phase = "search",
				 .parameters = parameters,
				 .state = state,
				 .cost = cost,
				 .read_bytes = 1000,
				 .write_bytes = 200 };

	CHECK_INT(study_add_run(store, study, &run, NULL), 0);
}

/* A tuning with two good runs of the baseline, which has "none" for parameters. */
static char *add_study(struct store *store)
{
	struct study study = { .command = "c", .plan = "{}", .digest = "d", .state = "done" };
	struct study_run first = { .number = 0,
				   .phase = "default",
				   .parameters = "none",
				   .state = "good",
				   .cost = 2.5,
				   .read_bytes = 1200 };
	int64_t id = 0;

	CHECK_INT(study_begin(store, &study, &first, &id, NULL), 0);
	add_study_run(store, id, 1, "winner", "good", 1);
	add_study_run(store, id, 2, "none", "failed", NAN);
	add_study_run(store, id, 3, "none", "good", 2.25);
	add_study_run(store, id, 4, "other", "good", 3);
	return xprintf("%" PRId64, id);
}

static void runs_are_read_back_in_order(void)
{
	struct sample sample;
	struct store *store;
	int64_t id = 0, other = 0;
	struct knowledge second = entry;

	second.key.ranks = 8;
	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &entry, &id, NULL), 0);
	CHECK_INT(knowledge_put(store, &second, &other, NULL), 0);
	check_runs(store, id, "");
	add(store, id, false, 1.5, 1024);
	add(store, other, false, 7, 1024);
	add(store, id, true, 2, 1024);
	add(store, id, true, INFINITY, 1024);
	check_runs(store, id, "d1.5 a2 a!");
	check_runs(store, other, "d7");
	CHECK_INT(knowledge_forget(store, other, NULL), 0);
	check_runs(store, other, "");
	store_close(store);
	sample_remove(&sample);
}

static void old_runs_are_dropped(void)
{
	struct entry_run *runs = NULL;
	struct sample sample;
	struct store *store;
	size_t count = 0;
	int64_t id = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &entry, &id, NULL), 0);
	add(store, id, false, 1, 1024);
	for (int i = 0; i < ENTRY_RUNS_KEPT + 5; i++)
		add(store, id, true, 10 + i, 1024);
	CHECK_INT(entry_runs_read(store, id, &runs, &count, NULL), 0);
	CHECK_INT(count, ENTRY_RUNS_KEPT + 1);
	CHECK(!runs[0].is_applied && runs[1].cost == 15);
	free(runs);
	store_close(store);
	sample_remove(&sample);
}

static void the_baseline_of_the_tuning_comes_first(void)
{
	struct knowledge row = entry;
	AUTO_FREE char *study = NULL;
	struct sample sample;
	struct store *store;
	double bytes = 0;
	int64_t id = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	study = add_study(store);
	row.study = study;
	CHECK_INT(knowledge_put(store, &row, &id, NULL), 0);
	check_runs(store, id, "d2.5 d2.25");
	add(store, id, true, 1, 5000);
	CHECK_INT(knowledge_last_bytes(store, &entry.key, &bytes, NULL), 0);
	CHECK(bytes == 5000);
	/* A new tuning starts anew. */
	CHECK_INT(knowledge_put(store, &row, &id, NULL), 0);
	check_runs(store, id, "d2.5 d2.25");
	CHECK_INT(knowledge_last_bytes(store, &entry.key, &bytes, NULL), 0);
	CHECK(bytes == 1200);
	row.key.ranks = 99;
	CHECK_INT(knowledge_last_bytes(store, &row.key, &bytes, NULL), 0);
	CHECK(isnan(bytes));
	store_close(store);
	sample_remove(&sample);
}

static void an_entry_of_version_6_gets_the_baseline_of_its_tuning(void)
{
	struct knowledge row = entry;
	AUTO_FREE char *study = NULL;
	struct sample sample;
	struct store *store;
	int64_t id = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	study = add_study(store);
	row.study = study;
	CHECK_INT(knowledge_put(store, &row, &id, NULL), 0);
	store_close(store);
	sample_regress(&sample, 6);
	store = sample_open(&sample);
	check_runs(store, id, "d2.5 d2.25");
	store_close(store);
	sample_remove(&sample);
}

static void a_pin_forgets_the_runs_that_led_to_the_demotion(void)
{
	struct sample sample;
	struct store *store;
	int64_t id = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &entry, &id, NULL), 0);
	add(store, id, false, 1, 1024);
	add(store, id, true, 2, 1024);
	CHECK_INT(knowledge_pin(store, id, true, NULL), 0);
	check_runs(store, id, "d1 a2");
	CHECK_INT(knowledge_demote(store, id, 1, "slow", NULL), 0);
	CHECK_INT(knowledge_pin(store, id, true, NULL), 0);
	check_runs(store, id, "d1");
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(runs_are_read_back_in_order), TEST(old_runs_are_dropped),
      TEST(the_baseline_of_the_tuning_comes_first),
      TEST(an_entry_of_version_6_gets_the_baseline_of_its_tuning),
      TEST(a_pin_forgets_the_runs_that_led_to_the_demotion))
