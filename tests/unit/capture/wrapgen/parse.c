/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How wrapgen reads annotated prototypes, and its messages about mistakes.
 * Papers: SIOX-21, SIOX-23.
 */
#include "check.h"

#include <errno.h>

#include "base/err.h"
#include "capture/wrapgen/interface.h"

static struct interface rows;
static struct err err;

/* Reads one header; the result is in `rows` and `err` until the next call. */
static int try_header(const char *text)
{
	int error;

	interface_release(&rows);
	err = (struct err){ 0 };
	error = interface_read(&rows, "posix.h", text, strlen(text), &err);
	return error ? error : interface_complete(&rows, &err);
}

static const struct row *one_row(const char *text)
{
	REQUIRE(try_header(text) == 0);
	REQUIRE(rows.count == 1);
	return &rows.rows[0];
}

#define CHECK_HAS(text, part) CHECK(strstr(text, part) != NULL)

/* The message names the place and contains the key words. */
#define CHECK_ERROR(header, place, words)               \
	do {                                            \
		CHECK_INT(try_header(header), -EINVAL); \
		CHECK_HAS(err.text, "posix.h:" place);  \
		CHECK_WORDS(err.text, words);           \
	} while (0)

static void prototype_becomes_a_row(void)
{
	const struct row *row =
		one_row("/* c */ LAYER(POSIX)\n"
			"#include <unistd.h>\n"
			"CALL(READ) ssize_t pread(FD int fd, void *buf, SIZE size_t count,\n"
			"\t\t\t OFFSET off_t offset);\n");

	CHECK_TEXT(row->name, "pread");
	CHECK_TEXT(row->type, "ssize_t");
	CHECK_TEXT(row->file, "posix.h");
	CHECK_INT(row->line, 3);
	CHECK_INT(row->layer, LAYER_POSIX);
	CHECK_INT(row->class, CLASS_READ);
	CHECK_INT(row->how, HOW_MINUS_ERRNO);
	CHECK_INT(row->makes, MAKES_NOTHING);
	CHECK_INT(row->arg_count, 4);
	CHECK_TEXT(row->args[1].decl, "void *buf");
	CHECK_TEXT(row->args[1].name, "buf");
	CHECK_INT(row->args[1].role, ROLE_NONE);
	CHECK_TEXT(row_arg(row, ROLE_OFFSET)->name, "offset");
}

static void fields_come_in_the_order_of_the_record(void)
{
	const struct row *row =
		one_row("LAYER(POSIX) CALL(OPEN) MAKES(FILE) REST(MODE mode_t mode, flags & 64)\n"
			"int openat(DIRFD int d, PATH const char *path, FLAGS int flags, ...);");
	static const enum field expected[] = { FIELD_RESULT, FIELD_LINK2, FIELD_HANDLE,
					       FIELD_FLAGS,  FIELD_MODE,  FIELD_PATH };

	REQUIRE(row->field_count == sizeof(expected) / sizeof(expected[0]));
	for (unsigned i = 0; i < row->field_count; i++)
		CHECK_INT(row->fields[i], expected[i]);
	CHECK_TEXT(row->rest.name, "mode");
	CHECK_TEXT(row->rest.type, "mode_t");
	CHECK_TEXT(row->rest_when, "flags & 64");
}

static void declarators_of_all_shapes_have_names(void)
{
	const struct row *row =
		one_row("LAYER(POSIX) CALL(DIR) int scandir(PATH const char *path,\n"
			"struct dirent ***list, int (*keep)(const struct dirent *), int fds[2],\n"
			"FILE *__restrict stream);");

	REQUIRE(row->arg_count == 5);
	CHECK_TEXT(row->args[1].decl, "struct dirent ***list");
	CHECK_TEXT(row->args[1].name, "list");
	CHECK_TEXT(row->args[2].decl, "int (*keep)(const struct dirent *)");
	CHECK_TEXT(row->args[2].name, "keep");
	CHECK_TEXT(row->args[3].decl, "int fds[2]");
	CHECK_TEXT(row->args[3].name, "fds");
	CHECK_TEXT(row->args[4].name, "stream");
}

static void code_is_kept_as_written(void)
{
	const struct row *row =
		one_row("LAYER(STDIO) CALL(WRITE) FAILS(EOF_ERRNO) IMPLIED(stdout)\n"
			"FIELD(SIZE, strlen(s) + 1) RESULT(ret < 0 ? 0 : size)\n"
			"BEFORE(if (s) { puts(\")\"); }) AFTER(a(b,  c);) ONLY_IF(s)\n"
			"int puts(const char *s);");

	CHECK_TEXT(row->field_code[FIELD_SIZE], "strlen(s) + 1");
	CHECK_TEXT(row->field_code[FIELD_RESULT], "ret < 0 ? 0 : size");
	CHECK_TEXT(row->before, "if (s) { puts(\")\"); }");
	CHECK_TEXT(row->after, "a(b,  c);");
	CHECK_TEXT(row->only_if, "s");
	CHECK_TEXT(row->implied, "stdout");
	CHECK(row_has(row, FIELD_LINK));
}

static void failure_follows_the_result_type(void)
{
	CHECK_INT(one_row("LAYER(POSIX) CALL(SYNC) void sync(void);")->how, HOW_NEVER);
	CHECK_INT(one_row("LAYER(POSIX) CALL(STAT) char *r(PATH const char *p);")->how,
		  HOW_NULL_ERRNO);
	CHECK_INT(one_row("LAYER(POSIX) CALL(STAT) unsigned long u(int a);")->how, HOW_NEVER);
	CHECK_INT(one_row("LAYER(STDIO) CALL(READ) wint_t g(STREAM FILE *s);")->how, HOW_EOF_ERRNO);
	CHECK_INT(one_row("LAYER(STDIO) CALL(OPEN) FILE *tmp(void);")->returns, RETURNS_STREAM);
}

static void unknown_words_are_named(void)
{
	CHECK_ERROR("LAYER(POSIX)\n\nCALL(READ) int f(FDD int fd);", "3: ", "mark|'FDD'|argument");
	CHECK_ERROR("LAYER(POSIX)\nCALLS(READ) int f(FD int fd);", "2: ", "mark|'CALLS'|function");
	CHECK_ERROR("LAYER(POSIX) CALL(REED) int f(FD int fd);", "1: ", "CALL|'REED'");
	CHECK_WORDS(err.text, "OPEN|CLOSE|READ|WRITE");
	CHECK_ERROR("LAYER(PSX)", "1: ", "LAYER|'PSX'");
	CHECK_WORDS(err.text, "POSIX|STDIO");
	CHECK_ERROR("LAYER(POSIX) CALL(STAT) FAILS(ODD) int f(int a);", "1: ", "FAILS|'ODD'");
	CHECK_HAS(err.text, "NEVER, MINUS_ERRNO, NULL_ERRNO, EOF_ERRNO, IS_ERRNO, SHORT_ERRNO");
}

static void shape_mistakes_are_located(void)
{
	CHECK_ERROR("CALL(READ) int f(int a);", "1: ", "LAYER(name)");
	CHECK_ERROR("LAYER(POSIX)\nCALL(CLOSE) int f(FD int fd)\n\nCALL(CLOSE) int g(FD int fd);",
		    "2: ", "';' after f(");
	CHECK_ERROR("LAYER(POSIX)\nint f(int a);", "2: f(): ", "CALL(class)");
	CHECK_ERROR("LAYER(POSIX)\nCALL(READ) int f(int);", "2: ", "'int'|name");
	CHECK_ERROR("LAYER(POSIX)\nCALL(READ) int f(int a,);", "2: ", "missing argument");
	CHECK_ERROR("LAYER(POSIX)\nCALL(READ) int f(int a;", "2: ", "not closed");
	CHECK_ERROR("LAYER(POSIX)\nCALL(READ) struct x;", "2: ", "prototype");
	CHECK_ERROR("LAYER(POSIX)\n/* open", "2: ", "comment");
	CHECK_ERROR("LAYER(POSIX)\n\"open", "2: ", "literal");
	CHECK_ERROR("LAYER(POSIX)\n\x80", "2: ", "0x80");
}

static void contradictions_are_rejected(void)
{
	CHECK_ERROR("LAYER(POSIX) CALL(DUP) int f(FD int a, FD int b);",
		    "1: f(): ", "FD 'a'|FD 'b'");
	CHECK_ERROR("LAYER(POSIX) CALL(DUP) FIELD(LINK, 0) int f(FD int a);",
		    "1: f(): ", "FD 'a'|FIELD(LINK, ...)");
	CHECK_ERROR("LAYER(POSIX) CALL(DUP) int f(FD SIZE int a);", "1: ", "FD|SIZE");
	CHECK_ERROR("LAYER(POSIX) CALL(CLOSE) ENDS int f(int a);", "1: f(): ", "ENDS");
	CHECK_ERROR("LAYER(POSIX) CALL(OPEN) MAKES(FILE) char *f(int a);",
		    "1: f(): ", "not 'char *'");
	CHECK_ERROR("LAYER(POSIX) CALL(OPEN) int f(int a, ...);", "1: f(): ", "FORWARD");
	CHECK_ERROR("LAYER(POSIX) CALL(READ) int f(ITEM int a);", "1: f(): ", "ITEM|ITEMS");
	CHECK_ERROR("LAYER(POSIX) CALL(READ) int f(int ret);", "1: f(): ", "'ret'");
	CHECK_ERROR("LAYER(POSIX) CALL(READ) int f(int a, int a);", "1: f(): ", "'a'");
	CHECK_ERROR("LAYER(POSIX) CALL(READ) FAILS(IS_ERRNO) FAILS(NEVER) int f(int a);",
		    "1: ", "twice");
	CHECK_ERROR("LAYER(POSIX) CALL(READ) PASS(b, 1) int f(int a);", "1: f(): ", "'b'");
	CHECK_ERROR("LAYER(POSIX) CALL(READ) PASS(a) int f(int a);", "1: ", "PASS");
	CHECK_ERROR("LAYER(POSIX) CALL(READ) FAILS(NULL_ERRNO) int f(int a);",
		    "1: f(): ", "FAILS(NULL_ERRNO)");
}

static void a_function_has_one_row(void)
{
	CHECK_ERROR("LAYER(POSIX)\nCALL(SYNC) int f(FD int a);\nCALL(SYNC) int f(FD int a);",
		    "3: ", "posix.h:2");
}

static void forward_names_a_row(void)
{
	CHECK_ERROR("LAYER(STDIO) CALL(WRITE) FORWARD(vf) int f(int a, ...);",
		    "1: f(): ", "FORWARD(vf)");
	CHECK_INT(try_header("LAYER(STDIO) CALL(WRITE) FORWARD(vf) int f(int a, ...);\n"
			     "CALL(WRITE) int vf(int a, va_list list);"),
		  0);
}

static void linker_names_share_the_row_of_their_function(void)
{
	static const char *const names[][2] = {
		{ "__read_chk", "read" },
		{ "__isoc99_fscanf", "fscanf" },
		{ "__isoc23_fscanf", "fscanf" },
		{ "_IO_puts", "puts" },
		{ "__open64_2", "open64" },
		{ "__fxstatat", "fstatat" },
		{ "__fread_unlocked_chk", "fread_unlocked" },
		{ "__close", "close" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 "LAYER(POSIX)\nCALL(READ) int %s(FD int fd, SIZE size_t n, int room);\n"
			 "CALL(READ) int %s(FD int fd, SIZE size_t n);\n",
			 names[i][0], names[i][1]);
		REQUIRE(try_header(text) == 0);
		CHECK_TEXT(rows.rows[0].call, names[i][1]);
		CHECK(!row_is_recorded(&rows.rows[0]) && row_is_recorded(&rows.rows[1]));
	}
	REQUIRE(try_header("LAYER(STDIO) CALL(READ) int __uflow(STREAM FILE *stream);") == 0);
	CHECK_TEXT(rows.rows[0].call, "__uflow");
	CHECK(row_is_recorded(&rows.rows[0]));
	CHECK_ERROR("LAYER(POSIX)\nCALL(READ) int __read_chk(FD int fd);\n"
		    "CALL(READ) int read(FD int fd, SIZE size_t n);",
		    "2: __read_chk(): ", "fields differ");
}

static void deep_nesting_is_accepted(void)
{
	enum { DEPTH = 200000 };
	static char text[2 * DEPTH + 100];
	size_t n = (size_t)sprintf(text, "LAYER(POSIX) CALL(SYNC) AFTER(");

	memset(text + n, '(', DEPTH);
	memset(text + n + DEPTH, ')', DEPTH);
	strcpy(text + n + 2 * DEPTH, ") void f(void);");
	CHECK_INT(try_header(text), 0);
	text[n + DEPTH] = ' ';
	CHECK_INT(try_header(text), -EINVAL);
	interface_release(&rows);
}

TESTS(TEST(prototype_becomes_a_row), TEST(fields_come_in_the_order_of_the_record),
      TEST(declarators_of_all_shapes_have_names), TEST(code_is_kept_as_written),
      TEST(failure_follows_the_result_type), TEST(unknown_words_are_named),
      TEST(shape_mistakes_are_located), TEST(contradictions_are_rejected),
      TEST(a_function_has_one_row), TEST(forward_names_a_row),
      TEST(linker_names_share_the_row_of_their_function), TEST(deep_nesting_is_accepted))
