/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "trace/format.h"

static void tasks_of_srun_start_sluice(void)
{
	char *argv[] = { "srun", "-n", "2", "app", NULL };
	struct tasks tasks;
	const char *last = "";

	tasks_init(&tasks, argv);
	CHECK_INT(tasks.at, 3);
	CHECK(!tasks.warning);
	REQUIRE(tasks.prefix.len);
	CHECK_TEXT(buf_text(&tasks.prefix), "/bin/sh");
	for (size_t i = 0; i + 1 < tasks.prefix.len; i++)
		if (!buf_text(&tasks.prefix)[i])
			last = buf_text(&tasks.prefix) + i + 1;
	CHECK(last[0] == '/' && strstr(last, "/sluice"));
	tasks_release(&tasks);
	CHECK(!tasks.at && !tasks.warning);
}

static void tasks_that_cannot_be_recorded_cause_a_warning(void)
{
	char *unclear[] = { "srun", "--multi-prog", "tasks.conf", NULL };
	char *batch[] = { "sbatch", "job.sh", NULL };
	char *plain[] = { "./app", NULL };
	struct tasks tasks;

	tasks_init(&tasks, unclear);
	CHECK(!tasks.at && tasks.warning && strstr(tasks.warning, "sluice run"));
	tasks_release(&tasks);
	tasks_init(&tasks, batch);
	CHECK(!tasks.at && tasks.warning && strstr(tasks.warning, "sbatch"));
	tasks_release(&tasks);
	tasks_init(&tasks, plain);
	CHECK(!tasks.at && !tasks.warning);
}

static void tasks_of_a_script_are_missed(void)
{
	struct process_info processes[] = { { .pid = 10, .ppid = 9, .program = "/bin/sh" },
					    { .pid = 11, .ppid = 10, .program = "/bin/srun" },
					    { .pid = 12, .ppid = 5, .program = "/bin/app" } };
	struct trace_head head = { .processes = processes, .process_count = 2 };
	char *script[] = { "./job.sh", NULL }, *direct[] = { "srun", "app", NULL };
	AUTO_FREE char *warning = tasks_find_missing(script, &head);

	CHECK(warning && strstr(warning, "srun"));
	CHECK(!tasks_find_missing(direct, &head));
	head.process_count = 3;
	CHECK(!tasks_find_missing(script, &head));
	/* `srun --version` starts no tasks. */
	head.process_count = 1;
	processes[0].program = "/bin/srun";
	CHECK(!tasks_find_missing(script, &head));
}

TESTS(TEST(tasks_of_srun_start_sluice), TEST(tasks_that_cannot_be_recorded_cause_a_warning),
      TEST(tasks_of_a_script_are_missed))
