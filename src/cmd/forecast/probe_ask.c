/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which jobs run: a process asks the scheduler and saves what it says, while the rounds go on. Only
 * one of all ranks does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/forecast/probe_run.h"
#include "predict/forecast/jobs/jobs.h"

#define ASK_S 60.0
#define STOP_MS 500
/* A program of a scheduler may be installed where there is no cluster. */
#define GUESS_NS (3600 * 1000000000ll)

int asker_init(struct running *run, struct err *err)
{
	struct asker *asker = &run->asker;

	if (run->rank || !run->args->jobs_every_ns || strcmp(run->site.reader, "none") == 0)
		return 0;
	asker->is_guess = strcmp(run->site.reader, "auto") == 0;
	if (asker->is_guess)
		asker->reader = jobs_reader_here();
	else
		asker->reader = jobs_reader_find(run->site.reader, err);
	if (!asker->reader)
		return asker->is_guess ? 0 : -EINVAL;
	/* Whoever has a command for it knows that it answers. */
	asker->is_guess = asker->is_guess && !*run->site.jobs_command;
	return probe_owner_key(run->command, asker->key, err);
}

/* ---- the process ---- */

static int jobs_save(struct running *run, struct jobs *jobs, struct err *err)
{
	run->rows = (struct chronicle){ 0 };
	chronicle_init(&run->rows, run->system, run->plan.sizes, run->plan.size_count);
	chronicle_add_jobs(&run->rows, jobs);
	return probed_write(run, "-jobs", err);
}

static void asker_live(struct running *run, int words)
{
	struct jobs jobs = { 0 };
	struct err err = { 0 };
	int r = jobs_ask(&jobs, run->asker.reader, run->site.jobs_command, ASK_S, run->asker.key,
			 &err);

	if (r >= 0)
		r = jobs_save(run, &jobs, &err);
	if (r < 0 && write(words, err.text, strlen(err.text)) < 0)
		_exit(2);
	_exit(r < 0);
}

static void asker_start(struct running *run)
{
	pid_t self = getpid();
	int words[2];

	run->asker.asked++;
	if (pipe2(words, O_CLOEXEC) < 0) {
		run->asker.failed++;
		return;
	}
	run->asker.pid = fork();
	if (!run->asker.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(0);
		/* What ends the rounds does not end the question: it is waited for. */
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		asker_live(run, words[1]);
	}
	close(words[1]);
	run->asker.words = words[0];
	if (run->asker.pid < 0) {
		close(words[0]);
		run->asker.pid = 0;
		run->asker.failed++;
	}
}

/* ---- what becomes of it ---- */

static void asker_end(struct running *run, int status)
{
	struct asker *asker = &run->asker;
	char text[512];
	ssize_t n = read(asker->words, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	close(asker->words);
	asker->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		asker->has_warned = asker->is_guess = false;
		return;
	}
	asker->failed++;
	if (!asker->has_warned)
		command_warn(run->command, "no jobs from the scheduler: %s%s",
			     *text ? text : "the process has died",
			     asker->is_guess ? "; asked again in an hour" : "");
	asker->has_warned = true;
}

static bool asker_is_done(struct running *run)
{
	struct rusage usage;
	int status;

	if (!run->asker.pid)
		return true;
	if (wait4(run->asker.pid, &status, WNOHANG, &usage) != run->asker.pid)
		return false;
	run->asker.cpu_s += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
	asker_end(run, status);
	return true;
}

void asker_step(struct running *run, int64_t wall_ns)
{
	int64_t every_ns = run->args->jobs_every_ns, period_ns;

	if (!run->asker.reader || !asker_is_done(run))
		return;
	period_ns = wall_ns / every_ns * every_ns;
	if (run->asker.asked && period_ns <= run->asker.asked_ns)
		return;
	if (run->asker.asked && run->asker.is_guess && wall_ns - run->asker.asked_ns < GUESS_NS)
		return;
	run->asker.asked_ns = period_ns;
	asker_start(run);
}

void asker_stop(struct running *run)
{
	struct timespec pause = { 0, 1000000 };
	int patience = run->args->beside ? 0 : STOP_MS; /* a command's end is not delayed */

	for (int ms = 0; ms < patience + STOP_MS && !asker_is_done(run); ms++) {
		if (ms == patience)
			kill(run->asker.pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
}
