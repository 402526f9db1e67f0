/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queries the schedulers for running jobs in a child process, which also saves the result, while
 * the rounds continue. Only rank 0 does so. The jobs of all compute systems that share the storage
 * form one snapshot.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "predict/forecast/jobs/jobs.h"
#include "predict/forecast/service/forecast_data.h"
#include "predict/forecast/service/probing_internal.h"
#include "predict/forecast/site.h"

#define QUERY_TIMEOUT_S 60.0
#define STOP_MS 500 /* time for a query to finish, and again after SIGKILL */
/* A scheduler's command may be installed on a host without a cluster: retry hourly there. */
#define GUESS_RETRY_NS (3600 * NS_PER_S)

int probing_jobs_init(struct probing *probing, struct err *err)
{
	const struct probing_options *options = &probing->options;
	const struct site *site = options->site;
	struct probing_jobs *jobs = &probing->jobs;

	if (options->rank || !options->jobs_every_ns)
		return 0;
	/* A site that lists its schedulers needs no guess. */
	jobs->is_guess = strcmp(site->reader, "auto") == 0 && !site->scheduler_count;
	if (jobs->is_guess)
		jobs->reader = jobs_reader_detect();
	else if (strcmp(site->reader, "auto") != 0 && strcmp(site->reader, "none") != 0) {
		jobs->reader = jobs_reader_find(site->reader, err);
		if (!jobs->reader)
			return -EINVAL;
	}
	jobs->is_wanted = jobs->reader || site->scheduler_count;
	if (!jobs->is_wanted)
		return 0;
	/* A site that names a command has a scheduler. */
	jobs->is_guess = jobs->is_guess && !*site->jobs_command;
	return forecast_owner_key(jobs->key, options->store_path, err);
}

static int save_snapshot(struct probing *probing, struct jobs *jobs, struct err *err)
{
	const struct probing_options *options = &probing->options;

	/* In the child process: the parent keeps and saves its own rows. */
	probing->rows = (struct chronicle){ 0 };
	chronicle_init(&probing->rows, options->system, options->plan.sizes,
		       options->plan.size_count);
	chronicle_add_jobs(&probing->rows, jobs);
	return probing_rows_write(probing, "-jobs", err);
}

/* Jobs of two schedulers may have the same number. */
static void mark_jobs(struct jobs *jobs, size_t from, const char *scheduler)
{
	for (size_t i = from; i < jobs->count; i++) {
		char *id = xprintf("%s.%s", scheduler, jobs->rows[i].id);

		free(jobs->rows[i].id);
		jobs->rows[i].id = id;
	}
}

/* Asks all schedulers. A snapshot that lacks the jobs of one of them is of no use. */
static int query_all(const struct probing *probing, struct jobs *jobs, struct err *err)
{
	const struct site *site = probing->options.site;
	int r = 0;

	if (probing->jobs.reader)
		r = jobs_query(jobs, probing->jobs.reader, site->jobs_command, QUERY_TIMEOUT_S,
			       probing->jobs.key, err);
	for (size_t i = 0; r >= 0 && i < site->scheduler_count; i++) {
		const struct site_scheduler *scheduler = &site->schedulers[i];
		const struct jobs_reader *reader = jobs_reader_find(scheduler->reader, err);
		size_t from = jobs->count;

		r = reader ? jobs_query(jobs, reader, scheduler->command, QUERY_TIMEOUT_S,
					probing->jobs.key, err)
			   : -EINVAL;
		if (r < 0)
			err_prefix(err, "%s", scheduler->name);
		else
			mark_jobs(jobs, from, scheduler->name);
	}
	return r;
}

/* The child process. Does not return. */
static void run_query(struct probing *probing, int error_pipe)
{
	struct jobs jobs = { 0 };
	struct err err = { 0 };
	int r = query_all(probing, &jobs, &err);

	if (r >= 0)
		r = save_snapshot(probing, &jobs, &err);
	if (r < 0 && write(error_pipe, err.text, strlen(err.text)) < 0)
		_exit(2);
	_exit(r < 0);
}

static void start_query(struct probing *probing)
{
	struct probing_jobs *jobs = &probing->jobs;
	pid_t self = getpid();
	int errors[2];

	jobs->asked++;
	if (pipe2(errors, O_CLOEXEC) < 0) {
		jobs->failed++;
		return;
	}
	jobs->pid = fork();
	if (!jobs->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(0);
		/* A signal ends the rounds but not the query: probing_jobs_stop() waits for it. */
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		run_query(probing, errors[1]);
	}
	close(errors[1]);
	jobs->error_pipe = errors[0];
	if (jobs->pid < 0) {
		close(errors[0]);
		jobs->pid = 0;
		jobs->failed++;
	}
}

static void finish_query(struct probing *probing, int status)
{
	struct probing_jobs *jobs = &probing->jobs;
	char text[512];
	ssize_t n = read(jobs->error_pipe, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	close(jobs->error_pipe);
	jobs->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		jobs->has_warned = jobs->is_guess = false;
		return;
	}
	jobs->failed++;
	if (!jobs->has_warned)
		probing_warn(probing, "cannot read jobs from the scheduler: %s%s",
			     *text ? text : "the query process died",
			     jobs->is_guess ? "; next attempt in an hour" : "");
	jobs->has_warned = true;
}

/* True if no query is in progress. */
static bool reap_query(struct probing *probing)
{
	struct probing_jobs *jobs = &probing->jobs;
	struct rusage usage;
	int status;

	if (!jobs->pid)
		return true;
	if (wait4(jobs->pid, &status, WNOHANG, &usage) != jobs->pid)
		return false;
	jobs->cpu_s += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
	finish_query(probing, status);
	return true;
}

void probing_jobs_step(struct probing *probing, int64_t wall_ns)
{
	struct probing_jobs *jobs = &probing->jobs;
	int64_t every_ns = probing->options.jobs_every_ns, period_ns;

	if (!jobs->is_wanted || !reap_query(probing))
		return;
	period_ns = wall_ns / every_ns * every_ns;
	if (jobs->asked && period_ns <= jobs->asked_ns)
		return;
	if (jobs->asked && jobs->is_guess && wall_ns - jobs->asked_ns < GUESS_RETRY_NS)
		return;
	jobs->asked_ns = period_ns;
	start_query(probing);
}

void probing_jobs_stop(struct probing *probing)
{
	/* The exit of a command must not be delayed. */
	int patience_ms = probing->options.command ? 0 : STOP_MS;

	for (int ms = 0; ms < patience_ms + STOP_MS && !reap_query(probing); ms++) {
		if (ms == patience_ms)
			kill(probing->jobs.pid, SIGKILL);
		clock_sleep_ns(NS_PER_MS);
	}
}
