/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/reception.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/process.h"
#include "base/trusted.h"
#include "observe/collect/calibrate.h"
#include "observe/collect/cpu_counter.h"
#include "observe/collect/intake.h"
#include "observe/collect/ledger.h"
#include "observe/collect/reception_files.h"

#define RUNS_MAX 64
#define SPOOLS_MAX 4096
#define LINGER_NS (2 * NS_PER_S)
#define RETRY_NS (5 * NS_PER_S) /* after a trace could not be written */
#define CALIBRATION_NS (20 * NS_PER_MS)
#define FORGOTTEN_NS (30 * NS_PER_S) /* how long to wait for the processes of an old run */
#define TICKETS 4		     /* messages about one spool that are kept */
#define UUID_DIGITS 32

/* A spool that was handed over. */
struct guest {
	uint64_t id;	/* ticket of the collector's member */
	uint64_t inode; /* of the spool */
	uint64_t tickets[TICKETS];
	size_t ticket_count;
	bool has_counters;
	char name[HANDOVER_NAME_BYTES];
	struct intake_handed handed; /* its descriptors, while the run has no collector */
};

struct run {
	struct reception *reception;
	struct reception_run info;
	char job[HANDOVER_JOB_BYTES], partition[HANDOVER_PARTITION_BYTES];
	char control_name[HANDOVER_NAME_BYTES];
	char program[256];	/* of the first process, for the name of the trace */
	int control;		/* descriptor */
	uint64_t device, inode; /* of the control page */
	char uuid[UUID_DIGITS + 1];
	char *base; /* path of the trace without suffixes */
	char *command, *directory;
	struct collector *collector; /* NULL: the last one failed, the next one starts later */
	bool is_continued;	     /* an earlier reception has begun its trace */
	uint64_t retry_at_ns, last_alive_ns;
	struct guest **guests;
	size_t guest_count, guest_cap;
	uint64_t *released; /* ids of guests whose records are in the trace */
	size_t released_count, released_cap;
};

struct reception {
	struct reception_options options;
	char *traces;
	int spools;				   /* descriptor of the directory; -1: none */
	struct moment earlier[CLOCK_SOURCE_COUNT]; /* by enum capture_clock */
	uint64_t opened_ns;
	struct run **runs;
	size_t run_count, run_cap;
	uint64_t next_id;
	struct reception_counts counts;
};

int reception_open(struct reception **out, const struct reception_options *options, struct err *err)
{
	AUTO_CLOSE int traces = trusted_make_directory(options->traces, err);
	struct cpu_counter counter;
	struct reception *r;
	int spools = -1;

	if (traces < 0)
		return traces;
	if (options->spools)
		spools = open(options->spools, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (options->spools && spools < 0)
		return err_set(err, errno, "%s: %s", options->spools, strerror(errno));
	r = xcalloc(1, sizeof(*r));
	r->options = *options;
	r->spools = spools;
	if (!r->options.runs_max)
		r->options.runs_max = RUNS_MAX;
	if (!r->options.spools_max)
		r->options.spools_max = SPOOLS_MAX;
	if (!r->options.linger_ns)
		r->options.linger_ns = LINGER_NS;
	if (!r->options.shards)
		r->options.shards = 1;
	r->traces = xstrdup(options->traces);
	cpu_counter_read(&counter);
	for (int i = 0; i < CLOCK_SOURCE_COUNT; i++) {
		/* What guests cannot read, this process cannot read either. */
		if (i != CLOCK_SOURCE_COUNTER || counter.state != COUNTER_UNREADABLE)
			r->earlier[i] = calibrate_moment((enum capture_clock)i);
	}
	clock_sleep_ns(CALIBRATION_NS);
	r->opened_ns = clock_monotonic_ns();
	*out = r;
	return 0;
}

/* ---- Guests ---- */

static void release_ticket(const struct reception *r, uint64_t ticket)
{
	if (ticket && r->options.on_release)
		r->options.on_release(r->options.arg, ticket);
}

static void close_fds(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void guest_free(struct guest *g)
{
	close_fds(&g->handed.spool, 1);
	close_fds(&g->handed.counters, 1);
	free(g);
}

static struct guest *guest_find(const struct run *run, uint64_t id)
{
	for (size_t i = 0; i < run->guest_count; i++)
		if (run->guests[i]->id == id)
			return run->guests[i];
	return NULL;
}

static void guest_remove(struct run *run, struct guest *g)
{
	size_t i = 0;

	while (run->guests[i] != g)
		i++;
	run->guests[i] = run->guests[--run->guest_count];
	run->reception->counts.spools--;
	for (size_t t = 0; t < g->ticket_count; t++)
		release_ticket(run->reception, g->tickets[t]);
	guest_free(g);
}

/* The records of these guests are in the trace: their files are not needed any more. */
static void remove_released(struct run *run)
{
	for (size_t i = 0; i < run->released_count; i++) {
		struct guest *g = guest_find(run, run->released[i]);

		if (!g)
			continue;
		reception_remove_spool(run->reception->spools, g->name, g->inode);
		guest_remove(run, g);
	}
	run->released_count = 0;
}

static void on_released(void *arg, uint64_t id)
{
	struct run *run = arg;

	run->released = xgrow(run->released, &run->released_cap, run->released_count + 1,
			      sizeof(*run->released));
	run->released[run->released_count++] = id;
}

/* ---- Runs ---- */

static void run_free(struct run *run)
{
	struct reception *r = run->reception;
	size_t i = 0;

	while (run->guest_count) {
		struct guest *g = run->guests[--run->guest_count];

		r->counts.spools--;
		guest_free(g);
	}
	while (i < r->run_count && r->runs[i] != run)
		i++;
	if (i < r->run_count) {
		r->runs[i] = r->runs[--r->run_count];
		r->counts.runs--;
	}
	close_fds(&run->control, 1);
	free(run->guests);
	free(run->released);
	free(run->command);
	free(run->directory);
	free(run->base);
	free(run);
}

static void tap_file(void *arg, file_id id, const char *path)
{
	const struct run *run = arg;
	const struct reception_options *o = &run->reception->options;

	o->on_file(o->arg, &run->info, id, path);
}

static void tap_activities(void *arg, const struct activity *batch, size_t n)
{
	const struct run *run = arg;
	const struct reception_options *o = &run->reception->options;

	o->on_activities(o->arg, &run->info, batch, n);
}

static char *user_name(uid_t user)
{
	struct passwd entry, *found = NULL;
	char text[1024];

	if (getpwuid_r(user, &entry, text, sizeof(text), &found) == 0 && found)
		return xstrdup(found->pw_name);
	return xprintf("%u", (unsigned)user);
}

static struct run_info run_describe(const struct run *run)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return (struct run_info){ .uuid = xstrdup(run->uuid),
				  .command = xstrdup(run->command),
				  .directory = xstrdup(run->directory),
				  .host = xstrdup(host),
				  .user = user_name(run->info.user),
				  .version = xstrdup(SLUICE_VERSION) };
}

/* Opens the collector, which continues the trace if there is one. */
static int run_open_collector(struct run *run, struct err *err)
{
	const struct reception *r = run->reception;
	const struct reception_options *o = &r->options;
	AUTO_FREE char *ledger = xprintf("%s" LEDGER_SUFFIX, run->base);
	AUTO_FREE char *trace = xprintf("%s" RECEPTION_PARTIAL, run->base);
	struct intake_tap tap = { o->on_file ? tap_file : NULL,
				  o->on_activities ? tap_activities : NULL, run };
	uint32_t clock = reception_read_clock(run->control);
	struct collector_handed handed = {
		.control = run->control,
		.ledger = ledger,
		.earlier = &r->earlier[clock],
		.is_foreign = run->info.user != geteuid(),
		.tap = &tap,
		.released = on_released,
		.arg = run,
	};
	bool is_flight = run->info.mode == POLICY_FLIGHT;
	struct run_info info = run_describe(run);
	struct collector_options options = {
		.trace = trace,
		.mode = run->info.mode == POLICY_COUNTERS ? CAPTURE_COUNTERS : CAPTURE_TRACE,
		.run = &info,
		.config = is_flight ? o->config : NULL,
		.flight_ring = is_flight ? o->flight_ring : 0,
		.handed = &handed,
		.overhead_budget = o->overhead_budget,
		.overhead_grace_ns = o->overhead_grace_ns,
	};
	int result = collector_open(&run->collector, &options, err);

	run_info_release(&info);
	return result;
}

static void make_uuid(char uuid[UUID_DIGITS + 1])
{
	unsigned char bytes[UUID_DIGITS / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(uuid + 2 * i, 3, "%02x", bytes[i]);
}

/* The run that an earlier reception has begun with this control page; false if there is none. */
static bool find_earlier(struct run *run, const char *directory)
{
	AUTO_FREE char *ledger = NULL;

	if (!reception_read_uuid(run->control, run->uuid, UUID_DIGITS))
		return false;
	for (size_t i = 0; i < run->reception->run_count; i++)
		if (!strcmp(run->reception->runs[i]->uuid, run->uuid))
			return false;
	ledger = xprintf("%s/%s" LEDGER_SUFFIX, directory, run->uuid);
	return place_exists(ledger);
}

/* Stores what the ledger must tell about the run if its processes are gone. */
static void fill_ledger(const struct run *run)
{
	AUTO_FREE char *path = xprintf("%s" LEDGER_SUFFIX, run->base);

	reception_describe_ledger(path, &run->info, run->control_name, run->inode);
}

static int run_start(struct run *run, struct err *err)
{
	AUTO_FREE char *directory =
		xprintf("%s/%u", run->reception->traces, (unsigned)run->info.user);
	AUTO_CLOSE int fd = trusted_make_directory(directory, err);
	int result;

	if (fd < 0)
		return fd;
	run->is_continued = find_earlier(run, directory);
	if (!run->is_continued)
		make_uuid(run->uuid);
	run->base = xprintf("%s/%s", directory, run->uuid);
	result = run_open_collector(run, err);
	if (result == -EBUSY) {
		/* The control page names a run of another reception. */
		run->is_continued = false;
		make_uuid(run->uuid);
		free(run->base);
		run->base = xprintf("%s/%s", directory, run->uuid);
		result = run_open_collector(run, err);
	}
	if (result >= 0)
		fill_ledger(run);
	return result;
}

static size_t count_runs(const struct reception *r, uid_t user, size_t *spools)
{
	size_t runs = 0;

	*spools = 0;
	for (size_t i = 0; i < r->run_count; i++) {
		if (r->runs[i]->info.user != user)
			continue;
		runs++;
		*spools += r->runs[i]->guest_count;
	}
	return runs;
}

static struct run *run_find(const struct reception *r, const struct stat *control)
{
	for (size_t i = 0; i < r->run_count; i++)
		if (r->runs[i]->device == control->st_dev && r->runs[i]->inode == control->st_ino)
			return r->runs[i];
	return NULL;
}

/* Begins a run; takes the descriptor of the control page on success. */
static int run_begin(struct reception *r, const struct reception_message *m,
		     const struct stat *control, struct run **out, struct err *err)
{
	const struct hello *hello = &m->hello;
	struct run *run;
	size_t spools;
	int result;

	if (count_runs(r, m->user, &spools) >= r->options.runs_max)
		return err_set(err, EDQUOT, "user %u has %zu runs, which is the limit",
			       (unsigned)m->user, r->options.runs_max);
	if (reception_is_closed(m->fds[HANDOVER_CONTROL]))
		return err_set(err, ESHUTDOWN, "the trace of this run is complete");
	run = xcalloc(1, sizeof(*run));
	run->reception = r;
	run->control = m->fds[HANDOVER_CONTROL];
	run->device = control->st_dev;
	run->inode = control->st_ino;
	snprintf(run->job, sizeof(run->job), "%s", hello->job);
	snprintf(run->partition, sizeof(run->partition), "%s", hello->partition);
	snprintf(run->control_name, sizeof(run->control_name), "%s", hello->control);
	run->info = (struct reception_run){ .user = m->user,
					    .mode = hello->mode,
					    .id = ++r->next_id,
					    .key = hello->key,
					    .job = run->job,
					    .partition = run->partition };
	reception_read_process(m->fds[HANDOVER_SPOOL], run->program, sizeof(run->program),
			       &run->command, &run->directory);
	run->last_alive_ns = clock_monotonic_ns();
	result = run_start(run, err);
	if (result < 0) {
		run->control = -1;
		run_free(run);
		return result;
	}
	r->runs = xgrow(r->runs, &r->run_cap, r->run_count + 1, sizeof(*r->runs));
	r->runs[r->run_count++] = run;
	r->counts.runs++;
	*out = run;
	return 0;
}

/* Removes a run that has got no spool. */
static void run_discard(struct run *run)
{
	AUTO_FREE char *trace = xstrdup(collector_trace(run->collector));
	AUTO_FREE char *ledger = xprintf("%s" LEDGER_SUFFIX, run->base);

	collector_abandon(run->collector, NULL, NULL);
	unlink(trace);
	unlink(ledger);
	run_free(run);
}

/* ---- Messages ---- */

static bool text_ends(const char *text, size_t bytes)
{
	return memchr(text, 0, bytes) != NULL;
}

static int check_message(const struct reception_message *m, struct err *err)
{
	const struct hello *h = &m->hello;

	if (m->fd_count <= HANDOVER_SPOOL || m->fd_count > HANDOVER_DESCRIPTORS)
		return err_set(err, EINVAL, "a message with %zu descriptors", m->fd_count);
	if (h->version != SPOOL_VERSION)
		return err_set(err, EPROTONOSUPPORT,
			       "the process has spools of version %u, this daemon reads version %u",
			       h->version, SPOOL_VERSION);
	if (h->mode == POLICY_OFF || h->mode >= POLICY_MODE_COUNT ||
	    !text_ends(h->job, sizeof(h->job)) || !text_ends(h->partition, sizeof(h->partition)) ||
	    !text_ends(h->spool, sizeof(h->spool)) || !text_ends(h->control, sizeof(h->control)) ||
	    strchr(h->spool, '/') || strchr(h->control, '/'))
		return err_set(err, EINVAL, "a message with wrong content");
	return 0;
}

/* A descriptor must be a file of the peer that it could not have got elsewhere. */
static int check_file(int fd, uid_t user, size_t bytes, const char *what, struct stat *st,
		      struct err *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (fstat(fd, st) != 0 || flags < 0)
		return err_set(err, errno, "%s: %s", what, strerror(errno));
	if (!S_ISREG(st->st_mode) || st->st_uid != user || (size_t)st->st_size < bytes ||
	    (flags & O_ACCMODE) != O_RDWR || flags & O_PATH)
		return err_set(err, EINVAL,
			       "%s: not a file of user %u with %zu bytes that can be written", what,
			       (unsigned)user, bytes);
	return 0;
}

static struct guest *guest_by_inode(const struct run *run, uint64_t inode)
{
	for (size_t i = 0; i < run->guest_count; i++)
		if (run->guests[i]->inode == inode)
			return run->guests[i];
	return NULL;
}

/* A message about a spool that is known, perhaps with its counters. */
static int take_again(struct run *run, struct guest *g, const struct reception_message *m,
		      int *counters)
{
	struct reception *r = run->reception;

	r->counts.repeated++;
	if (*counters >= 0 && !g->has_counters && g->ticket_count < TICKETS && run->collector &&
	    collector_adopt_counters(run->collector, g->id, *counters) == 0) {
		*counters = -1;
		g->has_counters = true;
		g->tickets[g->ticket_count++] = m->ticket;
	} else {
		release_ticket(r, m->ticket);
	}
	return 0;
}

/* Adds a spool; its descriptors are taken on success. */
static int take_spool(struct run *run, const struct reception_message *m, uint64_t inode,
		      struct err *err)
{
	struct reception *r = run->reception;
	struct guest *g = xcalloc(1, sizeof(*g));
	int result = 0;

	g->id = ++r->next_id;
	g->inode = inode;
	g->tickets[g->ticket_count++] = m->ticket;
	g->has_counters = m->fd_count > HANDOVER_COUNTERS;
	snprintf(g->name, sizeof(g->name), "%s", m->hello.spool);
	g->handed = (struct intake_handed){ m->fds[HANDOVER_SPOOL],
					    g->has_counters ? m->fds[HANDOVER_COUNTERS] : -1,
					    m->hello.number, (int32_t)m->process, g->id };
	if (run->collector) {
		result = collector_adopt(run->collector, &g->handed, err);
		if (result < 0) {
			free(g);
			return result;
		}
		g->handed.spool = g->handed.counters = -1;
	}
	run->guests =
		xgrow(run->guests, &run->guest_cap, run->guest_count + 1, sizeof(*run->guests));
	run->guests[run->guest_count++] = g;
	run->last_alive_ns = clock_monotonic_ns();
	r->counts.spools++;
	r->counts.accepted++;
	return 0;
}

/* fds: what is taken is set to -1. */
static int take_message(struct reception *r, const struct reception_message *m,
			int fds[HANDOVER_DESCRIPTORS], struct err *err)
{
	struct stat control, spool, counters;
	struct guest *known = NULL;
	bool is_new = false;
	struct run *run;
	size_t spools;
	int result = check_message(m, err);

	if (result >= 0)
		result = check_file(fds[HANDOVER_CONTROL], m->user, sizeof(struct control),
				    "control page", &control, err);
	if (result >= 0)
		result = check_file(fds[HANDOVER_SPOOL], m->user, SPOOL_HEADER_BYTES, "spool",
				    &spool, err);
	if (result >= 0 && m->fd_count > HANDOVER_COUNTERS)
		result = check_file(fds[HANDOVER_COUNTERS], m->user, sizeof(struct counters_file),
				    "counters", &counters, err);
	if (result < 0)
		return result;
	run = run_find(r, &control);
	if (run && run->info.user == m->user)
		known = guest_by_inode(run, spool.st_ino);
	if (known)
		return take_again(run, known, m, &fds[HANDOVER_COUNTERS]);
	count_runs(r, m->user, &spools);
	if (spools >= r->options.spools_max)
		return err_set(err, EDQUOT, "user %u has %zu spools, which is the limit",
			       (unsigned)m->user, spools);
	if (!run) {
		result = run_begin(r, m, &control, &run, err);
		if (result < 0)
			return result;
		fds[HANDOVER_CONTROL] = -1;
		is_new = true;
	}
	result = take_spool(run, m, spool.st_ino, err);
	/* A run that was continued keeps its trace. */
	if (result < 0 && is_new && !run->is_continued)
		run_discard(run);
	if (result >= 0)
		fds[HANDOVER_SPOOL] = fds[HANDOVER_COUNTERS] = -1;
	return result;
}

int reception_take(struct reception *r, const struct reception_message *m, struct err *err)
{
	int fds[HANDOVER_DESCRIPTORS] = { -1, -1, -1 };
	int result;

	for (size_t i = 0; i < m->fd_count && i < HANDOVER_DESCRIPTORS; i++)
		fds[i] = m->fds[i];
	result = take_message(r, m, fds, err);
	if (result < 0) {
		r->counts.refused++;
		release_ticket(r, m->ticket);
	}
	/* Nobody will ever read it. */
	if (result == -ESHUTDOWN && fds[HANDOVER_SPOOL] >= 0)
		reception_remove_spool(r->spools, m->hello.spool,
				       reception_inode(fds[HANDOVER_SPOOL]));
	close_fds(fds, HANDOVER_DESCRIPTORS);
	return result;
}

/* ---- Passes ---- */

static void keep_descriptors(void *arg, const struct intake_handed *handed)
{
	struct guest *g = guest_find(arg, handed->ticket);

	if (g) {
		g->handed = *handed;
		return;
	}
	close_fds(&handed->spool, 1);
	close_fds(&handed->counters, 1);
}

/* The trace cannot be written now. Records stay in the spools until the next attempt. */
static void run_suspend(struct run *run)
{
	collector_abandon(run->collector, keep_descriptors, run);
	run->collector = NULL;
	run->released_count = 0;
	run->retry_at_ns = clock_monotonic_ns() + RETRY_NS;
}

static void run_resume(struct run *run)
{
	struct err err = { 0 };

	if (clock_monotonic_ns() < run->retry_at_ns)
		return;
	if (run_open_collector(run, &err) < 0) {
		run->retry_at_ns = clock_monotonic_ns() + RETRY_NS;
		return;
	}
	for (size_t i = 0; i < run->guest_count; i++) {
		struct guest *g = run->guests[i];

		if (g->handed.spool < 0 || collector_adopt(run->collector, &g->handed, &err) < 0) {
			on_released(run, g->id);
			continue;
		}
		g->handed.spool = g->handed.counters = -1;
	}
	remove_released(run);
}

static void report_end(const struct run *run, const char *trace,
		       const struct collector_totals *totals, const struct err *err)
{
	const struct reception_options *o = &run->reception->options;
	struct reception_end end = {
		.run = run->info, .trace = trace, .totals = totals, .err = err
	};

	if (o->on_end)
		o->on_end(o->arg, &end);
}

/* Completes the trace of a run. */
static void run_end(struct run *run)
{
	struct reception *r = run->reception;
	AUTO_FREE char *partial = xstrdup(collector_trace(run->collector));
	AUTO_FREE char *path = NULL;
	struct collector_totals totals = { 0 };
	struct err err = { 0 };
	int result;

	/* A process that starts from now on begins another run. */
	reception_remove_control(r->spools, run->control_name, run->inode);
	reception_mark_closed(run->control);
	result = collector_close(run->collector, -1, &totals, &err);
	run->collector = NULL;
	r->counts.activities += totals.activities;
	if (result >= 0) {
		path = reception_publish(run->base, partial, run->program);
		remove_released(run);
	}
	report_end(run, path, &totals, result < 0 ? &err : NULL);
	run_free(run);
}

/* Returns the number of activities. May free the run. */
static size_t run_poll(struct run *run, uint64_t now)
{
	size_t taken;

	if (!run->collector)
		run_resume(run);
	if (!run->collector)
		return 0;
	taken = collector_poll(run->collector);
	if (collector_error(run->collector)) {
		run_suspend(run);
		return 0;
	}
	remove_released(run);
	if (taken || collector_live(run->collector))
		run->last_alive_ns = now;
	else if (now - run->last_alive_ns > run->reception->options.linger_ns)
		run_end(run);
	return taken;
}

size_t reception_poll(struct reception *r)
{
	uint64_t now = clock_monotonic_ns();
	size_t taken = 0;

	for (size_t i = r->run_count; i-- > 0;)
		taken += run_poll(r->runs[i], now);
	return taken;
}

struct reception_counts reception_counts(const struct reception *r)
{
	return r->counts;
}

void reception_close(struct reception *r)
{
	if (!r)
		return;
	while (r->run_count) {
		struct run *run = r->runs[r->run_count - 1];

		if (run->collector)
			collector_abandon(run->collector, NULL, NULL);
		run->collector = NULL;
		run_free(run);
	}
	if (r->spools >= 0)
		close(r->spools);
	free(r->runs);
	free(r->traces);
	free(r);
}

/* ---- Files that were not handed over ---- */

static bool is_known(const void *arg, uint64_t inode)
{
	const struct reception *r = arg;

	for (size_t i = 0; i < r->run_count; i++)
		if (r->runs[i]->inode == inode || guest_by_inode(r->runs[i], inode))
			return true;
	return false;
}

static bool on_found(void *arg, const struct reception_found *found)
{
	struct reception *r = arg;
	struct reception_message message = { .user = found->user, .hello = found->hello };

	if (found->control_inode % r->options.shards != r->options.shard ||
	    is_known(r, found->spool_inode))
		return false;
	if (!reception_open_found(r->spools, found, message.fds, &message.fd_count))
		return false;
	reception_read_job(message.fds[HANDOVER_CONTROL], &message.hello);
	return reception_take(r, &message, NULL) >= 0;
}

/* Completes the trace of an earlier reception whose processes are gone. */
static void on_forgotten(void *arg, const struct reception_run *run, const char *trace)
{
	const struct reception *r = arg;
	struct reception_end end = { .run = *run, .trace = trace };

	if (r->options.on_end)
		r->options.on_end(r->options.arg, &end);
}

size_t reception_scan(struct reception *r)
{
	bool is_settled = clock_monotonic_ns() - r->opened_ns > FORGOTTEN_NS;
	size_t found = r->spools < 0 ? 0 : reception_find_spools(r->spools, on_found, r);

	if (!is_settled || r->options.shard)
		return found;
	reception_find_forgotten(r->spools, r->traces, on_forgotten, r);
	/* With several receptions, this one does not know all runs. */
	if (r->spools >= 0 && r->options.shards == 1)
		reception_clean_controls(r->spools, is_known, r);
	return found;
}
