/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the output of schedulers, recorded (Slurm 22.05) or written after the documentation (PBS).
 * The samples are also the corpus of the fuzzer, tests/fuzz/corpus/jobs.
 * Papers: WAN-8.
 */
#include "predict/forecast/jobs/jobs.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "predict/forecast/jobs/ask.h"
#include "predict/forecast/jobs/text.h"

#define RECORDED_S 1794783416.0 /* time of the recording with Slurm */

static const uint8_t key[OWNER_KEY_BYTES] = { 3, 1, 4 };

static void sample(struct buf *out, const char *name)
{
	const char *slash = strrchr(__FILE__, '/');
	AUTO_FREE char *path = xprintf("%.*s/../../../../fuzz/corpus/jobs/%s",
				       (int)(slash - __FILE__), __FILE__, name);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char piece[4096];
	size_t n;

	REQUIRE(f);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_add(out, piece, n);
}

static int read_sample(struct jobs *jobs, const char *reader, const char *name, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	const struct jobs_reader *found = jobs_reader_find(reader, err);

	REQUIRE(found);
	sample(&text, name);
	return found->read(jobs, name, buf_text(&text), text.len, key, err);
}

static int read_text(struct jobs *jobs, const char *reader, const char *text, struct err *err)
{
	*err = (struct err){ 0 };
	return jobs_reader_find(reader, err)->read(jobs, "here", text, strlen(text), key, err);
}

static const struct job *by_id(const struct jobs *jobs, const char *id)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (strcmp(jobs->rows[i].id, id) == 0)
			return &jobs->rows[i];
	printf("there is no job %s\n", id);
	exit(1);
}

static void check_owner(const struct job *job, const char *owner)
{
	char hidden[OWNER_TEXT];

	owner_hide(hidden, owner, key);
	CHECK_TEXT(job->owner, hidden);
}

/* Equal numbers, or both NAN. */
static void check_number(double actual, double expected)
{
	CHECK(actual == expected || (isnan(actual) && isnan(expected)));
	if (actual != expected && !isnan(expected))
		printf("  it is %.17g, expected %.17g\n", actual, expected);
}

/* All formats of the same snapshot give the same jobs. */
static void formats_of_slurm_agree(void)
{
	static const struct {
		const char *reader, *sample;
		bool has_memory;
	} forms[] = { { "slurm-text", "squeue-text", true },
		      { "slurm-json", "squeue-json", true },
		      { "scontrol", "scontrol-line", true },
		      { "scontrol", "scontrol-lines", true },
		      { "pbs", "qstat-slurm", false } };

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct jobs jobs = { .time_s = RECORDED_S };
		struct err err = { 0 };
		const struct job *job;

		CHECK_INT(read_sample(&jobs, forms[i].reader, forms[i].sample, &err), 0);
		CHECK_TEXT(err.text, "");
		CHECK_INT(jobs.count, strcmp(forms[i].sample, "squeue-json") == 0 ? 3 : 5);
		job = by_id(&jobs, "2");
		CHECK_TEXT(job->queue, "batch");
		CHECK(strncmp(job->name, "two | words=3 ", 14) == 0);
		CHECK_TEXT(strchr(job->name, '@'), "@y.edu");
		CHECK(!strstr(job->name, " x@"));
		check_owner(job, "ann");
		check_number(job->nodes, 2);
		check_number(job->memory_bytes, forms[i].has_memory ? 200 << 20 : NAN);
		check_number(job->virtual_bytes, NAN);
		check_number(job->allocated_s, 420);
		/* squeue ran first, the other commands up to a second later. */
		CHECK(job->used_s >= 3 && job->used_s <= 5);
		job = by_id(&jobs, "3");
		/* qstat prints only the first line of a name. */
		CHECK_TEXT(job->name, forms[i].has_memory ? "a b" : "a");
		CHECK_TEXT(job->queue, "debug");
		check_number(job->nodes, 3);
		jobs_release(&jobs);
	}
}

static void newer_json_has_numbers_as_objects(void)
{
	struct jobs jobs = { 0 };
	struct err err = { 0 };
	const struct job *job;

	CHECK_INT(read_sample(&jobs, "slurm-json", "squeue-json-new", &err), 0);
	CHECK_INT(jobs.count, 3);
	job = by_id(&jobs, "7001");
	check_number(job->nodes, 4);
	check_number(job->allocated_s, NAN);
	check_number(job->used_s, 3600);
	check_number(job->memory_bytes, 512.0 * (1 << 30));
	job = by_id(&jobs, "7002");
	check_number(job->used_s, 660);
	check_number(job->allocated_s, 1800);
	check_number(job->memory_bytes, 2000.0 * (1 << 20));
	job = by_id(&jobs, "7004");
	CHECK_TEXT(job->queue, "");
	CHECK_TEXT(job->owner, "");
	check_number(job->nodes, NAN);
	check_number(job->memory_bytes, NAN);
	/* The caller sets the time of the snapshot. */
	CHECK(jobs.time_s == 0);
	jobs_release(&jobs);
}

/* The sample of the paper (WAN-10). */
static void check_paper(const struct job *job)
{
	check_number(job->memory_bytes, 8412 * 1024);
	check_number(job->virtual_bytes, 168948 * 1024);
	check_number(job->used_s, 3 * 3600 + 55 * 60 + 35);
	check_number(job->allocated_s, 6 * 3600);
	CHECK_TEXT(job->queue, "batch");
	check_owner(job, "ann");
}

static void sample_of_the_paper_is_read(void)
{
	static const char text[] = "Job Id: 3901500\n"
				   "Job_Name = run\nJob_Owner = user1\n"
				   "resources_used.mem = 8412kb\nresources_used.vmem = 168948kb\n"
				   "resources_used.walltime = 03:55:35\n";
	struct jobs jobs = { 0 };
	struct err err;
	const struct job *job;

	CHECK_INT(read_text(&jobs, "pbs", text, &err), 0);
	REQUIRE(jobs.count == 1);
	job = by_id(&jobs, "3901500");
	CHECK_TEXT(job->name, "run");
	check_number(job->memory_bytes, 8412 * 1024);
	check_number(job->virtual_bytes, 168948 * 1024);
	check_number(job->used_s, 14135);
	jobs_release(&jobs);
}

static void broken_lines_of_pbs_are_joined(void)
{
	struct jobs jobs = { .time_s = 1520708288 };
	struct err err = { 0 };
	const struct job *job;

	setenv("TZ", "UTC", 1);
	tzset();
	CHECK_INT(read_sample(&jobs, "pbs", "qstat-openpbs", &err), 0);
	CHECK_INT(jobs.count, 3);
	job = by_id(&jobs, "3901500.sdb");
	check_paper(job);
	check_number(job->nodes, 2);
	job = by_id(&jobs, "3901501[7].sdb");
	CHECK_TEXT(job->name, "a_name_that_is_so_long_that_its_line_has_to_be_broken_somewhere_"
			      "in_the_midst_of_it");
	check_number(job->nodes, 5);
	check_number(job->used_s, 600);
	check_number(job->memory_bytes, 400.0 * (1 << 30));
	job = by_id(&jobs, "3901503.sdb");
	CHECK_TEXT(job->name, "");
	check_number(job->used_s, NAN);
	jobs_release(&jobs);
}

static void torque_and_json_of_pbs_are_read(void)
{
	struct jobs jobs = { 0 };
	struct err err = { 0 };
	char whom[OWNER_TEXT];

	CHECK_INT(read_sample(&jobs, "pbs", "qstat-torque", &err), 0);
	CHECK_INT(read_sample(&jobs, "pbs-json", "qstat-json", &err), 0);
	REQUIRE(jobs.count == 2);
	check_paper(&jobs.rows[0]);
	check_number(jobs.rows[0].nodes, 126);
	owner_hide(whom, "for_bob", key);
	CHECK(strncmp(jobs.rows[0].name, whom, OWNER_TEXT - 1) == 0);
	CHECK_TEXT(jobs.rows[0].name + OWNER_TEXT - 1, "@ornl.gov");
	check_paper(&jobs.rows[1]);
	check_number(jobs.rows[1].nodes, 2);
	CHECK_TEXT(jobs.rows[1].name, "relax");
	jobs_release(&jobs);
}

/* Users can give jobs any name. */
static void name_cannot_forge_a_job(void)
{
	static const char qstat[] =
		"Job Id:\t1\n\tJob_Name = a\nJob Id:\t2\n\tqueue = forged\n"
		"\tJob_Owner = ann@login1\n\tjob_state = R\n\tqueue = batch\n\n";
	static const char control[] =
		"JobId=1 JobName=x UserId=bob Partition=forged JobState=PENDING UserId=ann(1) "
		"GroupId=ann(1) JobState=RUNNING Partition=batch\n";
	struct jobs jobs = { 0 };
	struct err err;
	AUTO_BUF struct buf text = { 0 };

	CHECK_INT(read_text(&jobs, "pbs", qstat, &err), 0);
	CHECK_INT(read_text(&jobs, "scontrol", control, &err), 0);
	for (int i = 0; i < 2; i++)
		buf_printf(&text, "%-20d|%-12s|%-64s|%-64s|%-12d|%-20s|%-20s|%-128s|%-64s\n", i + 1,
			   "RUNNING", "batch", "ann", 1, "1:00", "UNLIMITED", "cpu=1,mem=1G",
			   i ? "" : "9                   |RUNNING     |forged\n\n");
	CHECK_INT(read_text(&jobs, "slurm-text", buf_text(&text), &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_INT(jobs.count, 4);
	for (size_t i = 0; i < jobs.count; i++) {
		CHECK_TEXT(jobs.rows[i].queue, "batch");
		check_owner(&jobs.rows[i], "ann");
	}
	check_number(jobs.rows[3].allocated_s, NAN);
	jobs_release(&jobs);
}

static void an_empty_list_is_not_an_error(void)
{
	static const char *const none[][2] = { { "slurm-text", "" },
					       { "slurm-json", "{\"jobs\": []}" },
					       { "scontrol", "No jobs in the system\n" },
					       { "scontrol", "" },
					       { "pbs", "\n" },
					       { "pbs-json", "{\"timestamp\": 1}" } };
	struct jobs jobs = { 0 };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct err err;

		CHECK_INT(read_text(&jobs, none[i][0], none[i][1], &err), 0);
	}
	CHECK_INT(jobs.count, 0);
	jobs_release(&jobs);
}

static void errors_name_file_and_line(void)
{
	static const char *const wrong[][3] = {
		{ "slurm-text", "\nsqueue: error: x\n", "here:2:|columns" },
		{ "slurm-json", "{\"jobs\":\n[}", "here:2: " },
		{ "slurm-json", "[]", "array|\"jobs\"" },
		{ "scontrol", "\n\nslurm_load_jobs error", "here:3: " },
		{ "pbs", "\nqstat: cannot connect\n", "here:2: " },
		{ "pbs-json", "", "here:1: " },
		{ "pbs-json", "{\"Jobs\": 3}", "\"Jobs\"|object" },
	};
	struct jobs jobs = { 0 };

	jobs_add(&jobs);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err;

		CHECK_INT(read_text(&jobs, wrong[i][0], wrong[i][1], &err), -EINVAL);
		CHECK_WORDS(err.text, wrong[i][2]);
		CHECK_INT(jobs.count, 1);
	}
	jobs_release(&jobs);
}

static void numbers_are_read_as_schedulers_write_them(void)
{
	check_number(jobs_parse_seconds(jobs_span("03:55:35")), 14135);
	check_number(jobs_parse_seconds(jobs_span("1-02:03:04")), 93784);
	check_number(jobs_parse_seconds(jobs_span("2-01")), 2 * 86400 + 3600);
	check_number(jobs_parse_seconds(jobs_span("0-00:00:09")), 9);
	check_number(jobs_parse_seconds(jobs_span("5:07")), 307);
	check_number(jobs_parse_seconds(jobs_span(" 90 ")), 90);
	check_number(jobs_parse_seconds(jobs_span("120:00:00")), 432000);
	check_number(jobs_parse_seconds(jobs_span("UNLIMITED")), NAN);
	check_number(jobs_parse_seconds(jobs_span("1:2:3:4")), NAN);
	check_number(jobs_parse_seconds(jobs_span("1:-2")), NAN);
	check_number(jobs_parse_seconds(jobs_span("")), NAN);
	check_number(jobs_parse_seconds(jobs_span("inf")), NAN);
	check_number(jobs_parse_bytes(jobs_span("8412kb"), 1), 8412 * 1024);
	check_number(jobs_parse_bytes(jobs_span("2GB"), 1), 2147483648.0);
	check_number(jobs_parse_bytes(jobs_span("1.5G"), 1), 1610612736);
	check_number(jobs_parse_bytes(jobs_span("2GiB"), 1), 2147483648.0);
	check_number(jobs_parse_bytes(jobs_span("4kw"), 1), 32768);
	check_number(jobs_parse_bytes(jobs_span("100b"), 1), 100);
	check_number(jobs_parse_bytes(jobs_span("100"), 1024), 102400);
	check_number(jobs_parse_bytes(jobs_span("0x10"), 1), NAN);
	check_number(jobs_parse_bytes(jobs_span("1.2.3"), 1), NAN);
	check_number(jobs_parse_bytes(jobs_span("12x"), 1), NAN);
	check_number(jobs_parse_tres_memory(jobs_span("cpu=2,mem=500M,node=1")), 500 << 20);
	check_number(jobs_parse_tres_memory(jobs_span("cpu=2,gres/mem=5")), NAN);
	check_number(jobs_parse_clock(jobs_span("Sat Mar 10 18:58:08 2018")), 1520708288);
	check_number(jobs_parse_clock(jobs_span("Sat Xyz 10 18:58:08 2018")), NAN);
}

#define PATIENCE_S 600 /* only catches what hangs */

static void command_output_is_read(void)
{
	const struct jobs_reader *pbs = jobs_reader_find("pbs", NULL);
	struct jobs jobs = { 0 };
	struct err err = { 0 };
	double now = (double)time(NULL);

	CHECK_INT(jobs_query(&jobs, pbs, "printf 'Job Id: 7\\n    job_state = R\\n'; echo x >&2",
			     PATIENCE_S, key, &err),
		  0);
	CHECK_INT(jobs.count, 1);
	CHECK(jobs.time_s >= now && jobs.time_s < now + PATIENCE_S);
	CHECK_INT(jobs_query(&jobs, pbs, "echo no server >&2; exit 3", PATIENCE_S, key, &err),
		  -EIO);
	CHECK_WORDS(err.text, "exit code 3|no server");
	CHECK_INT(jobs_query(&jobs, pbs, "printf '\\n  a: 1\\nb: 2\\n' >&2; false", PATIENCE_S, key,
			     &err),
		  -EIO);
	CHECK_WORDS(err.text, "'printf'|exit code 1|a: 1");
	CHECK_INT(jobs_query(&jobs, pbs, "sluice-nowhere -f", PATIENCE_S, key, &err), -ENOENT);
	CHECK_INT(jobs_query(&jobs, pbs, "echo rubbish", PATIENCE_S, key, &err), -EINVAL);
	CHECK(strstr(err.text, "pbs:1: "));
	CHECK_INT(jobs.count, 1);
	jobs_release(&jobs);
}

/* The process that the command has started; 0: it did not get so far. */
static int read_child(const char *path)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	int child = 0;

	return f && fscanf(f, "%d\n", &child) == 1 ? child : 0;
}

static void slow_command_is_killed_with_its_children(void)
{
	char path[] = "/tmp/sluice-ask.XXXXXX";
	AUTO_FREE char *command = NULL;
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };
	int child = 0, tries = 0;

	REQUIRE(close(mkstemp(path)) == 0);
	command = xprintf("sh -c 'echo $$ >%s; exec sleep 10000' & wait", path);
	/* A loaded machine may need longer to start the child. */
	for (double limit_s = 0.3; !child && limit_s < PATIENCE_S; limit_s *= 4) {
		CHECK_INT(jobs_run_command(&text, command, limit_s, 100, &err), -ETIMEDOUT);
		CHECK(limit_s > 0.3 || strstr(err.text, "0.3 s"));
		child = read_child(path);
	}
	REQUIRE(child);
	/* The orphan may be a zombie, which also counts as dead. */
	for (; tries < PATIENCE_S * 1000 && kill(child, 0) == 0; tries++) {
		AUTO_FREE char *stat = xprintf("/proc/%d/stat", child);
		AUTO_FCLOSE FILE *state = fopen(stat, "re");
		char c = 'Z';

		if (!state || fscanf(state, "%*d %*s %c", &c) != 1 || c == 'Z')
			break;
		usleep(1000);
	}
	CHECK(tries < PATIENCE_S * 1000);
	unlink(path);
}

static void endless_output_is_stopped(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };

	CHECK_INT(jobs_run_command(&text, "yes", PATIENCE_S, 1 << 20, &err), -EFBIG);
	CHECK_WORDS(err.text, "1048576 bytes");
}

static void unknown_reader_lists_the_known_ones(void)
{
	struct err err = { 0 };

	CHECK(!jobs_reader_find("lsf", &err));
	CHECK(strstr(err.text, "\"lsf\"") && strstr(err.text, "slurm-json"));
}

TESTS(TEST(formats_of_slurm_agree), TEST(newer_json_has_numbers_as_objects),
      TEST(sample_of_the_paper_is_read), TEST(broken_lines_of_pbs_are_joined),
      TEST(torque_and_json_of_pbs_are_read), TEST(name_cannot_forge_a_job),
      TEST(an_empty_list_is_not_an_error), TEST(errors_name_file_and_line),
      TEST(numbers_are_read_as_schedulers_write_them), TEST(command_output_is_read),
      TEST(slow_command_is_killed_with_its_children), TEST(endless_output_is_stopped),
      TEST(unknown_reader_lists_the_known_ones))
