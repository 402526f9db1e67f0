/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-41, SIOX-53 to SIOX-55, SIOX-AC-4.
 */
#include "observe/plugins/file_surveyor.h"

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "observe/report/render.h"
#include "observe/tally/summary.h"
#include "observe/tally/traffic.h"
#include "trace_host.h"

enum { OPEN = 1, READ, WRITE, CLOSE, SEEK, DUP, IWRITE, WAIT, INIT, COPY, COMPLETED };

static struct call_info calls[] = {
	[0] = { .name = "none", .class = CLASS_CONTROL },
	[OPEN] = { .name = "MPI_File_open", .class = CLASS_OPEN },
	[READ] = { .name = "MPI_File_read_at", .class = CLASS_READ },
	[WRITE] = { .name = "MPI_File_write_at", .class = CLASS_WRITE },
	[CLOSE] = { .name = "MPI_File_close", .class = CLASS_CLOSE },
	[SEEK] = { .name = "MPI_File_seek", .class = CLASS_SEEK },
	[DUP] = { .name = "dup", .class = CLASS_DUP },
	[IWRITE] = { .name = "MPI_File_iwrite_at", .class = CLASS_START },
	[WAIT] = { .name = "MPI_Wait", .class = CLASS_WAIT },
	[INIT] = { .name = "MPI_Init", .class = CLASS_PROCESS },
	[COMPLETED] = { .name = "completed", .class = CLASS_WAIT },
	[COPY] = { .name = "copy_file_range", .class = CLASS_COPY },
};
static char *files[] = { "", "/shared", "/other" };

#define RANKS 10
static struct process_info processes[RANKS + 1];
static struct trace_head head = {
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files,
	.file_count = 3,
	.processes = processes,
};

/* A surveyor and its run, whose clock advances with each call. */
struct run {
	struct ranks ranks;
	struct trace_host host;
	struct file_surveyor surveyor;
	int64_t now_ns;
	uint64_t next[RANKS + 1]; /* id of the next call of each process */
	uint64_t open[RANKS + 1]; /* id of its latest open */
};

static void run_init(struct run *run, size_t process_count, bool ranked)
{
	*run = (struct run){ 0 };
	for (size_t i = 0; i <= RANKS; i++) {
		processes[i] = (struct process_info){ .index = (uint32_t)i,
						      .parent = -1,
						      .rank = ranked ? (int32_t)i : -1,
						      .ranks = ranked ? RANKS : 0 };
		run->next[i] = 1;
	}
	head.process_count = process_count;
	ranks_init(&run->ranks, &head);
	trace_host_init(&run->host, &head);
	file_surveyor_init(&run->surveyor, &run->host.host);
}

static void run_release(struct run *run)
{
	file_surveyor_release(&run->surveyor);
	ranks_release(&run->ranks);
}

static uint64_t feed(struct run *run, struct activity a)
{
	a.id = run->next[a.process]++;
	a.start_ns = run->now_ns;
	a.file = a.file ? a.file : 1;
	a.layer = a.layer ? a.layer : LAYER_MPI;
	if (!a.duration_ns)
		a.duration_ns = 1;
	run->now_ns++;
	file_surveyor_add(&run->surveyor, &a);
	return a.id;
}

static void open_file(struct run *run, uint32_t process)
{
	run->open[process] = feed(run, (struct activity){ .process = process, .call = OPEN });
}

static void close_file(struct run *run, uint32_t process)
{
	feed(run,
	     (struct activity){ .process = process, .call = CLOSE, .link = run->open[process] });
}

static void access_file(struct run *run, uint32_t process, uint16_t call, int64_t offset,
			int64_t bytes, int64_t span)
{
	feed(run, (struct activity){ .process = process,
				     .call = call,
				     .link = run->open[process],
				     .offset = offset,
				     .size = bytes,
				     .span = span,
				     .result = bytes,
				     .present = PRESENT(SIZE) | PRESENT(OFFSET) | PRESENT(SPAN) });
}

static const struct spread *field_of(const struct survey_row *row, const char *name)
{
	for (size_t i = 0; i < SURVEY_MEASURES; i++) {
		if (!strcmp(survey_measures[i].name, name))
			return &row->fields[i];
	}
	printf("there is no field %s\n", name);
	exit(1);
}

/* The field of the only row, as it is printed. */
static void check_field(const struct run *run, const char *name, const char *expected)
{
	AUTO_BUF struct buf text = { 0 };
	size_t count;
	AUTO_FREE struct survey_row *rows = file_surveyor_rows(&run->surveyor, &run->ranks, &count);

	REQUIRE(count == 1);
	spread_format(&text, field_of(&rows[0], name));
	if (strcmp(buf_text(&text), expected) != 0)
		printf("%s:\n", name);
	CHECK_TEXT(buf_text(&text), expected);
}

/*
 * Parabench's four levels of access in one direction: each level opens the file again; each rank
 * has 10,240 blocks of 100 KiB, strided over all ranks, one by one in two levels and in one
 * non-contiguous call in the other two.
 */
static void four_levels(struct run *run, uint16_t call)
{
	enum { BLOCKS = 10240, BLOCK = 102400, STRIDE = RANKS * BLOCK };

	for (int level = 0; level < 4; level++) {
		bool contiguous = level % 2 == 0;

		for (uint32_t rank = 0; rank < RANKS; rank++)
			open_file(run, rank);
		for (int64_t i = 0; contiguous && i < BLOCKS; i++) {
			for (uint32_t rank = 0; rank < RANKS; rank++)
				access_file(run, rank, call, i * STRIDE + rank * BLOCK, BLOCK,
					    BLOCK);
		}
		for (uint32_t rank = 0; !contiguous && rank < RANKS; rank++)
			access_file(run, rank, call, rank * BLOCK, (int64_t)BLOCKS * BLOCK,
				    (int64_t)(BLOCKS - 1) * STRIDE + BLOCK);
		for (uint32_t rank = 0; rank < RANKS; rank++)
			close_file(run, rank);
	}
}

/* The counts of the report that the SIOX paper prints. */
static void the_report_of_the_paper_is_reproduced(void)
{
	static struct run run;

	run_init(&run, RANKS, true);
	four_levels(&run, WRITE);
	four_levels(&run, READ);
	check_field(&run, "Accesses", "(40964,40964,40964)");
	check_field(&run, "Accesses/Reading/Random, long seek", "(20481.8,20480,20482)");
	check_field(&run, "Accesses/Reading/Random, short seek", "(0,0,0)");
	check_field(&run, "Accesses/Reading/Sequential", "(0.2,0,2)");
	check_field(&run, "Bytes", "(8.38861e+09,8.38861e+09,8.38861e+09)");
	check_field(&run, "Bytes/Read per access", "(204780,204780,204780)");
	check_field(&run, "Bytes/Total read", "(4.1943e+09,4.1943e+09,4.1943e+09)");
	check_field(&run, "Seek Distance/Average writing", "(1.0238e+06,1.0238e+06,1.0238e+06)");
	/* mirrored: what the paper omits */
	check_field(&run, "Accesses/Writing/Random, long seek", "(20481.8,20480,20482)");
	check_field(&run, "Accesses/Writing/Sequential", "(0.2,0,2)");
	check_field(&run, "Bytes/Written per access", "(204780,204780,204780)");
	check_field(&run, "Bytes/Total written", "(4.1943e+09,4.1943e+09,4.1943e+09)");
	check_field(&run, "Seek Distance/Average reading", "(1.0238e+06,1.0238e+06,1.0238e+06)");
	CHECK_INT(run.surveyor.core.opens.count, 0);
	run_release(&run);
}

static void lines_have_the_layout_of_the_paper(void)
{
	AUTO_FREE char *text = NULL;
	static struct run run;
	struct survey_row *rows;
	size_t n, count;
	FILE *out = open_memstream(&text, &n);

	run_init(&run, 2, true);
	open_file(&run, 0);
	access_file(&run, 0, READ, 0, 10, 10);
	open_file(&run, 1);
	access_file(&run, 1, READ, 1 << 20, 30, 30);
	rows = file_surveyor_rows(&run.surveyor, &run.ranks, &count);
	render_survey(out, &(struct report){ .summary = &(struct summary){ .head = &head,
									   .ranks = run.ranks },
					     .survey = rows,
					     .survey_count = count,
					     .top = 5 });
	fclose(out);
	free(rows);
	CHECK(strstr(text, "[FileSurveyor:MPI] \"/shared\"/Accesses = (1,1,1)\n") == text);
	CHECK(strstr(text, "\n[FileSurveyor:MPI] \"/shared\"/Accesses/Reading/Sequential = "
			   "(0.5,0,1)\n"));
	CHECK(strstr(text,
		     "\n[FileSurveyor:MPI] \"/shared\"/Bytes/Read per access = (20,10,30)\n"));
	run_release(&run);
}

static void seeks_are_short_or_long(void)
{
	static struct run run;

	run_init(&run, 1, true);
	open_file(&run, 0);
	access_file(&run, 0, WRITE, 0, 100, 100);
	access_file(&run, 0, WRITE, 100, 100, 100); /* sequential */
	access_file(&run, 0, READ, 200, 50,
		    50); /* sequential: both directions share one position */
	access_file(&run, 0, WRITE, 250 + SURVEY_SHORT_SEEK_BYTES, 10, 10);
	access_file(&run, 0, WRITE, 250, 10, 10); /* backward, a little farther */
	check_field(&run, "Accesses/Writing/Sequential", "(2,2,2)");
	check_field(&run, "Accesses/Reading/Sequential", "(1,1,1)");
	check_field(&run, "Accesses/Writing/Random, short seek", "(1,1,1)");
	check_field(&run, "Accesses/Writing/Random, long seek", "(1,1,1)");
	/* (100 + 65686 + 65536) / 4 */
	check_field(&run, "Seek Distance/Average writing", "(32830.5,32830.5,32830.5)");
	check_field(&run, "Seek Distance/Average reading", "(0,0,0)");
	run_release(&run);
}

static void an_access_with_holes_is_never_sequential(void)
{
	static struct run run;

	run_init(&run, 1, true);
	open_file(&run, 0);
	access_file(&run, 0, WRITE, 0, 100, 1000);
	access_file(&run, 0, WRITE, 1000, 100, 100); /* after the span, not after the bytes */
	check_field(&run, "Accesses/Writing/Random, long seek", "(1,1,1)");
	check_field(&run, "Accesses/Writing/Sequential", "(1,1,1)");
	run_release(&run);
}

static void an_access_without_position_is_of_no_kind(void)
{
	static struct run run;

	run_init(&run, 1, true);
	open_file(&run, 0);
	feed(&run, (struct activity){ .call = WRITE, .link = 1, .result = 8 });
	access_file(&run, 0, READ, 0, 0, 0);   /* the end of the file */
	access_file(&run, 0, READ, 0, -1, -1); /* failed: not an access, but its time counts */
	check_field(&run, "Accesses", "(2,2,2)");
	check_field(&run, "Bytes", "(8,8,8)");
	check_field(&run, "Accesses/Writing/Sequential", "(0,0,0)");
	check_field(&run, "Accesses/Writing/Random, long seek", "(0,0,0)");
	check_field(&run, "Accesses/Reading/Sequential", "(0,0,0)");
	check_field(&run, "Time/Total for reading", "(2,2,2)");
	run_release(&run);
}

static void times_are_those_of_the_calls(void)
{
	static struct run run;

	run_init(&run, 1, true);
	run.now_ns = 100;
	run.open[0] = feed(&run, (struct activity){ .call = OPEN, .duration_ns = 5 });
	feed(&run, (struct activity){
			   .call = WRITE, .link = run.open[0], .result = 1, .duration_ns = 70 });
	feed(&run, (struct activity){ .call = CLOSE, .link = run.open[0], .duration_ns = 20 });
	check_field(&run, "Time/Total for opening", "(5,5,5)");
	check_field(&run, "Time/Total for writing", "(70,70,70)");
	check_field(&run, "Time/Total for reading", "(0,0,0)");
	check_field(&run, "Time/Total for closing", "(20,20,20)");
	check_field(&run, "Time/Total surveyed", "(71,71,71)"); /* 100 to 101 + 70 */
	run_release(&run);
}

static void a_duplicate_continues_at_the_position_of_the_handle(void)
{
	static struct run run;

	run_init(&run, 1, true);
	open_file(&run, 0);
	access_file(&run, 0, WRITE, 0, 100, 100);
	run.open[0] = feed(&run, (struct activity){ .call = DUP, .link = run.open[0] });
	access_file(&run, 0, WRITE, 100, 100, 100);
	check_field(&run, "Accesses/Writing/Sequential", "(2,2,2)");
	run_release(&run);
}

static void asynchronous_accesses_are_corrected_at_their_completion(void)
{
	static struct run run;
	uint64_t start, wait;

	run_init(&run, 1, true);
	open_file(&run, 0);
	start = run.next[0];
	access_file(&run, 0, IWRITE, 0, 100, 100);
	access_file(&run, 0, WRITE, 100, 10, 10);
	feed(&run,
	     (struct activity){ .call = WAIT, .link = start, .result = 60, .duration_ns = 40 });
	check_field(&run, "Bytes/Total written", "(70,70,70)");
	/* one of several: the completion record is inside the call that waits */
	start = run.next[0];
	access_file(&run, 0, IWRITE, 110, 100, 100);
	wait = feed(&run, (struct activity){ .call = WAIT });
	feed(&run,
	     (struct activity){ .call = COMPLETED, .parent = wait, .link = start, .result = 5 });
	check_field(&run, "Accesses", "(3,3,3)");
	check_field(&run, "Bytes/Total written", "(75,75,75)");
	check_field(&run, "Accesses/Writing/Sequential", "(3,3,3)");
	check_field(&run, "Time/Total for writing", "(44,44,44)");
	CHECK_INT(run.surveyor.core.started.count, 0);
	run_release(&run);
}

static void inner_calls_startup_sockets_and_launchers_are_left_out(void)
{
	static struct run run;
	uint64_t outer;

	run_init(&run, 2, true);
	processes[1].rank = -1;
	run_release(&run);
	ranks_init(&run.ranks, &head);
	file_surveyor_init(&run.surveyor, &run.host.host);
	open_file(&run, 1);
	access_file(&run, 1, READ, 0, 5, 5);
	outer = feed(&run, (struct activity){ .call = INIT, .file = 2 });
	feed(&run, (struct activity){ .call = READ, .parent = outer, .result = 9 });
	feed(&run, (struct activity){ .call = READ, .layer = LAYER_NETWORK, .result = 9 });
	open_file(&run, 0);
	outer = run.next[0];
	access_file(&run, 0, WRITE, 0, 7, 7);
	feed(&run, (struct activity){ .call = WRITE, .parent = outer, .result = 7 });
	check_field(&run, "Accesses", "(1,1,1)");
	check_field(&run, "Bytes", "(7,7,7)");
	run_release(&run);
}

static void layers_and_files_are_separate_and_the_most_expensive_comes_first(void)
{
	static struct run run;
	struct survey_row *rows;
	size_t n;

	run_init(&run, 1, true);
	feed(&run, (struct activity){ .call = READ, .result = 1 });
	feed(&run, (struct activity){ .call = READ, .file = 2, .result = 1, .duration_ns = 50 });
	feed(&run, (struct activity){ .call = READ, .file = 2, .layer = LAYER_STDIO, .result = 1 });
	feed(&run, (struct activity){ .call = OPEN, .layer = LAYER_HDF5 }); /* not an access */
	feed(&run,
	     (struct activity){
		     .call = COPY, .layer = LAYER_STDIO, .file = 1, .file2 = 2, .result = 3 });
	rows = file_surveyor_rows(&run.surveyor, &run.ranks, &n);
	REQUIRE(n == 4);
	CHECK(rows[0].file == 2 && rows[0].layer == LAYER_MPI);
	CHECK(rows[1].file == 2 && rows[1].layer == LAYER_STDIO);
	CHECK(rows[2].file == 1 && rows[2].layer == LAYER_MPI);
	CHECK_INT(field_of(&rows[1], "Bytes/Total read")->sum, 4);
	CHECK_INT(field_of(&rows[3], "Bytes/Total written")->sum, 3);
	free(rows);
	run_release(&run);
}

static void without_ranks_processes_are_compared(void)
{
	static struct run run;
	struct survey_row *rows;
	size_t n;

	run_init(&run, 3, false);
	for (uint32_t i = 0; i < 3; i++) {
		open_file(&run, i);
		access_file(&run, i, READ, 0, 10 * (int64_t)i + 1, 1);
	}
	rows = file_surveyor_rows(&run.surveyor, &run.ranks, &n);
	REQUIRE(n == 1);
	CHECK_INT(rows[0].members, 3);
	CHECK_INT(field_of(&rows[0], "Bytes")->maximum, 21);
	CHECK_INT(field_of(&rows[0], "Bytes")->maximum_rank, 2);
	free(rows);
	run_release(&run);
}

static void a_constant_stride_is_detected_at_the_third_access(void)
{
	static struct run run;

	run_init(&run, 1, true);
	open_file(&run, 0);
	for (int64_t i = 0; i < 10; i++)
		access_file(&run, 0, READ, i * 8192, 100, 100); /* 8 of them are strided */
	for (int64_t i = 0; i < 4; i++)
		access_file(&run, 0, READ, (60 - i * 20) << 20, 1, 1); /* backward: 2 */
	access_file(&run, 0, READ, 100 << 20, 1, 1);		       /* forward: none */
	for (int64_t i = 0; i < 5; i++)
		access_file(&run, 0, WRITE, i * 100, 100,
			    100); /* sequential, except for the first */
	check_field(&run, "Accesses/Reading/Strided", "(10,10,10)");
	check_field(&run, "Accesses/Reading/Strided, up to 4 KiB", "(0,0,0)");
	check_field(&run, "Accesses/Reading/Strided, up to 64 KiB", "(8,8,8)");
	check_field(&run, "Accesses/Reading/Strided, beyond 16 MiB", "(2,2,2)");
	check_field(&run, "Accesses/Writing/Strided", "(0,0,0)");
	check_field(&run, "Accesses/Reading", "(15,15,15)");
	check_field(&run, "Accesses/Writing", "(5,5,5)");
	check_field(&run, "Seek Distance/Largest writing", "(100,100,100)");
	run_release(&run);
}

/* The four levels of the paper again: what it calls random is strided. */
static void the_strides_of_the_paper_are_found(void)
{
	static struct run run;

	run_init(&run, RANKS, true);
	four_levels(&run, WRITE);
	/* two levels of 10,240; the first two accesses of each have no stride yet */
	check_field(&run, "Accesses/Writing/Strided", "(20476,20476,20476)");
	check_field(&run, "Accesses/Writing/Strided, up to 1 MiB", "(20476,20476,20476)");
	check_field(&run, "Seek Distance/Largest writing", "(1.024e+06,1.024e+06,1.024e+06)");
	check_field(&run, "Accesses/Writing/Aligned to 4 KiB", "(20480,20480,20480)");
	check_field(&run, "Accesses/Writing/Aligned to 1 MiB", "(0,0,0)");
	run_release(&run);
}

static void alignment_needs_position_and_size(void)
{
	static struct run run;

	run_init(&run, 1, true);
	open_file(&run, 0);
	access_file(&run, 0, WRITE, 0, 1 << 20, 1 << 20);
	access_file(&run, 0, WRITE, 1 << 20, 4096, 4096);
	access_file(&run, 0, WRITE, 4096, 512, 512);
	access_file(&run, 0, WRITE, 100, 4096, 4096);
	access_file(&run, 0, WRITE, 0, 4096, 8192); /* with holes: its pieces are not known */
	check_field(&run, "Accesses/Writing/Aligned to 1 MiB", "(1,1,1)");
	check_field(&run, "Accesses/Writing/Aligned to 4 KiB", "(2,2,2)");
	check_field(&run, "Accesses/Writing/Aligned to 512 B", "(3,3,3)");
	run_release(&run);
}

static void seeks_are_counted(void)
{
	static struct run run;

	run_init(&run, 1, true);
	open_file(&run, 0);
	access_file(&run, 0, WRITE, 0, 10, 10);
	feed(&run, (struct activity){ .call = SEEK, .link = run.open[0], .result = 7 });
	feed(&run, (struct activity){ .call = SEEK, .link = run.open[0], .result = 0 });
	check_field(&run, "Seeks", "(2,2,2)");
	check_field(&run, "Accesses", "(1,1,1)");
	run_release(&run);
}

static void check_sharing(const struct run *run, size_t writers, enum sharing expected)
{
	size_t n;
	AUTO_FREE struct survey_row *rows = file_surveyor_rows(&run->surveyor, &run->ranks, &n);

	REQUIRE(n == 1);
	CHECK_INT(rows[0].accessing[WRITING], writers);
	CHECK_TEXT(sharing_names[rows[0].sharing[WRITING]], sharing_names[expected]);
}

static void ranks_share_a_file_in_several_ways(void)
{
	static struct run run;

	run_init(&run, RANKS, true);
	for (uint32_t i = 0; i < RANKS; i++)
		open_file(&run, i);
	access_file(&run, 0, WRITE, 0, 100, 100);
	access_file(&run, 1, READ, 0, 100, 100);
	check_sharing(&run, 1, SHARING_ONE);
	access_file(&run, 1, WRITE, 100, 100, 100);
	check_sharing(&run, 2, SHARING_DISJOINT);
	for (int64_t i = 1; i < 100; i++) {
		access_file(&run, 0, WRITE, i * 1000, 100, 100);
		access_file(&run, 1, WRITE, i * 1000 + 100, 100, 100);
	}
	check_sharing(&run, 2, SHARING_INTERLEAVED);
	access_file(&run, 2, WRITE, 50 * 1000 + 199, 1, 1);
	check_sharing(&run, 3, SHARING_OVERLAPPING);
	run_release(&run);
}

static void a_child_continues_with_inherited_handles(void)
{
	static struct run run;

	run_init(&run, 2, false);
	processes[1].parent = 0;
	run.next[1] = 1000; /* ids are unique along a line of forks */
	open_file(&run, 0);
	run.open[1] = run.open[0];
	access_file(&run, 1, WRITE, 0, 100, 100);
	access_file(&run, 0, WRITE, 100, 100, 100);
	close_file(&run, 1); /* the parent still has it open */
	access_file(&run, 0, WRITE, 200, 100, 100);
	check_field(&run, "Accesses/Writing/Sequential", "(1.5,1,2)");
	close_file(&run, 0);
	CHECK_INT(run.surveyor.core.opens.count, 0);
	run_release(&run);
}

/*
 * pwrite() through one handle: each process continues its own range, in any order. write(): each
 * continues where the other one has ended.
 */
static void processes_that_share_a_handle_have_positions_of_their_own(void)
{
	static struct run run;

	run_init(&run, 3, false);
	processes[1].parent = 0;
	processes[2].parent = 1;
	run.next[1] = 1000;
	run.next[2] = 2000;
	open_file(&run, 0);
	run.open[1] = run.open[2] = run.open[0];
	for (int64_t i = 0; i < 10; i++) {
		for (uint32_t process = 0; process < 3; process++)
			access_file(&run, process, WRITE, process * 10000000 + i * 100, 100, 100);
	}
	/* All but the first of each child. */
	check_field(&run, "Accesses/Writing/Sequential", "(9.33333,9,10)");
	for (int64_t i = 0; i < 10; i++)
		access_file(&run, (uint32_t)i % 3, WRITE, 20001000 + i * 100, 100, 100);
	check_field(&run, "Accesses/Writing/Sequential", "(12.6667,12,14)");
	for (uint32_t process = 3; process-- > 0;)
		close_file(&run, process);
	CHECK_INT(run.surveyor.core.opens.count, 0);
	run_release(&run);
}

static void processes_of_a_rank_are_added_up(void)
{
	static struct run run;

	run_init(&run, 2, true);
	processes[1].rank = 0; /* a second program of the same rank */
	ranks_release(&run.ranks);
	ranks_init(&run.ranks, &head);
	access_file(&run, 0, WRITE, 0, 100, 100);
	access_file(&run, 1, WRITE, 50, 30, 30);
	check_field(&run, "Bytes", "(130,130,130)");
	check_field(&run, "Accesses", "(2,2,2)");
	check_sharing(&run, 1, SHARING_ONE);
	run_release(&run);
}

/* A host that keeps the reports of a plug-in. */
struct listener {
	struct trace_host trace;
	struct sluice_host host;
	const char *top, *write;
	struct buf said;
	int warnings;
};

static const char *listener_option(void *self, const char *key)
{
	const struct listener *l = self;

	if (strcmp(key, "write") == 0)
		return l->write;
	return strcmp(key, "top") == 0 ? l->top : NULL;
}

static const struct call_info *listener_call(void *self, uint32_t number)
{
	struct listener *l = self;

	return l->trace.host.call(&l->trace, number);
}

static const char *listener_file(void *self, file_id id)
{
	struct listener *l = self;

	return l->trace.host.file(&l->trace, id);
}

static const struct sluice_process *listener_process(void *self, uint32_t index)
{
	struct listener *l = self;

	return l->trace.host.process(&l->trace, index);
}

static void listener_number(void *self, int32_t process, const char *group, const char *field,
			    double value)
{
	struct listener *l = self;

	buf_printf(&l->said, "%d %s/%s = %g\n", process, group, field, value);
}

static void listener_text(void *self, int32_t process, const char *group, const char *field,
			  const char *value)
{
	struct listener *l = self;

	buf_printf(&l->said, "%d %s/%s = %s\n", process, group, field, value);
}

static void listener_warn(void *self, const char *text)
{
	struct listener *l = self;

	CHECK(text && *text);
	l->warnings++;
}

static void listener_init(struct listener *l)
{
	*l = (struct listener){ .host = { .bytes = sizeof(struct sluice_host),
					  .self = l,
					  .option = listener_option,
					  .call = listener_call,
					  .file = listener_file,
					  .process = listener_process,
					  .number = listener_number,
					  .text = listener_text,
					  .warn = listener_warn } };
	trace_host_init(&l->trace, &head);
}

/* A write of ten bytes at an offset, and a read of three. */
static struct activity write_of(uint32_t process, file_id file, int64_t offset)
{
	return (struct activity){ .id = 1,
				  .process = process,
				  .call = WRITE,
				  .file = file,
				  .layer = LAYER_POSIX,
				  .duration_ns = 9,
				  .result = 10,
				  .size = 10,
				  .offset = offset,
				  .present = PRESENT(SIZE) | PRESENT(OFFSET) };
}

static struct activity read_of(uint32_t process, file_id file)
{
	return (struct activity){ .id = 2,
				  .process = process,
				  .call = READ,
				  .file = file,
				  .layer = LAYER_POSIX,
				  .duration_ns = 1,
				  .result = 3 };
}

/* What the plug-in reports about these activities. */
static char *said_about(struct listener *l, const struct activity *activities, size_t count)
{
	const struct sluice_async *plugin = plugin_file_surveyor.async;
	void *state = NULL;
	char *said;

	REQUIRE(plugin->start(&l->host, &state) == 0);
	plugin->batch(state, activities, count);
	plugin->report(state);
	plugin->stop(state);
	said = xstrdup(buf_text(&l->said));
	buf_release(&l->said);
	return said;
}

static void the_plugin_reports_each_process_and_the_top_files(void)
{
	const struct activity activities[] = { write_of(0, 1, 0), write_of(1, 1, 5),
					       read_of(1, 2) };
	static struct listener l;
	AUTO_FREE char *said = NULL;

	head.process_count = 2;
	listener_init(&l);
	l.top = "1";
	said = said_about(&l, activities, 3);
	CHECK(strstr(said, "0 POSIX \"/shared\"/Bytes/Total written = 10\n"));
	CHECK(strstr(said, "1 POSIX \"/shared\"/Accesses = 1\n"));
	CHECK(strstr(said, "-1 POSIX \"/shared\"/Sharing/Writing = overlapping\n"));
	CHECK(!strstr(said, "/other"));	    /* beyond the top */
	CHECK(!strstr(said, "Total read")); /* 0 everywhere */
}

/* With an option for the functions that are writes. */
static char *said_with(const char *write)
{
	const struct activity activities[] = { write_of(0, 1, 0), read_of(0, 1) };
	static struct listener l;

	head.process_count = 1;
	listener_init(&l);
	l.write = write;
	return said_about(&l, activities, 2);
}

static void functions_of_a_class_can_be_selected(void)
{
	const char *name = head.calls[WRITE].name;
	AUTO_FREE char *of_layer = xprintf("x, POSIX/%s", name), *other = xprintf("MPI/%s", name);
	AUTO_FREE char *longer = xprintf("%sx", name);
	const struct {
		const char *write;
		bool surveyed;
	} cases[] = { { NULL, true }, { name, true },	{ of_layer, true },
		      { "", false },  { other, false }, { longer, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_FREE char *said = said_with(cases[i].write);

		CHECK(!strstr(said, "Total written = 10\n") == !cases[i].surveyed);
		CHECK(strstr(said, "Total read = 3\n"));
	}
}

static void the_plugin_refuses_a_wrong_option(void)
{
	static struct listener l;
	void *state = NULL;

	listener_init(&l);
	l.top = "many";
	CHECK(plugin_file_surveyor.async->start(&l.host, &state) < 0);
	CHECK_INT(l.warnings, 1);
	CHECK(!state);
}

static void open_files_are_bounded(void)
{
	static struct run run;

	run_init(&run, 1, true);
	for (int i = 0; i < 200000; i++) {
		open_file(&run, 0);
		access_file(&run, 0, WRITE, 0, 1, 1); /* never closed */
	}
	CHECK(run.surveyor.core.opens.count <= 65536);
	check_field(&run, "Accesses/Writing/Sequential", "(200000,200000,200000)");
	run_release(&run);
}

static void the_name_of_a_start_gives_its_direction(void)
{
	static const struct {
		const char *name;
		unsigned ways;
	} rows[] = {
		{ "aio_read", 1u << READING },
		{ "aio_write64", 1u << WRITING },
		{ "aio_fsync", 0 },
		{ "MPI_File_iwrite_shared", 1u << WRITING },
		{ "MPI_File_read_at_all_begin", 1u << READING },
		{ "ncmpi_iput_vara_double", 1u << WRITING },
		{ "ncmpi_bput_var1_text", 1u << WRITING },
		{ "ncmpi_iget_varn", 1u << READING },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct call_info call = { .name = rows[i].name, .class = CLASS_START };

		CHECK_INT(traffic_ways(&call), rows[i].ways);
	}
}

TESTS(TEST(the_report_of_the_paper_is_reproduced), TEST(lines_have_the_layout_of_the_paper),
      TEST(seeks_are_short_or_long), TEST(an_access_with_holes_is_never_sequential),
      TEST(an_access_without_position_is_of_no_kind), TEST(times_are_those_of_the_calls),
      TEST(a_duplicate_continues_at_the_position_of_the_handle),
      TEST(asynchronous_accesses_are_corrected_at_their_completion),
      TEST(inner_calls_startup_sockets_and_launchers_are_left_out),
      TEST(layers_and_files_are_separate_and_the_most_expensive_comes_first),
      TEST(without_ranks_processes_are_compared),
      TEST(a_constant_stride_is_detected_at_the_third_access),
      TEST(the_strides_of_the_paper_are_found), TEST(alignment_needs_position_and_size),
      TEST(seeks_are_counted), TEST(ranks_share_a_file_in_several_ways),
      TEST(a_child_continues_with_inherited_handles),
      TEST(processes_that_share_a_handle_have_positions_of_their_own),
      TEST(processes_of_a_rank_are_added_up),
      TEST(the_plugin_reports_each_process_and_the_top_files),
      TEST(functions_of_a_class_can_be_selected), TEST(the_plugin_refuses_a_wrong_option),
      TEST(open_files_are_bounded), TEST(the_name_of_a_start_gives_its_direction))
