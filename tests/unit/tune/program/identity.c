/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/program/identity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/mem.h"
#include "base/place.h"
#include "check.h"

static char directory[] = "/tmp/sluice-identity-XXXXXX";

/* The job that runs the tests must not be visible. */
static void prepare(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",    "PMI_SIZE",
		"SLURM_PROCID",		"SLURM_NTASKS",		"SLURM_JOB_ID"
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	if (strstr(directory, "XXXXXX"))
		REQUIRE(mkdtemp(directory));
}

static char *make_file(const char *name, const char *text)
{
	char *path = place_join(directory, name);
	FILE *f = fopen(path, "we");

	REQUIRE(f);
	fputs(text, f);
	fclose(f);
	REQUIRE(chmod(path, 0755) == 0);
	return path;
}

static char *fingerprint(char *const *argv)
{
	struct identity identity;
	char *text;

	identity_init(&identity, argv, NULL);
	text = xstrdup(identity.fingerprint);
	identity_release(&identity);
	return text;
}

static void a_program_is_identified_by_its_build_id(void)
{
	char *argv[] = { (char *)"mpiexec", (char *)"-n", (char *)"4", (char *)"/proc/self/exe",
			 (char *)"it's",    (char *)"-b", NULL };
	AUTO_FREE char *id = elf_build_id("/proc/self/exe");
	struct identity identity;

	prepare();
	identity_init(&identity, argv, "auto");
	CHECK_TEXT(identity.program, "exe");
	CHECK_TEXT(identity.path, "/proc/self/exe");
	CHECK_TEXT(identity.arguments, "'it'\\''s' -b");
	CHECK_TEXT(identity.launcher, "mpiexec");
	CHECK_INT(identity.ranks, 4);
	CHECK(identity.filesystem != FILESYSTEM_LUSTRE || place_exists("/proc/fs/lustre"));
	if (id) {
		CHECK(strncmp(identity.fingerprint, "build:", 6) == 0);
		CHECK_TEXT(identity.fingerprint + 6, id);
	} else {
		CHECK(strncmp(identity.fingerprint, "bytes:", 6) == 0);
	}
	identity_release(&identity);
	CHECK(!identity.program);
}

static void a_script_is_identified_by_text_and_interpreter(void)
{
	AUTO_FREE char *one = NULL, *two = NULL, *other = NULL, *by_hand = NULL;
	char *direct[] = { NULL, NULL };
	char *given[] = { (char *)"python3", NULL, NULL };

	prepare();
	direct[0] = make_file("a.py", "#!/usr/bin/python3\nprint(1)\n");
	given[1] = direct[0];
	one = fingerprint(direct);
	by_hand = fingerprint(given);
	CHECK(strncmp(one, "text:", 5) == 0 && strlen(one) == 5 + 32);
	/* Started directly or by the same interpreter, it is the same program. */
	CHECK_TEXT(by_hand, one);
	given[0] = (char *)"python3.99";
	other = fingerprint(given);
	CHECK(strcmp(other, one) != 0);
	free(direct[0]);
	direct[0] = make_file("a.py", "#!/usr/bin/python3\nprint(2)\n");
	two = fingerprint(direct);
	CHECK(strcmp(one, two) != 0);
	unlink(direct[0]);
	free(direct[0]);
}

static void a_program_without_build_id_is_identified_by_its_bytes(void)
{
	char *argv[] = { NULL, NULL };
	AUTO_FREE char *one = NULL, *two = NULL;

	prepare();
	argv[0] = make_file("plain", "\x7f"
				     "ELF nothing");
	one = fingerprint(argv);
	CHECK(strncmp(one, "bytes:", 6) == 0);
	CHECK(truncate(argv[0], 3 << 20) == 0);
	two = fingerprint(argv);
	CHECK(strcmp(one, two) != 0);
	unlink(argv[0]);
	free(argv[0]);
}

static void the_ranks_of_a_shell_script_are_unknown(void)
{
	char *argv[] = { NULL, NULL };
	struct identity identity;

	prepare();
	argv[0] = make_file("run.sh", "#!/bin/sh\nmpiexec -n 4 ./app\n");
	identity_init(&identity, argv, NULL);
	CHECK_INT(identity.ranks, 0);
	CHECK_TEXT(identity.program, "run.sh");
	CHECK(!identity.launcher);
	identity_release(&identity);
	unlink(argv[0]);
	free(argv[0]);
}

static void a_missing_program_has_no_fingerprint(void)
{
	char *argv[] = { (char *)"/nonexistent/app", NULL }, *none[] = { NULL };
	struct identity identity;

	prepare();
	identity_init(&identity, argv, NULL);
	CHECK_TEXT(identity.program, "app");
	CHECK_TEXT(identity.fingerprint, "");
	CHECK_TEXT(identity.arguments, "");
	CHECK(!identity.path && !identity.launcher);
	CHECK_INT(identity.ranks, 1);
	identity_release(&identity);
	identity_init(&identity, none, NULL);
	CHECK_TEXT(identity.program, "");
	identity_release(&identity);
}

static void a_launched_rank_has_the_ranks_of_its_job(void)
{
	char *argv[] = { (char *)"/proc/self/exe", NULL };
	struct identity identity;

	prepare();
	setenv("OMPI_COMM_WORLD_RANK", "3", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "16", 1);
	setenv("OMPI_MCA_ess_base_jobid", "12345", 1);
	identity_init(&identity, argv, NULL);
	CHECK_INT(identity.ranks, 16);
	identity_release(&identity);
	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("OMPI_COMM_WORLD_SIZE");
	unsetenv("OMPI_MCA_ess_base_jobid");
}

static void a_platform_is_one_word(void)
{
	char *argv[] = { (char *)"/proc/self/exe", NULL };
	AUTO_FREE char *machine = identity_platform(NULL);
	struct identity identity;
	struct utsname names;

	prepare();
	REQUIRE(uname(&names) == 0);
	CHECK(strncmp(machine, names.machine, strlen(names.machine)) == 0);
	CHECK(!strpbrk(machine, " \t\n/;=|()"));
	identity_init(&identity, argv, "auto");
	CHECK_TEXT(identity.platform, machine);
	identity_release(&identity);
	identity_init(&identity, argv, "hopper");
	CHECK_TEXT(identity.platform, "hopper");
	identity_release(&identity);
	rmdir(directory);
}

TESTS(TEST(a_program_is_identified_by_its_build_id),
      TEST(a_script_is_identified_by_text_and_interpreter),
      TEST(a_program_without_build_id_is_identified_by_its_bytes),
      TEST(the_ranks_of_a_shell_script_are_unknown), TEST(a_missing_program_has_no_fingerprint),
      TEST(a_launched_rank_has_the_ranks_of_its_job), TEST(a_platform_is_one_word))
