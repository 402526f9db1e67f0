/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/process.h"
#include "observe/collect/calibrate.h"
#include "observe/collect/continuation.h"
#include "observe/collect/control_page.h"
#include "observe/collect/flight.h"
#include "observe/collect/intake.h"
#include "observe/collect/ledger.h"
#include "observe/collect/mapping.h"
#include "observe/collect/names.h"
#include "observe/collect/overhead.h"
#include "observe/collect/spool_directory.h"
#include "observe/watch/plugins.h"
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

struct collector {
	char *directory;
	struct mapping page;
	struct control *control;			/* page.base; guests can overwrite it */
	struct control_plugin plugins[CONTROL_PLUGINS]; /* a copy from before the first guest */
	uint64_t start;					/* of this process, as process_start() */
	enum capture_clock clock;
	struct moment earlier; /* by which the clock is measured */
	uint64_t tick0;	       /* time 0 of the trace */
	int64_t begin_ns;      /* the same in CLOCK_MONOTONIC */
	int64_t duration_ns;   /* of the run; 0: it has not ended */
	int64_t sampled_ns;    /* time of the last samples in the trace; 0: none */
	struct run_info run;
	char *trace;
	/* Of a run that is handed over: */
	struct ledger ledger;
	struct trace old; /* that this collector continues; NULL reader: none */
	void (*released)(void *arg, uint64_t ticket);
	void *released_arg;
	int64_t cpu_ns; /* of its passes */
	struct intake intake;
	struct overhead overhead;
	uint32_t spools_seen;
	uint64_t anomalies; /* anomalies that were shipped */
	size_t ranks;	    /* processes that have passed MPI_Init */
	uint64_t namespace;
	uint64_t processes_checked_ns, reaped_ns, taken_ns, clocked_ns, overhead_seen_ns;
};

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

static const char *clock_name(enum capture_clock source)
{
	const char *name;

	calibrate_counter_is_steady(&name);
	return source == CLOCK_SOURCE_COUNTER ? name : "monotonic";
}

static struct run_clock clock_now(const struct collector *c)
{
	struct moment now = calibrate_moment(c->clock);
	struct run_clock clock = calibrate_run(c->clock, &c->earlier, &now);

	clock.tick0 = c->tick0;
	clock.source = (char *)clock_name(c->clock);
	return clock;
}

static void add_warning(struct collector_totals *totals, const char *text)
{
	size_t used = strlen(totals->warnings);

	if (used + strlen(text) + 2 <= sizeof(totals->warnings))
		snprintf(totals->warnings + used, sizeof(totals->warnings) - used, "%s\n", text);
}

/*
 * The watcher samples until it is stopped, on a busy machine long after the run has ended. Its
 * first samples are kept even so: a run that ended before the watcher started has no others.
 */
static void add_sample(struct collector *c, const struct stat_sample *sample)
{
	bool is_late = c->duration_ns && sample->time_ns - sample->period_ns >= c->duration_ns;

	if (is_late && c->sampled_ns && c->sampled_ns != sample->time_ns)
		return;
	c->sampled_ns = sample->time_ns;
	intake_fact(&c->intake, &fact_sample, sample);
}

/* Writes what the watcher reports into the trace; refusals also become warnings. */
static void on_watcher_fact(void *arg, const struct fact *fact, const void *row)
{
	struct collector *c = arg;
	const struct note *note = row;

	if (fact == &fact_sample) {
		add_sample(c, row);
		return;
	}
	intake_fact(&c->intake, fact, row);
	if (fact != &fact_note)
		return;
	if (!strcmp(note->kind, NOTE_REFUSED))
		add_warning(&c->intake.totals, note->value);
	/*
	 * Several plug-ins may report the same problem, such as a missing store; it is shown once.
	 */
	if (!strcmp(note->kind, NOTE_DEGRADED) && !strcmp(note->name, NOTE_WARNING) &&
	    !strstr(c->intake.totals.warnings, note->value)) {
		AUTO_FREE char *text = xprintf("plug-in %s: %s", note->source, note->value);

		add_warning(&c->intake.totals, text);
	}
}

static void on_account_note(void *arg, const struct note *note)
{
	struct collector *c = arg;

	on_watcher_fact(arg, &fact_note, note);
	c->intake.totals.has_acted |= !strcmp(note->kind, NOTE_APPLIED);
}

/* Runs before any process starts, because it writes the in-line plug-ins into the control page. */
static void start_watcher(struct collector *c, const struct collector_options *o)
{
	struct watcher_options options = {
		.config = o->config,
		.run = &c->run,
		.clock = &c->intake.clock,
		.begin_ns = c->begin_ns,
		.health_directory = o->board,
		.control = c->control,
		.directory = c->directory,
		.wants_detector = o->flight_ring != 0,
	};
	struct watcher_sink sink = { .arg = c, .fact = on_watcher_fact };

	if (o->flight_ring)
		c->intake.flight = flight_new((size_t)o->flight_ring);
	if (o->config && o->mode != CAPTURE_OFF)
		c->intake.watcher = watcher_start(&options, &sink);
}

static const char *acts_name(const char *plugin)
{
	const struct plugin_guest *guest = plugin_guest_find(plugin);

	return guest ? guest->acts : NULL;
}

/* Writes the accounts of in-line plug-ins over all processes. */
static void write_accounts(struct collector *c)
{
	struct accounts_output to = { .host = c->run.host,
				      .clock = &c->intake.clock,
				      .acts = acts_name,
				      .arg = c,
				      .note = on_account_note };

	accounts_report(&c->intake.accounts, c->plugins, &to);
}

static void write_flight_number(struct collector *c, const char *name, uint64_t value)
{
	char text[32];
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .host = c->run.host,
			     .source = "flight_recorder",
			     .kind = NOTE_REPORT,
			     .name = (char *)name,
			     .value = text };

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	intake_fact(&c->intake, &fact_note, &note);
}

/* Ships a last time if there was an anomaly, and reports the counts. */
static void finish_flight(struct collector *c, uint64_t anomalies)
{
	struct flight_counts counts;

	if (!c->intake.flight)
		return;
	if (anomalies != c->anomalies)
		intake_ship(&c->intake);
	counts = flight_counts(c->intake.flight);
	write_flight_number(c, "calls/seen", counts.seen);
	write_flight_number(c, "calls/shipped", counts.shipped);
	write_flight_number(c, "calls/overwritten", counts.overwritten);
	write_flight_number(c, "calls/held", counts.held);
	write_flight_number(c, "shipments", counts.shipments);
}

/* Returns the CPU time of the watcher; -1 if there was none. */
static int64_t stop_watcher(struct collector *c)
{
	struct watcher_counts counts;

	if (!c->intake.watcher) {
		finish_flight(c, 0);
		return -1;
	}
	watcher_stop(c->intake.watcher, &counts);
	c->intake.watcher = NULL;
	finish_flight(c, counts.anomalies);
	return counts.cpu_ns;
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
	add_warning(&c->intake.totals, sentence);
}

void collector_note(struct collector *c, const struct note *note)
{
	struct note ours = *note;

	ours.host = c->run.host;
	intake_fact(&c->intake, &fact_note, &ours);
}

static void collector_free(struct collector *c)
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
	c->earlier = calibrate_moment(o->clock);
	c->tick0 = c->earlier.ticks;
	c->begin_ns = c->earlier.monotonic_ns;
	c->run.started_ns = clock_realtime_ns();
	r = create_directory(c, o, err);
	c->intake.directory = c->directory;
	c->intake.clock = clock_now(c);
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
	if (c->control->magic != CONTROL_MAGIC || c->control->version != SPOOL_VERSION ||
	    (c->clock != CLOCK_SOURCE_COUNTER && c->clock != CLOCK_SOURCE_MONOTONIC))
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
	c->run.started_ns = clock_realtime_ns() - (now.monotonic_ns - c->begin_ns);
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
	struct run_clock ns = { (char *)clock_name(c->clock), 0, 1, 1, 0 };
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
		process_remove_spool(c->directory);
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
	start_watcher(c, o);
	if (!o->handed)
		memcpy(c->plugins, c->control->plugins, sizeof(c->plugins));
	*out = c;
	return 0;
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

/* Runs the periodic tasks. */
static void run_periodic_tasks(struct collector *c)
{
	uint64_t now = clock_monotonic_ns();

	if (is_due(&c->processes_checked_ns, now, CHECK_PROCESSES_NS))
		check_processes(c, is_due(&c->reaped_ns, now, REAP_NS));
	if (c->intake.watcher && is_due(&c->clocked_ns, now, CLOCK_NS)) {
		struct run_clock clock = clock_now(c);

		watcher_clock(c->intake.watcher, &clock);
	}
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

/* An anomaly triggers shipping of the activities before it. */
static void poll_watcher(struct collector *c)
{
	uint64_t anomalies;

	watcher_poll(c->intake.watcher);
	if (!c->intake.flight)
		return;
	anomalies = watcher_counts(c->intake.watcher).anomalies;
	if (anomalies != c->anomalies)
		intake_ship(&c->intake);
	c->anomalies = anomalies;
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
		poll_watcher(c);
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

int collector_close(struct collector *c, int exit_status, struct collector_totals *totals,
		    struct err *err)
{
	struct run_end end = { .exit_status = exit_status, .complete = true };
	struct intake *in = &c->intake;
	struct run_clock ns = { (char *)clock_name(c->clock), 0, 1, 1, 0 };
	struct err late = { 0 };
	int64_t watcher_ns;
	int r;

	c->duration_ns = calibrate_moment(c->clock).monotonic_ns - c->begin_ns;
	end.duration_ns = c->duration_ns;
	atomic_store(&c->control->mode, CAPTURE_OFF);
	if (!in->in_ns)
		in->clock = clock_now(c);
	launches_check(&in->launches);
	read_rest(c);
	intake_unrecorded(in);
	report_limits(c);
	watcher_ns = stop_watcher(c);
	write_accounts(c);
	overhead_finish(&c->overhead, c->directory ? overhead_cpu_ns() : c->cpu_ns, watcher_ns);
	r = in->form->finish(in->writer, &end, in->in_ns ? &ns : &in->clock, &late);
	if (in->error.code)
		r = err_set(err, in->error.code, "%s", in->error.text);
	else if (r < 0)
		r = err_set(err, late.code, "%s", late.text);
	if (totals)
		*totals = in->totals;
	if (c->directory)
		process_remove_spool(c->directory);
	for (size_t i = 0; i < in->released_count && r >= 0; i++)
		c->released(c->released_arg, in->released[i]);
	collector_free(c);
	return r;
}
