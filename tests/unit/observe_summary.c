/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/summary.h"

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "observe/report/loss.h"
#include "observe/report/names.h"
#include "observe/report/render.h"

enum { OPEN = 1, READ, WRITE, COPY, FWRITE, FCLOSE, FORK };

static struct call_info calls[] = {
	[0] = { .name = "none" },
	[OPEN] = { .name = "open", .class = CLASS_OPEN },
	[READ] = { .name = "read", .class = CLASS_READ },
	[WRITE] = { .name = "write", .class = CLASS_WRITE },
	[COPY] = { .name = "copy_file_range", .class = CLASS_COPY },
	[FWRITE] = { .name = "fwrite", .layer = LAYER_STDIO, .class = CLASS_WRITE },
	[FCLOSE] = { .name = "fclose", .layer = LAYER_STDIO, .class = CLASS_CLOSE },
	[FORK] = { .name = "fork", .class = CLASS_PROCESS },
};
static char *files[] = { "", "/a", "/b" };
static struct trace_head head = {
	.run = { .command = "prog" },
	.end = { .duration_ns = 1000, .complete = true },
	.calls = calls, .call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files, .file_count = 3,
};

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
	CHECK_INT(s.run.calls, 2);
	CHECK_INT(s.run.errors, 1);
	CHECK_INT(s.run.bytes_read, 100);
	CHECK_INT(s.run.transfers, 1);
	CHECK_INT(s.run.time_ns, 10);
	CHECK_INT(s.busy_ns, 10);
	CHECK_INT(s.layers[LAYER_POSIX].calls, 2);
	CHECK_INT(s.files[1].time_ns, 10);
	CHECK_INT(s.functions[READ * LAYER_COUNT + LAYER_POSIX].bytes_read, 100);
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
	CHECK_INT(s.run.time_ns, 100);
	CHECK_INT(s.run.bytes_written, 8);
	CHECK_INT(s.run.calls, 1);
	CHECK_INT(s.busy_ns, 100);
	CHECK_INT(s.layers[LAYER_STDIO].time_ns, 100);
	CHECK_INT(s.layers[LAYER_POSIX].time_ns, 80);
	CHECK_INT(s.layers[LAYER_POSIX].bytes_written, 8);
	CHECK_INT(s.files[1].calls, 2);
	CHECK_INT(s.files[1].time_ns, 100);
	CHECK_INT(s.files[1].bytes_written, 8);
	summary_release(&s);
}

static void a_nested_call_on_another_file_counts_for_that(void)
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
	CHECK_INT(s.files[1].time_ns, 100);
	CHECK_INT(s.files[2].time_ns, 30);
	CHECK_INT(s.files[2].bytes_written, 5);
	CHECK_INT(s.run.time_ns, 100);
	summary_release(&s);
}

static void threads_at_once_are_busy_once(void)
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
	CHECK_INT(s.busy_ns, 160);
	CHECK_INT(s.run.time_ns, 220);
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
	CHECK_INT(s.run.bytes_read, 50);
	CHECK_INT(s.run.bytes_written, 50);
	CHECK_INT(s.files[1].bytes_written, 50);
	CHECK_INT(s.files[1].bytes_read, 0);
	CHECK_INT(s.files[2].bytes_read, 50);
	CHECK_INT(s.files[2].bytes_written, 0);
	CHECK_INT(s.files[2].calls, 1);
	summary_release(&s);
}

static void sockets_and_new_processes_are_no_storage(void)
{
	struct summary s;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1,
					    .call = READ,
					    .layer = LAYER_NETWORK,
					    .duration_ns = 500,
					    .result = 3 });
	summary_add(&s, &(struct activity){ .id = 2, .call = FORK, .duration_ns = 400 });
	CHECK_INT(s.run.calls, 0);
	CHECK_INT(s.busy_ns, 0);
	CHECK_INT(s.network.time_ns, 500);
	CHECK_INT(s.layers[LAYER_NETWORK].bytes_read, 3);
	CHECK_INT(s.layers[LAYER_POSIX].calls, 1);
	summary_release(&s);
}

static void counted_calls_are_folded_in(void)
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
		{ .file = 99, .group = GROUP_META, .calls = 1 },
	};
	struct trace_head counted = head;
	struct summary_row *by_function;
	struct summary s;
	size_t n;

	counted.aggregates = rows;
	counted.aggregate_count = 3;
	summary_init(&s, &counted);
	CHECK(s.has_aggregates);
	CHECK_INT(s.run.calls, 13);
	CHECK_INT(s.run.bytes_read, 1000);
	CHECK_INT(s.files[1].transfers, 10);
	CHECK_INT(s.layers[LAYER_STDIO].calls, 3);
	by_function = summary_functions(&s, &n);
	REQUIRE(n == 2);
	CHECK(by_function[0].counted);
	CHECK_TEXT(by_function[0].name, "read");
	free(by_function);
	summary_release(&s);
}

static void rows_come_by_falling_time(void)
{
	struct summary_row *rows;
	struct summary s;
	size_t n;

	summary_init(&s, &head);
	summary_add(&s, &(struct activity){ .id = 1, .call = OPEN, .file = 1, .duration_ns = 1 });
	summary_add(&s, &(struct activity){ .id = 2, .call = READ, .file = 2, .duration_ns = 9 });
	rows = summary_functions(&s, &n);
	REQUIRE(n == 2);
	CHECK_TEXT(rows[0].name, "read");
	CHECK_TEXT(rows[1].name, "open");
	free(rows);
	rows = summary_files(&s, &n);
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
	CHECK_INT(s.run.calls, 1);
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
	CHECK_TEXT(buf_text(&out),
		   "ran 1.00 us, 25.0% of it in I/O (250 ns); read 2.00 KiB, wrote 0 B in 1 call; "
		   "most time in read (100.0%) and on /a (100.0%)");
	summary_release(&s);
}

static char *render(void (*renderer)(FILE *, const struct summary *, uint64_t), uint64_t top)
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
	renderer(out, &s, top);
	fclose(out);
	summary_release(&s);
	return text;
}

static void the_report_has_three_tables(void)
{
	AUTO_FREE char *text = render(render_text, 1);

	CHECK(strncmp(text, "ran 1.00 us, 30.0% of it in I/O", 31) == 0);
	CHECK(strstr(text, "\nBy layer\n"));
	CHECK(strstr(text, "\nBy function\n"));
	CHECK(strstr(text, "... and 1 more functions (--top 2 shows all)"));
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

static void losses_are_told_in_words(void)
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
	CHECK_TEXT(buf_text(&out),
		   "12 activities were lost in 2 processes: there was no room in the spool; a "
		   "larger spool.limit keeps more\n"
		   "1 thread was never recorded: there are too many for one run\n"
		   "2 damaged blocks were left out of what was read\n"
		   "the run was cut off: the trace holds what was collected until then\n");
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
      TEST(a_nested_call_on_another_file_counts_for_that), TEST(threads_at_once_are_busy_once),
      TEST(a_copy_reads_one_file_and_writes_the_other),
      TEST(sockets_and_new_processes_are_no_storage), TEST(counted_calls_are_folded_in),
      TEST(rows_come_by_falling_time), TEST(numbers_out_of_range_are_left_out),
      TEST(the_verdict_comes_first), TEST(the_report_has_three_tables),
      TEST(the_json_report_names_its_schema), TEST(losses_are_told_in_words),
      TEST(layers_are_found_by_name))
