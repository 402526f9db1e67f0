/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recovers the trace of a killed collector: combines the container that it was writing, which is
 * readable up to its last complete block, with the records in the spools that were committed since.
 *
 * Everything is checked to be the user's own. The control page holds the id of the run, so that a
 * trace that a later run has written under the same name is not touched.
 * Papers: SIOX-68.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/process.h"
#include "base/trusted.h"
#include "contract/call.h"
#include "observe/collect/collector.h"
#include "observe/collect/continuation.h"
#include "observe/collect/intake.h"
#include "trace/output.h"

/* A run whose collector may be dead. */
struct spool_run {
	int directory;		 /* -1: closed */
	char *pinned;		 /* names the open directory, also if its path changes */
	int control_fd;		 /* -1: closed */
	struct control *control; /* a copy; NULL: closed */
};

static void run_close(struct spool_run *run)
{
	if (run->control_fd >= 0)
		close(run->control_fd);
	if (run->directory >= 0)
		close(run->directory);
	free(run->control);
	free(run->pinned);
	*run = (struct spool_run){ .directory = -1, .control_fd = -1 };
}

static bool control_is_valid(const struct control *c)
{
	return c->magic == CONTROL_MAGIC && c->clock_den && c->clock_num &&
	       memchr(c->trace, 0, sizeof(c->trace)) && memchr(c->run, 0, sizeof(c->run));
}

/* Spools are read only by the version that wrote them, because their records are raw memory. */
static int check_version(const struct control *c, const char *directory, struct err *err)
{
	if (c->magic != CONTROL_MAGIC ||
	    (c->version == SPOOL_VERSION && control_knows_calls(c, call_digest)))
		return 0;
	if (c->version == SPOOL_VERSION)
		return err_set(err, EPROTONOSUPPORT,
			       "%s: another build of Sluice recorded the run, with another table "
			       "of calls; recover it with 'sluice trace recover' of that build. "
			       "The spools stay as they are",
			       directory);
	return err_set(err, EPROTONOSUPPORT,
		       "%s: %s version of Sluice recorded the run (spool version %u, this version "
		       "reads version %u); %s. The spools stay as they are",
		       directory, c->version > SPOOL_VERSION ? "a later" : "an earlier", c->version,
		       SPOOL_VERSION,
		       c->version > SPOOL_VERSION
			       ? "update Sluice, then recover it"
			       : "recover it with 'sluice trace recover' of that version");
}

/* Copies the control page instead of mapping it, because somebody may truncate it. */
static int read_control(struct spool_run *run, const char *directory, struct err *err)
{
	struct control *c = xcalloc(1, sizeof(*c));
	ssize_t n = pread(run->control_fd, c, sizeof(*c), 0);
	int r = n >= (ssize_t)offsetof(struct control, clock) ? check_version(c, directory, err)
							      : 0;

	run->control = c;
	if (n < 0)
		return err_set(err, errno, "%s/%s: %s", directory, CONTROL_NAME, strerror(errno));
	if (r < 0)
		return r;
	if (n < (ssize_t)sizeof(*c))
		return err_set(err, EINVAL, "%s/%s: too short for a control page", directory,
			       CONTROL_NAME);
	if (!control_is_valid(c))
		return err_set(err, EINVAL, "%s/%s: not a control page", directory, CONTROL_NAME);
	return 0;
}

/* Opens a run of the effective user. On failure there is nothing to close. */
static int run_open(struct spool_run *run, const char *directory, struct err *err)
{
	int r;

	*run = (struct spool_run){ .directory = -1, .control_fd = -1 };
	r = run->directory = trusted_open_directory(AT_FDCWD, directory, TRUSTED_PRIVATE, err);
	if (r >= 0) {
		run->pinned = xprintf("/proc/self/fd/%d", run->directory);
		r = run->control_fd = trusted_open_file(run->directory, CONTROL_NAME, O_RDWR,
							TRUSTED_PRIVATE, err);
		if (r < 0)
			err_prefix(err, "%s", directory);
	}
	if (r >= 0)
		r = read_control(run, directory, err);
	if (r < 0)
		run_close(run);
	return r;
}

static bool is_dead(const struct control *c)
{
	return process_start(c->collector_pid) != c->collector_start;
}

static bool collector_is(const char *directory, bool wanted_dead)
{
	struct spool_run run;
	bool is = run_open(&run, directory, NULL) >= 0 && is_dead(run.control) == wanted_dead;

	run_close(&run);
	return is;
}

bool collector_is_dead(const char *directory)
{
	return collector_is(directory, true);
}

bool collector_is_alive(const char *directory)
{
	return collector_is(directory, false);
}

/* has_trace: some records are in the trace already, `in_trace` of them. */
static void read_spools(struct intake *in, const struct control *control, bool has_trace,
			uint64_t in_trace)
{
	enum pass_state state = atomic_load(&control->pass_state);

	intake_find(in, true);
	/* Repeats the pass in which the collector died, without the records that it had written. */
	if (has_trace && state == PASS_WRITING && in_trace > control->pass_before)
		in->skip = in_trace - control->pass_before;
	if (has_trace && state == PASS_WRITTEN)
		in->skip = UINT64_MAX;
	if (in->skip)
		intake_pass(in, control->pass_until, true);
	in->skip = 0;
	/* Activities that the flight recorder had not shipped are dropped. */
	in->progress = state != PASS_FLIGHT;
	while (in->progress)
		intake_pass(in, UINT64_MAX, true);
	while (in->member_count)
		intake_end(in, in->members[0]);
	for (unsigned i = 0; i < LOSS_CAUSES; i++)
		if (atomic_load(&control->unrecorded[i]))
			launches_count(&in->launches, (enum loss_cause)i, "",
				       atomic_load(&control->unrecorded[i]));
	intake_unrecorded(in);
}

/* What is found under the name of the dead run's trace. */
enum old_trace {
	OLD_MISSING,  /* nothing */
	OLD_FOREIGN,  /* a file that is not the trace of this run, or cannot be read */
	OLD_COMPLETE, /* the collector died after it had written everything */
	OLD_PARTIAL,  /* what the collector had written when it died */
};

static bool is_same_run(const struct run_info *run, const struct control *control)
{
	return !strcmp(run->uuid, control->run) && run->started_ns == control->started_ns;
}

/* Opens the trace only if it is the user's, of this run, and not complete. */
static int find_old_trace(struct trace *old, const struct control *control, enum old_trace *found,
			  struct collector_totals *totals, struct err *err)
{
	struct stat st;

	*found = OLD_FOREIGN;
	if (control->trace[0] != '/')
		return err_set(err, EINVAL, "the collector died before it had created its trace");
	if (lstat(control->trace, &st) != 0) {
		*found = OLD_MISSING;
		return errno == ENOENT
			       ? 0
			       : err_set(err, errno, "%s: %s", control->trace, strerror(errno));
	}
	if (st.st_uid != geteuid() || !trace_is_trace(control->trace) ||
	    trace_open(old, control->trace, NULL, NULL) < 0)
		return 0;
	if (is_same_run(&old->head.run, control) && old->head.end.complete) {
		*found = OLD_COMPLETE;
		totals->activities = old->head.activities;
		for (size_t i = 0; i < old->head.loss_count; i++)
			totals->lost += old->head.losses[i].records;
	} else if (is_same_run(&old->head.run, control)) {
		*found = OLD_PARTIAL;
		if (continuation_is_possible(&old->head))
			return 0;
		err_set(err, EINVAL,
			"%s: the trace was written by another build of Sluice; use that build to "
			"recover it",
			control->trace);
	}
	trace_close(old);
	return *found == OLD_PARTIAL ? -EINVAL : 0;
}

/* Returns "NAME-recovered.sluice", with a number if that exists. */
static char *new_name(const char *trace)
{
	size_t n = strlen(trace), suffix = strlen(trace_container.suffix);
	int stem =
		(int)(n > suffix && !strcmp(trace + n - suffix, trace_container.suffix) ? n - suffix
											: n);
	char *path = xprintf("%.*s-recovered%s", stem, trace, trace_container.suffix);

	for (int i = 2; place_exists(path); i++) {
		free(path);
		path = xprintf("%.*s-recovered-%d%s", stem, trace, i, trace_container.suffix);
	}
	return path;
}

static bool is_directory_gone(const char *trace)
{
	AUTO_FREE char *directory = xstrndup(trace, (size_t)(path_base_name(trace) - trace));

	return !place_exists(directory);
}

/* Where the recovered trace goes. NULL: nowhere, err says why. */
static char *choose_path(const char *trace, enum old_trace found, const char *elsewhere,
			 struct err *err)
{
	AUTO_FREE char *moved = NULL;

	if (found == OLD_FOREIGN)
		return new_name(trace);
	if (found != OLD_MISSING || !is_directory_gone(trace))
		return xstrdup(trace);
	if (place_make_dir(elsewhere, 0700, err) < 0)
		return NULL;
	moved = xprintf("%s/%s", elsewhere, path_base_name(trace));
	return new_name(moved);
}

/* Of a run whose trace is lost, only what the control page tells is known. */
static void describe_run(struct run_info *run, const struct control *control)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	*run = (struct run_info){ .uuid = xstrdup(control->run),
				  .command = xstrdup("(unknown)"),
				  .directory = xstrdup(""),
				  .host = xstrdup(host),
				  .user = place_user(),
				  .version = xstrdup(SLUICE_VERSION),
				  .started_ns = control->started_ns };
}

/* Writes the trace. old NULL: only what is in the spools. */
static int write_recovered(struct intake *in, struct trace *old, const struct run_info *run,
			   const char *path, const struct control *control, struct err *err)
{
	struct run_clock ns = { "recovered", 0, 1, 1, 0 };
	struct run_end end = { .exit_status = -1, .complete = false };
	int finished,
		r = in->form->create(&in->writer, path, run, &ns, call_table, call_count, err);

	if (r < 0)
		return r;
	in->clock = (struct run_clock){ "recovered", control->begin_ticks, control->clock_num,
					control->clock_den, 0 };
	in->in_ns = true;
	if (old)
		r = continuation_copy(in, old, err);
	if (r >= 0)
		read_spools(in, control, old != NULL, in->totals.activities);
	end.duration_ns = in->last_ns;
	finished = in->form->finish(in->writer, &end, &ns, r < 0 ? NULL : err);
	if (r >= 0 && in->error.code)
		r = err_set(err, in->error.code, "%s", in->error.text);
	return r < 0 ? r : finished;
}

/* Writes the trace under a temporary name, and renames it to `path`. */
static int write_trace(struct intake *in, struct trace *old, const char *path,
		       const struct control *control, struct err *err)
{
	struct run_info run = { 0 };
	struct file_draft draft;
	int r;

	if (!old)
		describe_run(&run, control);
	file_draft_init(&draft, path);
	r = write_recovered(in, old, old ? &old->head.run : &run, draft.temporary, control, err);
	if (r >= 0)
		r = file_draft_commit(&draft, err);
	file_draft_discard(&draft);
	run_info_release(&run);
	return r;
}

/* Only the records that were still in the spools could be saved. */
static void warn_about_old_trace(struct collector_totals *totals, enum old_trace found,
				 const char *old, const char *path)
{
	AUTO_FREE char *text =
		xprintf("%s %s; %s has only the records that were still in the spools\n", old,
			found == OLD_MISSING ? "is missing"
					     : "is not the trace of this run and stays unchanged",
			path);

	if (found != OLD_PARTIAL)
		snprintf(totals->warnings, sizeof(totals->warnings), "%s", text);
}

/* Recovers the records of an open run into the trace, whose path it returns. */
static int recover_records(const struct spool_run *run, const char *elsewhere, char **trace,
			   struct collector_totals *totals, struct err *err)
{
	const uint32_t off = CAPTURE_OFF;
	const struct control *control = run->control;
	struct trace old = { 0 };
	enum old_trace found;
	struct intake in;
	char host[256] = "", *path;
	int r = find_old_trace(&old, control, &found, totals, err);

	if (r < 0)
		return r;
	path = choose_path(control->trace, found, elsewhere, err);
	if (!path)
		return -err->code;
	if (found == OLD_COMPLETE) {
		*trace = path;
		return 0;
	}
	/* Processes that are still alive stop at their next chunk, because nothing is read any
	 * more. */
	(void)!pwrite(run->control_fd, &off, sizeof(off), offsetof(struct control, mode));
	gethostname(host, sizeof(host) - 1);
	intake_init(&in, run->pinned, found == OLD_PARTIAL ? old.head.run.host : host);
	r = write_trace(&in, found == OLD_PARTIAL ? &old : NULL, path, control, err);
	*totals = in.totals;
	warn_about_old_trace(totals, found, control->trace, path);
	intake_release(&in);
	trace_close(&old);
	if (r >= 0)
		*trace = path;
	else
		free(path);
	return r;
}

int collector_recover(const char *directory, const char *elsewhere, char **trace,
		      struct collector_totals *totals, struct err *err)
{
	struct spool_run run;
	int r = run_open(&run, directory, err);

	if (r < 0)
		return r;
	if (!is_dead(run.control))
		r = err_set(err, EBUSY,
			    "%s: the collector of this run (process %d) is still running",
			    directory, run.control->collector_pid);
	else
		r = recover_records(&run, elsewhere, trace, totals, err);
	if (r >= 0)
		process_remove_spool(directory, CONTROL_NAME);
	run_close(&run);
	return r;
}
