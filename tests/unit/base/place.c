/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void check_expanded(const char *path, const char *expected)
{
	AUTO_FREE char *expanded = place_expand(path);

	CHECK_TEXT(expanded, expected);
}

static void paths_expand_home_and_variables(void)
{
	setenv("HOME", "/home/u", 1);
	setenv("SOME", "x", 1);
	unsetenv("NONE");
	check_expanded("~", "/home/u");
	check_expanded("~/a", "/home/u/a");
	check_expanded("~other/a", "~other/a");
	check_expanded("/a/${SOME}/b", "/a/x/b");
	check_expanded("/a/${NONE}/b", "/a//b");
	check_expanded("${NONE:-~/d}/b", "/home/u/d/b");
	check_expanded("${SOME:-y}", "x");
	check_expanded("a$b${unclosed", "a$b${unclosed");
}

static void joining_doubles_no_slash(void)
{
	AUTO_FREE char *a = place_join("/a", "b");
	AUTO_FREE char *b = place_join("/a/", "b");

	CHECK_TEXT(a, "/a/b");
	CHECK_TEXT(b, "/a/b");
}

static void directories_are_created_with_their_parents(void)
{
	const char *root = check_directory();
	AUTO_FREE char *deep = xprintf("%s/a/b//c/", root);
	AUTO_FREE char *file = xprintf("%s/file", root);
	AUTO_FREE char *below = xprintf("%s/file/x", root);
	struct err err = { 0 };

	CHECK_INT(place_make_dir(deep, 0700, &err), 0);
	CHECK_INT(place_make_dir(deep, 0700, &err), 0);
	CHECK(place_exists(deep));
	close(open(file, O_CREAT | O_WRONLY, 0600));
	CHECK_INT(place_make_dir(file, 0700, &err), -ENOTDIR);
	CHECK_INT(place_make_dir(below, 0700, &err), -ENOTDIR);
	CHECK(strstr(err.text, "file/x"));
}

static void the_library_is_found_by_its_variable(void)
{
	const char *root = check_directory();
	AUTO_FREE char *bin = place_binary_dir();
	AUTO_FREE char *library = xprintf("%s/lib.so", root);
	struct err err = { 0 };
	char *found;

	CHECK(bin && bin[0] == '/');
	close(open(library, O_CREAT | O_WRONLY, 0600));
	setenv("SLUICE_LIBRARY", library, 1);
	found = place_library(&err);
	CHECK_TEXT(found, library);
	free(found);
	setenv("SLUICE_LIBRARY", "/nonexistent/lib.so", 1);
	CHECK(!place_library(&err));
	CHECK(strstr(err.text, "/nonexistent/lib.so"));
	unsetenv("SLUICE_LIBRARY");
}

static void programs_are_found_as_the_shell_would(void)
{
	const char *root = check_directory();
	AUTO_FREE char *tool = xprintf("%s/tool", root);
	char *found;

	close(open(tool, O_CREAT | O_WRONLY, 0600));
	setenv("PATH", root, 1);
	CHECK(!place_program("tool"));
	chmod(tool, 0700);
	found = place_program("tool");
	CHECK_TEXT(found, tool);
	free(found);
	found = place_program(tool);
	CHECK_TEXT(found, tool);
	free(found);
	CHECK(!place_program(""));
	CHECK(!place_program(root));
}

static void the_directory_of_a_file_is_created_but_not_the_file(void)
{
	const char *root = check_directory();
	AUTO_FREE char *file = place_join(root, "p/q/file"), *parent = place_join(root, "p/q");

	CHECK_INT(place_make_parent(file, 0700, NULL), 0);
	CHECK(place_exists(parent));
	CHECK(!place_exists(file));
	CHECK_INT(place_make_parent("file", 0700, NULL), 0);
	CHECK_INT(place_make_parent("/file", 0700, NULL), 0);
}

TESTS(TEST(paths_expand_home_and_variables), TEST(joining_doubles_no_slash),
      TEST(directories_are_created_with_their_parents),
      TEST(the_directory_of_a_file_is_created_but_not_the_file),
      TEST(the_library_is_found_by_its_variable), TEST(programs_are_found_as_the_shell_would))
