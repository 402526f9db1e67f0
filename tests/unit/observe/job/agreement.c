/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/job/agreement.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "check.h"
#include "observe/job/parts.h"

#define JOB UINT64_C(0x1234)
/*
 * Time limit for nodes that never come; other tests use the default limit, however slow the machine
 * is.
 */
#define SHORT_NS UINT64_C(50000000)

static char directory[64], trace[80];

static void begin(void)
{
	strcpy(directory, "/tmp/sluice-agreement-XXXXXX");
	REQUIRE(mkdtemp(directory));
	snprintf(trace, sizeof(trace), "%s/t.sluice", directory);
}

static void end(void)
{
	AUTO_FREE char *parts = xprintf("%s%s", trace, PARTS_SUFFIX);

	process_remove_spool(parts, NULL);
	CHECK_INT(rmdir(directory), 0);
}

static size_t entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

/* The steps of each node. */
static int reach(uint64_t job, const char *host, const char *text, uint32_t ranks,
		 uint64_t patience_ns, struct agreement *agreement)
{
	struct err err = { 0 };
	AUTO_FREE char *warning = NULL, *part = parts_begin(trace, job, host, &warning, &err);
	struct agreement_options options = {
		.part = part, .text = text, .ranks = ranks, .size = 4, .patience_ns = patience_ns
	};

	REQUIRE(part);
	return agreement_reach(agreement, &options, &err);
}

/* A node in its own process; its exit code is the outcome. */
static pid_t node_start(uint64_t job, const char *host, const char *text, uint32_t ranks,
			const char *expected)
{
	pid_t pid = fork();
	struct agreement a = { 0 };

	if (pid)
		return pid;
	if (reach(job, host, text, ranks, 0, &a) < 0)
		_exit(3);
	_exit(a.refusal ? 2 : strcmp(a.text, expected) == 0 ? 0 : 1);
}

static int node_end(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_text_of_the_first_node_is_used_by_all(void)
{
	struct agreement a = { 0 }, b = { 0 };
	pid_t other;

	begin();
	other = node_start(JOB, "two", "second\n", 2, "first\n");
	/* It may be the first, and then we use its text. */
	REQUIRE(reach(JOB, "one", "first\n", 2, 0, &a) == 0);
	CHECK(!a.refusal);
	CHECK_TEXT(a.text, a.is_ours ? "first\n" : "second\n");
	CHECK_INT(node_end(other), a.is_ours ? 0 : 1);
	/* A late node finds the same text. */
	REQUIRE(reach(JOB, "three", "third\n", 1, 0, &b) == 0);
	CHECK_TEXT(b.text, a.text);
	CHECK(!b.is_ours && !b.refusal);
	free(a.text);
	free(b.text);
	end();
}

static void many_nodes_agree_on_one_text(void)
{
	pid_t nodes[4];
	int same = 0;

	begin();
	for (int i = 0; i < 4; i++) {
		AUTO_FREE char *host = xprintf("n%d", i);

		nodes[i] = node_start(JOB + 1, host, i % 2 ? "odd\n" : "even\n", 1, "odd\n");
	}
	for (int i = 0; i < 4; i++) {
		int code = node_end(nodes[i]);

		REQUIRE(code == 0 || code == 1);
		same += code;
	}
	CHECK(same == 0 || same == 4);
	end();
}

static void no_node_applies_parameters_that_some_ranks_lack(void)
{
	struct agreement a = { 0 }, late = { 0 };

	begin();
	REQUIRE(reach(JOB + 2, "one", "text\n", 2, SHORT_NS, &a) == 0);
	CHECK(a.refusal && strstr(a.refusal, "not all ranks"));
	/* Too late: the decision was made without them. */
	REQUIRE(reach(JOB + 2, "two", "text\n", 2, 0, &late) == 0);
	CHECK(late.refusal != NULL);
	free(a.text);
	free(late.text);
	end();
}

static void a_node_that_cannot_count_its_ranks_refuses(void)
{
	struct agreement a = { 0 };

	begin();
	REQUIRE(reach(JOB + 3, "one", "text\n", 0, 0, &a) == 0);
	CHECK(a.refusal && strstr(a.refusal, "launcher"));
	free(a.text);
	end();
}

static void a_node_without_parameters_does_not_wait(void)
{
	struct agreement a = { 0 }, b = { 0 };
	AUTO_FREE char *parts = NULL;

	begin();
	parts = xprintf("%s%s", trace, PARTS_SUFFIX);
	REQUIRE(reach(JOB + 4, "one", "", 1, 0, &a) == 0);
	CHECK_TEXT(a.text, "");
	CHECK(a.is_ours && !a.refusal);
	CHECK_INT(entries(parts), 0);
	/* A node that has parameters must not apply them either. */
	REQUIRE(reach(JOB + 4, "two", "text\n", 3, SHORT_NS, &b) == 0);
	CHECK(b.is_ours && b.refusal);
	free(a.text);
	free(b.text);
	end();
}

static void a_node_without_parameters_uses_existing_ones(void)
{
	struct agreement a = { 0 }, late = { 0 };
	pid_t other;

	begin();
	other = node_start(JOB + 5, "one", "text\n", 3, "text\n");
	/* While there is no text, nothing is used and nothing is left behind. */
	do {
		free(a.text);
		REQUIRE(reach(JOB + 5, "two", "", 1, 0, &a) == 0);
	} while (a.is_ours);
	CHECK_TEXT(a.text, "text\n");
	CHECK(!a.refusal);
	CHECK_INT(node_end(other), 0);
	REQUIRE(reach(JOB + 5, "three", "", 1, 0, &late) == 0);
	CHECK_TEXT(late.text, "text\n");
	free(a.text);
	free(late.text);
	end();
}

static void an_unusable_directory_is_an_error(void)
{
	struct err err = { 0 };
	struct agreement a = { 0 };
	AUTO_FREE char *part = NULL;

	begin();
	part = xprintf("%s/none/0000000000001234-x-1.sluice", directory);
	CHECK(agreement_reach(&a,
			      &(struct agreement_options){ .part = part,
							   .text = "text\n",
							   .ranks = 4,
							   .size = 4,
							   .patience_ns = SHORT_NS },
			      &err) < 0);
	CHECK(strstr(err.text, "No such file"));
	CHECK(!a.text);
	CHECK_INT(rmdir(directory), 0);
}

static void a_job_removes_only_its_own_files(void)
{
	struct err err = { 0 };
	struct agreement a = { 0 };
	AUTO_FREE char *parts = NULL;
	AUTO_FREE char *part = NULL, *warning = NULL;

	begin();
	parts = xprintf("%s%s", trace, PARTS_SUFFIX);
	part = parts_begin(trace, JOB, "one", &warning, &err);
	REQUIRE(reach(JOB, "one", "text\n", 4, 0, &a) == 0);
	free(a.text);
	REQUIRE(reach(JOB + 1, "one", "text\n", 4, 0, &a) == 0);
	free(a.text);
	CHECK_INT(entries(parts), 6);
	agreement_remove(part);
	CHECK_INT(entries(parts), 3);
	end();
}

static bool accepts_nothing(void *arg, const char *text, struct err *err)
{
	(void)text;
	err_set(err, 1, "%s", (char *)arg);
	return false;
}

static void a_text_that_one_node_refuses_is_applied_by_none(void)
{
	struct err err = { 0 };
	struct agreement a = { 0 };
	AUTO_FREE char *warning = NULL, *part = NULL;
	pid_t other;

	begin();
	part = parts_begin(trace, JOB, "one", &warning, &err);
	other = node_start(JOB, "two", "text\n", 2, "text\n");
	while (reach(JOB, "one", "", 0, 0, &a) == 0 && a.is_ours) {
		free(a.text);
		a.text = NULL;
	}
	CHECK_INT(agreement_reach(&a,
				  &(struct agreement_options){ .part = part,
							       .text = "",
							       .ranks = 2,
							       .size = 4,
							       .accepts = accepts_nothing,
							       .arg = (void *)"bad hint" },
				  &err),
		  -EPERM);
	CHECK(strstr(err.text, "bad hint"));
	CHECK_INT(node_end(other), 2);
	free(a.text);
	end();
}

/* One that others can write to is as bad as one that belongs to another user. */
static void an_occupied_directory_is_not_used(void)
{
	AUTO_FREE char *warning = NULL, *part = NULL, *planted = NULL, *used = NULL;
	struct err err = { 0 };

	begin();
	planted = xprintf("%s%s", trace, PARTS_SUFFIX);
	REQUIRE(mkdir(planted, 0700) == 0 && chmod(planted, 0777) == 0);
	part = parts_begin(trace, JOB, "one", &warning, &err);
	REQUIRE(part && warning);
	CHECK(strstr(warning, planted));
	used = xstrndup(part, (size_t)(strrchr(part, '/') - part));
	CHECK(strcmp(used, planted) != 0);
	CHECK(strstr(warning, used));
	CHECK_INT(rmdir(used), 0);
	CHECK_INT(rmdir(planted), 0);
	end();
}

TESTS(TEST(the_text_of_the_first_node_is_used_by_all), TEST(many_nodes_agree_on_one_text),
      TEST(no_node_applies_parameters_that_some_ranks_lack),
      TEST(a_node_that_cannot_count_its_ranks_refuses),
      TEST(a_node_without_parameters_does_not_wait),
      TEST(a_node_without_parameters_uses_existing_ones), TEST(an_unusable_directory_is_an_error),
      TEST(a_job_removes_only_its_own_files), TEST(a_text_that_one_node_refuses_is_applied_by_none),
      TEST(an_occupied_directory_is_not_used))
