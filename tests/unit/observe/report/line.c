/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-9, SIOX-48, SIOX-AC-3.
 */
#include "observe/report/line.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "check.h"
#include "observe/tally/names.h"
#include "observe/tally/nest.h"

enum {
	OPEN = 1,
	WRITE,
	CLOSE,
	SEEK,
	COPY,
	FWRITE,
	RENAME,
	MPI_OPEN,
	MPI_WRITE,
	MPI_SEEK,
	H5_OPEN,
	NC_GET
};

static struct call_info calls[] = {
	[OPEN] = { .name = "open", .layer = LAYER_POSIX, .class = CLASS_OPEN },
	[WRITE] = { .name = "write", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[CLOSE] = { .name = "close", .layer = LAYER_POSIX, .class = CLASS_CLOSE },
	[SEEK] = { .name = "lseek", .layer = LAYER_POSIX, .class = CLASS_SEEK },
	[COPY] = { .name = "sendfile", .layer = LAYER_POSIX, .class = CLASS_COPY },
	[FWRITE] = { .name = "fwrite", .layer = LAYER_STDIO, .class = CLASS_WRITE },
	[RENAME] = { .name = "rename", .layer = LAYER_POSIX, .class = CLASS_META },
	[MPI_OPEN] = { .name = "MPI_File_open",
		       .layer = LAYER_MPI,
		       .class = CLASS_OPEN,
		       .failure = FAILS_STATUS },
	[MPI_WRITE] = { .name = "MPI_File_write_all",
			.layer = LAYER_MPI,
			.class = CLASS_WRITE,
			.failure = FAILS_STATUS },
	[MPI_SEEK] = { .name = "MPI_File_seek", .layer = LAYER_MPI, .class = CLASS_SEEK },
	[H5_OPEN] = { .name = "H5Fopen",
		      .layer = LAYER_HDF5,
		      .class = CLASS_OPEN,
		      .failure = FAILS_NEGATIVE },
	[NC_GET] = { .name = "nc_get_vara",
		     .layer = LAYER_NETCDF,
		     .class = CLASS_READ,
		     .failure = FAILS_STATUS },
};
static char *files[] = { "", "f1", "a \"b\"\n,c", "cb_nodes=2;striping_unit=1" };
static struct process_info processes[] = {
	{ .index = 0, .parent = -1, .first_thread = 0, .rank = -1 },
	{ .index = 1, .parent = 0, .first_thread = 5, .rank = 3 },
};
static const struct trace_head head = {
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files,
	.file_count = 4,
	.processes = processes,
	.process_count = 2,
};

static void check_line(const struct activity *a, const char *expected)
{
	AUTO_BUF struct buf out = { 0 };

	line_format(&out, &head, a);
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

static void ids_include_process_and_thread_if_needed(void)
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
		   "0.0000000 ID1 POSIX open(POSIX/descriptor/filename=\"a \\\"b\\\"\\n,c\", "
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
	check_line(&(struct activity){ .id = 1,
				       .call = RENAME,
				       .file = 1,
				       .file2 = 2,
				       .present = PRESENT(PATH) | PRESENT(PATH2) },
		   "0.0000000 ID1 POSIX rename(POSIX/descriptor/filename=\"f1\", "
		   "POSIX/descriptor/filename2=\"a \\\"b\\\"\\n,c\") = 0\n");
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

static void calls_of_libraries_show_views_names_and_collective_numbers(void)
{
	check_line(&(struct activity){ .id = 4,
				       .parent = 3,
				       .call = MPI_WRITE,
				       .layer = LAYER_MPI,
				       .size = 100,
				       .result = 100,
				       .offset = 7,
				       .span = 1000,
				       .collective = 0x5eed,
				       .link = 1,
				       .link2 = 2,
				       .present = PRESENT(SIZE) | PRESENT(OFFSET) | PRESENT(SPAN) |
						  PRESENT(COLLECTIVE) },
		   "0.0000000 ID4 MPI MPI_File_write_all(MPI/quantity/BytesToWrite=100, "
		   "MPI/quantity/BytesWritten=100, MPI/file/position=7, MPI/file/span=1000, "
		   "MPI/group/collective=0000000000005eed) = 0 ID3 ID1 ID2\n");
	check_line(&(struct activity){ .id = 1,
				       .call = H5_OPEN,
				       .layer = LAYER_HDF5,
				       .file = 1,
				       .name = 2,
				       .handle = INT64_C(72057594037927936),
				       .result = INT64_C(72057594037927936),
				       .variable = -1,
				       .flags = 0x21,
				       .present = PRESENT(PATH) | PRESENT(NAME) | PRESENT(HANDLE) |
						  PRESENT(VARIABLE) | PRESENT(FLAGS) |
						  PRESENT(HINTS),
				       .hints = 3 },
		   "0.0000000 ID1 HDF5 H5Fopen(HDF5/descriptor/filename=\"f1\", "
		   "HDF5/descriptor/name=\"a \\\"b\\\"\\n,c\", "
		   "HDF5/descriptor/filehandle=72057594037927936, HDF5/descriptor/variable=-1, "
		   "HDF5/hint/flags=H5F_ACC_RDWR|H5F_ACC_SWMR_WRITE, "
		   "HDF5/hint/set=\"cb_nodes=2;striping_unit=1\") = 0\n");
}

static void check_flags(unsigned call, enum layer layer, int64_t flags, const char *expected)
{
	AUTO_FREE char *line =
		xprintf("0.0000000 ID1 %s %s(%s/hint/flags=%s) = 0\n", names_layer(layer),
			calls[call].name, names_domain(layer), expected);

	check_line(&(struct activity){ .id = 1,
				       .call = (uint16_t)call,
				       .layer = (uint8_t)layer,
				       .flags = flags,
				       .present = PRESENT(FLAGS) },
		   line);
}

static void flags_are_named_as_their_layer_names_them(void)
{
	check_flags(MPI_OPEN, LAYER_MPI, 9, "MPI_MODE_RDWR|MPI_MODE_CREATE");
	check_flags(MPI_OPEN, LAYER_MPI, 2 | 1 << 20, "MPI_MODE_RDONLY|0x100000");
	check_flags(MPI_SEEK, LAYER_MPI, 602, "MPI_SEEK_CUR");
	check_flags(MPI_SEEK, LAYER_MPI, 2, "2");
	check_flags(H5_OPEN, LAYER_HDF5, 0, "H5F_ACC_RDONLY");
	check_flags(OPEN, LAYER_NETCDF, 0, "0x0");
	check_flags(OPEN, LAYER_NETCDF, 0x1004, "NC_NOCLOBBER|NC_NETCDF4");
	check_flags(OPEN, LAYER_PNETCDF, 0x20, "NC_64BIT_DATA");
	check_flags(OPEN, LAYER_POSIX, O_RDWR | O_CREAT, "O_RDWR|O_CREAT");
	check_flags(SEEK, LAYER_POSIX, SEEK_CUR, "SEEK_CUR");
}

static void errors_of_libraries_are_printed_as_they_are(void)
{
	check_line(&(struct activity){ .id = 1,
				       .call = NC_GET,
				       .layer = LAYER_NETCDF,
				       .result = -40,
				       .error = -40 },
		   "0.0000000 ID1 NetCDF nc_get_vara() = -40\n");
	/* MPI status codes are positive and must not be taken for bytes. */
	check_line(&(struct activity){ .id = 1,
				       .call = MPI_WRITE,
				       .layer = LAYER_MPI,
				       .size = 5,
				       .result = 35,
				       .error = 35,
				       .present = PRESENT(SIZE) },
		   "0.0000000 ID1 MPI MPI_File_write_all(MPI/quantity/BytesToWrite=5) = 35\n");
}

static void a_chain_of_layers_can_be_followed_down_the_tree(void)
{
	const struct activity chain[] = {
		{ .start_ns = 1000,
		  .id = id_make(5, 8),
		  .process = 1,
		  .call = H5_OPEN,
		  .layer = LAYER_HDF5 },
		{ .start_ns = 2000,
		  .id = id_make(5, 9),
		  .parent = id_make(5, 8),
		  .process = 1,
		  .call = MPI_OPEN,
		  .layer = LAYER_MPI },
		{ .start_ns = 12000000000,
		  .id = id_make(5, 10),
		  .parent = id_make(5, 9),
		  .process = 1,
		  .call = CLOSE,
		  .layer = LAYER_NETWORK },
		{ .start_ns = 12000000000,
		  .id = id_make(5, 11),
		  .parent = id_make(5, 9),
		  .process = 1,
		  .call = CLOSE },
	};
	AUTO_BUF struct buf out = { 0 };
	const struct nest_call *enclosing;
	struct nest nest = { 0 };

	for (size_t i = 0; i < sizeof(chain) / sizeof(chain[0]); i++)
		line_tree(&out, &head, &chain[i], nest_enter(&nest, &chain[i], &enclosing),
			  NULL);
	nest_release(&nest);
	CHECK_TEXT(buf_text(&out),
		   "0.0000010    ID1:5.8        HDF5          H5Fopen() = 0\n"
		   "0.0000020    ID1:5.9        MPI             MPI_File_open() = 0 ID1:5.8\n"
		   "12.0000000   ID1:5.10       POSIX.Network     close() = 0 ID1:5.9\n"
		   "12.0000000   ID1:5.11       POSIX             close() = 0 ID1:5.9\n");
}

static void unknown_numbers_are_printed_safely(void)
{
	check_line(&(struct activity){ .id = 1,
				       .call = 999,
				       .layer = 99,
				       .file = 99,
				       .process = 7,
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

static void csv_quotes_texts_and_omits_absent_fields(void)
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
	CHECK_TEXT(
		buf_text(&out),
		"5,6,1,3,5,ID1:5.1,POSIX,write,write,0,3,4,,,,,\"a \"\"b\"\"\\n,c\",,,ID7,,,,,,\n");
	buf_clear(&out);
	line_csv(&out, &head,
		 &(struct activity){ .id = 1,
				     .call = MPI_WRITE,
				     .layer = LAYER_MPI,
				     .error = -7,
				     .name = 1,
				     .hints = 3,
				     .span = -3,
				     .variable = 9,
				     .collective = UINT64_MAX,
				     .present = PRESENT(SPAN) | PRESENT(VARIABLE) |
						PRESENT(COLLECTIVE) });
	CHECK_TEXT(buf_text(&out), "0,0,0,,0,ID1,MPI,MPI_File_write_all,write,-7,0,,,,,,,,,,,-3,9,"
				   "ffffffffffffffff,f1,cb_nodes=2;striping_unit=1\n");
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

static void check_json(const struct activity *a, const char *expected)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct json json;

	json_start(&json, out, NULL);
	json_open(&json, "a", '[');
	line_json(&json, &head, a, NULL);
	json_end(&json);
	fclose(out);
	CHECK_TEXT(text, expected);
	free(text);
}

static void json_contains_the_fields_that_are_present(void)
{
	check_json(&(struct activity){ .start_ns = 5,
				       .duration_ns = 6,
				       .id = 2,
				       .call = CLOSE,
				       .handle = 4,
				       .link = 1,
				       .present = PRESENT(HANDLE) },
		   "{\"a\": [{\"id\": \"ID2\", \"start_ns\": 5, \"duration_ns\": 6, "
		   "\"process\": 0, \"thread\": 0, "
		   "\"layer\": \"POSIX\", \"function\": \"close\", \"class\": \"close\", "
		   "\"error\": 0, "
		   "\"result\": 0, \"handle\": 4, \"relation\": \"ID1\"}]}\n");
	check_json(&(struct activity){ .id = id_make(5, 2),
				       .process = 1,
				       .call = MPI_WRITE,
				       .layer = LAYER_MPI,
				       .error = -7,
				       .result = 3,
				       .span = 8,
				       .variable = 2,
				       .collective = 0x5eed,
				       .name = 1,
				       .present = PRESENT(SPAN) | PRESENT(VARIABLE) |
						  PRESENT(COLLECTIVE) },
		   "{\"a\": [{\"id\": \"ID1:5.2\", \"start_ns\": 0, \"duration_ns\": 0, "
		   "\"process\": 1, \"rank\": 3, \"thread\": 5, \"layer\": \"MPI\", "
		   "\"function\": \"MPI_File_write_all\", \"class\": \"write\", \"error\": -7, "
		   "\"result\": 3, \"span\": 8, \"variable\": 2, "
		   "\"collective\": \"0000000000005eed\", \"name\": \"f1\"}]}\n");
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
      TEST(ids_include_process_and_thread_if_needed),
      TEST(relations_are_named_once_and_with_their_owner), TEST(values_are_readable),
      TEST(layers_have_their_domain),
      TEST(calls_of_libraries_show_views_names_and_collective_numbers),
      TEST(flags_are_named_as_their_layer_names_them),
      TEST(errors_of_libraries_are_printed_as_they_are),
      TEST(a_chain_of_layers_can_be_followed_down_the_tree),
      TEST(unknown_numbers_are_printed_safely), TEST(times_are_rounded),
      TEST(csv_quotes_texts_and_omits_absent_fields), TEST(titles_match_the_values_of_csv),
      TEST(json_contains_the_fields_that_are_present), TEST(nesting_follows_causes_per_thread))
