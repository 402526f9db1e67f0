/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/line.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "check.h"
#include "observe/report/nest.h"

enum { OPEN = 1, WRITE, CLOSE, SEEK, COPY, FWRITE, RENAME };

static struct call_info calls[] = {
	[OPEN] = { .name = "open", .layer = LAYER_POSIX, .class = CLASS_OPEN },
	[WRITE] = { .name = "write", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[CLOSE] = { .name = "close", .layer = LAYER_POSIX, .class = CLASS_CLOSE },
	[SEEK] = { .name = "lseek", .layer = LAYER_POSIX, .class = CLASS_SEEK },
	[COPY] = { .name = "sendfile", .layer = LAYER_POSIX, .class = CLASS_COPY },
	[FWRITE] = { .name = "fwrite", .layer = LAYER_STDIO, .class = CLASS_WRITE },
	[RENAME] = { .name = "rename", .layer = LAYER_POSIX, .class = CLASS_META },
};
static char *files[] = { "", "f1", "a \"b\"\n,c" };
static struct process_info processes[] = {
	{ .index = 0, .parent = -1, .first_thread = 0, .rank = -1 },
	{ .index = 1, .parent = 0, .first_thread = 5, .rank = 3 },
};
static const struct trace_head head = {
	.calls = calls, .call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files, .file_count = 3,
	.processes = processes, .process_count = 2,
};

static void check_line(const struct activity *a, const char *expected)
{
	AUTO_BUF struct buf out = { 0 };

	line_format(&out, &head, a, 0);
	CHECK_TEXT(buf_text(&out), expected);
}

static void the_sample_of_siox_is_printed(void)
{
	check_line(&(struct activity){ .start_ns = 629900,
				       .id = 1,
				       .call = OPEN,
				       .file = 1,
				       .handle = 4,
				       .result = 4,
				       .present = PRESENT(PATH) | PRESENT(HANDLE) },
		   "0.0006299 ID1 POSIX open(POSIX/descriptor/filename=\"f1\", "
		   "POSIX/descriptor/filehandle=4) = 0\n");
	check_line(
		&(struct activity){ .start_ns = 3633600,
				    .id = 2,
				    .call = WRITE,
				    .file = 1,
				    .handle = 4,
				    .size = 10240,
				    .result = 10240,
				    .offset = 10229760,
				    .link = 1,
				    .present = PRESENT(SIZE) | PRESENT(HANDLE) | PRESENT(OFFSET) },
		"0.0036336 ID2 POSIX write(POSIX/quantity/BytesToWrite=10240, "
		"POSIX/quantity/BytesWritten=10240, "
		"POSIX/descriptor/filehandle=4, POSIX/file/position=10229760) = 0 ID1\n");
	check_line(&(struct activity){ .start_ns = 28380000,
				       .id = 3,
				       .call = CLOSE,
				       .handle = 4,
				       .link = 1,
				       .present = PRESENT(HANDLE) },
		   "0.0283800 ID3 POSIX close(POSIX/descriptor/filehandle=4) = 0 ID1\n");
}

static void a_failed_call_shows_its_error_and_no_bytes(void)
{
	check_line(&(struct activity){ .start_ns = 1500000000,
				       .id = 4,
				       .call = WRITE,
				       .size = 5,
				       .result = -1,
				       .error = 28,
				       .present = PRESENT(SIZE) },
		   "1.5000000 ID4 POSIX write(POSIX/quantity/BytesToWrite=5) = 28\n");
}

static void ids_name_process_and_thread_where_needed(void)
{
	AUTO_BUF struct buf out = { 0 };

	line_id(&out, 0, id_make(0, 17));
	buf_putc(&out, ' ');
	line_id(&out, 0, id_make(3, 17));
	buf_putc(&out, ' ');
	line_id(&out, 2, id_make(0, 17));
	CHECK_TEXT(buf_text(&out), "ID17 ID3.17 ID2:0.17");
}

static void relations_are_named_once_and_with_their_owner(void)
{
	check_line(&(struct activity){ .id = id_make(5, 9),
				       .process = 1,
				       .call = COPY,
				       .result = 8,
				       .size = 8,
				       .parent = id_make(5, 8),
				       .link = id_make(0, 2),
				       .link2 = id_make(0, 2),
				       .present = PRESENT(SIZE) },
		   "0.0000000 ID1:5.9 POSIX sendfile(POSIX/quantity/BytesToCopy=8, "
		   "POSIX/quantity/BytesCopied=8) = 0 "
		   "ID1:5.8 ID2\n");
}

static void values_are_readable(void)
{
	check_line(&(struct activity){ .id = 1,
				       .call = OPEN,
				       .file = 2,
				       .handle = 3,
				       .result = 3,
				       .flags = O_WRONLY | O_CREAT | O_TRUNC,
				       .mode = 0644,
				       .present = PRESENT(PATH) | PRESENT(HANDLE) | PRESENT(FLAGS) |
						  PRESENT(MODE) },
		   "0.0000000 ID1 POSIX open(POSIX/descriptor/filename=\"a \\\"b\\\"\\x0a,c\", "
		   "POSIX/descriptor/filehandle=3, POSIX/hint/flags=O_WRONLY|O_CREAT|O_TRUNC, "
		   "POSIX/hint/mode=0644) = 0\n");
	check_line(
		&(struct activity){ .id = 1,
				    .call = SEEK,
				    .handle = 3,
				    .result = 100,
				    .offset = 100,
				    .flags = 2,
				    .present = PRESENT(HANDLE) | PRESENT(OFFSET) | PRESENT(FLAGS) },
		"0.0000000 ID1 POSIX lseek(POSIX/result=100, POSIX/descriptor/filehandle=3, "
		"POSIX/file/position=100, "
		"POSIX/hint/flags=SEEK_END) = 0\n");
	check_line(&(struct activity){ .id = 1, .call = RENAME, .file = 1, .file2 = 2,
				       .present = PRESENT(PATH) | PRESENT(PATH2) },
		   "0.0000000 ID1 POSIX rename(POSIX/descriptor/filename=\"f1\", "
		   "POSIX/descriptor/filename2=\"a \\\"b\\\"\\x0a,c\") = 0\n");
}

static void layers_have_their_domain(void)
{
	check_line(&(struct activity){ .id = 1,
				       .call = FWRITE,
				       .layer = LAYER_STDIO,
				       .size = 1,
				       .result = 1,
				       .present = PRESENT(SIZE) },
		   "0.0000000 ID1 STDIO fwrite(STDIO/quantity/BytesToWrite=1, "
		   "STDIO/quantity/BytesWritten=1) = 0\n");
	check_line(&(struct activity){ .id = 1,
				       .call = WRITE,
				       .layer = LAYER_NETWORK,
				       .size = 1,
				       .result = 1,
				       .present = PRESENT(SIZE) },
		   "0.0000000 ID1 POSIX.Network write(POSIX/quantity/BytesToWrite=1, "
		   "POSIX/quantity/BytesWritten=1) = 0\n");
}

static void unknown_numbers_do_no_harm(void)
{
	check_line(&(struct activity){ .id = 1, .call = 999, .layer = 99, .file = 99, .process = 7,
				       .present = PRESENT(PATH) },
		   "0.0000000 ID7:0.1 ? ?(?/descriptor/filename=\"?\") = 0\n");
}

static void times_are_rounded(void)
{
	check_line(&(struct activity){ .start_ns = 999999950, .id = 1, .call = CLOSE },
		   "1.0000000 ID1 POSIX close() = 0\n");
	check_line(&(struct activity){ .start_ns = -100, .id = 1, .call = CLOSE },
		   "-0.0000001 ID1 POSIX close() = 0\n");
}

static void csv_quotes_and_leaves_out(void)
{
	AUTO_BUF struct buf out = { 0 };

	line_csv(&out, &head,
		 &(struct activity){ .start_ns = 5,
				     .duration_ns = 6,
				     .id = id_make(5, 1),
				     .process = 1,
				     .call = WRITE,
				     .file = 2,
				     .result = 3,
				     .size = 4,
				     .link = 7,
				     .present = PRESENT(SIZE) });
	CHECK_TEXT(buf_text(&out),
		   "5,6,1,3,5,ID1:5.1,POSIX,write,write,0,3,4,,,,,\"a \"\"b\"\"\n,c\",,,ID7,\n");
}

static void titles_match_the_values_of_csv(void)
{
	AUTO_BUF struct buf titles = { 0 };
	AUTO_BUF struct buf row = { 0 };
	int commas = 0;

	line_csv_titles(&titles);
	line_csv(&row, &head, &(struct activity){ .id = 1, .call = CLOSE });
	for (const char *c = buf_text(&titles); *c; c++)
		commas += *c == ',';
	for (const char *c = buf_text(&row); *c; c++)
		commas -= *c == ',';
	CHECK_INT(commas, 0);
}

static void json_holds_what_is_present(void)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct json json;

	json_start(&json, out, NULL);
	json_open(&json, "a", '[');
	line_json(&json, &head,
		  &(struct activity){ .start_ns = 5,
				      .duration_ns = 6,
				      .id = 2,
				      .call = CLOSE,
				      .handle = 4,
				      .link = 1,
				      .present = PRESENT(HANDLE) });
	json_end(&json);
	fclose(out);
	CHECK_TEXT(text, "{\"a\": [{\"id\": \"ID2\", \"start_ns\": 5, \"duration_ns\": 6, "
			 "\"process\": 0, \"thread\": 0, "
			 "\"layer\": \"POSIX\", \"function\": \"close\", \"class\": \"close\", "
			 "\"error\": 0, "
			 "\"result\": 0, \"handle\": 4, \"relation\": \"ID1\"}]}\n");
	free(text);
}

static size_t enter(struct nest *nest, uint64_t id, uint64_t parent)
{
	const struct nest_call *enclosing;

	return nest_enter(nest, &(struct activity){ .id = id, .parent = parent }, &enclosing);
}

static void nesting_follows_causes_per_thread(void)
{
	struct nest nest = { 0 };

	CHECK_INT(enter(&nest, 1, 0), 0);
	CHECK_INT(enter(&nest, 2, 1), 1);
	CHECK_INT(enter(&nest, id_make(1, 1), 0), 0);
	CHECK_INT(enter(&nest, 3, 2), 2);
	CHECK_INT(enter(&nest, 4, 1), 1);
	CHECK_INT(enter(&nest, id_make(1, 2), id_make(1, 1)), 1);
	CHECK_INT(enter(&nest, 6, 5), 0); /* its cause was filtered out */
	CHECK_INT(enter(&nest, 7, 0), 0);
	nest_release(&nest);
}

TESTS(TEST(the_sample_of_siox_is_printed), TEST(a_failed_call_shows_its_error_and_no_bytes),
      TEST(ids_name_process_and_thread_where_needed),
      TEST(relations_are_named_once_and_with_their_owner), TEST(values_are_readable),
      TEST(layers_have_their_domain), TEST(unknown_numbers_do_no_harm), TEST(times_are_rounded),
      TEST(csv_quotes_and_leaves_out), TEST(titles_match_the_values_of_csv),
      TEST(json_holds_what_is_present), TEST(nesting_follows_causes_per_thread))
