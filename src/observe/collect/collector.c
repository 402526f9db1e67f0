/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/collector_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/process.h"
#include "observe/collect/control_page.h"
#include "observe/collect/flight.h"
#include "observe/collect/names.h"
#include "observe/watch/watcher.h"
#include "trace/facts.h"

#define CHECK_PROCESSES_NS (50 * NS_PER_MS)
#define REAP_NS NS_PER_S
#define OVERHEAD_NS (100 * NS_PER_MS)
/*
 * How often the watcher is told the length of a tick, which is known more accurately as time
 * passes.
 */
#define CLOCK_NS NS_PER_S
#define LAST_PASSES 4096
#define PASS_NS (500 * NS_PER_MS) /* how long a record may wait for others to fill a block */

const char *collector_clock_name(enum capture_clock source)
{
	struct cpu_counter counter;

	cpu_counter_read(&counter);
	return source == CLOCK_SOURCE_COUNTER ? counter.name : "monotonic";
}

enum cpu_counter_state collector_counter_state(void)
{
	struct cpu_counter counter;

	cpu_counter_read(&counter);
	return counter.state;
}

struct run_clock collector_clock(const struct collector *c)
{
	struct moment now = calibrate_moment(c->clock);
	struct run_clock clock = calibrate_run(c->clock, &c->earlier, &now);

	clock.tick0 = c->tick0;
	clock.source = (char *)collector_clock_name(c->clock);
	return clock;
}

const struct control *collector_control(const struct collector *c)
{
	return c->control;
}

const char *collector_warnings(const struct collector *c)
{
	return c->intake.totals.warnings;
}

void collector_warn(struct collector *c, const char *sentence)
{
	struct collector_totals *totals = &c->intake.totals;
	size_t used = strlen(totals->warnings);

	if (used + strlen(sentence) + 2 <= sizeof(totals->warnings))
		snprintf(totals->warnings + used, sizeof(totals->warnings) - used, "%s\n",
			 sentence);
}

const struct names *collector_names(const struct collector *c)
{
	return resolver_names(c->intake.resolver);
}

void collector_note(struct collector *c, const struct note *note)
{
	struct note ours = *note;

	ours.host = c->run.host;
	intake_fact(&c->intake, &fact_note, &ours);
}

void collector_free(struct collector *c)
{
	flight_free(c->intake.flight);
	intake_release(&c->intake);
	overhead_release(&c->overhead);
	mapping_close(&c->page);
	ledger_close(&c->ledger);
	trace_close(&c->old);
	run_info_release(&c->run);
	free(c->trace);
	free(c->directory);
	free(c);
}

const char *collector_directory(const struct collector *c)
{
	return c->directory;
}

size_t collector_ranks(const struct collector *c)
{
	return c->ranks;
}

/*
 * Is the process of this member gone? One of another pid namespace is searched among all processes.
 */
static bool is_gone(struct collector *c, const struct member *m, struct process_scan *scan,
		    bool *scanned)
{
	const struct spool_identity *is = &m->spool.identity;

	if (m->replaced)
		return true;
	if (m->process)
		return process_start(m->process) != is->process_start;
	if (is->pid_namespace == c->namespace)
		return process_start(is->pid) != is->process_start;
	if (!*scanned)
		process_scan(scan, c->namespace);
	*scanned = true;
	return !process_scan_has(scan, is->pid_namespace, is->pid);
}

/* Finds out which processes have ended. */
static void check_processes(struct collector *c, bool reap)
{
	struct process_scan scan = { .since = c->start };
	bool scanned = false;

	launches_check(&c->intake.launches);
	for (size_t i = 0; i < c->intake.member_count; i++) {
		struct member *m = c->intake.members[i];

		if (m->ended)
			continue;
		m->ended = is_gone(c, m, &scan, &scanned);
		if (reap && !m->ended && m->spool.identity.pid_namespace == c->namespace)
			spool_reap(&m->spool, process_has_thread);
	}
	process_scan_release(&scan);
}

static void find_spools(struct collector *c, bool last)
{
	if (c->directory && (last || atomic_load(&c->control->sequence) != c->spools_seen))
		c->spools_seen += (uint32_t)intake_find(&c->intake, last);
}

size_t collector_live_ranks(struct collector *c)
{
	size_t live = 0;

	/* A job may be over before the first pass. */
	find_spools(c, false);
	c->ranks = intake_ranks(&c->intake);
	check_processes(c, false);
	for (size_t i = 0; i < c->intake.member_count; i++) {
		const struct member *m = c->intake.members[i];

		live += !m->ended && m->rank >= 0;
	}
	return live;
}

/* Returns whether the period has passed since *since, and if so sets it to now. */
static bool is_due(uint64_t *since, uint64_t now, uint64_t period_ns)
{
	if (now - *since < period_ns)
		return false;
	*since = now;
	return true;
}

static void add_overhead_sample(struct collector *c, const struct member *m, uint64_t now)
{
	const struct spool_header *header = intake_header(&c->intake, m);
	struct overhead_sample sample = overhead_sample(header, &c->intake.clock, now);

	overhead_add(&c->overhead, m->index, &sample);
}

/* Reduces the recording if it costs the program too much. */
static void check_overhead(struct collector *c)
{
	const struct intake *in = &c->intake;
	uint64_t now = clock_ticks(c->clock);
	enum capture_mode mode;

	for (size_t i = 0; i < in->member_count; i++)
		add_overhead_sample(c, in->members[i], now);
	mode = overhead_judge(&c->overhead, intake_ns(&in->clock, now - in->clock.tick0));
	if (mode < atomic_load(&c->control->mode))
		atomic_store(&c->control->mode, mode);
}

/* Tells the watcher and, for a recovery, the control page how long a tick is. */
static void refine_clock(struct collector *c)
{
	struct run_clock clock = collector_clock(c);

	if (c->intake.watcher)
		watcher_clock(c->intake.watcher, &clock);
	if (!c->intake.in_ns)
		control_page_refine(c->control, &clock);
}

/* Runs the periodic tasks. */
static void run_periodic_tasks(struct collector *c)
{
	uint64_t now = clock_monotonic_ns();

	if (is_due(&c->processes_checked_ns, now, CHECK_PROCESSES_NS))
		check_processes(c, is_due(&c->reaped_ns, now, REAP_NS));
	if (is_due(&c->clocked_ns, now, CLOCK_NS))
		refine_clock(c);
	if (is_due(&c->overhead_seen_ns, now, OVERHEAD_NS))
		check_overhead(c);
}

/* Returns chunks to the run, at most as many as are in use: a guest can overwrite its header. */
static void return_chunks(struct control *control, uint32_t chunks)
{
	uint32_t used = atomic_load(&control->chunks);

	while (!atomic_compare_exchange_weak(&control->chunks, &used,
					     used > chunks ? used - chunks : 0))
		;
}

static void end_member(struct collector *c, struct member *m)
{
	add_overhead_sample(c, m, clock_ticks(c->clock));
	return_chunks(c->control, intake_end(&c->intake, m));
}

static size_t run_pass(struct collector *c, bool due)
{
	struct collector_totals *t = &c->intake.totals;
	uint64_t bytes = (uint64_t)atomic_load(&c->control->chunks) * SPOOL_CHUNK_BYTES;

	if (bytes > t->spool_peak_bytes)
		t->spool_peak_bytes = bytes;
	find_spools(c, false);
	launches_settle(&c->intake.launches);
	return intake_pass(&c->intake, clock_ticks(c->clock), due);
}

/* The process finds no free chunk: it depends on the chunks that we return. */
static bool is_losing_records(struct intake *in, const struct member *m)
{
	return spool_lost_records(intake_header(in, m)) != 0;
}

/* Tells whoever handed the spools over that they are in the trace. */
static void release_spools(struct collector *c)
{
	struct intake *in = &c->intake;

	if (!in->released_count)
		return;
	intake_commit(in);
	if (in->error.code)
		return;
	for (size_t i = 0; i < in->released_count; i++)
		c->released(c->released_arg, in->released[i]);
	in->released_count = 0;
}

static size_t poll_once(struct collector *c)
{
	bool due = is_due(&c->taken_ns, clock_monotonic_ns(), PASS_NS);
	struct intake *in = &c->intake;
	size_t taken;

	run_periodic_tasks(c);
	for (size_t i = 0; i < in->member_count && !due; i++)
		due = in->members[i]->ended || is_losing_records(in, in->members[i]);
	taken = run_pass(c, due);
	c->ranks = intake_ranks(in);
	for (size_t i = in->member_count; i-- > 0;)
		if (in->members[i]->ended && !in->members[i]->pending)
			end_member(c, in->members[i]);
	if (in->watcher)
		collector_poll_watcher(c);
	release_spools(c);
	/* Nothing can be written any more, so the guests may stop. */
	if (in->error.code && !in->ledger)
		atomic_store(&c->control->mode, CAPTURE_OFF);
	return taken;
}

static int64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

size_t collector_poll(struct collector *c)
{
	int64_t before_ns = c->directory ? 0 : thread_cpu_ns();
	size_t taken = poll_once(c);

	if (!c->directory)
		c->cpu_ns += thread_cpu_ns() - before_ns;
	return taken;
}

const char *collector_trace(const struct collector *c)
{
	return c->trace;
}

int collector_adopt(struct collector *c, const struct intake_handed *handed, struct err *err)
{
	return intake_adopt(&c->intake, handed, err);
}

int collector_adopt_counters(struct collector *c, uint64_t ticket, int fd)
{
	return intake_adopt_counters(&c->intake, ticket, fd);
}

size_t collector_live(const struct collector *c)
{
	size_t live = launches_starting(&c->intake.launches);

	for (size_t i = 0; i < c->intake.member_count; i++)
		live += !c->intake.members[i]->ended;
	return live;
}

const struct err *collector_error(const struct collector *c)
{
	return c->intake.error.code ? &c->intake.error : NULL;
}

void collector_abandon(struct collector *c,
		       void (*each)(void *arg, const struct intake_handed *handed), void *arg)
{
	struct intake *in = &c->intake;

	for (size_t i = 0; each && i < in->member_count; i++) {
		struct member *m = in->members[i];
		struct intake_handed handed = { m->spool.fd, m->counters, m->number, m->process,
						m->ticket };

		m->spool.fd = m->counters = -1;
		each(arg, &handed);
	}
	if (in->watcher)
		watcher_stop(in->watcher, &(struct watcher_counts){ 0 });
	/* What it adds lies behind the part of the trace that counts. */
	in->form->finish(in->writer, &(struct run_end){ .exit_status = -1 }, &in->clock, NULL);
	collector_free(c);
}

/* Runs a pass, and returns whether a process is attached or known to be starting. */
static bool has_members(struct collector *c)
{
	size_t live = collector_poll(c) + launches_starting(&c->intake.launches);

	for (size_t i = 0; i < c->intake.member_count && !live; i++)
		live = !c->intake.members[i]->ended;
	return live > 0;
}

bool collector_has_processes(struct collector *c)
{
	AUTO_FREE char *variable = xprintf("SLUICE_SPOOL=%s", c->directory);

	/* /proc shows no variables while a process executes a program, but it was announced. */
	return has_members(c) || process_exists_with(variable) || has_members(c);
}

/*
 * Reads what is left in the spools. A record that claims to end in the future is wrong, but must
 * not hide those behind it. The number of passes is limited, because a process may go on writing.
 */
static void read_rest(struct collector *c)
{
	unsigned passes = 0;

	find_spools(c, false);
	while (run_pass(c, true) && passes++ < LAST_PASSES)
		;
	find_spools(c, true);
	do
		intake_pass(&c->intake, UINT64_MAX, true);
	while (c->intake.progress && passes++ < LAST_PASSES);
	while (c->intake.member_count)
		end_member(c, c->intake.members[0]);
}

/* Notes how often a limit was exceeded, and warns the user. The text follows the number. */
static void report_limit(struct collector *c, const char *name, uint64_t count, const char *text)
{
	AUTO_FREE char *sentence = xprintf("%llu %s", (unsigned long long)count, text);
	char value[32];
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .source = "collector",
			     .kind = NOTE_DEGRADED,
			     .name = (char *)name,
			     .value = value };

	if (!count)
		return;
	snprintf(value, sizeof(value), "%llu", (unsigned long long)count);
	collector_note(c, &note);
	collector_warn(c, sentence);
}

static void report_limits(struct collector *c)
{
	struct collector_totals *t = &c->intake.totals;
	struct resolver_counts counts = resolver_counts(c->intake.resolver);
	AUTO_FREE char *names = xprintf(
		"times the name of a file was replaced by \"%s\": the limit of a trace is %u names",
		NAMES_OTHER, NAMES_MAX);
	AUTO_FREE char *handles = xprintf(
		"opened files were not followed: the limit is %u at the same time", HANDLES_MAX);

	t->names_over = counts.names_over;
	t->handles_over = counts.handles_over;
	report_limit(c, "names beyond the limit", t->names_over, names);
	report_limit(c, "handles beyond the limit", t->handles_over, handles);
}

/* The kernel may find out during the run that the counter is not reliable. */
static void report_clock(struct collector *c)
{
	enum cpu_counter_state state = collector_counter_state();
	AUTO_FREE char *text =
		xprintf("times may be wrong: %s any more", cpu_counter_reason(state));
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .source = "collector",
			     .kind = NOTE_DEGRADED,
			     .name = NOTE_WARNING,
			     .value = text };

	if (c->clock != CLOCK_SOURCE_COUNTER || c->counter_state != COUNTER_STEADY ||
	    state == COUNTER_STEADY)
		return;
	collector_note(c, &note);
	collector_warn(c, text);
}

int collector_close(struct collector *c, int exit_status, struct collector_totals *totals,
		    struct err *err)
{
	struct run_end end = { .exit_status = exit_status, .complete = true };
	struct intake *in = &c->intake;
	struct run_clock ns = { (char *)collector_clock_name(c->clock), 0, 1, 1, 0 };
	struct err late = { 0 };
	int64_t watcher_ns;
	int r;

	c->duration_ns = calibrate_moment(c->clock).monotonic_ns - c->begin_ns;
	end.duration_ns = c->duration_ns;
	atomic_store(&c->control->mode, CAPTURE_OFF);
	if (!in->in_ns)
		in->clock = collector_clock(c);
	launches_check(&in->launches);
	read_rest(c);
	intake_unrecorded(in);
	report_limits(c);
	report_clock(c);
	watcher_ns = collector_stop_watcher(c);
	collector_write_accounts(c);
	overhead_finish(&c->overhead, c->directory ? overhead_cpu_ns() : c->cpu_ns, watcher_ns);
	r = in->form->finish(in->writer, &end, in->in_ns ? &ns : &in->clock, &late);
	if (in->error.code)
		r = err_set(err, in->error.code, "%s", in->error.text);
	else if (r < 0)
		r = err_set(err, late.code, "%s", late.text);
	if (totals)
		*totals = in->totals;
	if (c->directory)
		process_remove_spool(c->directory, CONTROL_NAME);
	for (size_t i = 0; i < in->released_count && r >= 0; i++)
		c->released(c->released_arg, in->released[i]);
	collector_free(c);
	return r;
}
