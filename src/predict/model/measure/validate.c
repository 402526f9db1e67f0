/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the jobs. The list of cases is a file beside the data, because all ranks read it.
 */
#include "predict/model/measure/validate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "predict/model/measure/job_command.h"

#define PROGRAM "collective_io"
/* Lines of output that are shown if a job fails. */
#define OUTPUT_LINES 4

struct job {
	struct validate_plan *plan;
	const struct validate_options *options;
	struct job_program program;
	uint64_t ranks;
	size_t *cases; /* numbers of the cases with this number of ranks */
	size_t count;
	char *data, *list; /* paths */
	struct validate_library library;
};

static void collect_cases(struct job *job)
{
	job->cases = xmalloc((job->plan->count + 1) * sizeof(*job->cases));
	job->count = 0;
	for (size_t i = 0; i < job->plan->count; i++)
		if (job->plan->accesses[job->plan->cases[i].group].ranks == job->ranks)
			job->cases[job->count++] = i;
}

static int write_list(const struct job *job, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < job->count; i++)
		r = validate_write_line(job->plan, job->cases[i], job->options->machine, &text,
					err);
	return r < 0 ? r : file_write_all(job->list, buf_text(&text), text.len, err);
}

static void add_words(const struct job *job, struct words *words, struct words *environment)
{
	const struct validate_options *options = job->options;
	struct job_command command = { .launcher_command = options->launcher,
				       .launcher = job->program.launcher,
				       .mpi = job->program.mpi,
				       .hosts = options->hosts,
				       .ranks = job->ranks,
				       .cores = options->cores };
	AUTO_FREE char *repeat = xprintf("%" PRIu64, options->repeat);
	const char *const arguments[] = {
		job->program.path, "--cases", job->list,  "--repeat", repeat,
		"--file",	   job->data, "--remove", "--verify", NULL
	};

	job_command_line(&command, words);
	for (size_t i = 0; arguments[i]; i++)
		if (options->reads || strcmp(arguments[i], "--verify") != 0)
			words_add(words, arguments[i]);
	job_command_environment(&command, environment);
}

static void take_output(struct job *job, const char *path)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_FREE char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "\n")] = 0;
		validate_take_line(job->plan, job->cases, job->count, line, &job->library);
	}
}

/* A prediction is for a number of nodes. */
static int check_nodes(const struct job *job, struct err *err)
{
	uint64_t nodes = job->plan->accesses[job->plan->cases[job->cases[0]].group].nodes;

	if (!job->library.path[0] || job->library.nodes == nodes)
		return 0;
	if (!job->library.nodes)
		return err_set(err, EINVAL,
			       "the launcher started different numbers of ranks on the nodes; "
			       "place the same number on each (Slurm: --ntasks-per-node)");
	return err_set(err, EINVAL,
		       "the launcher started %" PRIu64 " ranks on %" PRIu64
		       " node%s, but they were measured on %" PRIu64
		       "; use the launcher of 'sluice model measure'",
		       job->ranks, job->library.nodes, job->library.nodes == 1 ? "" : "s", nodes);
}

static int check_job(const struct job *job, const struct child_end *end, const char *output,
		     struct err *err)
{
	for (size_t i = 0; i < job->count; i++) {
		const struct validate_case *one = &job->plan->cases[job->cases[i]];
		int last = job->options->reads ? VALIDATE_READ : VALIDATE_WRITE;

		if (end->status == 0 && one->run_count[last] == job->options->repeat)
			continue;
		AUTO_FREE char *lines = child_last_lines(output, OUTPUT_LINES);

		return err_set(err, EIO, "the job of %" PRIu64 " ranks failed: %s", job->ranks,
			       *lines ? lines : "no output");
	}
	return 0;
}

static int run_job(struct job *job, struct err *err)
{
	AUTO_CLOSE int fd = memfd_create("output", MFD_CLOEXEC);
	AUTO_FREE char *output = xprintf("/proc/self/fd/%d", fd);
	struct words words = { 0 }, environment = { 0 };
	struct child_options options = { .output = output,
					 .limit_s = INFINITY,
					 .stop = job->options->stop };
	struct child_end end = { 0 };
	int r = fd < 0 ? err_set(err, errno, "no memory for the output of the job")
		       : write_list(job, err);

	if (r >= 0) {
		add_words(job, &words, &environment);
		options.argv = words.items;
		options.environment = environment.items;
		r = child_run(&options, &end, err);
	}
	unlink(job->list);
	unlink(job->data);
	words_release(&words);
	words_release(&environment);
	if (r < 0)
		return r;
	take_output(job, output);
	r = check_nodes(job, err);
	return r < 0 ? r : check_job(job, &end, output, err);
}

static int run_ranks(struct job *job, uint64_t ranks, struct err *err)
{
	int r = 0;

	job->ranks = ranks;
	collect_cases(job);
	if (job->options->show)
		job->options->show(job->options->arg, ranks, job->count);
	if (job->count)
		r = run_job(job, err);
	free(job->cases);
	return r;
}

/* The load is that before the first job, because the jobs themselves are a load. */
int validate_run(struct validate_plan *plan, const struct validate_options *options,
		 struct environment *environment, struct err *err)
{
	struct job job = { .plan = plan, .options = options };
	struct environment before;
	int r = job_program_find(&job.program, PROGRAM, options->mpi, options->launcher, err);

	environment_detect(&before, "", "");
	job.data = job_file_name(options->dir, "");
	job.list = job_file_name(options->dir, JOB_LIST);
	job_remove_leftovers(options->dir);
	for (size_t i = 0; r >= 0 && i < options->ranks->count; i++)
		r = run_ranks(&job, options->ranks->items[i], err);
	if (r >= 0) {
		environment_detect(environment, job.library.path, job.library.version);
		environment->load = before.load;
	}
	job_program_release(&job.program);
	free(job.data);
	free(job.list);
	return r;
}
