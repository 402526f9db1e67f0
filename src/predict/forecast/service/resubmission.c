/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/service/resubmission.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "predict/forecast/site.h"

#define NAP_NS (50 * NS_PER_MS) /* bounds the delay of a signal */

struct loop {
	const struct resubmission_options *options;
	struct resubmission *outcome;
	double until_s;
	bool was_unreachable; /* the last query of the queue failed, and that was reported */
	bool is_over;
};

static void report_event(const struct loop *loop, enum resubmission_event event, const char *text)
{
	if (loop->options->on_event)
		loop->options->on_event(loop->options->arg, event, loop->outcome->resubmit.id,
					text);
}

static void append_job(struct resubmission *outcome, bool was_found)
{
	struct resubmission_job *job;

	outcome->jobs =
		xgrow(outcome->jobs, &outcome->cap, outcome->count + 1, sizeof(*outcome->jobs));
	job = &outcome->jobs[outcome->count++];
	*job = (struct resubmission_job){ .since_s = clock_realtime_s(),
					  .ended_s = NAN,
					  .was_found = was_found };
	memcpy(job->id, outcome->resubmit.id, sizeof(job->id));
}

static void mark_job_ended(struct resubmission *outcome)
{
	if (outcome->count)
		outcome->jobs[outcome->count - 1].ended_s = clock_realtime_s();
}

static void end_loop(struct loop *loop, enum resubmission_end end)
{
	loop->outcome->end = end;
	loop->is_over = true;
}

static void report_unreachable(struct loop *loop, const struct err *err)
{
	if (err->code == ENOENT)
		end_loop(loop, RESUBMISSION_BY_SCHEDULER);
	else if (!loop->was_unreachable)
		report_event(loop, RESUBMISSION_UNREACHABLE, err->text);
	loop->was_unreachable = true;
}

/* Returns true if the next step may follow at once. */
static bool handle_event(struct loop *loop, enum resubmit_event event, const struct err *err)
{
	if (event != RESUBMIT_UNKNOWN)
		loop->was_unreachable = false;
	switch (event) {
	case RESUBMIT_FOUND:
	case RESUBMIT_SUBMITTED:
		append_job(loop->outcome, event == RESUBMIT_FOUND);
		report_event(loop,
			     event == RESUBMIT_FOUND ? RESUBMISSION_FOUND : RESUBMISSION_SUBMITTED,
			     "");
		return true;
	case RESUBMIT_ENDED:
	case RESUBMIT_SHORT:
		mark_job_ended(loop->outcome);
		report_event(loop,
			     event == RESUBMIT_ENDED ? RESUBMISSION_ENDED
						     : RESUBMISSION_ENDED_EARLY,
			     "");
		return true;
	case RESUBMIT_DONE:
		end_loop(loop, RESUBMISSION_BY_COUNT);
		return true;
	case RESUBMIT_GIVEN_UP:
		end_loop(loop, RESUBMISSION_BY_FAILURES);
		return true;
	case RESUBMIT_REFUSED:
		report_event(loop, RESUBMISSION_REFUSED, err->text);
		return false;
	case RESUBMIT_UNKNOWN:
		report_unreachable(loop, err);
		return loop->is_over;
	default:
		return false;
	}
}

static bool is_stopped(const struct resubmission_options *options)
{
	return options->stop && *options->stop;
}

static void wait_for_next_look(const struct loop *loop)
{
	double until_s = fmin(clock_realtime_s() + loop->options->every_s, loop->until_s);

	while (!is_stopped(loop->options) && clock_realtime_s() < until_s)
		clock_sleep_ns(NAP_NS);
}

static void run_loop(struct loop *loop, struct err *err)
{
	for (bool has_looked = false; !loop->is_over; has_looked = true) {
		enum resubmit_event event;

		/* A process that is stopped for a while in the beginning looks once, too. */
		if (is_stopped(loop->options))
			end_loop(loop, RESUBMISSION_BY_SIGNAL);
		else if (has_looked && clock_realtime_s() >= loop->until_s)
			end_loop(loop, RESUBMISSION_BY_TIME);
		if (loop->is_over)
			break;
		event = resubmit_step(&loop->outcome->resubmit, clock_realtime_s(), err);
		if (!handle_event(loop, event, err))
			wait_for_next_look(loop);
	}
}

/* Leaves the current job in the queue or cancels it. */
static void leave_job(const struct loop *loop)
{
	const struct resubmit *resubmit = &loop->outcome->resubmit;
	struct err err = { 0 };

	if (!resubmit->is_there)
		return;
	if (!loop->options->cancels) {
		report_event(loop, RESUBMISSION_LEFT, "");
	} else if (batch_cancel(resubmit->system, resubmit->id, &err) < 0) {
		report_event(loop, RESUBMISSION_CANCEL_FAILED, err.text);
	} else {
		mark_job_ended(loop->outcome);
		report_event(loop, RESUBMISSION_CANCELED, "");
	}
}

/* Names become words of shell commands, where commas and blanks have a meaning. */
bool resubmission_name_is_valid(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-_";

	return *name && *name != '-' && strlen(name) < BATCH_NAME && !name[strspn(name, letters)];
}

/*
 * Without the lock, two processes could both find the queue empty and submit a job each. The lock
 * file is beside the store, usually in a home directory that nodes share. If the file system has no
 * locks, the loop runs without. Returns a descriptor, -1 or -EBUSY.
 */
static int lock_name(const struct resubmission *outcome, const char *store_path, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s.submit-%s", store_path, outcome->name);
	int fd;

	place_make_parent(store_path, 0700, NULL);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return fd < 0 ? -1 : fd;
	close(fd);
	return err_set(err, EBUSY,
		       "another process already manages job %s; stop it first, or choose another "
		       "--name",
		       outcome->name);
}

static int outcome_init(struct resubmission *outcome, const struct resubmission_options *options,
			struct err *err)
{
	struct resubmit *resubmit = &outcome->resubmit;

	*outcome = (struct resubmission){ 0 };
	resubmit->system = batch_system_find(options->site->reader, err);
	if (!resubmit->system)
		return -ENOENT;
	if (access(options->script, R_OK) < 0)
		return err_set(err, errno, "%s: %s", options->script, strerror(errno));
	batch_job_name(outcome->name, options->script);
	if (options->name)
		snprintf(outcome->name, sizeof(outcome->name), "%s", options->name);
	resubmit->job = (struct batch_job){ outcome->name, options->script, options->arguments };
	resubmit->times = options->max_jobs;
	resubmit->failures = options->max_failures;
	resubmit->shortest_s = options->min_runtime_s;
	return 0;
}

static int report_failures(const struct resubmit *resubmit, struct err *err)
{
	struct err last = *err;

	if (resubmit->is_short)
		return err_set(err, ECANCELED,
			       "gave up: %lu jobs in a row ended within %g s; check their output, "
			       "or lower --min-runtime",
			       (unsigned long)resubmit->failed, resubmit->shortest_s);
	return err_set(err, ECANCELED, "gave up after %lu failures in a row: %s",
		       (unsigned long)resubmit->failed, last.text);
}

int resubmission_run(struct resubmission *outcome, const struct resubmission_options *options,
		     struct err *err)
{
	struct loop loop = { .options = options,
			     .outcome = outcome,
			     .until_s = clock_realtime_s() + options->duration_s };
	int lock, r = outcome_init(outcome, options, err);

	if (r < 0)
		return r;
	lock = lock_name(outcome, options->store_path, err);
	if (lock == -EBUSY)
		return lock;
	run_loop(&loop, err);
	leave_job(&loop);
	if (lock >= 0)
		close(lock);
	if (outcome->end == RESUBMISSION_BY_SCHEDULER)
		return -ENOENT;
	return outcome->end == RESUBMISSION_BY_FAILURES ? report_failures(&outcome->resubmit, err)
							: 0;
}

void resubmission_release(struct resubmission *outcome)
{
	free(outcome->jobs);
	*outcome = (struct resubmission){ 0 };
}
