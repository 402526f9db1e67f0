/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The name of a program: host and guest, and the identity of a run, agree on it.
 */
#include "contract/program.h"

#include "check.h"
#include "tune/program/launch.h"

static const struct {
	const char *executable, *name;
	const char *argv[8];
} cases[] = {
	{ "/opt/bin/app", "app", { "./link", "x.py" } },
	{ "app", "app", { "app" } },
	{ "", "", { "app" } },
	{ "/usr/bin/python3.11", "run.py", { "python3", "jobs/run.py", "-v" } },
	{ "/usr/bin/python3.11", "run.py", { "python3", "-u", "-W", "ignore", "run.py" } },
	{ "/usr/bin/python3.11", "run.py", { "python3", "-m", "mpi4py", "run.py" } },
	{ "/usr/bin/python3.11", "run.py", { "python3", "-m", "mpi4py.run", "run.py" } },
	{ "/usr/bin/python3.11", "python3.11", { "python3.11", "-m", "tests", "run.py" } },
	{ "/usr/bin/python3.11", "python3.11", { "python3.11", "-c", "print()", "run.py" } },
	{ "/usr/bin/python3.11", "python3.11", { "python3.11" } },
	{ "/usr/bin/python3.11", "python3.11", { "python3.11", "-m" } },
	{ "/usr/bin/perl", "a", { "perl", "-I", "lib", "a" } },
	{ "/usr/bin/perl", "perl", { "perl", "-e", "1" } },
	{ "/opt/julia/bin/julia", "j.jl", { "julia", "--project=.", "-t", "4", "j.jl" } },
	{ "/usr/bin/perl-tool", "perl-tool", { "perl-tool", "a" } },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

/* The command line of a case with this separator after each word. Returns its length. */
static size_t join(size_t i, char separator, char text[256])
{
	size_t n = 0;

	for (size_t k = 0; k < 8 && cases[i].argv[k]; k++) {
		n += (size_t)sprintf(text + n, "%s", cases[i].argv[k]);
		text[n++] = separator;
	}
	return n;
}

static void host_and_guest_agree(void)
{
	char text[256], name[PROGRAM_NAME_BYTES];

	for (size_t i = 0; i < CASES; i++) {
		CHECK_TEXT(program_name(cases[i].executable, text, join(i, ' ', text), name),
			   cases[i].name);
		CHECK_TEXT(program_name(cases[i].executable, text, join(i, 0, text), name),
			   cases[i].name);
	}
}

/* Before the run the name is found from the command line. */
static void the_identity_of_a_run_agrees(void)
{
	for (size_t i = 3; i < CASES; i++) {
		struct launch launch;
		const char *slash;

		launch_parse(&launch, (char *const *)cases[i].argv);
		slash = strrchr(launch.argv[0], '/');
		CHECK_TEXT(slash ? slash + 1 : launch.argv[0], cases[i].name);
	}
}

static void names_are_one_line_and_bounded(void)
{
	char name[PROGRAM_NAME_BYTES], path[1000];

	CHECK_TEXT(program_name("/a/b\nc\x7f d", "", 0, name), "b?c? d");
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	CHECK_INT(strlen(program_name(path, "", 0, name)), PROGRAM_NAME_BYTES - 1);
}

TESTS(TEST(host_and_guest_agree), TEST(the_identity_of_a_run_agrees),
      TEST(names_are_one_line_and_bounded))
