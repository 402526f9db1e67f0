/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/runtimes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"

#define LIBRARY "/opt/sluice/lib/libsluice.so"
#define SPOOL "/dev/shm/sluice-7/sluice-7-abc"

static char directory[64];

static char *in_directory(const char *name)
{
	return xprintf("%s/%s", directory, name);
}

/* Lets only these programs be found: one that exists, and a link to it; NULL: none. */
static void install(const char *program, const char *link)
{
	AUTO_FREE char *path = NULL;

	snprintf(directory, sizeof(directory), "/tmp/sluice-unit.XXXXXX");
	REQUIRE(mkdtemp(directory));
	REQUIRE(setenv("PATH", directory, 1) == 0);
	if (program) {
		FILE *f;

		path = in_directory(program);
		f = fopen(path, "w");
		REQUIRE(f && fclose(f) == 0 && chmod(path, 0755) == 0);
	}
	if (link) {
		AUTO_FREE char *name = in_directory(link);

		REQUIRE(symlink(path, name) == 0);
	}
}

static void uninstall(const char *program, const char *link)
{
	AUTO_FREE char *path = in_directory(program ? program : "-");
	AUTO_FREE char *name = in_directory(link ? link : "-");

	unlink(path);
	unlink(name);
	REQUIRE(rmdir(directory) == 0);
}

/* The variables for a command of up to 4 words, one per line. */
static char *variables_of(const char *first, const char *second, const char *library,
			  const char *spool)
{
	char *argv[] = { (char *)first, (char *)second, (char *)"image", (char *)"program", NULL };
	struct buf out = { 0 };

	runtimes_put_variables(&out, argv, library, spool);
	for (size_t i = 0; i < out.len; i++)
		if (!out.data[i])
			out.data[i] = '\n';
	return out.len ? buf_take(&out) : xstrdup("");
}

static void apptainer_gets_mounts_and_variables(void)
{
	AUTO_FREE char *got = NULL;

	install("apptainer", NULL);
	got = variables_of("apptainer", "exec", LIBRARY, SPOOL);
	CHECK_TEXT(got, "APPTAINER_BIND=" SPOOL "," LIBRARY ":" LIBRARY ":ro\n"
			"APPTAINERENV_SLUICE_SPOOL=" SPOOL "\n"
			"APPTAINERENV_LD_PRELOAD=" LIBRARY "\n");
	uninstall("apptainer", NULL);
}

static void a_script_may_start_the_runtime(void)
{
	AUTO_FREE char *got = NULL, *none = NULL;

	install("singularity", NULL);
	got = variables_of("sh", "job.sh", LIBRARY, SPOOL);
	CHECK(strstr(got, "SINGULARITYENV_SLUICE_SPOOL=" SPOOL "\n"));
	uninstall("singularity", NULL);
	install("podman", NULL);
	none = variables_of("sh", "job.sh", LIBRARY, SPOOL);
	CHECK_TEXT(none, "");
	uninstall("podman", NULL);
}

static void a_link_named_singularity_is_apptainer(void)
{
	AUTO_FREE char *got = NULL;

	install("apptainer", "singularity");
	got = variables_of("singularity", "run", LIBRARY, SPOOL);
	CHECK(strstr(got, "APPTAINER_BIND=") && !strstr(got, "SINGULARITY"));
	uninstall("apptainer", "singularity");
}

static void values_of_the_user_are_kept(void)
{
	AUTO_FREE char *got = NULL;

	install("apptainer", NULL);
	setenv("APPTAINER_BIND", "/scratch", 1);
	setenv("APPTAINERENV_LD_PRELOAD", "/their/lib.so", 1);
	got = variables_of("apptainer", "exec", LIBRARY, SPOOL);
	CHECK(strstr(got, ":ro,/scratch\n"));
	CHECK(strstr(got, "APPTAINERENV_LD_PRELOAD=" LIBRARY ":/their/lib.so\n"));
	unsetenv("APPTAINER_BIND");
	unsetenv("APPTAINERENV_LD_PRELOAD");
	uninstall("apptainer", NULL);
}

static void a_linked_program_needs_no_library(void)
{
	AUTO_FREE char *got = NULL;

	install("apptainer", NULL);
	got = variables_of("apptainer", "exec", NULL, SPOOL);
	CHECK_TEXT(got, "APPTAINER_BIND=" SPOOL "\nAPPTAINERENV_SLUICE_SPOOL=" SPOOL "\n");
	uninstall("apptainer", NULL);
}

static void paths_that_a_list_cannot_hold_are_refused(void)
{
	AUTO_FREE char *got = NULL;

	install("apptainer", NULL);
	got = variables_of("apptainer", "exec", LIBRARY, "/tmp/a,b/c");
	CHECK_TEXT(got, "");
	uninstall("apptainer", NULL);
}

static void podman_needs_options(void)
{
	char *argv[] = { (char *)"/usr/bin/podman", (char *)"run", (char *)"image", NULL };
	char *ranks[] = { (char *)"mpiexec", (char *)"podman", (char *)"run", NULL };
	AUTO_FREE char *said = runtimes_advise(argv, LIBRARY, SPOOL);
	AUTO_FREE char *of_ranks = runtimes_advise(ranks, LIBRARY, SPOOL);

	CHECK(said && of_ranks && strcmp(said, of_ranks) == 0);
	CHECK(strstr(said, "--volume " LIBRARY ":" LIBRARY ":ro"));
	CHECK(strstr(said, "--volume /dev/shm/sluice-7:/dev/shm/sluice-7"));
	CHECK(strstr(said, "--env SLUICE_SPOOL "));
	CHECK(!strstr(said, "--user"));
}

static void options_that_are_given_are_not_advised(void)
{
	char *complete[] = { (char *)"podman",
			     (char *)"run",
			     (char *)"--env",
			     (char *)"SLUICE_SPOOL",
			     (char *)"--env=LD_PRELOAD=" LIBRARY,
			     NULL };
	char *list[] = { (char *)"podman", (char *)"ps", NULL };
	char *other[] = { (char *)"cat", (char *)"run", NULL };
	char *apptainer[] = { (char *)"apptainer", (char *)"run", NULL };
	AUTO_FREE char *said = NULL;

	CHECK(!runtimes_advise(complete, LIBRARY, SPOOL));
	CHECK(!runtimes_advise(list, LIBRARY, SPOOL));
	CHECK(!runtimes_advise(other, LIBRARY, SPOOL));
	CHECK(!runtimes_advise(apptainer, LIBRARY, SPOOL));
	complete[2] = (char *)"--rm";
	complete[3] = (char *)"-it";
	said = runtimes_advise(complete, LIBRARY, SPOOL);
	CHECK(said != NULL);
}

static void runtimes_are_known_by_name(void)
{
	CHECK(runtimes_have("/usr/bin/podman") && runtimes_have("docker"));
	CHECK(!runtimes_have("podman.sh") && !runtimes_have(""));
}

TESTS(TEST(apptainer_gets_mounts_and_variables), TEST(a_script_may_start_the_runtime),
      TEST(a_link_named_singularity_is_apptainer), TEST(values_of_the_user_are_kept),
      TEST(a_linked_program_needs_no_library), TEST(paths_that_a_list_cannot_hold_are_refused),
      TEST(podman_needs_options), TEST(options_that_are_given_are_not_advised),
      TEST(runtimes_are_known_by_name))
