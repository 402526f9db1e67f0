/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/lockstep.h"

#include <string.h>

#include "base/mem.h"
#include "check.h"

enum {
	FILE_OPEN = 1,
	FILE_CLOSE,
	FILE_SYNC,
	FILE_WRITE,
	FILE_SHARED,
	H5_FILE,
	H5_FILE_CLOSE,
	H5_CREATE,
	H5_OPEN,
	H5_CLOSE,
	H5_WRITE,
	H5_READ,
	H5_CHUNK,
};

static struct call_info calls[] = {
	[0] = { .name = "none" },
	[FILE_OPEN] = { .name = "MPI_File_open", .layer = LAYER_MPI, .class = CLASS_OPEN },
	[FILE_CLOSE] = { .name = "MPI_File_close", .layer = LAYER_MPI, .class = CLASS_CLOSE },
	[FILE_SYNC] = { .name = "MPI_File_sync", .layer = LAYER_MPI, .class = CLASS_SYNC },
	[FILE_WRITE] = { .name = "MPI_File_write_at", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[FILE_SHARED] = { .name = "MPI_File_write_shared",
			  .layer = LAYER_MPI,
			  .class = CLASS_WRITE },
	[H5_FILE] = { .name = "H5Fcreate", .layer = LAYER_HDF5, .class = CLASS_OPEN },
	[H5_FILE_CLOSE] = { .name = "H5Fclose", .layer = LAYER_HDF5, .class = CLASS_CLOSE },
	[H5_CREATE] = { .name = "H5Dcreate2", .layer = LAYER_HDF5, .class = CLASS_OPEN },
	[H5_OPEN] = { .name = "H5Dopen2", .layer = LAYER_HDF5, .class = CLASS_OPEN },
	[H5_CLOSE] = { .name = "H5Dclose", .layer = LAYER_HDF5, .class = CLASS_CLOSE },
	[H5_WRITE] = { .name = "H5Dwrite", .layer = LAYER_HDF5, .class = CLASS_WRITE },
	[H5_READ] = { .name = "H5Dread", .layer = LAYER_HDF5, .class = CLASS_READ },
	[H5_CHUNK] = { .name = "H5Dwrite_chunk", .layer = LAYER_HDF5, .class = CLASS_WRITE },
};

enum { A = 1, A2, B, TABLE, OTHER };
static char *files[] = { "", "/d/a1.h5", "/d/a2.h5", "/d/b.h5", "table", "other" };

#define RANKS 3

static struct process_info processes[] = {
	{ .index = 0, .parent = -1, .rank = -1, .host = "h" },
	{ .index = 1, .parent = -1, .rank = 0, .ranks = RANKS, .host = "h" },
	{ .index = 2, .parent = -1, .rank = 1, .ranks = RANKS, .host = "h" },
	{ .index = 3, .parent = -1, .rank = 2, .ranks = RANKS, .host = "h" },
};

static struct trace_head head = {
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files,
	.file_count = sizeof(files) / sizeof(files[0]),
	.processes = processes,
	.process_count = sizeof(processes) / sizeof(processes[0]),
};

/* A run under way: a clock, and the last id of each rank. */
static struct lockstep_reader reader;
static int64_t now;
static uint64_t ids[RANKS];

static void begin_run(void)
{
	now = 0;
	memset(ids, 0, sizeof(ids));
	lockstep_reader_init(&reader, &head);
}

static uint64_t add_call(unsigned rank, uint16_t call, struct activity with)
{
	with.call = call;
	with.layer = calls[call].layer;
	with.process = rank + 1;
	with.id = ++ids[rank];
	if (!with.start_ns)
		with.start_ns = now++;
	lockstep_reader_add(&reader, &with);
	return with.id;
}

/* What a rank has open. */
struct opened {
	uint64_t file, shared, table; /* ids of the calls that opened them */
};

static struct opened open_shared(unsigned rank, file_id file, uint64_t together)
{
	struct opened opened = { .file = add_call(rank, H5_FILE,
						  (struct activity){ .file = file }) };

	opened.shared = add_call(
		rank, FILE_OPEN,
		(struct activity){ .file = file, .parent = opened.file, .collective = together });
	return opened;
}

static void create_table(unsigned rank, struct opened *opened, file_id name)
{
	opened->table =
		add_call(rank, H5_CREATE, (struct activity){ .link = opened->file, .name = name });
}

static void close_shared(unsigned rank, const struct opened *opened, uint64_t together)
{
	add_call(rank, H5_CLOSE, (struct activity){ .link = opened->table });
	add_call(rank, H5_FILE_CLOSE, (struct activity){ .link = opened->file });
	add_call(rank, FILE_CLOSE,
		 (struct activity){ .link = opened->shared, .collective = together });
}

/* A transfer from one time to another. */
static void transfer_at(unsigned rank, const struct opened *opened, uint16_t call, int64_t start,
			int64_t end)
{
	add_call(rank, call,
		 (struct activity){
			 .link = opened->table, .start_ns = start, .duration_ns = end - start });
}

/* All ranks open the file and create a table in it. */
static void begin_file(struct opened opened[RANKS], file_id file, uint64_t together)
{
	for (unsigned r = 0; r < RANKS; r++)
		opened[r] = open_shared(r, file, together);
	for (unsigned r = 0; r < RANKS; r++)
		create_table(r, &opened[r], TABLE);
}

static void end_file(const struct opened opened[RANKS], uint64_t together)
{
	for (unsigned r = 0; r < RANKS; r++)
		close_shared(r, &opened[r], together);
}

/* Rounds of transfers that overlap. */
static void transfer_together(const struct opened opened[RANKS], uint16_t call, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		for (unsigned r = 0; r < RANKS; r++)
			transfer_at(r, &opened[r], call, now + r, now + 10);
		now += 10;
	}
}

/* Rounds in which each rank begins when the one before it has finished. */
static void transfer_in_turns(const struct opened opened[RANKS], uint16_t call, int rounds)
{
	for (int i = 0; i < rounds; i++)
		for (unsigned r = 0; r < RANKS; r++, now += 10)
			transfer_at(r, &opened[r], call, now + 1, now + 10);
}

/* Ends the run; NULL: any reason or none. */
static void expect(enum lockstep_verdict verdict, const char *reason)
{
	struct lockstep found;

	lockstep_reader_end(&reader, &found);
	CHECK_INT(found.verdict, verdict);
	CHECK(!found.reason == (verdict < LOCKSTEP_SERIAL));
	if (reason && found.reason)
		CHECK_WORDS(found.reason, reason);
	lockstep_release(&found);
}

static void the_same_transfers_on_all_ranks_are_in_lockstep(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_file(a, A, 7);
	transfer_together(a, H5_WRITE, 3);
	transfer_together(a, H5_READ, 200);
	end_file(a, 8);
	expect(LOCKSTEP_YES, NULL);
}

static void a_file_that_is_never_closed_counts(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_file(a, A, 7);
	transfer_together(a, H5_WRITE, 3);
	expect(LOCKSTEP_YES, NULL);
	begin_run();
	begin_file(a, A, 7);
	transfer_together(a, H5_WRITE, 3);
	transfer_at(2, &a[2], H5_WRITE, now, now + 1);
	expect(LOCKSTEP_NO, "/d/a1.h5|rank 0 makes 3|rank 2 makes 4");
}

static void ranks_without_transfers_are_not_in_lockstep(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_file(a, A, 7);
	for (int i = 0; i < 4; i++)
		transfer_at(0, &a[0], H5_WRITE, now + i, now + i + 1);
	end_file(a, 8);
	expect(LOCKSTEP_NO, "/d/a1.h5|rank 0 makes 4|rank 1 makes 0");
}

/* A read and a write, two datasets, and a transfer before or after a dataset is created. */
static void transfers_in_another_order_are_not_in_lockstep(void)
{
	struct opened a[RANKS], b[RANKS];

	begin_run();
	begin_file(a, A, 7);
	transfer_together(a, H5_WRITE, 3);
	for (unsigned r = 0; r < RANKS; r++)
		transfer_at(r, &a[r], r ? H5_WRITE : H5_READ, now, now + 10);
	end_file(a, 8);
	expect(LOCKSTEP_NO, "/d/a1.h5|ranks 0 and 1|different order");

	begin_run();
	begin_file(a, A, 7);
	memcpy(b, a, sizeof(b));
	for (unsigned r = 0; r < RANKS; r++)
		create_table(r, &b[r], OTHER);
	for (unsigned r = 0; r < RANKS; r++) {
		transfer_at(r, r == 2 ? &b[r] : &a[r], H5_WRITE, now, now + 10);
		transfer_at(r, r == 2 ? &a[r] : &b[r], H5_WRITE, now + 10, now + 20);
	}
	now += 20;
	end_file(a, 8);
	expect(LOCKSTEP_NO, "/d/a1.h5|ranks 0 and 2|different transfers");

	begin_run();
	begin_file(a, A, 7);
	memcpy(b, a, sizeof(b));
	for (unsigned r = 0; r < RANKS; r++) {
		if (r == 1)
			create_table(r, &b[r], OTHER);
		transfer_at(r, &a[r], H5_WRITE, now, now + 10);
		if (r != 1)
			create_table(r, &b[r], OTHER);
	}
	end_file(a, 8);
	expect(LOCKSTEP_NO, "ranks 0 and 1");
}

/* Each file alone is in lockstep, but ranks would wait for each other in different files. */
static void the_order_over_files_counts(void)
{
	struct opened a[RANKS], b[RANKS];

	for (int crossed = 0; crossed < 2; crossed++) {
		begin_run();
		begin_file(a, A, 7);
		begin_file(b, B, 17);
		for (unsigned r = 0; r < RANKS; r++) {
			bool is_first = !crossed || r != 1;

			transfer_at(r, is_first ? &a[r] : &b[r], H5_WRITE, now, now + 10);
			transfer_at(r, is_first ? &b[r] : &a[r], H5_WRITE, now + 5, now + 15);
		}
		now += 20;
		end_file(a, 8);
		end_file(b, 18);
		expect(crossed ? LOCKSTEP_NO : LOCKSTEP_YES, "ranks 0 and 1|other files");
	}
}

/* A collective call that only two ranks make before their transfer. */
static void the_order_of_collective_calls_counts(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_file(a, A, 7);
	for (unsigned r = 0; r < RANKS; r++) {
		if (r < 2)
			add_call(r, FILE_SYNC,
				 (struct activity){ .link = a[r].shared, .collective = 99 });
		transfer_at(r, &a[r], H5_WRITE, now, now + 10);
		if (r == 2)
			add_call(r, FILE_SYNC,
				 (struct activity){ .link = a[r].shared, .collective = 99 });
	}
	now += 10;
	end_file(a, 8);
	expect(LOCKSTEP_NO, "ranks 0 and 2");
}

static void ranks_that_take_turns_look_serial(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_file(a, A, 7);
	transfer_in_turns(a, H5_WRITE, 20);
	end_file(a, 8);
	expect(LOCKSTEP_SERIAL, "/d/a1.h5|rank 1 never|rank 0|waited");
	/* A single round that overlaps shows that they do not wait, also of a file with a similar
	 * name. */
	begin_run();
	begin_file(a, A, 7);
	transfer_in_turns(a, H5_WRITE, 20);
	end_file(a, 8);
	begin_file(a, A2, 9);
	transfer_together(a, H5_WRITE, 1);
	end_file(a, 10);
	expect(LOCKSTEP_YES, NULL);
	begin_run();
	begin_file(a, A, 7);
	transfer_in_turns(a, H5_WRITE, 20);
	end_file(a, 8);
	begin_file(a, B, 9);
	transfer_together(a, H5_WRITE, 1);
	end_file(a, 10);
	expect(LOCKSTEP_SERIAL, "/d/a1.h5");
	/* Reads say nothing about writes. */
	begin_run();
	begin_file(a, A, 7);
	transfer_in_turns(a, H5_WRITE, 20);
	transfer_together(a, H5_READ, 20);
	end_file(a, 8);
	expect(LOCKSTEP_SERIAL, "/d/a1.h5");
}

/* All ranks open a file with MPI-IO, without a library. */
static void begin_own_file(struct opened opened[RANKS], file_id file, uint64_t together)
{
	for (unsigned r = 0; r < RANKS; r++) {
		opened[r].table = add_call(
			r, FILE_OPEN, (struct activity){ .file = file, .collective = together });
		opened[r].shared = opened[r].table;
	}
}

static void end_own_file(const struct opened opened[RANKS], uint64_t together)
{
	for (unsigned r = 0; r < RANKS; r++)
		add_call(r, FILE_CLOSE,
			 (struct activity){ .link = opened[r].shared, .collective = together });
}

static void transfers_of_the_program_itself_count(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_own_file(a, A, 7);
	transfer_together(a, FILE_WRITE, 20);
	end_own_file(a, 8);
	expect(LOCKSTEP_YES, NULL);

	begin_run();
	begin_own_file(a, A, 7);
	transfer_together(a, FILE_WRITE, 20);
	transfer_at(1, &a[1], FILE_WRITE, now, now + 1);
	end_own_file(a, 8);
	expect(LOCKSTEP_NO, "/d/a1.h5|rank 0 makes 20|rank 1 makes 21");

	begin_run();
	begin_own_file(a, A, 7);
	transfer_in_turns(a, FILE_WRITE, 20);
	end_own_file(a, 8);
	expect(LOCKSTEP_SERIAL, "/d/a1.h5|rank 1 never|rank 0|waited");
}

/* Nothing replaces calls that use the shared file pointer. */
static void transfers_without_a_counterpart_do_not_count(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_own_file(a, A, 7);
	transfer_at(1, &a[1], FILE_SHARED, now, now + 1);
	end_own_file(a, 8);
	expect(LOCKSTEP_NONE, NULL);
}

/* HDF5 writes metadata on one rank only, and decides for itself. */
static void transfers_of_libraries_do_not_count(void)
{
	struct opened a[RANKS];
	struct opened of_library;

	begin_run();
	begin_file(a, A, 7);
	transfer_together(a, H5_WRITE, 3);
	of_library = (struct opened){ .table = a[0].shared };
	transfer_at(0, &of_library, FILE_WRITE, now, now + 1);
	end_file(a, 8);
	expect(LOCKSTEP_YES, NULL);
}

/* The order of their transfers may be another one in the next run. */
static void threads_are_not_in_lockstep(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_own_file(a, A, 7);
	transfer_together(a, FILE_WRITE, 3);
	ids[2] = id_make(1, 0);
	transfer_together(a, FILE_WRITE, 3);
	end_own_file(a, 8);
	expect(LOCKSTEP_NO, "/d/a1.h5|several threads|rank 2");
}

/* Rank 0 writes first, then all others together. */
static void ranks_that_wait_for_one_look_serial(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_file(a, A, 7);
	for (int i = 0; i < 10; i++, now += 20)
		for (unsigned r = 0; r < RANKS; r++)
			transfer_at(r, &a[r], H5_WRITE, now + (r ? 11 : 1), now + (r ? 20 : 10));
	end_file(a, 8);
	expect(LOCKSTEP_SERIAL, "rank 1 never|rank 0");
}

/* Short transfers rarely overlap, but do not always come in the same order. */
static void transfers_in_changing_order_are_in_lockstep(void)
{
	struct opened a[RANKS];

	begin_run();
	begin_file(a, A, 7);
	for (unsigned i = 0; i < RANKS; i++)
		for (unsigned r = 0; r < RANKS; r++, now += 10)
			transfer_at((r + i) % RANKS, &a[(r + i) % RANKS], H5_WRITE, now + 1,
				    now + 2);
	end_file(a, 8);
	expect(LOCKSTEP_YES, NULL);
}

/* Files of one rank, files without MPI-IO, and calls that no list of properties affects. */
static void other_transfers_are_ignored(void)
{
	struct opened alone, serial, a[RANKS];

	begin_run();
	alone = open_shared(0, B, 0);
	create_table(0, &alone, TABLE);
	transfer_at(0, &alone, H5_WRITE, 1, 2);
	serial.file = add_call(1, H5_FILE, (struct activity){ .file = A });
	create_table(1, &serial, TABLE);
	transfer_at(1, &serial, H5_WRITE, 3, 4);
	now = 5;
	begin_file(a, A, 7);
	transfer_at(0, &a[0], H5_CHUNK, now, now + 10);
	end_file(a, 8);
	expect(LOCKSTEP_NONE, NULL);
}

static void ranks_that_were_not_recorded_are_no_evidence(void)
{
	struct opened a[RANKS];

	for (size_t i = 0; i < RANKS; i++)
		processes[i + 1].ranks = RANKS + 1;
	begin_run();
	begin_file(a, A, 7);
	transfer_together(a, H5_WRITE, 3);
	end_file(a, 8);
	expect(LOCKSTEP_NO, "3 of 4 ranks");
	for (size_t i = 0; i < RANKS; i++)
		processes[i + 1].ranks = RANKS;
}

/* A handle that is closed and opened again, and a file that is opened many times. */
static void openings_are_told_apart(void)
{
	struct opened a[RANKS];

	begin_run();
	for (uint64_t i = 1; i <= 2 * LOCKSTEP_FILES; i++) {
		begin_file(a, i % 2 ? A : A2, 10 * i);
		transfer_together(a, H5_WRITE, 1);
		end_file(a, 10 * i + 1);
	}
	for (unsigned r = 0; r < RANKS; r++)
		CHECK(!map_get(&reader.objects, a[r].table));
	CHECK_INT(reader.open, 0);
	CHECK_INT(reader.objects.count, 0);
	expect(LOCKSTEP_YES, NULL);
}

static void too_many_open_files_are_no_evidence(void)
{
	struct opened a[RANKS];

	begin_run();
	for (uint64_t i = 1; i <= LOCKSTEP_FILES + 1; i++)
		begin_file(a, A, i);
	transfer_together(a, H5_WRITE, 1);
	expect(LOCKSTEP_NO, "1024 files");
}

static enum lockstep_verdict joined(enum lockstep_verdict a, enum lockstep_verdict b)
{
	struct lockstep to = { a, a >= LOCKSTEP_SERIAL ? xstrdup("a") : NULL };
	struct lockstep from = { b, b >= LOCKSTEP_SERIAL ? xstrdup("b") : NULL };
	enum lockstep_verdict verdict;

	lockstep_join(&to, &from);
	CHECK(!from.reason && !to.reason == (to.verdict < LOCKSTEP_SERIAL));
	verdict = to.verdict;
	lockstep_release(&to);
	return verdict;
}

static void one_run_without_turns_is_enough(void)
{
	static const enum lockstep_verdict all[] = { LOCKSTEP_NONE, LOCKSTEP_YES, LOCKSTEP_SERIAL,
						     LOCKSTEP_NO };

	for (size_t i = 0; i < 4; i++) {
		CHECK_INT(joined(all[i], all[i]), all[i]);
		CHECK_INT(joined(LOCKSTEP_NONE, all[i]), all[i]);
		CHECK_INT(joined(all[i], LOCKSTEP_NONE), all[i]);
		CHECK_INT(joined(LOCKSTEP_NO, all[i]), LOCKSTEP_NO);
		CHECK_INT(joined(all[i], LOCKSTEP_NO), LOCKSTEP_NO);
	}
	CHECK_INT(joined(LOCKSTEP_SERIAL, LOCKSTEP_YES), LOCKSTEP_YES);
	CHECK_INT(joined(LOCKSTEP_YES, LOCKSTEP_SERIAL), LOCKSTEP_YES);
}

TESTS(TEST(one_run_without_turns_is_enough), TEST(the_same_transfers_on_all_ranks_are_in_lockstep),
      TEST(a_file_that_is_never_closed_counts), TEST(ranks_without_transfers_are_not_in_lockstep),
      TEST(transfers_in_another_order_are_not_in_lockstep), TEST(the_order_over_files_counts),
      TEST(the_order_of_collective_calls_counts), TEST(ranks_that_take_turns_look_serial),
      TEST(ranks_that_wait_for_one_look_serial), TEST(transfers_of_the_program_itself_count),
      TEST(transfers_without_a_counterpart_do_not_count), TEST(transfers_of_libraries_do_not_count),
      TEST(threads_are_not_in_lockstep), TEST(transfers_in_changing_order_are_in_lockstep),
      TEST(other_transfers_are_ignored), TEST(ranks_that_were_not_recorded_are_no_evidence),
      TEST(openings_are_told_apart), TEST(too_many_open_files_are_no_evidence))
