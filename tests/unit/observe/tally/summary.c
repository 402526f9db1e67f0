/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/summary.h"

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "observe/report/loss.h"
#include "observe/report/render.h"
#include "observe/tally/names.h"

enum {
	OPEN = 1,
	READ,
	WRITE,
	COPY,
	FWRITE,
	FCLOSE,
	FORK,
	MPI_INIT,
	MPI_WRITE,
	MPI_IWRITE,
	MPI_WAIT,
	MPI_WAITALL,
	H5_WRITE,
	H5_CLOSE,
	AIO_READ,
	AIO_RETURN,
	COMPLETED,
	URING_SUBMIT,
	URING_WRITE,
};

static struct call_info calls[] = {
	[0] = { .name = "none" },
	[OPEN] = { .name = "open", .class = CLASS_OPEN },
	[READ] = { .name = "read", .class = CLASS_READ },
	[WRITE] = { .name = "write", .class = CLASS_WRITE },
	[COPY] = { .name = "copy_file_range", .class = CLASS_COPY },
	[FWRITE] = { .name = "fwrite", .layer = LAYER_STDIO, .class = CLASS_WRITE },
	[FCLOSE] = { .name = "fclose", .layer = LAYER_STDIO, .class = CLASS_CLOSE },
	[FORK] = { .name = "fork", .class = CLASS_PROCESS },
	[MPI_INIT] = { .name = "MPI_Init", .layer = LAYER_MPI, .class = CLASS_PROCESS },
	[MPI_WRITE] = { .name = "MPI_File_write_at", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[MPI_IWRITE] = { .name = "MPI_File_iwrite", .layer = LAYER_MPI, .class = CLASS_START },
	[MPI_WAIT] = { .name = "MPI_Wait", .layer = LAYER_MPI, .class = CLASS_WAIT },
	[MPI_WAITALL] = { .name = "MPI_Waitall", .layer = LAYER_MPI, .class = CLASS_WAIT },
	[H5_WRITE] = { .name = "H5Dwrite", .layer = LAYER_HDF5, .class = CLASS_WRITE },
	[H5_CLOSE] = { .name = "H5Fclose", .layer = LAYER_HDF5, .class = CLASS_CLOSE },
	[AIO_READ] = { .name = "aio_read", .class = CLASS_START },
	[AIO_RETURN] = { .name = "aio_return", .class = CLASS_WAIT },
	[COMPLETED] = { .name = "completed", .class = CLASS_WAIT },
	[URING_SUBMIT] = { .name = "io_uring_submit", .class = CLASS_START },
	[URING_WRITE] = { .name = "io_uring_write", .class = CLASS_START },
};
static char *files[] = { "", "/a", "/b" };
static struct trace_head head = {
	.run = { .command = "prog" },
	.end = { .duration_ns = 1000, .complete = true },
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files,
	.file_count = 3,
};

static const struct tally *file_tally(struct summary *s, file_id file)
{
	return sums_tally(&s->all.files, sums_file_key(file));
}

static const struct tally *function_tally(struct summary *s, unsigned call)
{
	return sums_tally(&s->all.functions, sums_function_key(call, calls[call].layer));
}

static void one_call_is_counted_everywhere(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1,
					    .call = READ,
					    .file = 1,
					    .start_ns = 10,
					    .duration_ns = 5,
					    .result = 100 });
	summary_add(&s, &(struct activity){ .id = 2,
					    .call = READ,
					    .file = 1,
					    .start_ns = 20,
					    .duration_ns = 5,
					    .result = -1,
					    .error = 5 });
	CHECK_INT(s.all.io.calls, 2);
	CHECK_INT(s.all.io.errors, 1);
	CHECK_INT(s.all.io.bytes_read, 100);
	CHECK_INT(s.all.io.transfers, 1);
	CHECK_INT(s.all.io.time_ns, 10);
	CHECK_INT(s.all.busy_ns, 10);
	CHECK_INT(s.all.layers[LAYER_POSIX].calls, 2);
	CHECK_INT(file_tally(&s, 1)->time_ns, 10);
	CHECK_INT(function_tally(&s, READ)->bytes_read, 100);
	summary_release(&s);
}

static void a_nested_call_is_part_of_its_parent(void)
{
	struct summary s;

	summary_init(&s, &head);
	/* A stream that writes through: fwrite [0,100) causes write [10,90) on the same file. */
	summary_add(&s, &(struct activity){ .id = 1,
					    .call = FWRITE,
					    .layer = LAYER_STDIO,
					    .file = 1,
					    .start_ns = 0,
					    .duration_ns = 100,
					    .result = 8 });
	summary_add(&s, &(struct activity){ .id = 2,
					    .parent = 1,
					    .call = WRITE,
					    .file = 1,
					    .start_ns = 10,
					    .duration_ns = 80,
					    .result = 8 });
	CHECK_INT(s.all.io.time_ns, 100);
	CHECK_INT(s.all.io.bytes_written, 8);
	CHECK_INT(s.all.io.calls, 1);
	CHECK_INT(s.all.busy_ns, 100);
	CHECK_INT(s.all.layers[LAYER_STDIO].time_ns, 100);
	CHECK_INT(s.all.layers[LAYER_POSIX].time_ns, 80);
	CHECK_INT(s.all.layers[LAYER_POSIX].bytes_written, 8);
	CHECK_INT(file_tally(&s, 1)->calls, 2);
	CHECK_INT(file_tally(&s, 1)->time_ns, 100);
	CHECK_INT(file_tally(&s, 1)->bytes_written, 8);
	summary_release(&s);
}

static void a_nested_call_on_another_file_counts_for_that_file(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1,
					    .call = FCLOSE,
					    .layer = LAYER_STDIO,
					    .file = 1,
					    .duration_ns = 100 });
	summary_add(&s, &(struct activity){ .id = 2,
					    .parent = 1,
					    .call = WRITE,
					    .file = 2,
					    .start_ns = 10,
					    .duration_ns = 30,
					    .result = 5 });
	CHECK_INT(file_tally(&s, 1)->time_ns, 100);
	CHECK_INT(file_tally(&s, 2)->time_ns, 30);
	CHECK_INT(file_tally(&s, 2)->bytes_written, 5);
	CHECK_INT(s.all.io.time_ns, 100);
	summary_release(&s);
}

static void concurrent_threads_are_busy_once(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s,
		    &(struct activity){
			    .id = id_make(0, 1), .call = READ, .start_ns = 0, .duration_ns = 100 });
	summary_add(&s, &(struct activity){ .id = id_make(1, 1),
					    .call = READ,
					    .start_ns = 50,
					    .duration_ns = 100 });
	summary_add(&s,
		    &(struct activity){
			    .id = id_make(2, 1), .call = READ, .start_ns = 60, .duration_ns = 10 });
	summary_add(&s, &(struct activity){ .id = id_make(0, 2),
					    .call = READ,
					    .start_ns = 200,
					    .duration_ns = 10 });
	CHECK_INT(s.all.busy_ns, 160);
	CHECK_INT(s.all.io.time_ns, 220);
	summary_release(&s);
}

static void a_copy_reads_one_file_and_writes_the_other(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1,
					    .call = COPY,
					    .file = 1,
					    .file2 = 2,
					    .duration_ns = 7,
					    .result = 50 });
	CHECK_INT(s.all.io.bytes_read, 50);
	CHECK_INT(s.all.io.bytes_written, 50);
	CHECK_INT(file_tally(&s, 1)->bytes_written, 50);
	CHECK_INT(file_tally(&s, 1)->bytes_read, 0);
	CHECK_INT(file_tally(&s, 2)->bytes_read, 50);
	CHECK_INT(file_tally(&s, 2)->bytes_written, 0);
	CHECK_INT(file_tally(&s, 2)->calls, 1);
	summary_release(&s);
}

static void sockets_and_new_processes_are_not_storage(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1,
					    .call = READ,
					    .layer = LAYER_NETWORK,
					    .duration_ns = 500,
					    .result = 3 });
	summary_add(&s, &(struct activity){ .id = 2, .call = FORK, .duration_ns = 400 });
	CHECK_INT(s.all.io.calls, 0);
	CHECK_INT(s.all.busy_ns, 0);
	CHECK_INT(s.all.network.time_ns, 500);
	CHECK_INT(s.all.layers[LAYER_NETWORK].bytes_read, 3);
	CHECK_INT(s.all.layers[LAYER_POSIX].calls, 1);
	summary_release(&s);
}

static void counted_calls_are_included(void)
{
	struct aggregate rows[] = {
		{ .file = 1,
		  .group = GROUP_READ,
		  .layer = LAYER_POSIX,
		  .calls = 10,
		  .errors = 1,
		  .bytes = 1000,
		  .duration_ns = 50 },
		{ .file = 2,
		  .group = GROUP_META,
		  .layer = LAYER_STDIO,
		  .calls = 3,
		  .duration_ns = 9 },
		{ .file = 1, .group = GROUP_READ, .layer = LAYER_MPI, .calls = 2, .bytes = 900 },
		{ .file = 99, .group = GROUP_META, .calls = 1 },
	};
	struct trace_head counted = head;
	struct summary_row *by_function;
	struct summary s;
	size_t n;

	counted.aggregates = rows;
	counted.aggregate_count = 4;
	summary_init(&s, &counted);
	CHECK(s.has_aggregates);
	CHECK_INT(s.all.io.calls, 13);
	CHECK_INT(s.all.io.bytes_read, 1000);
	CHECK_INT(file_tally(&s, 1)->calls, 12);
	CHECK_INT(file_tally(&s, 1)->transfers, 10); /* the calls of MPI contain them */
	CHECK_INT(s.all.layers[LAYER_STDIO].calls, 3);
	CHECK_INT(s.all.layers[LAYER_MPI].bytes_read, 900); /* and not counted twice in the sum */
	by_function = summary_rows(&s, SUMMARY_FUNCTIONS, &n);
	REQUIRE(n == 3);
	CHECK(by_function[0].counted);
	CHECK_TEXT(by_function[0].name, "read");
	free(by_function);
	summary_release(&s);
}

static void rows_are_sorted_by_descending_time(void)
{
	struct summary_row *rows;
	struct summary s;
	size_t n;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1, .call = OPEN, .file = 1, .duration_ns = 1 });
	summary_add(&s, &(struct activity){ .id = 2, .call = READ, .file = 2, .duration_ns = 9 });
	rows = summary_rows(&s, SUMMARY_FUNCTIONS, &n);
	REQUIRE(n == 2);
	CHECK_TEXT(rows[0].name, "read");
	CHECK_TEXT(rows[1].name, "open");
	free(rows);
	rows = summary_rows(&s, SUMMARY_FILES, &n);
	REQUIRE(n == 2);
	CHECK_TEXT(rows[0].name, "/b");
	free(rows);
	summary_release(&s);
}

static void numbers_out_of_range_are_left_out(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1, .call = 999 });
	summary_add(&s, &(struct activity){ .id = 1, .call = READ, .file = 999 });
	summary_add(&s, &(struct activity){ .id = 1, .call = READ, .layer = 99 });
	summary_add(&s, &(struct activity){
				.id = 1, .call = COPY, .file = 1, .file2 = 999, .result = 3 });
	CHECK_INT(s.all.io.calls, 0);
	summary_release(&s);
}

/*
 * H5Dwrite [0,100) requests 100 bytes from MPI, which reads a block, changes it and writes it back.
 */
static void add_layered_write(struct summary *s)
{
	summary_add(s, &(struct activity){ .id = 1,
					   .call = H5_WRITE,
					   .layer = LAYER_HDF5,
					   .file = 1,
					   .duration_ns = 100,
					   .result = 100 });
	summary_add(s, &(struct activity){ .id = 2,
					   .parent = 1,
					   .call = MPI_WRITE,
					   .layer = LAYER_MPI,
					   .file = 1,
					   .start_ns = 10,
					   .duration_ns = 80,
					   .result = 100 });
	summary_add(s, &(struct activity){ .id = 3,
					   .parent = 2,
					   .call = READ,
					   .file = 1,
					   .start_ns = 20,
					   .duration_ns = 10,
					   .result = 400 });
	summary_add(s, &(struct activity){ .id = 4,
					   .parent = 2,
					   .call = WRITE,
					   .layer = LAYER_NETWORK,
					   .start_ns = 30,
					   .duration_ns = 5,
					   .result = 7 });
	summary_add(s, &(struct activity){ .id = 5,
					   .parent = 2,
					   .call = WRITE,
					   .file = 1,
					   .start_ns = 40,
					   .duration_ns = 30,
					   .result = 400 });
}

static void nested_layers_are_not_counted_twice(void)
{
	struct summary s;

	summary_init(&s, &head);
	add_layered_write(&s);
	CHECK_INT(s.all.io.calls, 1);
	CHECK_INT(s.all.io.time_ns, 100);
	CHECK_INT(s.all.io.bytes_written, 100);
	CHECK_INT(s.all.io.bytes_read, 0);
	CHECK_INT(s.all.busy_ns, 100);
	CHECK_INT(s.all.storage.bytes_written, 400);
	CHECK_INT(s.all.storage.bytes_read, 400);
	CHECK_INT(s.all.storage.time_ns, 40);
	CHECK_INT(s.all.bytes_read_to_write, 400);
	CHECK_INT(s.all.layers[LAYER_MPI].time_ns, 80);
	CHECK_INT(s.all.layers[LAYER_POSIX].time_ns, 40);
	CHECK_INT(s.all.network.calls, 0);
	CHECK_INT(s.all.network_in_io.time_ns, 5);
	CHECK_INT(file_tally(&s, 1)->calls, 4);
	CHECK_INT(file_tally(&s, 1)->time_ns, 100);
	CHECK_INT(file_tally(&s, 1)->bytes_written, 100);
	CHECK_INT(s.file_layers[1], 1 << LAYER_HDF5 | 1 << LAYER_MPI | 1 << LAYER_POSIX);
	summary_release(&s);
}

static void amplification_is_reported(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct summary s;

	summary_init(&s, &head);
	add_layered_write(&s);
	render_notes(&out, &s);
	CHECK_WORDS(buf_text(&out),
		    "storage: read 400 B, wrote 400 B|4.00 times|in 2 calls|of 100 B|of 400 B|400 "
		    "B were read|read-modify-write|sockets|1 call, 5 ns");
	summary_release(&s);
}

static void data_written_by_close_is_storage_but_was_requested_before(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s,
		    &(struct activity){
			    .id = 1, .call = H5_CLOSE, .layer = LAYER_HDF5, .duration_ns = 50 });
	summary_add(&s,
		    &(struct activity){
			    .id = 2, .parent = 1, .call = WRITE, .duration_ns = 9, .result = 96 });
	CHECK_INT(s.all.io.bytes_written, 0);
	CHECK_INT(s.all.storage.bytes_written, 96);
	CHECK_INT(s.all.bytes_read_to_write, 0);
	summary_release(&s);
}

static void start_up_is_counted_separately(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct summary_row *rows;
	struct summary s;
	size_t n;

	summary_init(&s, &head);
	summary_add(&s,
		    &(struct activity){
			    .id = 1, .call = MPI_INIT, .layer = LAYER_MPI, .duration_ns = 900 });
	summary_add(&s, &(struct activity){ .id = 2,
					    .parent = 1,
					    .call = READ,
					    .file = 1,
					    .start_ns = 10,
					    .duration_ns = 20,
					    .result = 64 });
	summary_add(&s, &(struct activity){ .id = 3,
					    .parent = 1,
					    .call = READ,
					    .layer = LAYER_NETWORK,
					    .start_ns = 40,
					    .duration_ns = 7,
					    .result = 1 });
	summary_add(&s,
		    &(struct activity){
			    .id = 4, .call = WRITE, .file = 2, .start_ns = 950, .duration_ns = 5 });
	CHECK_INT(s.all.io.calls, 1);
	CHECK_INT(s.all.busy_ns, 5);
	CHECK_INT(s.all.storage.bytes_read, 0);
	CHECK_INT(s.all.startup.calls, 1);
	CHECK_INT(s.all.startup.bytes_read, 64);
	CHECK_INT(s.all.startup.time_ns, 20);
	CHECK_INT(s.all.process.time_ns, 900);
	CHECK_INT(s.all.network.time_ns, 7);
	CHECK_INT(s.all.layers[LAYER_MPI].time_ns, 0);
	rows = summary_rows(&s, SUMMARY_FILES, &n);
	REQUIRE(n == 1);
	CHECK_TEXT(rows[0].name, "/b");
	free(rows);
	rows = summary_rows(&s, SUMMARY_FUNCTIONS, &n);
	REQUIRE(n == 3);
	CHECK_TEXT(rows[2].name, "MPI_Init"); /* last, although it took longest */
	free(rows);
	render_verdict(&out, &s);
	CHECK_WORDS(buf_text(&out),
		    "1.00 us, 0.5%|5 ns|read 0 B, wrote 0 B in 1 call|write (0.5%|/b (0.5%)");
	summary_release(&s);
}

/* A call that was killed has no record, but the calls inside it have. */
static void a_call_whose_parent_is_missing_counts(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s,
		    &(struct activity){
			    .id = 8, .parent = 7, .call = WRITE, .duration_ns = 4, .result = 2 });
	CHECK_INT(s.all.io.bytes_written, 2);
	CHECK_INT(s.all.storage.bytes_written, 2);
	summary_release(&s);
}

static void asynchronous_bytes_count_once(void)
{
	struct summary s;

	summary_init(&s, &head);
	/* Two operations: one completed by MPI_Wait in another thread, one inside MPI_Waitall. */
	for (uint64_t id = 1; id <= 2; id++)
		summary_add(&s, &(struct activity){ .id = id,
						    .call = MPI_IWRITE,
						    .layer = LAYER_MPI,
						    .file = 1,
						    .start_ns = (int64_t)id * 10,
						    .duration_ns = 4,
						    .size = 1000,
						    .present = PRESENT(SIZE) });
	CHECK_INT(s.all.io.bytes_written, 2000);
	summary_add(&s, &(struct activity){ .id = id_make(3, 1),
					    .link = 1,
					    .call = MPI_WAIT,
					    .layer = LAYER_MPI,
					    .start_ns = 50,
					    .duration_ns = 60,
					    .result = 600 });
	summary_add(&s, &(struct activity){ .id = 3,
					    .call = MPI_WAITALL,
					    .layer = LAYER_MPI,
					    .start_ns = 100,
					    .duration_ns = 20 });
	summary_add(&s, &(struct activity){ .id = 4,
					    .parent = 3,
					    .link = 2,
					    .call = COMPLETED,
					    .start_ns = 120,
					    .result = 1000 });
	CHECK_INT(s.all.io.bytes_written, 1600);
	CHECK_INT(s.all.io.calls, 4);
	CHECK_INT(s.all.io.time_ns, 4 + 4 + 60 + 20);
	CHECK_INT(s.all.io.transfers, 2);
	CHECK_INT(s.all.io.transfer_ns, (110 - 10) + (120 - 20)); /* in progress */
	CHECK_INT(s.all.layers[LAYER_MPI].bytes_written, 1600);
	CHECK_INT(s.all.layers[LAYER_POSIX].calls, 0);
	CHECK_INT(function_tally(&s, MPI_IWRITE)->bytes_written, 1600);
	CHECK_INT(file_tally(&s, 1)->bytes_written, 1600);
	CHECK_INT(s.started.count, 0);
	summary_release(&s);
}

static void a_wait_names_the_start_by_either_link(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1, .call = OPEN, .file = 1 });
	summary_add(&s, &(struct activity){ .id = 2,
					    .link = link_make(LINK_FILE, 1),
					    .call = AIO_READ,
					    .file = 1,
					    .size = 512,
					    .present = PRESENT(SIZE) });
	summary_add(&s, &(struct activity){ .id = 3,
					    .link = link_make(LINK_FILE, 1),
					    .link2 = 2,
					    .call = AIO_RETURN,
					    .file = 1,
					    .start_ns = 5,
					    .result = 100 });
	CHECK_INT(s.all.storage.bytes_read, 100);
	CHECK_INT(file_tally(&s, 1)->bytes_read, 100);
	summary_release(&s);
}

static void submitted_operations_have_the_bytes(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1,
					    .call = URING_SUBMIT,
					    .start_ns = 10,
					    .duration_ns = 8,
					    .result = 2 });
	for (uint64_t id = 2; id <= 3; id++)
		summary_add(&s, &(struct activity){ .id = id,
						    .parent = 1,
						    .call = URING_WRITE,
						    .file = 1,
						    .start_ns = 10,
						    .size = 100,
						    .present = PRESENT(SIZE) });
	summary_add(&s, &(struct activity){ .id = 4,
					    .parent = 1,
					    .link = 2,
					    .call = COMPLETED,
					    .start_ns = 18,
					    .result = 60 });
	CHECK_INT(s.all.io.bytes_written, 160);
	CHECK_INT(s.all.storage.bytes_written, 160);
	CHECK_INT(s.all.layers[LAYER_POSIX].bytes_written, 160);
	CHECK_INT(file_tally(&s, 1)->bytes_written, 160);
	CHECK_INT(s.all.io.time_ns, 8);
	CHECK_INT(s.all.busy_ns, 8);
	summary_release(&s);
}

static void operations_in_progress_are_bounded(void)
{
	enum { MANY = 200000 };
	struct summary s;

	summary_init(&s, &head);
	for (uint64_t id = 1; id <= MANY; id++)
		summary_add(&s, &(struct activity){ .id = id,
						    .call = MPI_IWRITE,
						    .layer = LAYER_MPI,
						    .size = 10,
						    .present = PRESENT(SIZE) });
	CHECK_INT(s.all.io.bytes_written, 10 * MANY);
	CHECK(s.started.count <= 65536);
	summary_release(&s);
}

static void the_verdict_comes_first(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s,
		    &(struct activity){
			    .id = 1, .call = READ, .file = 1, .duration_ns = 250, .result = 2048 });
	render_verdict(&out, &s);
	CHECK_WORDS(buf_text(&out), "1.00 us, 25.0%|250 ns|read 2.00 KiB, wrote 0 B in 1 call|read "
				    "(25.0%|/a (25.0%)");
	summary_release(&s);
}

static void the_verdict_does_not_blame_sockets(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1,
					    .call = READ,
					    .layer = LAYER_NETWORK,
					    .file = 1,
					    .duration_ns = 900 });
	summary_add(&s, &(struct activity){ .id = 2, .call = WRITE, .file = 2, .duration_ns = 10 });
	render_verdict(&out, &s);
	CHECK_WORDS(buf_text(&out), "write (1.0%|/b (1.0%)");
	summary_release(&s);
}

static char *render(void (*renderer)(FILE *, const struct report *), uint64_t top)
{
	struct summary s;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1, .call = OPEN, .file = 1, .duration_ns = 50 });
	summary_add(&s, &(struct activity){ .id = 2,
					    .call = READ,
					    .file = 2,
					    .start_ns = 60,
					    .duration_ns = 250,
					    .result = 2048 });
	renderer(out, &(struct report){ .summary = &s, .top = top });
	fclose(out);
	summary_release(&s);
	return text;
}

static void the_report_has_three_tables(void)
{
	AUTO_FREE char *text = render(render_text, 1);

	CHECK(strncmp(text, "ran 1.00 us, 30.0%", 18) == 0);
	CHECK(strstr(text, "\nBy layer\n"));
	CHECK(strstr(text, "\nBy function\n"));
	CHECK_WORDS(text, "1 more function (|--top 2");
	CHECK(strstr(text, "\nBy file\n"));
	CHECK(strstr(text, "7.63 GiB/s  /b\n"));
}

static void the_json_report_names_its_schema(void)
{
	AUTO_FREE char *text = render(render_json, 10);

	CHECK(strncmp(text, "{\"schema\": \"sluice.report/1\"", 28) == 0);
	CHECK(strstr(text, "\"busy_ns\": 300"));
	CHECK(strstr(text, "{\"function\": \"read\", \"layer\": \"POSIX\", \"calls\": 1, "
			   "\"errors\": 0, \"bytes_read\": 2048"));
	CHECK(strstr(text, "\"file_count\": 2"));
	CHECK(strstr(text, "\"complete\": true"));
}

static void losses_are_described_in_sentences(void)
{
	struct loss_info losses[] = { { .process = 0, .records = 7 },
				      { .process = 2, .records = 5, .threads = 1 } };
	struct trace_head lossy = head;
	AUTO_BUF struct buf out = { 0 };

	loss_describe(&out, &head);
	CHECK_TEXT(buf_text(&out), "");
	lossy.losses = losses;
	lossy.loss_count = 2;
	lossy.end.complete = false;
	lossy.damaged_blocks = 2;
	loss_describe(&out, &lossy);
	CHECK_WORDS(buf_text(&out), "12 calls|lost");
	CHECK_WORDS(buf_text(&out), "1 thread");
	CHECK(strstr(buf_text(&out), "2 damaged blocks"));
	CHECK(strstr(buf_text(&out), "interrupted"));
}

static void layers_are_found_by_name(void)
{
	CHECK_INT(names_find_layer("posix", 5), LAYER_POSIX);
	CHECK_INT(names_find_layer("POSIX.Network,x", 13), LAYER_NETWORK);
	CHECK_INT(names_find_layer("POSI", 4), -1);
	CHECK_TEXT(names_class(CLASS_META), "metadata");
	CHECK_TEXT(names_group(GROUP_COUNT), "?");
}

TESTS(TEST(one_call_is_counted_everywhere), TEST(a_nested_call_is_part_of_its_parent),
      TEST(a_nested_call_on_another_file_counts_for_that_file),
      TEST(concurrent_threads_are_busy_once), TEST(a_copy_reads_one_file_and_writes_the_other),
      TEST(sockets_and_new_processes_are_not_storage), TEST(counted_calls_are_included),
      TEST(nested_layers_are_not_counted_twice), TEST(amplification_is_reported),
      TEST(data_written_by_close_is_storage_but_was_requested_before),
      TEST(start_up_is_counted_separately), TEST(a_call_whose_parent_is_missing_counts),
      TEST(asynchronous_bytes_count_once), TEST(a_wait_names_the_start_by_either_link),
      TEST(submitted_operations_have_the_bytes), TEST(operations_in_progress_are_bounded),
      TEST(rows_are_sorted_by_descending_time), TEST(numbers_out_of_range_are_left_out),
      TEST(the_verdict_comes_first), TEST(the_verdict_does_not_blame_sockets),
      TEST(the_report_has_three_tables), TEST(the_json_report_names_its_schema),
      TEST(losses_are_described_in_sentences), TEST(layers_are_found_by_name))
