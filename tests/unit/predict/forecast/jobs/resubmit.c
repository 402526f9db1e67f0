/* SPDX-License-Identifier: BSD-3-Clause
 *
 * There is always one job in the queue: the steps of resubmission with a queue in a directory, and
 * the commands of the batch systems. In the directory, the file `there` has the id of the job, and
 * `next` what the submit command prints.
 * Papers: WAN-AC-15.
 */
#include "predict/forecast/jobs/resubmit.h"

#include <errno.h>
#include <pwd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static char folder[64];

static void put(const char *name, const char *text)
{
	AUTO_FREE char *path = xprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "we");

	REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void toy_submit(const struct batch_job *job, struct buf *command)
{
	(void)job;
	buf_printf(command, "cd %s && cat why >&2 && sh ./next", folder);
}

static void toy_query(const struct batch_job *job, struct buf *command)
{
	(void)job;
	buf_printf(command, "cat %s/there", folder);
}

static int toy_find(const struct batch_job *job, const struct buf *printed, char id[BATCH_ID],
		    struct err *err)
{
	(void)job;
	(void)err;
	snprintf(id, BATCH_ID, "%.63s", buf_text(printed));
	return 0;
}

static const struct batch_system toy = {
	.name = "toy",
	.program = "toy",
	.submit = toy_submit,
	.query = toy_query,
	.find = toy_find,
	.cancel = "true",
};

static struct resubmit start(void)
{
	snprintf(folder, sizeof(folder), "/tmp/sluice-queue.XXXXXX");
	REQUIRE(mkdtemp(folder));
	put("there", "");
	put("why", "");
	put("next", "echo news; echo 5.sdb; printf 5.sdb >there\n");
	return (struct resubmit){ .system = &toy,
				  .job = { .name = "x", .script = "x.sh" },
				  .times = UINT64_MAX,
				  .failures = 2,
				  .shortest_s = 10 };
}

static void end(void)
{
	static const char *const files[] = { "there", "why", "next" };

	for (int i = 0; i < 3; i++) {
		AUTO_FREE char *path = xprintf("%s/%s", folder, files[i]);

		unlink(path);
	}
	rmdir(folder);
}

static void ended_job_is_submitted_again(void)
{
	struct resubmit r = start();
	struct err err = { 0 };

	r.times = 2;
	CHECK_INT(resubmit_step(&r, 100, &err), RESUBMIT_SUBMITTED);
	CHECK_TEXT(r.id, "5.sdb");
	CHECK_INT(resubmit_step(&r, 101, &err), RESUBMIT_WAIT);
	put("there", "");
	CHECK_INT(resubmit_step(&r, 200, &err), RESUBMIT_ENDED);
	CHECK_INT(resubmit_step(&r, 200, &err), RESUBMIT_SUBMITTED);
	put("there", "");
	CHECK_INT(resubmit_step(&r, 300, &err), RESUBMIT_ENDED);
	CHECK_INT(resubmit_step(&r, 300, &err), RESUBMIT_DONE);
	CHECK_INT(r.submitted, 2);
	end();
}

static void queued_job_is_not_submitted_twice(void)
{
	struct resubmit r = start();
	struct err err = { 0 };

	put("there", "4.sdb");
	CHECK_INT(resubmit_step(&r, 100, &err), RESUBMIT_FOUND);
	CHECK_INT(resubmit_step(&r, 101, &err), RESUBMIT_WAIT);
	/* The same id without the name of the server. */
	put("there", "4");
	CHECK_INT(resubmit_step(&r, 101, &err), RESUBMIT_WAIT);
	put("there", "");
	/* The run time of a found job is unknown. */
	CHECK_INT(resubmit_step(&r, 102, &err), RESUBMIT_ENDED);
	CHECK_INT(r.submitted, 0);
	end();
}

static void consecutive_failures_are_counted(void)
{
	struct resubmit r = start();
	struct err err = { 0 };

	CHECK_INT(resubmit_step(&r, 100, &err), RESUBMIT_SUBMITTED);
	put("there", "");
	CHECK_INT(resubmit_step(&r, 105, &err), RESUBMIT_SHORT);
	CHECK_INT(resubmit_step(&r, 105, &err), RESUBMIT_SUBMITTED);
	put("there", "");
	CHECK_INT(resubmit_step(&r, 195, &err), RESUBMIT_ENDED);
	CHECK_INT(r.failed, 0);
	put("why", "the account is empty\n");
	put("next", "exit 1\n");
	CHECK_INT(resubmit_step(&r, 196, &err), RESUBMIT_REFUSED);
	CHECK(strstr(err.text, "the account is empty"));
	CHECK_INT(resubmit_step(&r, 197, &err), RESUBMIT_GIVEN_UP);
	end();
}

static void nothing_is_submitted_while_the_query_fails(void)
{
	struct resubmit r = start();
	struct err err = { 0 };
	AUTO_FREE char *path = xprintf("%s/there", folder);

	unlink(path);
	CHECK_INT(resubmit_step(&r, 100, &err), RESUBMIT_UNKNOWN);
	CHECK_INT(r.submitted, 0);
	put("there", "");
	CHECK_INT(resubmit_step(&r, 101, &err), RESUBMIT_SUBMITTED);
	end();
}

static void output_without_an_id_is_a_failure(void)
{
	struct resubmit r = start();
	struct err err = { 0 };

	put("next", "echo no room\n");
	CHECK_INT(resubmit_step(&r, 100, &err), RESUBMIT_REFUSED);
	CHECK(strstr(err.text, "no job id"));
	end();
}

static void commands_match_the_batch_system(void)
{
	char *options[] = { (char *)"-A", (char *)"my project", NULL };
	struct batch_job job = { .name = "mine", .script = "run it.sh", .options = options };
	const struct batch_system *slurm = batch_system_find("slurm-json", NULL);
	const struct batch_system *pbs = batch_system_find("pbs", NULL);
	AUTO_BUF struct buf text = { 0 };

	CHECK_TEXT(slurm->name, "slurm");
	CHECK(slurm == batch_system_find("scontrol", NULL));
	slurm->submit(&job, &text);
	CHECK_TEXT(buf_text(&text),
		   "sbatch --parsable --job-name=mine -A 'my project' 'run it.sh'");
	buf_clear(&text);
	pbs->submit(&job, &text);
	CHECK_TEXT(buf_text(&text), "qsub -N mine -A 'my project' 'run it.sh'");
}

static void jobs_of_others_and_ended_jobs_are_ignored(void)
{
	const struct batch_system *pbs = batch_system_find("pbs", NULL);
	const struct passwd *me = getpwuid(geteuid());
	struct batch_job job = { .name = "mine" };
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };
	char id[BATCH_ID] = "x";

	REQUIRE(me);
	buf_printf(&text, "Job Id: 1.s\n    Job_Name = mine\n    Job_Owner = %sx@h\n\n",
		   me->pw_name);
	buf_printf(&text, "Job Id: 2.s\n    Job_Name = mines\n    Job_Owner = %s@h\n\n",
		   me->pw_name);
	buf_printf(&text,
		   "Job Id: 3.s\n    Job_Name = mine\n    Job_Owner = %s@h\n    job_state = C\n\n",
		   me->pw_name);
	CHECK_INT(pbs->find(&job, &text, id, &err), 0);
	CHECK_TEXT(id, "");
	buf_printf(&text,
		   "Job Id: 4.s\n    Job_Name = mine\n    Job_Owner = %s@h\n    job_state = Q\n\n",
		   me->pw_name);
	CHECK_INT(pbs->find(&job, &text, id, &err), 0);
	CHECK_TEXT(id, "4.s");
}

/* PBS allows 15 characters. */
static void job_name_is_unique_per_script(void)
{
	char first[BATCH_NAME], second[BATCH_NAME], again[BATCH_NAME];

	batch_job_name(first, "/nowhere/a.sh");
	batch_job_name(second, "/nowhere/b.sh");
	batch_job_name(again, "/nowhere/a.sh");
	CHECK_INT(strlen(first), 12);
	CHECK(strcmp(first, second) != 0);
	CHECK_TEXT(again, first);
}

TESTS(TEST(ended_job_is_submitted_again), TEST(queued_job_is_not_submitted_twice),
      TEST(consecutive_failures_are_counted), TEST(nothing_is_submitted_while_the_query_fails),
      TEST(output_without_an_id_is_a_failure), TEST(commands_match_the_batch_system),
      TEST(jobs_of_others_and_ended_jobs_are_ignored), TEST(job_name_is_unique_per_script))
