/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/access_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

enum { OPEN = 1, WRITE_ALL, READ_ALL, WRITE, IWRITE_ALL, WAIT, H5_WRITE };

static struct call_info calls[] = {
	[0] = { .name = "none" },
	[OPEN] = { .name = "MPI_File_open", .layer = LAYER_MPI, .class = CLASS_OPEN },
	[WRITE_ALL] = { .name = "MPI_File_write_at_all", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[READ_ALL] = { .name = "MPI_File_read_at_all", .layer = LAYER_MPI, .class = CLASS_READ },
	[WRITE] = { .name = "MPI_File_write_at", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[IWRITE_ALL] = { .name = "MPI_File_iwrite_at_all",
			 .layer = LAYER_MPI,
			 .class = CLASS_START },
	[WAIT] = { .name = "MPI_Wait", .layer = LAYER_MPI, .class = CLASS_WAIT },
	[H5_WRITE] = { .name = "H5Dwrite", .layer = LAYER_HDF5, .class = CLASS_WRITE },
};

enum { OUT = 1, IN, HINTS };
static char *files[] = { "", "/d/out", "/d/in", "romio_cb_write=enable;cb_nodes=2" };

/* Four ranks on two hosts, and their launcher. */
static struct process_info processes[] = {
	{ .index = 0, .parent = -1, .rank = -1, .host = "a" },
	{ .index = 1, .parent = -1, .rank = 0, .ranks = 4, .host = "a" },
	{ .index = 2, .parent = -1, .rank = 1, .ranks = 4, .host = "a" },
	{ .index = 3, .parent = -1, .rank = 2, .ranks = 4, .host = "b" },
	{ .index = 4, .parent = -1, .rank = 3, .ranks = 4, .host = "b" },
};

static struct trace_head head = {
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files,
	.file_count = sizeof(files) / sizeof(files[0]),
	.processes = processes,
	.process_count = sizeof(processes) / sizeof(processes[0]),
};

static struct activity make_call(uint16_t call, uint32_t rank, uint64_t together, int64_t offset,
				 int64_t size, int64_t span)
{
	struct activity a = {
		.call = call,
		.layer = calls[call].layer,
		.process = rank + 1,
		.collective = together,
		.offset = offset,
		.size = size,
		.result = size,
		.span = span,
		.file = OUT,
		.present = PRESENT(SIZE) | PRESENT(OFFSET) | PRESENT(COLLECTIVE),
	};

	if (span)
		a.present |= PRESENT(SPAN);
	return a;
}

static void add_call(struct access_profiler *profiler, struct activity activity)
{
	access_profiler_add(profiler, &activity);
}

/* As IOR does: the bytes of rank r are at r times their size; two writes, then one read. */
static void adjacent_ranks_are_contiguous(void)
{
	struct access_profiler profiler;
	struct access_profile profile;

	access_profiler_init(&profiler, &head);
	for (uint32_t r = 0; r < 4; r++) {
		add_call(&profiler, make_call(WRITE_ALL, r, 7, r * 1000, 1000, 1000));
		add_call(&profiler, make_call(WRITE_ALL, r, 8, 4000 + r * 1000, 1000, 0));
		add_call(&profiler, make_call(READ_ALL, r, 9, r * 2000, 2000, 2000));
	}
	access_profiler_end(&profiler, &profile);
	REQUIRE(profile.count == 2);
	for (size_t i = 0; i < 2; i++) {
		const struct access_profile_row *row = &profile.rows[i];

		CHECK_INT(row->access.pattern, ACCESS_CONTIGUOUS);
		CHECK_INT(row->access.ranks, 4);
		CHECK_INT(row->access.nodes, 2);
		CHECK_INT(row->access.rank_bytes, row->access.is_read ? 2000 : 1000);
		CHECK(row->calls == (row->access.is_read ? 1 : 2));
		CHECK_TEXT(row->file, "/d/out");
		CHECK(!row->hints);
	}
	CHECK(profile.rows[0].access.is_read != profile.rows[1].access.is_read);
	CHECK(access_profile_bytes(&profile) == 16000);
	access_profile_release(&profile);
}

/* 16 pieces of 64 bytes per rank, interleaved; then with gaps of the same size. */
static void interleaved_ranks_are_strided(void)
{
	for (int64_t stride = 64; stride <= 128; stride += 64) {
		struct access_profiler profiler;
		struct access_profile profile;

		access_profiler_init(&profiler, &head);
		for (uint32_t r = 0; r < 4; r++)
			add_call(&profiler, make_call(WRITE_ALL, r, 7, r * stride, 16 * 64,
						      15 * 4 * stride + 64));
		access_profiler_end(&profiler, &profile);
		REQUIRE(profile.count == 1);
		CHECK_INT(profile.rows[0].access.pattern, ACCESS_STRIDED);
		CHECK_INT(profile.rows[0].access.block_bytes, 64);
		CHECK_INT(profile.rows[0].access.stride_bytes, stride);
		CHECK_INT(profile.rows[0].access.rank_bytes, 1024);
		access_profile_release(&profile);
	}
}

/* One piece per rank, with gaps between them. */
static void single_pieces_with_gaps_are_strided(void)
{
	struct access_profiler profiler;
	struct access_profile profile;

	access_profiler_init(&profiler, &head);
	for (uint32_t r = 0; r < 4; r++)
		add_call(&profiler, make_call(WRITE_ALL, r, 7, r * 5000, 1000, 1000));
	access_profiler_end(&profiler, &profile);
	REQUIRE(profile.count == 1);
	CHECK_INT(profile.rows[0].access.pattern, ACCESS_STRIDED);
	CHECK_INT(profile.rows[0].access.block_bytes, 1000);
	CHECK_INT(profile.rows[0].access.stride_bytes, 5000);
	access_profile_release(&profile);
}

/* The MPI calls of HDF5 count. Independent calls, failures, waits and processes that are not ranks
 * do not. */
static void only_collective_transfers_of_ranks_count(void)
{
	struct activity failed = make_call(WRITE_ALL, 0, 5, 0, 10, 0);
	struct activity launcher = make_call(WRITE_ALL, 0, 6, 0, 10, 0);
	struct access_profiler profiler;
	struct access_profile profile;

	failed.error = 5;
	launcher.process = 0;
	access_profiler_init(&profiler, &head);
	add_call(&profiler, failed);
	add_call(&profiler, launcher);
	add_call(&profiler, make_call(WRITE, 1, 0, 0, 10, 10));
	add_call(&profiler, make_call(H5_WRITE, 1, 9, 0, 10, 10));
	add_call(&profiler, make_call(WAIT, 1, 9, 0, 10, 10));
	add_call(&profiler, make_call(WRITE_ALL, 1, 10, 0, 0, 0)); /* no rank moves data */
	access_profiler_end(&profiler, &profile);
	CHECK_INT(profile.count, 0);
	access_profile_release(&profile);

	access_profiler_init(&profiler, &head);
	for (uint32_t r = 0; r < 4; r++)
		add_call(&profiler, make_call(IWRITE_ALL, r, 9, r * 10, 10, 10));
	access_profiler_end(&profiler, &profile);
	CHECK_INT(profile.count, 1);
	access_profile_release(&profile);
}

static void hints_of_the_program_are_kept(void)
{
	struct activity open = make_call(OPEN, 0, 1, 0, 0, 0);
	struct access_profiler profiler;
	struct access_profile profile;

	open.hints = HINTS;
	open.present = PRESENT(HINTS) | PRESENT(COLLECTIVE);
	access_profiler_init(&profiler, &head);
	add_call(&profiler, open);
	for (uint32_t r = 0; r < 4; r++)
		add_call(&profiler, make_call(WRITE_ALL, r, 7, r * 1000, 1000, 1000));
	access_profiler_end(&profiler, &profile);
	REQUIRE(profile.count == 1);
	CHECK_TEXT(profile.rows[0].hints, files[HINTS]);
	access_profile_release(&profile);
}

/* A hundred sizes become a few rows with the same sum of bytes. */
static void many_sizes_become_few_rows(void)
{
	struct access_profiler profiler;
	struct access_profile profile;
	double bytes = 0;

	access_profiler_init(&profiler, &head);
	for (uint64_t c = 1; c <= 100; c++) {
		for (uint32_t r = 0; r < 4; r++)
			add_call(&profiler, make_call(c % 10 ? WRITE_ALL : READ_ALL, r, c,
						      (int64_t)(r * c * 100), (int64_t)c * 100, 0));
		bytes += 4.0 * (double)c * 100;
	}
	access_profiler_end(&profiler, &profile);
	CHECK_INT(profile.count, ACCESS_PROFILE_ROWS);
	CHECK(access_profile_bytes(&profile) > 0.999 * bytes &&
	      access_profile_bytes(&profile) < 1.001 * bytes);
	for (size_t i = 1; i < profile.count; i++)
		CHECK(profile.rows[i].calls * (double)profile.rows[i].access.rank_bytes <=
		      2 * profile.rows[0].calls * (double)profile.rows[0].access.rank_bytes);
	access_profile_release(&profile);
}

/* Calls that lack a rank do not accumulate. */
static void incomplete_calls_are_finished_in_time(void)
{
	struct access_profiler profiler;
	struct access_profile profile;

	access_profiler_init(&profiler, &head);
	for (uint64_t c = 1; c <= 20000; c++)
		for (uint32_t r = 0; r < 2; r++)
			add_call(&profiler, make_call(WRITE_ALL, r, c, r * 100, 100, 100));
	CHECK(profiler.calls.count <= 4096);
	access_profiler_end(&profiler, &profile);
	REQUIRE(profile.count == 1);
	CHECK(profile.rows[0].calls == 20000);
	CHECK_INT(profile.rows[0].access.ranks, 2);
	access_profile_release(&profile);
}

static void a_profile_is_read_back_and_damage_is_refused(void)
{
	struct access_profile_row rows[] = {
		{ { .is_read = true,
		    .pattern = ACCESS_STRIDED,
		    .nodes = 2,
		    .ranks = 8,
		    .rank_bytes = 640,
		    .block_bytes = 64,
		    .stride_bytes = 100,
		    .offset = 5 },
		  2.5,
		  (char *)"/d/in",
		  (char *)"cb_nodes=2" },
		{ { .nodes = 1, .ranks = 3, .rank_bytes = 7 }, 1, NULL, NULL },
	};
	struct access_profile made = { rows, 2, 2 }, read = { 0 };
	AUTO_FREE char *text = access_profile_write(&made), *again = NULL;
	struct err err = { 0 };

	REQUIRE(access_profile_parse(&read, text, &err) == 0);
	again = access_profile_write(&read);
	CHECK_TEXT(again, text);
	CHECK(read.rows[0].calls == 2.5 && read.rows[0].access.stride_bytes == 100);
	CHECK_TEXT(read.rows[0].file, "/d/in");
	CHECK(!read.rows[1].hints);
	CHECK_INT(access_profile_parse(&read, "{}", &err), -EBADMSG);
	CHECK_INT(access_profile_parse(&read, "nonsense", &err), -EBADMSG);
	*strstr(text, "640") = '0';
	text[strlen(text) - 1] = '}';
	CHECK_INT(access_profile_parse(&read, text, &err), -EBADMSG);
	CHECK_INT(read.count, 2);
	access_profile_release(&read);
}

static void a_missing_trace_is_an_error(void)
{
	struct access_profile profile = { 0 };
	struct err err = { 0 };

	CHECK(access_profile_read_trace(&profile, "/nowhere/at.all", &err) < 0);
	CHECK(strstr(err.text, "/nowhere/at.all"));
	CHECK_INT(profile.count, 0);
}

TESTS(TEST(adjacent_ranks_are_contiguous), TEST(interleaved_ranks_are_strided),
      TEST(single_pieces_with_gaps_are_strided), TEST(only_collective_transfers_of_ranks_count),
      TEST(hints_of_the_program_are_kept), TEST(many_sizes_become_few_rows),
      TEST(incomplete_calls_are_finished_in_time),
      TEST(a_profile_is_read_back_and_damage_is_refused), TEST(a_missing_trace_is_an_error))
