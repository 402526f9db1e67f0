/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Begins a run, or continues one whose collector has died.
 */
#include "observe/collect/collector_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/process.h"
#include "contract/call.h"
#include "observe/collect/continuation.h"
#include "observe/collect/control_page.h"
#include "observe/collect/spool_directory.h"
#include "trace/facts.h"

/* Is the directory writable, and does it have space for the spools? */
static bool directory_has_space(const char *path, uint64_t bytes)
{
	struct statvfs fs;

	return access(path, W_OK | X_OK) == 0 && statvfs(path, &fs) == 0 &&
	       (uint64_t)fs.f_bavail * fs.f_frsize >= bytes;
}

const char *collector_base(const char *spool_dir, uint64_t spool_bytes)
{
	const char *temporary = getenv("TMPDIR");

	if (spool_dir)
		return spool_dir;
	if (directory_has_space("/dev/shm", spool_bytes))
		return "/dev/shm";
	return temporary && temporary[0] == '/' ? temporary : "/tmp";
}

static int create_directory(struct collector *c, const struct collector_options *o, struct err *err)
{
	c->directory =
		o->directory
			? xstrdup(o->directory)
			: spool_directory_create(collector_base(o->spool_dir, o->spool_bytes), err);
	if (!c->directory)
		return -err->code;
	if (!o->directory && o->on_directory)
		o->on_directory(o->arg, c->directory);
	return 0;
}

static void copy_run(struct run_info *to, const struct run_info *from)
{
	*to = (struct run_info){ xstrdup(from->uuid),	   xstrdup(from->command),
				 xstrdup(from->directory), xstrdup(from->host),
				 xstrdup(from->user),	   xstrdup(from->version),
				 from->started_ns };
}

static void note_overhead(void *intake, const struct note *note)
{
	intake_fact(intake, &fact_note, note);
}

static void init_overhead(struct collector *c, const struct collector_options *o)
{
	struct overhead_settings settings = { .budget = o->overhead_budget,
					      .grace_ns = o->overhead_grace_ns,
					      .host = c->run.host,
					      .note = note_overhead,
					      .arg = &c->intake };

	overhead_init(&c->overhead, &settings, o->mode);
}

/* Creates directory, control page and trace of a run. */
static int begin_run(struct collector *c, const struct collector_options *o, struct err *err)
{
	int r;

	c->clock = o->clock;
	c->counter_state = collector_counter_state();
	c->earlier = calibrate_moment(o->clock);
	c->tick0 = c->earlier.ticks;
	c->begin_ns = c->earlier.monotonic_ns;
	c->run.started_ns = calibrate_time_of_day(c->begin_ns);
	r = create_directory(c, o, err);
	c->intake.directory = c->directory;
	c->intake.clock = collector_clock(c);
	if (r >= 0)
		r = control_page_create(&c->page, c->directory, o, err);
	c->control = c->page.base;
	c->trace = xstrdup(o->trace);
	if (r >= 0)
		r = trace_container.create(&c->intake.writer, o->trace, &c->run, &c->intake.clock,
					   call_table, call_count, err);
	if (r < 0)
		return r;
	control_page_describe(c->control, &c->intake.clock, &c->run, o->trace);
	c->intake.control = c->control;
	return 0;
}

/* Maps the control page that a process has created. */
static int map_control(struct collector *c, int fd, struct err *err)
{
	int r = mapping_open(&c->page, fd, sizeof(struct control));

	if (r < 0)
		return err_set(err, -r, "control page: cannot map: %s", strerror(-r));
	c->control = c->page.base;
	c->clock = c->control->clock;
	c->counter_state = collector_counter_state();
	if (c->control->magic != CONTROL_MAGIC || c->control->version != SPOOL_VERSION ||
	    !control_knows_calls(c->control, call_digest) || c->clock >= CLOCK_SOURCE_COUNT)
		return err_set(err, EINVAL, "not a control page of this version of Sluice");
	return 0;
}

/* The run began when its first process created the control page, which may be long ago. */
static void set_begin(struct collector *c, struct ledger_page *page)
{
	struct moment now = calibrate_moment(c->clock);
	uint64_t begin = c->control->begin_ticks;
	struct run_clock clock = calibrate_run(c->clock, &c->earlier, &now);
	int64_t age_ns;

	c->tick0 = begin && begin < now.ticks ? begin : now.ticks;
	age_ns = intake_ns(&clock, now.ticks - c->tick0);
	c->begin_ns = age_ns < now.monotonic_ns ? now.monotonic_ns - age_ns : 0;
	c->run.started_ns = calibrate_time_of_day(c->begin_ns);
	page->tick0 = c->tick0;
	page->num = clock.num;
	page->den = clock.den;
	page->begin_ns = c->begin_ns;
}

static char *generation_path(const struct collector_options *o, uint32_t generation)
{
	return xprintf("%s.%u", o->trace, generation);
}

/* Opens the trace of the collector that this one continues, without what it had not completed. */
static void open_old_trace(struct collector *c, const char *path)
{
	if (truncate(path, (off_t)ledger_valid_bytes(&c->ledger)) < 0 ||
	    trace_open(&c->old, path, NULL, NULL) < 0)
		return;
	if (continuation_is_possible(&c->old.head)) {
		run_info_release(&c->run);
		copy_run(&c->run, &c->old.head.run);
		return;
	}
	/* Written by another build. The file stays for the user; this trace has the rest. */
	trace_close(&c->old);
}

/* Writes the next generation of the trace. All times are in ns of the clock in the ledger. */
static int begin_generation(struct collector *c, const struct collector_options *o, struct err *err)
{
	const struct ledger_page *page = c->ledger.page;
	uint32_t generation = atomic_load(&page->generation);
	AUTO_FREE char *old = generation_path(o, generation);
	struct run_clock ns = { (char *)collector_clock_name(c->clock), 0, 1, 1, 0 };
	struct stat st;
	int r;

	if (generation)
		open_old_trace(c, old);
	c->intake.host = c->run.host;
	c->intake.in_ns = true;
	c->intake.clock = (struct run_clock){ ns.source, page->tick0, page->num, page->den, 0 };
	c->trace = generation_path(o, generation + 1);
	c->intake.container = c->trace;
	r = trace_container.create(&c->intake.writer, c->trace, &c->run, &ns, call_table,
				   call_count, err);
	if (r >= 0 && c->old.reader)
		r = continuation_copy(&c->intake, &c->old, err);
	if (r >= 0)
		r = trace_container.flush(c->intake.writer, err);
	if (r >= 0 && c->intake.error.code)
		r = err_set(err, c->intake.error.code, "%s", c->intake.error.text);
	if (r >= 0 && stat(c->trace, &st) != 0)
		r = err_set(err, errno, "%s: %s", c->trace, strerror(errno));
	if (r < 0)
		return r;
	ledger_replace(&c->ledger, (uint64_t)st.st_size);
	if (c->old.reader)
		unlink(old);
	c->intake.ledger = &c->ledger;
	return 0;
}

/* Begins or continues a run that is handed over. */
static int begin_handed(struct collector *c, const struct collector_options *o, struct err *err)
{
	const struct collector_handed *h = o->handed;
	int r = map_control(c, h->control, err);

	if (r >= 0)
		r = ledger_open(&c->ledger, h->ledger, err);
	if (r < 0)
		return r;
	c->earlier = *h->earlier;
	if (r == 0)
		set_begin(c, c->ledger.page);
	c->tick0 = c->ledger.page->tick0;
	c->begin_ns = c->ledger.page->begin_ns;
	r = c->ledger.page->den ? begin_generation(c, o, err)
				: err_set(err, EINVAL, "%s: damaged; remove it", h->ledger);
	if (r < 0)
		return r;
	/* By this, the next collector finds the ledger. */
	snprintf(c->control->run, sizeof(c->control->run), "%s", c->run.uuid);
	c->released = h->released;
	c->released_arg = h->arg;
	c->intake.launches.is_blind = h->is_foreign;
	if (h->tap)
		c->intake.tap = *h->tap;
	return 0;
}

static void discard(struct collector *c)
{
	if (c->directory)
		process_remove_spool(c->directory, CONTROL_NAME);
	if (c->intake.writer)
		trace_container.finish(c->intake.writer, &(struct run_end){ 0 }, &c->intake.clock,
				       NULL);
	if (c->ledger.page && c->trace)
		unlink(c->trace);
	collector_free(c);
}

int collector_open(struct collector **out, const struct collector_options *o, struct err *err)
{
	struct collector *c = xcalloc(1, sizeof(*c));
	int r;

	copy_run(&c->run, o->run);
	c->namespace = process_namespace();
	intake_init(&c->intake, NULL, c->run.host);
	r = o->handed ? begin_handed(c, o, err) : begin_run(c, o, err);
	if (r < 0) {
		discard(c);
		return r;
	}
	init_overhead(c, o);
	c->start = process_start(getpid());
	c->intake.launches.control = c->control;
	collector_start_watcher(c, o);
	if (!o->handed)
		memcpy(c->plugins, c->control->plugins, sizeof(c->plugins));
	*out = c;
	return 0;
}
