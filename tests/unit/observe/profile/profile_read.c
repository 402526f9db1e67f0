/* SPDX-License-Identifier: BSD-3-Clause
 *
 * However a trace is divided into blocks, and however many threads read it, its profile is the same
 * to the byte: that of adding one activity after the other.
 */
#include "observe/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "observe/profile/profile_parts.h"
#include "observe/profile/saved.h"
#include "trace/format.h"

enum { NONE, OPEN, PREAD, PWRITE, CLOSE, STAT, MPI_OPEN, MPI_WRITE, AIO_WRITE, AIO_WAIT, CALLS };

static const struct call_info calls[CALLS] = {
	[NONE] = { .name = "none", .class = CLASS_CONTROL },
	[OPEN] = { .name = "open", .layer = LAYER_POSIX, .class = CLASS_OPEN },
	[PREAD] = { .name = "pread", .layer = LAYER_POSIX, .class = CLASS_READ },
	[PWRITE] = { .name = "pwrite", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[CLOSE] = { .name = "close", .layer = LAYER_POSIX, .class = CLASS_CLOSE },
	[STAT] = { .name = "stat", .layer = LAYER_POSIX, .class = CLASS_STAT },
	[MPI_OPEN] = { .name = "MPI_File_open", .layer = LAYER_MPI, .class = CLASS_OPEN },
	[MPI_WRITE] = { .name = "MPI_File_write_at_all", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[AIO_WRITE] = { .name = "aio_write", .layer = LAYER_POSIX, .class = CLASS_START },
	[AIO_WAIT] = { .name = "aio_return", .layer = LAYER_POSIX, .class = CLASS_WAIT },
};

/* A launcher, the ranks, and a child of each rank. */
enum { MAX_RANKS = 48, LAUNCHER = 0, STEP_NS = 50000 };

static struct {
	struct activity *list;
	size_t count, cap;
	uint64_t next[1 + 2 * MAX_RANKS];
	uint64_t noise;
	uint32_t ranks;
	bool has_aggregates;
} run;

static int64_t random_below(int64_t limit)
{
	run.noise = run.noise * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (int64_t)(run.noise >> 33) % limit;
}

static uint64_t put(uint32_t process, unsigned thread, int call, struct activity a)
{
	a.process = process;
	a.id = id_make(thread, run.next[process]++);
	a.call = (uint16_t)call;
	a.layer = calls[call].layer;
	a.present |= PRESENT(RESULT);
	run.list = xgrow(run.list, &run.cap, run.count + 1, sizeof(*run.list));
	run.list[run.count++] = a;
	return a.id;
}

static struct activity access_at(int64_t start, int64_t ns, file_id file, int64_t offset,
				 int64_t bytes, uint64_t link)
{
	return (struct activity){ .start_ns = start,
				  .duration_ns = ns,
				  .file = file,
				  .offset = offset,
				  .size = bytes,
				  .result = bytes,
				  .link = link,
				  .present = PRESENT(OFFSET) | PRESENT(SIZE) | PRESENT(LINK) };
}

/* An asynchronous write that is completed several steps later, by another thread. */
static void write_later(uint32_t process, int64_t start, int64_t step, uint64_t link)
{
	struct activity a = access_at(start + 9000, 10, 1 + process, step * 100, 100, link);

	a.result = 0;
	a.link = put(process, 0, AIO_WRITE, a);
	put(process, 1, AIO_WAIT,
	    (struct activity){ .start_ns = start + (3 + random_below(5)) * STEP_NS,
			       .duration_ns = 20,
			       .file = 1 + process,
			       .result = 60,
			       .link = a.link,
			       .present = PRESENT(LINK) });
}

/* A collective write may last longer than what a block holds; it contains reads and writes. */
static void write_together(uint32_t process, int64_t start, int64_t step, uint64_t link)
{
	int64_t at = (step * run.ranks + process) * 1000;
	int64_t ns = step % 64 ? 20000 + random_below(9000) : 4 * STEP_NS - 100;
	struct activity a = access_at(start, ns, 1, at, 1000, link);
	uint64_t outer;

	a.collective = (uint64_t)step + 1;
	a.present |= PRESENT(COLLECTIVE);
	outer = put(process, 0, MPI_WRITE, a);
	for (int i = 0; i < 2; i++) {
		a = access_at(start + 100 + 5000 * i, 2000 + random_below(500), 1, at / 4096 * 4096,
			      4096, 0);
		a.parent = outer;
		put(process, 0, i ? PWRITE : PREAD, a);
	}
}

/* A child works on the file of its parent, through an inherited handle. */
static void work_alone(uint32_t process, int64_t start, int64_t step, uint64_t link)
{
	uint32_t child = process + run.ranks;

	put(process, 1, PWRITE,
	    access_at(start + 30000, random_below(3000), 1 + process, step * 700, 700, link));
	put(child, 0, PREAD,
	    access_at(start + 31000, 400, 1 + process, random_below(1 << 20), 512, link));
	if (step % 8 == 0)
		put(process, 0, STAT,
		    (struct activity){ .start_ns = start + 40000,
				       .duration_ns = 300,
				       .file = 1 + process,
				       .error = step % 16 ? 2 : 0,
				       .result = step % 16 ? -1 : 0 });
	if (step % 16 == 3)
		write_later(process, start, step, link);
}

static void run_rank(uint32_t process, int64_t steps)
{
	uint64_t shared, own;

	shared = put(process, 0, MPI_OPEN,
		     (struct activity){ .start_ns = process, .duration_ns = 900, .file = 1 });
	own = put(process, 0, OPEN,
		  (struct activity){
			  .start_ns = 1000 + process, .duration_ns = 500, .file = 1 + process });
	for (int64_t step = 0; step < steps; step++) {
		int64_t start = (step + 1) * STEP_NS + random_below(1000);

		/* After a long write there are three steps without one. */
		if (step % 64 == 0 || step % 64 > 3)
			write_together(process, start, step, shared);
		work_alone(process, start + (step % 64 < 4 ? 4 * STEP_NS : 0), step, own);
	}
	put(process, 0, CLOSE,
	    (struct activity){ .start_ns = (steps + 20) * STEP_NS,
			       .duration_ns = 100,
			       .file = 1 + process,
			       .link = own,
			       .present = PRESENT(LINK) });
}

/* A record is delivered when its call ends. */
static int compare_ends(const void *a, const void *b)
{
	const struct activity *x = a, *y = b;
	int64_t left = x->start_ns + x->duration_ns, right = y->start_ns + y->duration_ns;

	return left < right ? -1 : left > right ? 1 : activity_compare(a, b);
}

static void generate(uint32_t ranks, int64_t steps)
{
	run.count = 0;
	run.ranks = ranks;
	run.noise = 7;
	for (size_t i = 0; i < sizeof(run.next) / sizeof(*run.next); i++)
		run.next[i] = 1;
	put(LAUNCHER, 0, PREAD, access_at(5, 100, 1, 0, 10, 0));
	for (uint32_t i = 1; i <= ranks; i++)
		run_rank(i, steps);
	qsort(run.list, run.count, sizeof(*run.list), compare_ends);
}

static const char *path(const char *name)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s/%s", check_directory(), name);
	return text;
}

static void add_facts(void *writer)
{
	struct err err = { 0 };
	char file[32];

	for (uint32_t i = 0; i <= 2 * run.ranks; i++) {
		bool is_rank = i && i <= run.ranks;
		struct process_info process = { .index = i,
						.parent = i > run.ranks ? (int32_t)(i - run.ranks)
							  : i		? LAUNCHER
									: -1,
						.pid = (int32_t)(100 + i),
						.rank = is_rank ? (int32_t)i - 1 : -1,
						.ranks = is_rank ? (int32_t)run.ranks : 0,
						.host = (char *)"n0" };

		REQUIRE(trace_container.add_process(writer, &process, &err) >= 0);
	}
	for (uint32_t i = 0; i <= run.ranks; i++) {
		snprintf(file, sizeof(file), "/data/%u", i);
		REQUIRE(trace_container.add_file(writer, 1 + i, file, &err) >= 0);
	}
	for (uint32_t i = 0; i <= run.ranks && run.has_aggregates; i++)
		REQUIRE(trace_container.add_aggregate(writer,
						      &(struct aggregate){ .process = i,
									   .file = 1 + i,
									   .group = GROUP_WRITE,
									   .calls = 10 + i,
									   .bytes = 1000,
									   .duration_ns = 70 },
						      &err) >= 0);
}

/* Writes the run in blocks of at most `rows` activities; 0: of any size up to the maximum. */
static void write_trace(const char *name, int64_t rows)
{
	const struct run_info info = { .uuid = (char *)"00000000000000000000000000000001",
				       .command = (char *)"app",
				       .host = (char *)"n0" };
	const struct run_clock clock = { .source = (char *)"monotonic", .num = 1, .den = 1 };
	const struct run_end end = { .duration_ns = 1000 * STEP_NS, .complete = true };
	struct err err = { 0 };
	void *writer;

	REQUIRE(trace_container.create(&writer, path(name), &info, &clock, calls, CALLS, &err) >=
		0);
	add_facts(writer);
	for (size_t done = 0, n; done < run.count; done += n) {
		n = (size_t)(1 + random_below(rows ? rows : 100000));
		n = n < run.count - done ? n : run.count - done;
		REQUIRE(trace_container.add_activities(writer, run.list + done, n, &err) >= 0);
		if (rows)
			REQUIRE(trace_container.flush(writer, &err) >= 0);
	}
	REQUIRE(trace_container.finish(writer, &end, &clock, &err) >= 0);
}

static void read_file(struct buf *bytes, const char *name)
{
	AUTO_FCLOSE FILE *file = fopen(path(name), "re");
	char block[65536];
	size_t n;

	REQUIRE(file);
	while ((n = fread(block, 1, sizeof(block), file)) > 0)
		buf_add(bytes, block, n);
}

/* The profile as bytes; threads 0: one activity after the other. */
static void profile_bytes(struct buf *bytes, const char *name, unsigned threads)
{
	struct activity batch[64];
	struct profile profile;
	struct trace trace;
	struct err err = { 0 };
	ssize_t n;

	REQUIRE(trace_open(&trace, path(name), NULL, &err) >= 0);
	if (threads) {
		REQUIRE(profile_load(&profile, &trace, threads, NULL, NULL, &err) >= 0);
	} else {
		profile_init(&profile, &trace.head, NULL);
		while ((n = trace_next(&trace, batch, 64, &err)) > 0) {
			for (ssize_t i = 0; i < n; i++)
				profile_add(&profile, &batch[i]);
		}
		rasters_sort(&profile.timeline.rasters);
	}
	CHECK_INT(profile.summary.all.io.calls > run.count / 3, 1);
	REQUIRE(saved_write(&profile, path("saved"), &err) >= 0);
	read_file(bytes, "saved");
	profile_release(&profile);
	trace_close(&trace);
}

static void check_same(const struct buf *expected, const char *name, unsigned threads)
{
	AUTO_BUF struct buf bytes = { 0 };

	profile_bytes(&bytes, name, threads);
	CHECK_INT(bytes.len, expected->len);
	CHECK(bytes.len == expected->len && memcmp(bytes.data, expected->data, bytes.len) == 0);
}

static void threads_and_blocks_do_not_change_a_profile(void)
{
	AUTO_BUF struct buf expected = { 0 };

	/* Enough for eight shards. */
	generate(12, 9000);
	CHECK(run.count > 8 * 65536);
	write_trace("large", 0);
	profile_bytes(&expected, "large", 0);
	check_same(&expected, "large", 1);
	check_same(&expected, "large", 2);
	check_same(&expected, "large", 3);
	check_same(&expected, "large", 7);
	write_trace("medium", 20000);
	check_same(&expected, "medium", 2);
	write_trace("small", 3000);
	check_same(&expected, "small", 3);
}

/* Calls that were counted but not recorded are in one of the shards. */
static void counted_calls_are_added_once(void)
{
	AUTO_BUF struct buf expected = { 0 };

	run.has_aggregates = true;
	generate(12, 2600);
	CHECK(run.count > 2 * 65536);
	write_trace("counted", 0);
	run.has_aggregates = false;
	profile_bytes(&expected, "counted", 0);
	check_same(&expected, "counted", 1);
	check_same(&expected, "counted", 2);
}

/* More files than there are rasters, so that the order in which files are seen matters. */
static void threads_do_not_change_what_is_left_out(void)
{
	AUTO_BUF struct buf expected = { 0 };

	generate(MAX_RANKS, 800);
	CHECK(run.count > 2 * 65536);
	write_trace("files", 0);
	profile_bytes(&expected, "files", 1);
	check_same(&expected, "files", 2);
	check_same(&expected, "files", 7);
	write_trace("pieces", 9000);
	check_same(&expected, "pieces", 3);
	free(run.list);
	run.list = NULL;
}

TESTS(TEST(threads_and_blocks_do_not_change_a_profile), TEST(counted_calls_are_added_once),
      TEST(threads_do_not_change_what_is_left_out))
