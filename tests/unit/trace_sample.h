/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sample traces for tests: a small call table, random activities, and functions that write and read
 * them.
 */
#ifndef SLUICE_TESTS_TRACE_SAMPLE_H
#define SLUICE_TESTS_TRACE_SAMPLE_H

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "trace/facts.h"
#include "trace/format.h"
#include "trace/head.h"

#define UNUSED __attribute__((unused))
#define SAMPLE_PROCESSES 6
#define SAMPLE_FILES 40

static const struct call_info sample_calls[] = {
	{ .name = "none" },
	{ .name = "inherited", .class = CLASS_OPEN },
	{ .name = "pwrite",
	  .class = CLASS_WRITE,
	  .failure = FAILS_MINUS_ERRNO,
	  .field_count = 4,
	  .fields = { FIELD_RESULT, FIELD_LINK, FIELD_SIZE, FIELD_OFFSET } },
	{ .name = "fread", .layer = LAYER_STDIO, .class = CLASS_READ },
	{ .name = "pwrite", .layer = LAYER_NETWORK, .class = CLASS_WRITE }, /* a duplicate name */
	{ .name = "MPI_File_write_at_all",
	  .layer = LAYER_MPI,
	  .class = CLASS_WRITE,
	  .failure = FAILS_STATUS,
	  .field_count = 3,
	  .fields = { FIELD_RESULT, FIELD_SPAN, FIELD_COLLECTIVE } },
	{ .name = "H5Dopen2",
	  .layer = LAYER_HDF5,
	  .class = CLASS_OPEN,
	  .failure = FAILS_NEGATIVE,
	  .field_count = 3,
	  .fields = { FIELD_RESULT, FIELD_VARIABLE, FIELD_NAME } },
};
#define SAMPLE_CALLS (sizeof(sample_calls) / sizeof(sample_calls[0]))

static const struct run_clock sample_clock UNUSED = { (char *)"monotonic", 0, 1, 1, 7 };
static const struct run_info sample_run = {
	.uuid = (char *)"0123456789abcdef0123456789abcdef",
	.command = (char *)"./app 'a b'\t\\x\n\x01\xff\xc3\xa9",
	.directory = (char *)"/home/\xe2\x82\xac",
	.host = (char *)"node1",
	.user = (char *)"",
	.version = (char *)"0.1.0",
	.started_ns = 1700000000123456789,
};
static const struct run_end sample_end UNUSED = { 5000000000, 3, true };

static uint64_t sample_seed = 88172645463325252u;

static UNUSED uint64_t sample_random(void)
{
	sample_seed ^= sample_seed << 13;
	sample_seed ^= sample_seed >> 7;
	sample_seed ^= sample_seed << 17;
	return sample_seed;
}

/* Any value; extreme values are frequent. */
static UNUSED int64_t sample_value(void)
{
	switch (sample_random() % 8) {
	case 0:
		return 0;
	case 1:
		return INT64_MAX;
	case 2:
		return INT64_MIN;
	case 3:
		return -1;
	case 4:
		return (int64_t)sample_random();
	default:
		return (int64_t)(sample_random() % 5000);
	}
}

/* An activity with random fields; its id is unique for each number. */
static UNUSED struct activity sample_activity(uint64_t number)
{
	uint16_t present = (uint16_t)(sample_random() % (1u << FIELD_COUNT)) | PRESENT(RESULT);
	struct activity a = {
		.start_ns = (int64_t)(sample_random() % 1000000),
		.duration_ns = (int64_t)(sample_random() % 5000),
		.id = id_make(1 + (uint32_t)(sample_random() % 3), number),
		.parent = sample_random() % 2 ? (uint64_t)sample_value() : 0,
		.result = sample_value(),
		.handle = -1,
		.process = (uint32_t)(sample_random() % SAMPLE_PROCESSES),
		.file = (file_id)(sample_random() % SAMPLE_FILES),
		.file2 = sample_random() % 4 ? 0 : (file_id)(sample_random() % SAMPLE_FILES),
		.name = sample_random() % 4 ? 0 : (file_id)(sample_random() % SAMPLE_FILES),
		.hints = sample_random() % 4 ? 0 : (file_id)(sample_random() % SAMPLE_FILES),
		.error = sample_random() % 3 ? 0 : (int32_t)sample_value(),
		.call = (uint16_t)(sample_random() % SAMPLE_CALLS),
		.present = present,
		.layer = (uint8_t)(sample_random() % LAYER_COUNT),
	};

	if (present & PRESENT(LINK))
		a.link = (uint64_t)sample_value();
	if (present & PRESENT(LINK2))
		a.link2 = (uint64_t)sample_value();
	if (present & PRESENT(HANDLE))
		a.handle = sample_value();
	if (present & PRESENT(SIZE))
		a.size = sample_value();
	if (present & PRESENT(OFFSET))
		a.offset = sample_value();
	if (present & PRESENT(FLAGS))
		a.flags = sample_value();
	if (present & PRESENT(MODE))
		a.mode = sample_value();
	if (present & PRESENT(SPAN))
		a.span = sample_value();
	if (present & PRESENT(VARIABLE))
		a.variable = sample_value();
	if (present & PRESENT(COLLECTIVE))
		a.collective = (uint64_t)sample_value();
	return a;
}

static UNUSED struct activity *sample_many(size_t n)
{
	struct activity *all = xcalloc(n, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = sample_activity(i + 1);
	return all;
}

/* An activity of a loop of strided writes. */
static UNUSED struct activity sample_strided(uint64_t number)
{
	return (struct activity){
		.start_ns = (int64_t)(number * 60 + sample_random() % 16),
		.duration_ns = 28 + (int64_t)(sample_random() % 12),
		.id = id_make(1, number + 1),
		.link = link_make(LINK_FILE, id_make(1, 1)),
		.result = 4096,
		.size = 4096,
		.offset = (int64_t)number * 65536,
		.handle = 3,
		.call = 2,
		.file = 1,
		.present = PRESENT(RESULT) | PRESENT(LINK) | PRESENT(SIZE) | PRESENT(OFFSET) |
			   PRESENT(HANDLE),
	};
}

/* A new path in the temporary directory; the caller frees it. */
static UNUSED char *sample_path(const char *suffix)
{
	static int number;

	return xprintf("%s/trace-%d%s", check_directory(), number++, suffix);
}

static UNUSED struct process_info sample_process(uint32_t index)
{
	return (struct process_info){ .index = index,
				      .parent = (int32_t)index - 1,
				      .first_thread = index * 10,
				      .pid = 100 + (int32_t)index,
				      .rank = (int32_t)index % 3 - 1,
				      .attached_ns = -5,
				      .host = (char *)"h",
				      .program = (char *)"/bin/\xff",
				      .command = (char *)"a\tb",
				      .directory = (char *)"/" };
}

static UNUSED void *sample_create(const struct trace_format *form, const char *path)
{
	struct err err = { 0 };
	void *w = NULL;
	int r = form->create(&w, path, &sample_run, &sample_clock, sample_calls, SAMPLE_CALLS,
			     &err);

	if (r < 0)
		printf("%s\n", err.text);
	REQUIRE(r == 0);
	for (uint32_t i = 0; i < SAMPLE_PROCESSES; i++) {
		struct process_info process = sample_process(i);

		REQUIRE(form->add_process(w, &process, &err) == 0);
	}
	for (file_id i = 1; i < SAMPLE_FILES; i++) {
		AUTO_FREE char *name =
			xprintf("/data/dir%u/file-%u%s", i % 3, i, i == 7 ? "\x80\n" : "");

		REQUIRE(form->add_file(w, i, name, &err) == 0);
	}
	return w;
}

/* A process that is updated with its rank after it was added. */
#define SAMPLE_LATE 4
static UNUSED struct process_info sample_late_process(void)
{
	struct process_info process = sample_process(SAMPLE_LATE);

	process.rank = 1;
	process.ranks = 2;
	process.command = (char *)"a changed command line";
	return process;
}

/* Statistics, samples and notes, in the order in which a run adds them. */
#define SAMPLE_STATISTICS 3
#define SAMPLE_POLLS 2000 /* samples of more than one block */
#define SAMPLE_NOTES 3

static UNUSED void sample_findings(const struct trace_format *form, void *w)
{
	struct statistic_info statistics[SAMPLE_STATISTICS] = {
		{ 0, (char *)"", (char *)"cpu/user", (char *)"%", (char *)"mean", 100 },
		{ 1, (char *)"node\t1", (char *)"io/a=b\xff/read", (char *)"bytes", (char *)"sum",
		  1 },
		{ 2, (char *)"", (char *)"", (char *)"", (char *)"max", UINT32_MAX },
	};
	struct note notes[SAMPLE_NOTES] = {
		{ -1, -1, (char *)"node1", (char *)"histogram", (char *)NOTE_REPORT,
		  (char *)"calls/slow", (char *)"17.5" },
		{ 123, SAMPLE_PROCESSES - 1, (char *)"", (char *)"reasoner", (char *)NOTE_ANOMALY,
		  (char *)"bad", (char *)"two\nlines\tand \\ \xfe" },
		{ HEAD_TIME_MAX, 0, (char *)"", (char *)"", (char *)"", (char *)"", (char *)"" },
	};
	struct err err = { 0 };

	for (size_t i = 0; i < SAMPLE_STATISTICS; i++)
		REQUIRE(form->add_fact(w, &fact_statistic, &statistics[i], &err) == 0);
	for (int64_t poll = 1; poll <= SAMPLE_POLLS; poll++)
		for (uint32_t i = 0; i < SAMPLE_STATISTICS; i++) {
			struct stat_sample row = { i, poll * 100000000, 100000000, sample_value() };

			REQUIRE(form->add_fact(w, &fact_sample, &row, &err) == 0);
		}
	for (size_t i = 0; i < SAMPLE_NOTES; i++)
		REQUIRE(form->add_fact(w, &fact_note, &notes[i], &err) == 0);
}

/* What another tool has counted. */
static UNUSED void sample_usages(const struct trace_format *form, void *w)
{
	struct usage usage = { .process = 1, .file = 2, .layer = (char *)"STDIO" };
	struct flow flow = { 1, (char *)"MPI", -5, 7, HEAD_TIME_MAX, 0 };
	struct err err = { 0 };

	for (int64_t i = 0; i < USAGE_VALUES; i++)
		usage.value[i] = i % 3 ? i : HEAD_TIME_MAX / 8;
	REQUIRE(form->add_fact(w, &fact_usage, &usage, &err) == 0);
	REQUIRE(form->add_fact(w, &fact_flow, &flow, &err) == 0);
}

static UNUSED void sample_finish(const struct trace_format *form, void *w)
{
	struct err err = { 0 };
	struct process_info late = sample_late_process();
	struct host_info hosts[] = {
		{ (char *)"node1", (char *)"reference", 0, 0 },
		{ (char *)"node\t2", (char *)"time of day", -HEAD_TIME_MAX, -1 },
	};
	struct aggregate counted = { 1,
				     2,
				     GROUP_SYNC,
				     LAYER_STDIO,
				     HEAD_COUNT_MAX,
				     3,
				     -HEAD_TIME_MAX,
				     5,
				     AGGREGATE_OUTERMOST };
	struct loss_info loss = { 2, HEAD_COUNT_MAX, 1 };
	int r;

	REQUIRE(form->add_aggregate(w, &counted, &err) == 0);
	REQUIRE(form->add_loss(w, &loss, &err) == 0);
	REQUIRE(form->add_process(w, &late, &err) == 0);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		REQUIRE(form->add_host(w, &hosts[i], &err) == 0);
	sample_findings(form, w);
	sample_usages(form, w);
	r = form->finish(w, &sample_end, &sample_clock, &err);
	if (r < 0)
		printf("%s\n", err.text);
	REQUIRE(r == 0);
}

/* Writes the activities in batches of the given size; each batch must be sorted. */
static UNUSED void sample_write(const struct trace_format *form, const char *path,
				struct activity *all, size_t n, size_t batch)
{
	void *w = sample_create(form, path);
	struct err err = { 0 };

	for (size_t i = 0; i < n; i += batch)
		REQUIRE(form->add_activities(w, all + i, n - i < batch ? n - i : batch, &err) == 0);
	sample_finish(form, w);
}

static UNUSED void sample_open(struct trace *trace, const char *path,
			       const struct trace_filter *filter)
{
	struct err err = { 0 };
	int r = trace_open(trace, path, filter, &err);

	if (r < 0)
		printf("%s\n", err.text);
	REQUIRE(r == 0);
}

/* Reads the rest of the trace, *n activities. An odd batch size makes batches cross blocks. */
static UNUSED struct activity *sample_rest(struct trace *trace, size_t *n)
{
	struct activity *all = NULL;
	struct err err = { 0 };
	size_t cap = 0;
	ssize_t got;

	*n = 0;
	do {
		all = xgrow(all, &cap, *n + 777, sizeof(*all));
		got = trace_next(trace, all + *n, 777, &err);
		if (got < 0)
			printf("%s\n", err.text);
		REQUIRE(got >= 0);
		*n += (size_t)got;
	} while (got);
	return all;
}

static UNUSED struct activity *sample_read(const char *path, const struct trace_filter *filter,
					   size_t *n)
{
	struct trace trace;
	struct activity *all;

	sample_open(&trace, path, filter);
	all = sample_rest(&trace, n);
	trace_close(&trace);
	return all;
}

static UNUSED size_t sample_differences(const struct activity *a, const struct activity *b,
					size_t n)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		wrong += !activity_equal(&a[i], &b[i]);
	return wrong;
}

#endif
