/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The script of a job, run by a shell instead of Slurm. tests/run/tune_slurm.sh submits jobs.
 */
#include "tune/trial/batch_job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void a_launcher_is_slurm_with_options(void)
{
	CHECK(!batch_job_find_fault("slurm"));
	CHECK(!batch_job_find_fault("slurm -N 2 --time=10"));
	CHECK(batch_job_find_fault("slurmd"));
	CHECK(batch_job_find_fault("pbs"));
	CHECK(batch_job_find_fault(""));
}

/* Runs the job's script, and returns what it reports. */
static struct child_end run_job(const char *command)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, (char *)"a 'word'", NULL };
	const struct batch_job_command job_command = {
		.argv = argv, .setting = "NAME=it's set", .output = "out", .errors = "err"
	};
	struct child_end end = { .status = 1 << 8, .seconds = -1 };
	struct batch_job job;
	struct err err = { 0 };
	AUTO_FREE char *shell = NULL;

	batch_job_init(&job, "slurm -n 2", check_directory());
	CHECK_INT(batch_job_prepare(&job, &job_command, &err), 0);
	CHECK(strstr(job.argv[2], " -n 2 "));
	shell = xprintf("sh '%s'", job.script);
	batch_job_read_end(&job, &end);
	CHECK(end.seconds < 0 && WEXITSTATUS(end.status) == 1);
	CHECK(system(shell) >= 0);
	batch_job_read_end(&job, &end);
	/* The report of an earlier job does not count. */
	CHECK_INT(batch_job_prepare(&job, &job_command, &err), 0);
	CHECK(access(job.begun, F_OK) != 0 && access(job.ended, F_OK) != 0);
	batch_job_release(&job);
	return end;
}

static void a_job_reports_its_exit_code_and_time(void)
{
	struct child_end end = run_job("sleep 0.1; exit 3");

	CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 3);
	CHECK(end.seconds >= 0.1);
}

static void a_job_gets_its_words_and_its_setting(void)
{
	struct child_end end = run_job("[ \"$0\" = \"a 'word'\" ] && [ \"$NAME\" = \"it's set\" ]");

	CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
}

static void a_signal_is_reported_as_shells_do(void)
{
	struct child_end end = run_job("kill -KILL $$");

	CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 128 + 9);
}

TESTS(TEST(a_launcher_is_slurm_with_options), TEST(a_job_reports_its_exit_code_and_time),
      TEST(a_job_gets_its_words_and_its_setting), TEST(a_signal_is_reported_as_shells_do))
