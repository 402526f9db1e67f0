/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/probes.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "store_sample.h"

#define MIB (1u << 20)

static struct probe make_row(const char *target, double time_s, uint64_t bytes, double seconds)
{
	return (struct probe){ .target = target,
			       .time_s = time_s,
			       .bytes = bytes,
			       .seconds = seconds,
			       .outcome = 33 };
}

static void save(struct store *store, const char *system, const struct probe *rows, size_t count)
{
	struct probe_writer *writer;

	REQUIRE(probe_writer_open(&writer, store, system, NULL) == 0);
	for (size_t i = 0; i < count; i++)
		CHECK_INT(probe_writer_add_row(writer, &rows[i], NULL), 0);
	CHECK_INT(probe_writer_close(writer, true, NULL), 0);
}

/* Formats rows as lines, so that all of them can be compared at once. */
static int append_line(void *arg, const struct probe *row)
{
	buf_printf(arg, "%s/%zu %.17g %llu %.17g %d\n", row->target, row->number, row->time_s,
		   (unsigned long long)row->bytes, row->seconds, row->outcome);
	return 0;
}

static void check_loaded(struct store *store, const char *system, double from_s, double to_s,
			 const char *expected)
{
	AUTO_BUF struct buf lines = { 0 };

	CHECK_INT(probes_load(store, system, from_s, to_s, append_line, &lines, NULL), 0);
	CHECK_TEXT(buf_text(&lines), expected);
}

static void rows_are_loaded_in_order_of_time(void)
{
	const struct probe rows[] = { make_row("b", 20.5, MIB, 0.1),
				      make_row("a", 20.5, MIB, 1.0 / 3),
				      make_row("a", 10, 64 * MIB, 7),
				      make_row("b", 10, MIB, 1e-6) };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	save(store, "here", rows, 4);
	save(store, "there", rows, 1);
	store_close(store);
	store = sample_open(&sample);
	check_loaded(store, "here", -INFINITY, INFINITY,
		     "b/0 10 1048576 9.9999999999999995e-07 33\n"
		     "a/1 10 67108864 7 33\n"
		     "b/0 20.5 1048576 0.10000000000000001 33\n"
		     "a/1 20.5 1048576 0.33333333333333331 33\n");
	check_loaded(store, "here", 10, 20.5,
		     "b/0 10 1048576 9.9999999999999995e-07 33\na/1 10 67108864 7 33\n");
	check_loaded(store, "there", -INFINITY, INFINITY,
		     "b/0 20.5 1048576 0.10000000000000001 33\n");
	store_close(store);
	sample_remove(&sample);
}

static void an_existing_row_is_replaced(void)
{
	const struct probe rows[] = { make_row("a", 5, MIB, 1), make_row("a", 5, MIB, 2),
				      make_row("a", 5, 2 * MIB, 3) };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	save(store, "here", rows, 3);
	save(store, "here", rows, 1);
	check_loaded(store, "here", 0, 9, "a/0 5 1048576 1 33\na/0 5 2097152 3 33\n");
	store_close(store);
	sample_remove(&sample);
}

static int size_stop(void *arg, const struct probe *row)
{
	(void)row;
	return ++*(int *)arg == 2;
}

static void a_stopped_read_does_not_block_writers(void)
{
	struct probe rows[9];
	struct sample sample;
	struct store *store;
	int count = 0;

	for (int i = 0; i < 9; i++)
		rows[i] = make_row("a", i, 1, 1);
	sample_make(&sample);
	store = sample_open(&sample);
	save(store, "here", rows, 9);
	CHECK_INT(probes_load(store, "here", 0, 9, size_stop, &count, NULL), 0);
	CHECK_INT(count, 2);
	CHECK_INT(probes_forget(store, "here", INFINITY, NULL), 0);
	store_close(store);
	sample_remove(&sample);
}

static void rows_that_are_not_committed_are_discarded(void)
{
	const struct probe row = make_row("a", 5, MIB, 1);
	struct probe_writer *writer;
	struct sample sample;
	struct store *store;
	struct err err = { 0 };

	sample_make(&sample);
	store = sample_open(&sample);
	REQUIRE(probe_writer_open(&writer, store, "here", NULL) == 0);
	CHECK_INT(probe_writer_add_row(writer, &row, NULL), 0);
	CHECK_INT(probe_writer_close(writer, false, NULL), 0);
	CHECK_INT(probes_load(store, "here", 0, 9, size_stop, NULL, &err), -ENOENT);
	CHECK(strstr(err.text, "\"here\""));
	store_close(store);
	sample_remove(&sample);
}

static int job_line(void *arg, double time_s, const struct probe_job *job)
{
	if (!job)
		buf_printf(arg, "%g none\n", time_s);
	else
		buf_printf(arg, "%g %s %s %s %s %g %g %g %g %g\n", time_s, job->id, job->name,
			   job->owner, job->queue, job->nodes, job->memory_bytes,
			   job->virtual_bytes, job->used_s, job->allocated_s);
	return 0;
}

static void snapshots_without_jobs_are_loaded(void)
{
	const struct probe_job jobs[] = {
		{ "9", "run", "o", "batch", 64, 1, 2, 3, 4 },
		{ "9", "run", "o", "batch", NAN, NAN, NAN, NAN, NAN },
		{ "1", NULL, NULL, NULL, 1, 1, 1, 1, INFINITY },
	};
	AUTO_BUF struct buf lines = { 0 };
	struct probe_writer *writer;
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	REQUIRE(probe_writer_open(&writer, store, "here", NULL) == 0);
	CHECK_INT(probe_writer_add_jobs(writer, 300, jobs, 3, NULL), 0);
	CHECK_INT(probe_writer_add_jobs(writer, 0, NULL, 0, NULL), 0);
	CHECK_INT(probe_writer_add_jobs(writer, 600, jobs, 3, NULL), 0);
	CHECK_INT(probe_writer_add_jobs(writer, 600, jobs, 1, NULL), 0);
	CHECK_INT(probe_writer_close(writer, true, NULL), 0);
	CHECK_INT(probes_load_jobs(store, "here", 0, 601, job_line, &lines, NULL), 0);
	CHECK_TEXT(buf_text(&lines), "0 none\n"
				     "300 9 run o batch 64 1 2 3 4\n"
				     "300 9 run o batch nan nan nan nan nan\n"
				     "300 1    1 1 1 1 inf\n"
				     "600 9 run o batch 64 1 2 3 4\n");
	store_close(store);
	sample_remove(&sample);
}

static int node_line(void *arg, double time_s, const double values[PROBE_NODE_VALUES])
{
	buf_printf(arg, "%g %g %g %g\n", time_s, values[0], values[1], values[5]);
	return 0;
}

static void node_values_are_loaded(void)
{
	const double values[] = { 0.5, NAN, 3, 4, 5, 1e12 };
	AUTO_BUF struct buf lines = { 0 };
	struct probe_writer *writer;
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	REQUIRE(probe_writer_open(&writer, store, "here", NULL) == 0);
	CHECK_INT(probe_writer_add_node(writer, 30, values, NULL), 0);
	CHECK_INT(probe_writer_close(writer, true, NULL), 0);
	CHECK_INT(probes_load_nodes(store, "here", 0, 60, node_line, &lines, NULL), 0);
	CHECK_TEXT(buf_text(&lines), "30 0.5 nan 1e+12\n");
	store_close(store);
	sample_remove(&sample);
}

static int system_line(void *arg, const struct probe_system *system)
{
	buf_printf(arg, "%s %llu %llu %llu %g %g\n", system->name,
		   (unsigned long long)system->targets, (unsigned long long)system->rows,
		   (unsigned long long)system->snapshots, system->from_s, system->to_s);
	return 0;
}

static void check_systems(struct store *store, const char *expected)
{
	AUTO_BUF struct buf lines = { 0 };

	CHECK_INT(probes_systems(store, system_line, &lines, NULL), 0);
	CHECK_TEXT(buf_text(&lines), expected);
}

/* Saves two systems, one of them with snapshots. */
static void save_systems(struct store *store)
{
	const struct probe rows[] = { make_row("a", 10, MIB, 1), make_row("b", 10, MIB, 1),
				      make_row("a", 40, MIB, 1), make_row("b", 40, 2 * MIB, 1) };
	const struct probe_job job = { .id = "9" };
	struct probe_writer *writer;

	save(store, "here", rows, 4);
	save(store, "there", rows, 1);
	REQUIRE(probe_writer_open(&writer, store, "here", NULL) == 0);
	CHECK_INT(probe_writer_add_jobs(writer, 5, &job, 1, NULL), 0);
	CHECK_INT(probe_writer_add_jobs(writer, 50, &job, 1, NULL), 0);
	CHECK_INT(probe_writer_close(writer, true, NULL), 0);
}

static void old_rows_are_deleted_and_others_stay(void)
{
	uint64_t sizes[1] = { 0 };
	struct err err = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	save_systems(store);
	check_systems(store, "here 2 4 2 5 50\nthere 1 1 0 10 10\n");
	CHECK_INT(probes_sizes(store, "here", 0, 99, sizes, 1, NULL), 2);
	CHECK_INT(sizes[0], MIB);
	CHECK_INT(probes_forget(store, "here", 40, NULL), 0);
	check_systems(store, "here 2 2 1 40 50\nthere 1 1 0 10 10\n");
	CHECK_INT(probes_forget(store, "here", 40, &err), -ENOENT);
	CHECK_INT(err.code, ENOENT);
	CHECK_INT(probes_forget(store, "here", INFINITY, NULL), 0);
	check_systems(store, "there 1 1 0 10 10\n");
	CHECK_INT(probes_forget(store, "here", INFINITY, &err), -ENOENT);
	store_close(store);
	sample_remove(&sample);
}

static void a_store_of_version_3_is_migrated_and_keeps_its_rows(void)
{
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store_close(sample_open(&sample));
	sample_regress(&sample, 3);
	sample_execute(&sample, "INSERT INTO thing (kind, of, name) VALUES ('node', 0, 'n1')");
	store = sample_open(&sample);
	save_systems(store);
	check_systems(store, "here 2 4 2 5 50\nthere 1 1 0 10 10\n");
	store_close(store);
	sample_execute(&sample, "CREATE TABLE proof AS SELECT 1 / count(*) AS x FROM thing;"
				"CREATE TABLE strict (x INTEGER NOT NULL);"
				"INSERT INTO strict SELECT x FROM proof");
	sample_remove(&sample);
}

TESTS(TEST(rows_are_loaded_in_order_of_time), TEST(an_existing_row_is_replaced),
      TEST(a_stopped_read_does_not_block_writers), TEST(rows_that_are_not_committed_are_discarded),
      TEST(snapshots_without_jobs_are_loaded), TEST(node_values_are_loaded),
      TEST(old_rows_are_deleted_and_others_stay),
      TEST(a_store_of_version_3_is_migrated_and_keeps_its_rows))
