/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recovers the trace of a killed collector: combines the container that it was writing, which is
 * readable up to its last complete block, with the records in the spools that were committed since.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"
#include "observe/collect/collector.h"
#include "observe/collect/intake.h"

#define BATCH 4096

static struct control *control_open(const char *directory, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s/%s", directory, CONTROL_NAME);
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
	struct control *c;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno)), NULL;
	if (st.st_size < (off_t)sizeof(*c))
		return err_set(err, EINVAL, "%s: too short for a control page", path), NULL;
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED)
		return err_set(err, errno, "%s: cannot map: %s", path, strerror(errno)), NULL;
	if (c->magic == CONTROL_MAGIC && c->version == SPOOL_VERSION && c->clock_den &&
	    c->clock_num && memchr(c->trace, 0, sizeof(c->trace)))
		return c;
	munmap(c, sizeof(*c));
	return err_set(err, EINVAL, "%s: not a control page of this version of Sluice", path), NULL;
}

static bool is_dead(const struct control *c)
{
	return process_start(c->collector_pid) != c->collector_start;
}

static bool collector_is(const char *directory, bool wanted_dead)
{
	struct control *c = control_open(directory, NULL);
	bool is = c && is_dead(c) == wanted_dead;

	if (c)
		munmap(c, sizeof(*c));
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

/*
 * The call table of the old trace must equal ours: another build assigns other numbers to
 * functions.
 */
static bool calls_are_ours(const struct trace_head *head)
{
	if (head->call_count != call_count)
		return false;
	for (size_t i = 0; i < call_count; i++)
		if (strcmp(head->calls[i].name, call_table[i].name) != 0)
			return false;
	return true;
}

/* Copies what the dead collector had written, and learns the open handles from it. */
static int copy_old_trace(struct intake *in, struct trace *old, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	const struct trace_head *head = &old->head;
	ssize_t n = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->process_count; i++) {
		const struct process_info *p = &head->processes[i];

		r = in->form->add_process(in->writer, p, err);
		resolver_process(in->resolver, p->index, p->parent, p->first_thread, p->directory);
	}
	for (size_t i = 1; i < head->file_count; i++)
		resolver_file(in->resolver, head->files[i]);
	while (r >= 0 && (n = trace_next(old, batch, BATCH, err)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			resolver_replay(in->resolver, &batch[i]);
		intake_write(in, batch, (size_t)n);
		in->totals.activities += (uint64_t)n;
	}
	for (size_t i = 0; r >= 0 && i < head->aggregate_count; i++)
		r = in->form->add_aggregate(in->writer, &head->aggregates[i], err);
	for (size_t i = 0; r >= 0 && i < head->loss_count; i++) {
		r = in->form->add_loss(in->writer, &head->losses[i], err);
		in->totals.lost += head->losses[i].records;
	}
	if (r >= 0)
		r = trace_copy_findings(head, in->form, in->writer, err);
	intake_set_known(in, head->processes, head->process_count);
	return r < 0 ? r : (int)n;
}

static void read_spools(struct intake *in, const struct control *control, uint64_t in_trace)
{
	enum pass_state state = atomic_load(&control->pass_state);

	intake_find(in, true);
	/* Repeats the pass in which the collector died, without the records that it had written. */
	if (state == PASS_WRITING && in_trace > control->pass_before)
		in->skip = in_trace - control->pass_before;
	if (state == PASS_WRITTEN)
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
}

static int write_recovered(struct intake *in, struct trace *old, const char *path,
			   const struct control *control, struct err *err)
{
	struct run_clock ns = { "recovered", 0, 1, 1, 0 };
	struct run_end end = { .exit_status = -1, .complete = false };
	int finished, r = in->form->create(&in->writer, path, &old->head.run, &ns, call_table,
					   call_count, err);

	if (r < 0)
		return r;
	in->clock = (struct run_clock){ "recovered", control->begin_ticks, control->clock_num,
					control->clock_den, 0 };
	in->in_ns = true;
	r = copy_old_trace(in, old, err);
	if (r >= 0)
		read_spools(in, control, in->totals.activities);
	end.duration_ns = in->last_ns;
	finished = in->form->finish(in->writer, &end, &ns, r < 0 ? NULL : err);
	if (r >= 0 && in->error.code)
		r = err_set(err, in->error.code, "%s", in->error.text);
	return r < 0 ? r : finished;
}

/* Opens the trace of a dead collector; fails if the collector is alive or the build differs. */
static int open_old_trace(struct trace *old, const char *directory, const struct control *control,
			  struct err *err)
{
	int r;

	if (!is_dead(control))
		return err_set(err, EBUSY,
			       "%s: the collector of this run (process %d) is still running",
			       directory, control->collector_pid);
	r = trace_open(old, control->trace, NULL, err);
	if (r < 0 || calls_are_ours(&old->head))
		return r;
	trace_close(old);
	return err_set(err, EINVAL,
		       "%s: the trace was written by another build of Sluice; use that build to "
		       "recover it",
		       control->trace);
}

/* Writes the recovered trace next to the old one and replaces it. */
static int replace_trace(struct intake *in, struct trace *old, const struct control *control,
			 struct err *err)
{
	AUTO_FREE char *path = xprintf("%s.recovering", control->trace);
	int r = write_recovered(in, old, path, control, err);

	if (r >= 0 && rename(path, control->trace) != 0)
		r = err_set(err, errno, "%s: %s", control->trace, strerror(errno));
	if (r < 0)
		unlink(path);
	return r;
}

int collector_recover(const char *directory, char **trace, struct collector_totals *totals,
		      struct err *err)
{
	struct control *control = control_open(directory, err);
	struct intake in;
	struct trace old = { 0 };
	int r;

	if (!control)
		return -err->code;
	r = open_old_trace(&old, directory, control, err);
	if (r < 0) {
		munmap(control, sizeof(*control));
		return r;
	}
	/* Processes that are still alive stop at their next chunk, because nothing is read any
	 * more. */
	atomic_store(&control->mode, CAPTURE_OFF);
	intake_init(&in, directory, old.head.run.host);
	r = replace_trace(&in, &old, control, err);
	if (r >= 0) {
		*trace = xstrdup(control->trace);
		*totals = in.totals;
		process_remove_spool(directory);
	}
	intake_release(&in);
	trace_close(&old);
	munmap(control, sizeof(*control));
	return r;
}
