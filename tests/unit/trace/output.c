/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/output.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "trace_sample.h"

static char directory[] = "/tmp/sluice-output.XXXXXX";

static char *path_of(const char *name)
{
	return xprintf("%s/%s", directory, name);
}

static void write_text(const char *path, const char *text)
{
	REQUIRE(file_write_all(path, text, strlen(text), NULL) == 0);
}

static bool holds(const char *path, const char *text)
{
	AUTO_BUF struct buf buf = { 0 };

	REQUIRE(file_read_all(&buf, path, 0, NULL) == 0);
	return strcmp(buf_text(&buf), text) == 0;
}

static void write_trace(const struct trace_format *form, const char *path)
{
	struct err err = { 0 };
	void *w = NULL;

	CHECK_INT(form->create(&w, path, &sample_run, &sample_clock, sample_calls, SAMPLE_CALLS,
			       &err),
		  0);
	CHECK_TEXT(err.text, "");
	REQUIRE(w);
	CHECK_INT(form->finish(w, &sample_end, &sample_clock, &err), 0);
}

static void only_traces_are_traces(void)
{
	AUTO_FREE char *text = path_of("text"), *link = path_of("link"), *fifo = path_of("fifo");
	AUTO_FREE char *trace = path_of("a.sluice");

	write_text(text, "SQLite format 3");
	REQUIRE(symlink(trace, link) == 0 && mkfifo(fifo, 0600) == 0);
	write_trace(&trace_container, trace);
	CHECK(trace_is_trace(trace));
	CHECK(!trace_is_trace(text));
	CHECK(!trace_is_trace(link));
	CHECK(!trace_is_trace(fifo));
	CHECK(!trace_is_trace(directory));
	CHECK(!trace_is_trace("/dev/null"));
	unlink(text);
	unlink(link);
	unlink(fifo);
	unlink(trace);
}

/* Every form refuses to replace the file at the path. */
static void check_refused(const char *path)
{
	for (size_t i = 0; trace_formats[i]; i++) {
		struct err err = { 0 };
		void *w = NULL;

		CHECK_INT(trace_formats[i]->create(&w, path, &sample_run, &sample_clock,
						   sample_calls, SAMPLE_CALLS, &err),
			  -EEXIST);
		CHECK(strstr(err.text, path));
	}
}

static void other_files_and_links_are_not_replaced(void)
{
	AUTO_FREE char *text = path_of("thesis.tex"), *link = path_of("link");
	AUTO_FREE char *dangling = path_of("dangling"), *fifo = path_of("fifo");
	struct stat st;

	write_text(text, "precious");
	REQUIRE(symlink(text, link) == 0 && symlink("nowhere", dangling) == 0);
	REQUIRE(mkfifo(fifo, 0600) == 0);
	check_refused(text);
	check_refused(link);
	check_refused(dangling);
	check_refused(fifo);
	CHECK(holds(text, "precious"));
	CHECK(lstat(dangling, &st) == 0 && S_ISLNK(st.st_mode));
	unlink(text);
	unlink(link);
	unlink(dangling);
	unlink(fifo);
}

static void older_traces_and_empty_files_are_replaced_by_private_ones(void)
{
	AUTO_FREE char *path = path_of("trace");
	mode_t before = umask(0);
	struct stat st;

	for (size_t i = 0; trace_formats[i]; i++) {
		write_text(path, "");
		for (int round = 0; round < 2; round++) {
			write_trace(trace_formats[i], path);
			CHECK(trace_is_trace(path));
			CHECK(stat(path, &st) == 0);
			CHECK_INT(st.st_mode & 07777, 0600);
		}
		unlink(path);
	}
	umask(before);
}

static void the_directory_is_made(void)
{
	REQUIRE(mkdtemp(directory));
}

static void nothing_is_left(void)
{
	CHECK_INT(rmdir(directory), 0);
}

TESTS(TEST(the_directory_is_made), TEST(only_traces_are_traces),
      TEST(other_files_and_links_are_not_replaced),
      TEST(older_traces_and_empty_files_are_replaced_by_private_ones), TEST(nothing_is_left))
