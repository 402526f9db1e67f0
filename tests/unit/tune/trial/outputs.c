/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/outputs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "check.h"
#include "observe/tally/traffic.h"
#include "tune/trial/entries.h"

enum { OPEN, WRITE, RENAME, UNLINK, FTRUNCATE, SHM_OPEN, LINK, MMAP, SET_SIZE, MKDIR, CALLS };

static struct call_info calls[CALLS] = {
	[OPEN] = { .name = "open", .class = CLASS_OPEN },
	[WRITE] = { .name = "write", .class = CLASS_WRITE },
	[RENAME] = { .name = "rename", .class = CLASS_META },
	[UNLINK] = { .name = "unlink", .class = CLASS_META },
	[FTRUNCATE] = { .name = "ftruncate", .class = CLASS_RESIZE },
	[SHM_OPEN] = { .name = "shm_open", .class = CLASS_OPEN },
	[LINK] = { .name = "link", .class = CLASS_META },
	[MMAP] = { .name = "mmap", .class = CLASS_MAP },
	[MKDIR] = { .name = "mkdir", .class = CLASS_META },
	[SET_SIZE] = { .name = "MPI_File_set_size", .class = CLASS_RESIZE },
};
static const uint8_t ways[CALLS] = { [WRITE] = 1 << WRITING };

enum { NONE, A, B, C, IN_A, IN_B, LIBRARY, FILES };
static char *files[FILES] = { (char *)"",	(char *)"/d/a",	  (char *)"/d/b",  (char *)"/d/c",
			      (char *)"/d/a/x", (char *)"/d/b/x", (char *)"/d/lib" };
static const bool named[FILES] = { false, true, true, true, true, true, false };
static struct process_info processes[2] = { { .rank = -1, .program = (char *)"/usr/bin/app" },
					    { .rank = -1,
					      .program = (char *)"/usr/bin/mpiexec.mpich" } };
static const struct trace_head head = { .calls = calls,
					.call_count = CALLS,
					.files = files,
					.file_count = FILES,
					.processes = processes,
					.process_count = 2 };
static struct outputs outputs;

static void begin(void)
{
	outputs_init(&outputs, &head, named, ways);
}

static struct activity activity(int call, file_id file, file_id file2, int64_t flags)
{
	return (struct activity){ .call = (uint16_t)call,
				  .file = file,
				  .file2 = file2,
				  .flags = flags,
				  .mode = PROT_WRITE,
				  .present = PRESENT(FLAGS),
				  .layer = LAYER_POSIX };
}

static void call(int call, file_id file, file_id file2, int64_t flags)
{
	struct activity a = activity(call, file, file2, flags);

	outputs_add(&outputs, &a);
}

static void create(file_id file)
{
	call(OPEN, file, 0, O_WRONLY | O_CREAT | O_TRUNC);
	call(WRITE, file, 0, 0);
}

/* Checks the live outputs and, after a bar, the past versions. */
static void check_outputs(const char *expected)
{
	struct output_sources sources = { 0 };
	AUTO_BUF struct buf text = { 0 };

	outputs_list(&outputs, "/scratch", &sources);
	for (size_t i = 0; i < sources.count; i++)
		buf_printf(&text, "%s ", sources.list[i].path);
	buf_puts(&text, "|");
	for (size_t i = 0; i < sources.past_count; i++)
		buf_printf(&text, " %s", sources.past[i]);
	CHECK_TEXT(buf_text(&text), expected);
	output_sources_release(&sources);
	outputs_release(&outputs);
}

static void files_that_are_written_are_outputs(void)
{
	begin();
	create(A);
	call(OPEN, B, 0, O_RDONLY);
	call(OPEN, C, 0, O_RDWR);
	create(LIBRARY);
	check_outputs("/d/a |");
}

static void an_output_is_followed_to_its_last_name(void)
{
	begin();
	create(A);
	call(RENAME, A, B, 0);
	/* The descriptor still refers to it. */
	call(WRITE, A, 0, 0);
	call(RENAME, B, C, 0);
	check_outputs("/d/c |");
	begin();
	create(IN_A);
	call(RENAME, A, B, 0);
	check_outputs("/d/b/x |");
	begin();
	create(LIBRARY);
	call(RENAME, LIBRARY, A, 0);
	check_outputs("/d/a |");
	begin();
	create(A);
	call(LINK, A, B, 0);
	call(UNLINK, A, 0, 0);
	check_outputs("/d/b |");
	begin();
	call(OPEN, A, 0, O_RDWR | O_CREAT);
	call(LINK, A, B, 0);
	call(UNLINK, A, 0, 0);
	call(WRITE, A, 0, 0);
	check_outputs("/d/b |");
}

static void versions_that_no_longer_exist_are_listed(void)
{
	begin();
	create(A);
	call(UNLINK, A, 0, 0);
	check_outputs("| /d/a");
	begin();
	create(A);
	create(B);
	call(RENAME, B, A, 0);
	check_outputs("/d/a | /d/a");
	begin();
	create(A);
	create(A);
	create(A);
	check_outputs("/d/a | /d/a /d/a");
	begin();
	create(A);
	call(FTRUNCATE, A, 0, 0);
	call(WRITE, A, 0, 0);
	check_outputs("/d/a | /d/a");
	/* Nobody can have read it. */
	begin();
	call(OPEN, A, 0, O_RDWR | O_CREAT);
	call(UNLINK, A, 0, 0);
	call(WRITE, A, 0, 0);
	check_outputs("|");
}

static void the_size_that_a_library_sets_is_not_a_write(void)
{
	struct activity a = activity(SET_SIZE, A, 0, 0);

	begin();
	call(OPEN, A, 0, O_RDWR | O_CREAT);
	a.layer = LAYER_MPI;
	outputs_add(&outputs, &a);
	call(FTRUNCATE, A, 0, 0);
	call(WRITE, A, 0, 0);
	check_outputs("/d/a |");
}

static void two_files_are_exchanged(void)
{
	struct activity a = activity(RENAME, A, B, RENAME_EXCHANGE);

	begin();
	create(A);
	create(B);
	outputs_add(&outputs, &a);
	call(UNLINK, A, 0, 0);
	check_outputs("/d/b | /d/a");
}

static void mappings_are_writes_and_shared_memory_is_no_file(void)
{
	begin();
	call(OPEN, A, 0, O_RDWR);
	call(MMAP, A, 0, MAP_PRIVATE);
	call(OPEN, B, 0, O_RDWR);
	call(MMAP, B, 0, MAP_SHARED);
	call(SHM_OPEN, C, 0, O_RDWR | O_CREAT);
	call(MMAP, C, 0, MAP_SHARED);
	check_outputs("/d/b |");
}

static void files_of_a_launcher_are_not_outputs(void)
{
	struct activity a = activity(WRITE, A, 0, 0);

	begin();
	a.process = 1;
	outputs_add(&outputs, &a);
	a = activity(MKDIR, A, 0, 0);
	a.process = 1;
	outputs_add(&outputs, &a);
	create(IN_A);
	check_outputs("|");
}

static void past_versions_are_found_in_the_journal(void)
{
	struct entry list[] = {
		{ .record = { .kind = JOURNAL_REMOVED, .path = "/d/a" }, .kept = (char *)"/j/c-1" },
		{ .record = { .kind = JOURNAL_LOST, .path = "/d/a" }, .version = 1 },
	};
	const struct entries entries = { .list = list, .count = 2 };
	struct output_sources sources = { 0 };

	begin();
	for (int i = 0; i < 3; i++) {
		create(A);
		call(UNLINK, A, 0, 0);
	}
	outputs_list(&outputs, "/scratch", &sources);
	output_sources_add_past(&sources, &entries);
	REQUIRE(sources.count == 3);
	CHECK_TEXT(sources.list[0].path, "/j/c-1");
	CHECK_TEXT(sources.list[0].name, "/d/a (version 1)");
	CHECK(!sources.list[1].path && !sources.list[2].path);
	CHECK_TEXT(sources.list[2].name, "/d/a (version 3)");
	output_sources_release(&sources);
	outputs_release(&outputs);
}

TESTS(TEST(files_that_are_written_are_outputs), TEST(an_output_is_followed_to_its_last_name),
      TEST(versions_that_no_longer_exist_are_listed),
      TEST(the_size_that_a_library_sets_is_not_a_write), TEST(two_files_are_exchanged),
      TEST(mappings_are_writes_and_shared_memory_is_no_file),
      TEST(files_of_a_launcher_are_not_outputs), TEST(past_versions_are_found_in_the_journal))
