/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/chronicle/chronicle.h"

#include <errno.h>
#include <math.h>

#include "store/probes.h"
#include "store_sample.h"

static const uint64_t sizes[] = { 1u << 20, 64u << 20, 1u << 30 };

static struct chronicle chronicle_sample(void)
{
	struct chronicle chronicle;

	chronicle_init(&chronicle, "titan", sizes, 3);
	for (int target = 0; target < 3; target++) {
		char name[16];

		snprintf(name, sizeof(name), "atlas1-%d", target);
		REQUIRE(chronicle_add_target(&chronicle, name) == (size_t)target);
		for (int i = 0; i < 100; i++)
			chronicle_add(&chronicle, (size_t)target, 0, 1000.25 + 30 * i,
				      0.001 * (i + 1) / (target + 3),
				      i % 7 ? SAMPLE_DONE : SAMPLE_TIMEOUT, SAMPLE_DIRECT);
	}
	chronicle_add(&chronicle, 1, 2, 1300, 1.83079, SAMPLE_DONE, SAMPLE_FSYNC);
	chronicle_add(&chronicle, 2, 2, 1600, 0, SAMPLE_FULL, SAMPLE_FSYNC);
	return chronicle;
}

static void snapshot_add(struct chronicle *chronicle, double time_s, int count)
{
	struct jobs jobs = { .time_s = time_s };

	for (int i = 0; i < count; i++) {
		struct job *job = jobs_add(&jobs);

		free(job->id);
		job->id = xprintf("%d", 3901500 + i);
		free(job->queue);
		job->queue = xstrdup("batch");
		job->nodes = i + 1;
		job->used_s = 60 * i;
	}
	chronicle_add_jobs(chronicle, &jobs);
	CHECK_INT(jobs.count, 0);
}

static bool is_same_series(const struct chronicle_series *a, const struct chronicle_series *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->time_s[i] != b->time_s[i] || a->seconds[i] != b->seconds[i] ||
		    a->outcome[i] != b->outcome[i])
			return false;
	return true;
}

static void late_sample_is_inserted_by_time(void)
{
	struct chronicle chronicle = chronicle_sample();
	const struct chronicle_series *series = chronicle_series(&chronicle, 0, 0);
	uint64_t edits = chronicle.edits;

	chronicle_add(&chronicle, 0, 0, 1015, 9, SAMPLE_DONE, SAMPLE_UNKNOWN);
	CHECK_INT(series->count, 101);
	CHECK(series->time_s[1] == 1015 && series->seconds[1] == 9);
	CHECK(chronicle.edits == edits + 1);
	chronicle_add(&chronicle, 0, 0, 1015, 8, SAMPLE_DONE, SAMPLE_UNKNOWN);
	CHECK(series->seconds[1] == 9 && series->seconds[2] == 8);
	chronicle_add(&chronicle, 0, 0, 1e9, 8, SAMPLE_FAILED, SAMPLE_UNKNOWN);
	CHECK(chronicle.edits == edits + 2);
	CHECK_INT(sample_outcome(series, 102), SAMPLE_FAILED);
	for (size_t i = 1; i < series->count; i++)
		CHECK(series->time_s[i - 1] <= series->time_s[i]);
	chronicle_release(&chronicle);
}

static void search_counts_samples_up_to_a_time(void)
{
	struct chronicle chronicle = chronicle_sample();
	const struct chronicle_series *series = chronicle_series(&chronicle, 0, 0);

	CHECK_INT(chronicle_count_until(series, 1000), 0);
	CHECK_INT(chronicle_count_until(series, 1000.25), 1);
	CHECK_INT(chronicle_count_until(series, 1030.2), 1);
	CHECK_INT(chronicle_count_until(series, 1e9), 100);
	CHECK_INT(chronicle_jobs_at(&chronicle, 1e9), -1);
	snapshot_add(&chronicle, 900, 1);
	snapshot_add(&chronicle, 300, 2);
	snapshot_add(&chronicle, 600, 3);
	CHECK_INT(chronicle_jobs_at(&chronicle, 299), -1);
	CHECK_INT(chronicle_jobs_at(&chronicle, 300), 0);
	CHECK_INT(chronicle_jobs_at(&chronicle, 899), 1);
	CHECK_INT(chronicle.snapshots[1].count, 3);
	CHECK_INT(chronicle_jobs_at(&chronicle, 1e9), 2);
	chronicle_release(&chronicle);
}

static void new_size_keeps_order_and_samples(void)
{
	struct chronicle chronicle = chronicle_sample();

	CHECK_INT(chronicle_add_size(&chronicle, 256u << 20), 2);
	CHECK_INT(chronicle_add_size(&chronicle, 1u << 20), 0);
	CHECK_INT(chronicle.size_count, 4);
	CHECK_INT(chronicle_find_size(&chronicle, 1u << 30), 3);
	CHECK_INT(chronicle_series(&chronicle, 1, 2)->count, 0);
	REQUIRE(chronicle_series(&chronicle, 1, 3)->count == 1);
	CHECK(chronicle_series(&chronicle, 1, 3)->seconds[0] == 1.83079f);
	for (uint64_t i = 0; i < 4; i++)
		CHECK_INT(chronicle_add_size(&chronicle, 1 + i), i);
	CHECK_INT(chronicle_add_size(&chronicle, 77), -E2BIG);
	CHECK_INT(chronicle_series(&chronicle, 1, 7)->count, 1);
	CHECK_INT(chronicle_series(&chronicle, 2, 4)->count, 100);
	chronicle_release(&chronicle);
}

static void old_data_is_discarded(void)
{
	struct chronicle chronicle = chronicle_sample();
	double from_s, to_s;

	snapshot_add(&chronicle, 500, 2);
	snapshot_add(&chronicle, 2000, 2);
	chronicle_add_node(&chronicle, &(struct node_state){ .time_s = 400 });
	chronicle_add_node(&chronicle, &(struct node_state){ .time_s = 5000 });
	REQUIRE(chronicle_span(&chronicle, &from_s, &to_s));
	CHECK(from_s == 400 && to_s == 5000);
	chronicle_discard_before(&chronicle, 1300);
	REQUIRE(chronicle_span(&chronicle, &from_s, &to_s));
	CHECK(from_s == 1300 && to_s == 5000);
	CHECK_INT(chronicle_series(&chronicle, 0, 0)->count, 90);
	CHECK_INT(chronicle.snapshot_count, 1);
	CHECK_INT(chronicle.node_count, 1);
	chronicle_discard_before(&chronicle, INFINITY);
	CHECK(!chronicle_span(&chronicle, &from_s, &to_s));
	chronicle_release(&chronicle);
}

static void store_returns_saved_data(void)
{
	struct chronicle chronicle = chronicle_sample(), back = { 0 };
	struct node_state node = { 1000.25, { 1, NAN, 3, 4, 5, 6 } };
	struct sample sample;
	struct store *store;

	snapshot_add(&chronicle, 900, 0);
	snapshot_add(&chronicle, 1200, 5);
	chronicle_add_node(&chronicle, &node);
	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(chronicle_save(&chronicle, store, -INFINITY, INFINITY, NULL), 0);
	CHECK_INT(chronicle_save(&chronicle, store, -INFINITY, INFINITY, NULL), 0);
	REQUIRE(chronicle_load(&back, store, "titan", -INFINITY, INFINITY, NULL) == 0);
	CHECK_TEXT(back.system, "titan");
	REQUIRE(back.target_count == 3);
	CHECK_TEXT(back.targets[2], "atlas1-2");
	/* The store does not know a size without writes. */
	REQUIRE(back.size_count == 2);
	for (size_t target = 0; target < 3; target++) {
		CHECK(is_same_series(chronicle_series(&back, target, 0),
				     chronicle_series(&chronicle, target, 0)));
		CHECK(is_same_series(chronicle_series(&back, target, 1),
				     chronicle_series(&chronicle, target, 2)));
	}
	CHECK_INT(sample_method(chronicle_series(&back, 2, 1), 0), SAMPLE_FSYNC);
	REQUIRE(back.snapshot_count == 2);
	CHECK_INT(back.snapshots[0].count, 0);
	REQUIRE(back.snapshots[1].count == 5);
	CHECK_TEXT(back.snapshots[1].rows[4].id, "3901504");
	CHECK(back.snapshots[1].rows[4].used_s == 240);
	CHECK(isnan(back.snapshots[1].rows[4].allocated_s));
	REQUIRE(back.node_count == 1);
	CHECK(back.nodes[0].values[NODE_FREE] == 6 && isnan(back.nodes[0].values[NODE_CPU]));
	chronicle_release(&back);
	store_close(store);
	sample_remove(&sample);
	chronicle_release(&chronicle);
}

static void only_the_time_range_is_saved_and_loaded(void)
{
	struct chronicle chronicle = chronicle_sample(), back = { 0 };
	struct err err = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(chronicle_save(&chronicle, store, 1030.25, 1120.25, NULL), 0);
	REQUIRE(chronicle_load(&back, store, "titan", 1060.25, INFINITY, NULL) == 0);
	REQUIRE(chronicle_series(&back, 0, 0)->count == 2);
	CHECK(chronicle_series(&back, 0, 0)->time_s[0] == 1060.25);
	chronicle_release(&back);
	CHECK_INT(chronicle_load(&back, store, "cori", 0, 1, &err), -ENOENT);
	CHECK(strstr(err.text, "cori") && !back.target_count);
	store_close(store);
	sample_remove(&sample);
	chronicle_release(&chronicle);
}

static void damaged_rows_count_as_failed_writes(void)
{
	static const struct probe rows[] = {
		{ .target = "a", .time_s = 1, .bytes = 9, .seconds = 1, .outcome = 0x7fffffff },
		{ .target = "a", .time_s = 2, .bytes = 9, .seconds = -1 },
		{ .target = "a", .time_s = 3, .bytes = 9, .seconds = 1e300 },
		{ .target = "a", .time_s = 4, .bytes = 9, .seconds = 2, .outcome = -1 },
	};
	struct probe_writer *writer;
	struct chronicle back = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	REQUIRE(probe_writer_open(&writer, store, "here", NULL) == 0);
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(probe_writer_add_row(writer, &rows[i], NULL), 0);
	CHECK_INT(probe_writer_close(writer, true, NULL), 0);
	REQUIRE(chronicle_load(&back, store, "here", 0, 9, NULL) == 0);
	REQUIRE(chronicle_series(&back, 0, 0)->count == 4);
	for (size_t i = 0; i < 4; i++) {
		CHECK_INT(sample_outcome(chronicle_series(&back, 0, 0), i), SAMPLE_FAILED);
		CHECK_INT(sample_method(chronicle_series(&back, 0, 0), i), SAMPLE_UNKNOWN);
		CHECK(chronicle_series(&back, 0, 0)->seconds[i] == 0);
	}
	chronicle_release(&back);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(late_sample_is_inserted_by_time), TEST(search_counts_samples_up_to_a_time),
      TEST(new_size_keeps_order_and_samples), TEST(old_data_is_discarded),
      TEST(store_returns_saved_data), TEST(only_the_time_range_is_saved_and_loaded),
      TEST(damaged_rows_count_as_failed_writes))
