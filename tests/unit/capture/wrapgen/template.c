/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output of the templates for rows with all kinds of marks.
 * Papers: SIOX-21, SIOX-23, SIOX-AC-1.
 */
#include "check.h"

#include "base/buf.h"
#include "base/err.h"
#include "capture/wrapgen/interface.h"
#include "capture/wrapgen/template.h"

static struct buf out;

static const char *print(const char *template, const char *text)
{
	struct interface rows = { 0 };
	struct err err = { 0 };

	buf_clear(&out);
	if (interface_read(&rows, "folder/posix.h", text, strlen(text), &err) < 0)
		printf("%s\n", err.text);
	else
		template_find(template)->print(&out, &rows);
	interface_release(&rows);
	return buf_text(&out);
}

#define CHECK_HAS(text, part) CHECK(strstr(text, part) != NULL)
#define CHECK_HAS_NOT(text, part) CHECK(strstr(text, part) == NULL)

static const char pread_row[] = "LAYER(POSIX) CALL(READ) ssize_t pread(FD int fd, void *buf,\n"
				"SIZE size_t count, OFFSET off_t offset);";

static void table_lists_fields_in_order(void)
{
	const char *text = print("table", pread_row);

	CHECK_HAS(text, "{ NAME(\"none\"), ");
	CHECK_HAS(text, "{ NAME(\"inherited\"), LAYER_POSIX, CLASS_OPEN, FAILS_NEVER, 5,");
	CHECK_HAS(text, "{ NAME(\"pread\"), LAYER_POSIX, CLASS_READ, FAILS_MINUS_ERRNO, 4,\n"
			"\t  { FIELD_RESULT, FIELD_LINK, FIELD_SIZE, FIELD_OFFSET } },\n");
}

static void numbers_of_rows_follow_the_calls_without_a_wrapper(void)
{
	const char *text = print("numbers", pread_row), *first = strstr(text, "CALL_none");
	const char *last = strstr(text, "CALL_pread");
	char own[64];
	int count = 0;

	CHECK_HAS(text, "\tCALL_none,\n\tCALL_inherited,\n\tCALL_fuse_request,\n"
			"\tCALL_fuse_reply,\n\tCALL_completed_POSIX,\n"
			"\tCALL_completed_MPI,\n\tCALL_completed_PNETCDF,\n");
	CHECK_HAS(text, "\tCALL_libaio_fdsync,\n\tCALL_pread,\n};");
	REQUIRE(first && last);
	for (const char *c = first; c < last; c++)
		count += *c == ',';
	snprintf(own, sizeof(own), "#define CALLS_WITHOUT_WRAPPER %d\n", count);
	CHECK_HAS(text, own);
}

static void wrapper_records_around_the_real_call(void)
{
	static const char body[] = "\tif (!frame_enter(&f)) {\n"
				   "\t\treturn REAL(pread)(fd, buf, count, offset);\n"
				   "\t}\n"
				   "\tssize_t ret = KNOWN(pread)(fd, buf, count, offset);\n"
				   "\tframe_stop(&f);\n"
				   "\tint err = unlikely(ret < 0) ? errno : 0;\n"
				   "\tuint64_t link = handle_link(fd, err);\n"
				   "\tuint64_t size = (uint64_t)count;\n"
				   "\tunsigned words = 8;\n"
				   "\tuint64_t *w = frame_leave(&f, CALL_pread, words, err);\n"
				   "\n"
				   "\tw[4] = (uint64_t)ret;\n"
				   "\tw[5] = link;\n"
				   "\tw[6] = size;\n"
				   "\tw[7] = (uint64_t)offset;\n"
				   "\tframe_commit(&f, w, words);\n"
				   "\tif (unlikely(frame_watched(LAYER_POSIX, CLASS_READ)))\n"
				   "\t\tinline_after(&f, CALL_pread, fd, link, size, "
				   "(uint64_t)offset, (uint64_t)ret, err);\n"
				   "\treturn ret;\n";
	const char *text = print("preload", pread_row);

	CHECK_HAS(text, body);
	CHECK_HAS(text, "#include \"capture/interfaces/posix.h\"\n");
	CHECK_HAS(text,
		  "wrap_pread(int fd, void *buf, size_t count, off_t offset) __asm__(\"pread\");");
	CHECK_HAS(text, "\tssize_t (*pread)(int fd, void *buf, size_t count, off_t offset);\n");
}

static void ended_handle_is_taken_before_the_call(void)
{
	const char *text = print("preload", "LAYER(STDIO) CALL(CLOSE) FAILS(EOF_ERRNO) ENDS\n"
					    "int fclose(STREAM FILE *stream);");
	const char *take = strstr(text, "uint64_t link = handle_take(stream_fd(stream));");
	const char *call = strstr(text, "int ret = KNOWN(fclose)(stream);");

	CHECK(take && call && take < call);
	/* The stream is freed memory then. */
	CHECK_HAS(text, "int err = unlikely(ret == -1) ? errno : 0;");
	CHECK_HAS(text, "inline_after(&f, CALL_fclose, -1, link, 0, UINT64_MAX, ");
}

static void a_wrapper_that_is_off_jumps_to_the_real_function(void)
{
	const char *text = print("preload", pread_row);
	const char *off = strstr(text, "\tif (unlikely(frame_is_off()))\n"
				       "\t\treturn KNOWN(pread)(fd, buf, count, offset);\n");
	const char *enter = strstr(text, "frame_enter(&f)");

	CHECK(off && enter && off < enter);
}

static void a_wrapper_that_is_off_measures_placed_files(void)
{
	static const char row[] = "LAYER(POSIX) FIRST(PLACED_CALL(WRITE, fd, count);)\n"
				  "LAST(placed_end(&placed, ret);) CALL(WRITE)\n"
				  "ssize_t write(FD int fd, const void *buf, SIZE size_t count);";
	const char *text = print("preload", row);
	const char *off = strstr(text, "\tif (unlikely(frame_is_off() && !placed_is_on()))\n"
				       "\t\treturn KNOWN(write)(fd, buf, count);\n");
	const char *first = strstr(text, "PLACED_CALL(");

	CHECK(off && first && off < first);
}

static void end_of_file_is_not_an_error(void)
{
	const char *text =
		print("preload", "LAYER(STDIO) CALL(READ) FAILS(EOF_ERRNO)\n"
				 "char *fgets(char *buf, SIZE int n, STREAM FILE *stream);");

	CHECK_HAS(text, "int err = unlikely(!ret) && stream_failed(stream) ? errno : 0;");
	text = print(
		"preload",
		"LAYER(POSIX) CALL(DIR) FAILS(EOF_ERRNO) struct dirent *readdir(DIRP DIR *dir);");
	CHECK_HAS(text, "\terrno = 0;\n\tstruct dirent *ret = KNOWN(readdir)(dir);");
	CHECK_HAS(text, "\tif (!errno)\n\t\terrno = was;\n");
}

static void paths_are_read_after_the_call_and_come_last(void)
{
	const char *text =
		print("preload", "LAYER(POSIX) CALL(META) int rename(PATH const char *path,\n"
				 "PATH2 const char *to);");
	const char *call = strstr(text, "int ret = KNOWN(rename)(path, to);");
	const char *length = strstr(text, "size_t path_len = path_bytes(path, err);");

	CHECK(call && length && call < length);
	CHECK_HAS(text, "unsigned words = 5 + text_words(path_len) + text_words(path2_len);");
	CHECK_HAS(text, "uint64_t *text = frame_text(&f, w + 5, path, path_len);\n"
			"\tframe_text(&f, text, to, path2_len);\n");
}

static void new_descriptor_is_entered_after_its_record(void)
{
	const char *text =
		print("preload", "LAYER(POSIX) CALL(DUP) MAKES(SAME) int dup(FD int fd);");
	const char *commit = strstr(text, "frame_commit(&f, w, words);");
	const char *made = strstr(text, "handle_made(made, link_kind(link), &f);");

	CHECK(commit && made && commit < made);
	CHECK_HAS(text, "int made = ret;");
}

static void plugins_get_the_new_handle(void)
{
	const char *text = print(
		"preload", "LAYER(POSIX) CALL(OPEN) MAKES(FILE) int creat(PATH const char *p);");
	const char *made = strstr(text, "handle_made(made, LINK_FILE, &f);");
	const char *told = strstr(text, "inline_after(&f, CALL_creat, made, handle_peek(made), 0, "
					"UINT64_MAX, (uint64_t)ret, err);");

	CHECK(made && told && made < told);
}

static void code_of_a_field_runs_once_for_record_and_plugins(void)
{
	const char *text = print("preload", "LAYER(POSIX) CALL(READ) RESULT(count_it(buf))\n"
					    "ssize_t read(FD int fd, void *buf, SIZE size_t n);");
	const char *once = strstr(text, "count_it(buf)");

	REQUIRE(once);
	CHECK(!strstr(once + 1, "count_it(buf)"));
	CHECK_HAS(text, "\tuint64_t kept_result = w[4];\n\tframe_commit(&f, w, words);\n");
	CHECK_HAS(text, "UINT64_MAX, kept_result, err);\n");
}

static void an_optional_argument_is_read_only_if_it_is_passed(void)
{
	const char *text =
		print("preload",
		      "LAYER(POSIX) CALL(OPEN) MAKES(FILE) REST(MODE mode_t mode, flags & 64)\n"
		      "int open(PATH const char *path, FLAGS int flags, ...);");

	CHECK_HAS(
		text,
		"\tif (flags & 64) {\n\t\tva_start(ap, flags);\n\t\tmode = va_arg(ap, mode_t);\n");
	CHECK_HAS(text, "KNOWN(open)(path, flags, mode);");
	CHECK_HAS(text, "\tint (*open)(const char *path, int flags, ...);\n");
}

static void variadic_calls_are_forwarded(void)
{
	const char *text = print(
		"preload", "LAYER(STDIO) CALL(WRITE) FORWARD(vfprintf)\n"
			   "int fprintf(STREAM FILE *stream, const char *format, ...);\n"
			   "CALL(WRITE)\n"
			   "int vfprintf(STREAM FILE *stream, const char *format, va_list list);");

	CHECK_HAS(text,
		  "\tva_start(ap, format);\n\tint ret = KNOWN(vfprintf)(stream, format, ap);\n");
	CHECK_HAS_NOT(text, "KNOWN(fprintf)(");
}

static void unwanted_calls_are_not_recorded(void)
{
	const char *text = print(
		"preload", "LAYER(POSIX) CALL(MAP) FAILS(MINUS_ERRNO) ONLY_IF(!(flags & 32))\n"
			   "void *mmap(void *at, FLAGS int flags, FD int fd);");

	CHECK_HAS(text, "\tif (!(!(flags & 32)) || !frame_enter(&f)) {\n");
	CHECK_HAS(text, "int err = unlikely((intptr_t)ret == -1) ? errno : 0;");
	CHECK_HAS(text, "w[4] = (uint64_t)(uintptr_t)ret;");
}

static void missing_functions_fail_in_their_own_way(void)
{
	const char *text = print("preload", "LAYER(POSIX) CALL(SYNC) int a(FD int fd);\n"
					    "CALL(SYNC) FAILS(IS_ERRNO) int b(FD int fd);\n"
					    "CALL(STAT) char *c(PATH const char *path);");

	CHECK_HAS(text, "\"a\\0\"\n\t\"b\\0\"\n\t\"c\\0\";");
	CHECK_HAS(text, "{ 0, MISSING_MINUS },\n\t{ 2, MISSING_ERRNO },\n\t{ 4, MISSING_NULL },\n");
}

static const char library_rows[] =
	"LAYER(MPI)\nLIBRARY(MPI)\nALSO(P)\n"
	"CALL(OPEN) ERROR(ret != 0, kind(ret)) MAKES(HANDLE) AFTER(note(opened);)\n"
	"int MPI_Open(PATH const char *path, MADE MPI_File *fh);\n"
	"CALL(WAIT) FAILS(STATUS) KEEP_IF(*flag) int MPI_Poll(HANDLE MPI_File fh, int *flag);\n"
	"CALL(CLOSE) FAILS(NEGATIVE) ENDS BEFORE(one();) BEFORE(two();)\n"
	"int MPI_Close(HANDLE_AT MPI_File *fh);\n"
	"CALL(PROCESS) LEAVES int MPI_Abort(FLAGS int code);\n"
	"QUIET AFTER(drop(id);) int MPI_Select(int id);\n";

static void library_functions_are_looked_up_when_called(void)
{
	const char *text = print("preload", library_rows);

	CHECK_HAS(text, "library_find(real_names + real_rows[slot].name, caller,");
	CHECK_HAS(text, "called = REAL(MPI_Open);");
	CHECK_HAS(text, "mpi_bind((const void *)called);");
	CHECK_HAS(text, "int err = unlikely(ret != 0) ? (kind(ret)) : 0;");
	CHECK_HAS(text, "made = err ? UINT64_MAX : mpi_handle_at((const void *)called, fh);");
	CHECK_HAS(text,
		  "struct handle_entry *opened = handle_table_made(SPACE_MPI, made, &f, err);");
	CHECK_HAS(text, "int err = unlikely(ret < 0) ? -1 : 0;");
}

static void both_names_are_recorded_as_one_call(void)
{
	const char *text = print("preload", library_rows);

	CHECK_HAS(text, "__asm__(\"MPI_Open\");");
	CHECK_HAS(text, "__asm__(\"PMPI_Open\");");
	CHECK_HAS(text, "if (call_is_inner(CALL_MPI_Open) || !frame_enter(&f))");
	CHECK_HAS_NOT(text, "CALL_PMPI_Open");
	CHECK_HAS_NOT(print("numbers", library_rows), "PMPI_Open");
	CHECK_HAS(print("flags", library_rows), "-Wl,--wrap=PMPI_Open\n");
}

static void a_prefix_is_not_part_of_the_recorded_name(void)
{
	static const char rows[] = "LAYER(MPI) LIBRARY(MPI)\nONLY(P)\n"
				   "CALL(MESSAGE) ERROR(ret != 0, ret) ONLY_IF(wanted())\n"
				   "int MPI_Send(const void *buf, FLAGS int dest);\n"
				   "ALSO(P)\n"
				   "CALL(MESSAGE) FAILS(STATUS) int MPI_Put(FLAGS int target);\n"
				   "ONLY(P)\n"
				   "CALL(MESSAGE) FAILS(STATUS) int MPI_Get(FLAGS int target);\n";
	const char *text = print("preload", rows);

	CHECK_HAS(text, "__asm__(\"PMPI_Send\");");
	CHECK_HAS(text, "frame_leave(&f, CALL_MPI_Send, ");
	CHECK_HAS_NOT(text, "__asm__(\"MPI_Send\");");
	CHECK_HAS_NOT(text, "REAL(MPI_Send)");
	CHECK_HAS(text, "__asm__(\"MPI_Put\");");
	CHECK_HAS(text, "__asm__(\"PMPI_Put\");");
	CHECK_HAS_NOT(text, "__asm__(\"MPI_Get\");");
	CHECK_HAS(print("numbers", rows), "\tCALL_MPI_Send,\n\tCALL_MPI_Put,\n\tCALL_MPI_Get,\n};");
	CHECK_HAS(print("table", rows), "NAME(\"MPI_Send\")");
	CHECK_HAS_NOT(print("flags", rows), "--wrap=MPI_Send\n");
	CHECK_HAS(print("flags", rows), "--wrap=PMPI_Send\n");
}

static void rarely_recorded_calls_are_a_test_and_a_jump(void)
{
	const char *text = print("preload", "LAYER(MPI) LIBRARY(MPI) ALSO(P)\n"
					    "CALL(MESSAGE) ERROR(ret != 0, ret) ONLY_IF(wanted())\n"
					    "int MPI_Send(const void *buf, FLAGS int dest);\n");

	CHECK_HAS(text, "static int recorded_MPI_Send(const void *buf, int dest, "
			"int (*called)(const void *buf, int dest))\n{\n\tstruct frame f;\n");
	CHECK_HAS(text, "if (call_is_inner(CALL_MPI_Send) || !frame_enter(&f))");
	CHECK_HAS(text, "wrap_PMPI_Send(const void *buf, int dest)\n{\n"
			"\t__typeof__(&*REAL(PMPI_Send)) called = REAL(PMPI_Send);\n\n"
			"\tif (likely(!(wanted())))\n\t\treturn called(buf, dest);\n"
			"\treturn recorded_PMPI_Send(buf, dest, called);\n}\n");
}

static void first_and_last_run_even_if_nothing_is_recorded(void)
{
	const char *text =
		print("preload",
		      "LAYER(MPI)\nLIBRARY(MPI)\n"
		      "CALL(OPEN) FAILS(STATUS) FIRST(begin();) LAST(end();) AFTER(note();)\n"
		      "FIELD(HINTS, said(info)) int MPI_Open(PATH const char *path, int info);");

	CHECK_HAS(text, "\tbegin();\n\tif (!frame_enter(&f)) {\n\t\tint ret = called(path, info);\n"
			"\t\tend();\n\t\treturn ret;\n\t}\n");
	CHECK_HAS(text, "note();\n\tend();\n\terrno = saved;\n\treturn ret;\n");
	CHECK_HAS(text, "\tconst char *hints = said(info);\n");
	CHECK_HAS(text, "frame_text(&f, text, hints, hints_len);");
}

static void a_replaced_argument_is_not_recorded(void)
{
	const char *text =
		print("preload", "LAYER(POSIX) FIRST(begin();) PASS(path, other(path, 1))\n"
				 "CALL(OPEN) MAKES(FILE) int open(PATH const char *path, int b);");

	CHECK_HAS(text, "int ret = KNOWN(open)(other(path, 1), b);\n");
	CHECK_HAS(text, "return REAL(open)(other(path, 1), b);\n");
	CHECK_HAS(text, "path_bytes(path, err)");
	/* FIRST has to run even if capturing is off. */
	CHECK_HAS_NOT(text, "frame_is_off()");
}

static void calls_that_find_nothing_are_dropped(void)
{
	CHECK_HAS(print("preload", library_rows), "\tif (!(*flag)");
}

static void a_library_handle_is_dropped_before_the_call_and_after_its_use(void)
{
	const char *text = print("preload", library_rows);
	const char *two = strstr(text, "one();\n\ttwo();\n"), *take, *call;

	REQUIRE(two);
	take = strstr(two, "handle_table_take(key);");
	call = strstr(two, "int ret = called(fh);");
	CHECK(take && call && take < call);
}

static void a_call_that_does_not_return_is_recorded_before_it(void)
{
	const char *text = strstr(print("preload", library_rows), "wrap_MPI_Abort(int code)\n");
	const char *commit = text ? strstr(text, "frame_commit(") : NULL;
	const char *call = text ? strstr(text, "return called(code);\n}") : NULL;

	CHECK(commit && call && commit < call);
}

static void a_quiet_function_has_neither_number_nor_record(void)
{
	const char *text;

	CHECK_HAS_NOT(print("numbers", library_rows), "MPI_Select");
	CHECK_HAS_NOT(print("table", library_rows), "MPI_Select");
	text = strstr(print("preload", library_rows), "wrap_MPI_Select(int id)\n");
	CHECK(text && strstr(text, "drop(id);"));
	CHECK_HAS_NOT(text, "struct frame f;");
}

static void a_linked_wrapper_names_its_real_function(void)
{
	const char *text = print("link", pread_row);

	CHECK_HAS(text, "__asm__(\"__real_pread\");");
	CHECK_HAS(text, "__asm__(\"__wrap_pread\");");
	CHECK_HAS(text, "#define REAL(function) real_##function\n");
	CHECK_HAS_NOT(text, "static struct real");
	text = print("flags", pread_row);
	CHECK_HAS(text, "-Wl,--gc-sections\n");
	CHECK_HAS(text, "-Wl,--wrap=pread\n");
}

static void last(void)
{
	buf_release(&out);
}

TESTS(TEST(table_lists_fields_in_order), TEST(numbers_of_rows_follow_the_calls_without_a_wrapper),
      TEST(wrapper_records_around_the_real_call), TEST(ended_handle_is_taken_before_the_call),
      TEST(a_wrapper_that_is_off_jumps_to_the_real_function),
      TEST(a_wrapper_that_is_off_measures_placed_files), TEST(end_of_file_is_not_an_error),
      TEST(paths_are_read_after_the_call_and_come_last),
      TEST(new_descriptor_is_entered_after_its_record), TEST(plugins_get_the_new_handle),
      TEST(code_of_a_field_runs_once_for_record_and_plugins),
      TEST(an_optional_argument_is_read_only_if_it_is_passed), TEST(variadic_calls_are_forwarded),
      TEST(unwanted_calls_are_not_recorded), TEST(missing_functions_fail_in_their_own_way),
      TEST(library_functions_are_looked_up_when_called), TEST(both_names_are_recorded_as_one_call),
      TEST(a_prefix_is_not_part_of_the_recorded_name),
      TEST(rarely_recorded_calls_are_a_test_and_a_jump),
      TEST(first_and_last_run_even_if_nothing_is_recorded),
      TEST(a_replaced_argument_is_not_recorded), TEST(calls_that_find_nothing_are_dropped),
      TEST(a_library_handle_is_dropped_before_the_call_and_after_its_use),
      TEST(a_call_that_does_not_return_is_recorded_before_it),
      TEST(a_quiet_function_has_neither_number_nor_record),
      TEST(a_linked_wrapper_names_its_real_function), TEST(last))
