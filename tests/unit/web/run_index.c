/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/run_index.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "trace/format.h"
#include "trace/runs/tags.h"
#include "trace_sample.h"

enum { RUNS = 12, CALLS = 500 };

static char directory[] = "/tmp/sluice-index.XXXXXX";
static struct run_index *runs_index;
static const struct run_query all = { .search = "", .tag = "", .limit = RUNS };

static char *run_path(int i)
{
	return xprintf("%s/run-%02d.sluice", directory, i);
}

static void make_runs(void)
{
	AUTO_FREE struct activity *activities = sample_many(CALLS);

	REQUIRE(mkdtemp(directory));
	for (int i = 0; i < RUNS; i++) {
		AUTO_FREE char *path = run_path(i);

		sample_write(&trace_container, path, activities, CALLS, CALLS);
	}
	runs_index = run_index_new(directory);
}

struct seen {
	size_t rows, unread;
	struct run_figures figures; /* of the last row that has them */
	bool differ;		    /* all runs have the same calls, so they must not */
};

static void see_row(void *arg, const struct run_row *row)
{
	struct seen *seen = arg;

	seen->rows++;
	if (row->figures_state == RUN_FIGURES_UNREAD) {
		seen->unread++;
		return;
	}
	CHECK(row->figures_state == RUN_FIGURES_READ);
	if (seen->figures.calls)
		seen->differ |= memcmp(&seen->figures, &row->figures, sizeof(row->figures)) != 0;
	seen->figures = row->figures;
}

static struct seen visit_all(void)
{
	struct seen seen = { 0 };

	CHECK_INT(run_index_visit(runs_index, see_row, &seen, NULL), 0);
	return seen;
}

/* Lists runs and visits them while others do the same and the figures are read. */
static void *use_index(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++) {
		struct seen listed = { 0 };

		CHECK_INT(run_index_list(runs_index, &all, see_row, &listed, NULL), RUNS);
		CHECK_INT(visit_all().rows, RUNS);
	}
	return NULL;
}

static void figures_are_read_while_threads_use_the_index(void)
{
	pthread_t threads[4];
	struct seen seen;

	for (size_t i = 0; i < 4; i++)
		REQUIRE(pthread_create(&threads[i], NULL, use_index, NULL) == 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	while ((seen = visit_all()).unread)
		clock_sleep_ns(NS_PER_MS);
	CHECK(seen.figures.calls > 0);
	CHECK(!seen.differ);
}

static void figures_of_a_run_that_vanishes_are_forgotten(void)
{
	AUTO_FREE char *path = run_path(3);

	REQUIRE(unlink(path) == 0);
	CHECK_INT(visit_all().rows, RUNS - 1);
}

static void tags_are_read_each_time(void)
{
	AUTO_FREE char *path = run_path(5);
	struct run_query tagged = all;
	struct seen seen = { 0 };

	tagged.tag = "word";
	CHECK_INT(run_index_list(runs_index, &tagged, see_row, &seen, NULL), 0);
	REQUIRE(tags_change(path, sample_run.uuid, "word", "", NULL, NULL) == 0);
	CHECK_INT(run_index_list(runs_index, &tagged, see_row, &seen, NULL), 1);
	REQUIRE(tags_change(path, sample_run.uuid, "", "word", NULL, NULL) == 0);
	CHECK_INT(run_index_list(runs_index, &tagged, see_row, &seen, NULL), 0);
}

/* An index that is freed while its thread reads, or before it has one. */
static void an_index_can_be_freed_at_any_time(void)
{
	run_index_free(runs_index);
	for (int i = 0; i < 5; i++) {
		runs_index = run_index_new(directory);
		if (i)
			visit_all();
		run_index_free(runs_index);
	}
	file_remove_tree(directory);
}

TESTS(TEST(make_runs), TEST(figures_are_read_while_threads_use_the_index),
      TEST(figures_of_a_run_that_vanishes_are_forgotten), TEST(tags_are_read_each_time),
      TEST(an_index_can_be_freed_at_any_time))
