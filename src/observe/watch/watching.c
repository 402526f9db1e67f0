/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/watching.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "observe/reason/hierarchy.h"
#include "observe/watch/audience.h"
#include "observe/watch/message.h"
#include "observe/watch/node.h"
#include "observe/watch/plugins.h"
#include "observe/watch/queue.h"
#include "observe/watch/watcher.h"
#include "contract/clock.h"
#include "trace/ticks.h"

#define TICK_NS 100000000
/* How long messages are taken before other things get their turn. */
#define TAKE_NS 20000000
/* The program needs the CPU more. */
#define NICENESS 10

struct detector {
	struct audience *audience;
	size_t plugin;
};

struct work {
	const struct watching *w;
	struct audience *audience;
	struct hierarchy *hierarchy;
	struct detector *detectors;
	struct node *node;
	struct ticks ticks;
	struct buf packed; /* a message being made */
	struct activity batch[WATCHER_BATCH];
	int64_t tick_due_ns, cycle_due_ns, cycle_ns;
	uint64_t judged; /* delivered when the reasoners last judged */
	bool board_failed;
};

static int64_t run_ns(const struct work *work)
{
	return (int64_t)clock_monotonic_ns() - work->w->options->begin_ns;
}

/* ---- the process ---- */

static void signals_ignore(void)
{
	static const int list[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP,	SIGUSR1,
				    SIGUSR2, SIGPIPE, SIGXFSZ, SIGALRM, SIGCONT };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		sigaction(list[i], &ignore, NULL);
}

/* Nothing of the program's or the collector's may stay open because of us: pipes, locks. */
static void descriptors_close(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
		return;
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
}

static void process_settle(pid_t parent)
{
	const struct rlimit none = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_NAME, "sluice-watcher");
	signals_ignore();
	descriptors_close();
	setrlimit(RLIMIT_CORE, &none);
	setpriority(PRIO_PROCESS, 0, NICENESS);
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *t)
{
	syscall(SYS_futex, (uint32_t *)word, operation, value, t, NULL, 0);
}

void watching_wake(struct watching_shared *shared)
{
	/* Pairs with sleep_until(): either it sees the new value, or we see that it sleeps. */
	atomic_fetch_add(&shared->bell, 1);
	if (atomic_load(&shared->asleep))
		futex(&shared->bell, FUTEX_WAKE, INT_MAX, NULL);
}

static void sleep_until(struct work *work, uint32_t bell, int64_t due_ns)
{
	struct watching_shared *shared = work->w->shared;
	int64_t left = due_ns - run_ns(work);
	struct timespec time = { left / 1000000000, left % 1000000000 };

	if (left <= 0)
		return;
	atomic_store(&shared->asleep, 1);
	futex(&shared->bell, FUTEX_WAIT, bell, &time);
	atomic_store(&shared->asleep, 0);
}

/* ---- what is said ---- */

/* The collector takes what we say at least ten times a second; without it we do not live. */
static void say(struct work *work, const struct fact *fact, const void *row)
{
	struct timespec pause = { 0, 1000000 };
	void *room;

	buf_clear(&work->packed);
	message_pack(&work->packed, fact, row);
	while (!(room = queue_room(work->w->back, work->packed.len))) {
		if (getppid() != work->w->parent)
			_exit(0);
		nanosleep(&pause, NULL);
	}
	memcpy(room, work->packed.data, work->packed.len);
	queue_push(work->w->back, message_kind_of(fact), work->packed.len);
}

/* A text that no queue could take is cut: a plug-in's mistake must not stop the others. */
#define NOTE_TEXT_MAX 16384

static void note(void *arg, const struct note *given)
{
	struct note row = *given;
	AUTO_FREE char *value = xstrndup(row.value ? row.value : "", NOTE_TEXT_MAX);
	AUTO_FREE char *name = xstrndup(row.name ? row.name : "", NOTE_TEXT_MAX);

	row.value = value;
	row.name = name;
	say(arg, &fact_note, &row);
}

static void refuse(struct work *work, const char *source, const char *why)
{
	struct note row = { .time_ns = -1,
			    .process = -1,
			    .host = work->w->options->run->host,
			    .source = (char *)source,
			    .kind = NOTE_REFUSED,
			    .name = "not used",
			    .value = (char *)why };

	note(work, &row);
}

static void turn(void *arg, int plugin)
{
	struct work *work = arg;

	atomic_store_explicit(&work->w->shared->turn, plugin, memory_order_relaxed);
}

/* ---- plug-ins and reasoners ---- */

static void plugin_add(struct work *work, const struct plugin_choice *choice)
{
	size_t index = audience_count(work->audience);
	const struct sluice_plugin *plugin;
	AUTO_FREE char *text = NULL;
	struct err err = { 0 };

	if (index < WATCHING_NAMES) {
		snprintf(work->w->shared->names[index], LIBRARY_NAME_BYTES, "%s",
			 choice->short_name);
		turn(work, (int)index);
	}
	plugin = plugin_load(choice, &err);
	if (plugin &&
	    audience_add(work->audience, plugin, choice->short_name, choice->layers, &err) >= 0)
		return;
	text = xprintf("%s (%s)", err.text, choice->origin);
	refuse(work, choice->short_name, text);
}

static void plugins_start(struct work *work)
{
	const struct watcher_options *o = work->w->options;
	struct audience_options options = {
		.config = o->config,
		.run = o->run,
		.calls = call_table,
		.call_count = call_count,
		.arg = work,
		.note = note,
		.turn = turn,
	};

	work->audience = audience_new(&options);
	for (size_t i = 0; i < work->w->choices->count; i++) {
		const struct plugin_choice *choice = &work->w->choices->list[i];

		if (choice->kind == SLUICE_ASYNC && !choice->refusal)
			plugin_add(work, choice);
	}
	turn(work, -1);
}

static bool detector_poll(void *arg, uint32_t process, struct sluice_health *health)
{
	const struct detector *detector = arg;

	return audience_health(detector->audience, detector->plugin, process, health);
}

static void anomaly_heard(void *arg, int32_t process, const struct anomaly *anomaly)
{
	struct work *work = arg;
	const struct health_report *report = anomaly->report;
	AUTO_FREE char *name =
		xprintf("%s %s", role_names[report->role], health_names[report->state]);
	struct note row = { .time_ns = run_ns(work),
			    .process = process,
			    .host = work->w->options->run->host,
			    .source = "reasoner",
			    .kind = NOTE_ANOMALY,
			    .name = name,
			    .value = (char *)anomaly->reason };

	/* What goes on is signalled in each cycle, and told once. */
	if (anomaly->is_new)
		note(work, &row);
	/* After the note: who sees the signal finds the reason in the trace. */
	atomic_fetch_add(&work->w->shared->anomalies, 1);
}

/* Reasoners have something to judge only where there is a detector. */
static void reasoners_start(struct work *work)
{
	const struct watcher_options *o = work->w->options;
	struct reasoner_settings rules = hierarchy_settings(o->config);
	size_t count = audience_count(work->audience), used = 0;

	work->cycle_ns = (int64_t)config_number(o->config, SETTING_REASON_CYCLE);
	work->detectors = xcalloc(count + 1, sizeof(*work->detectors));
	for (size_t i = 0; work->cycle_ns && i < count; i++) {
		if (!audience_is_detector(work->audience, i))
			continue;
		if (!work->hierarchy)
			work->hierarchy = hierarchy_new(o->run->host, o->board, &rules);
		work->detectors[used] = (struct detector){ work->audience, i };
		hierarchy_add_detector(work->hierarchy, detector_poll, &work->detectors[used++]);
	}
	if (work->hierarchy)
		hierarchy_listen(work->hierarchy, anomaly_heard, work);
	work->cycle_due_ns = run_ns(work) + work->cycle_ns;
}

static void reasoners_judge(struct work *work)
{
	struct timespec now;
	struct err err = { 0 };

	work->cycle_due_ns = run_ns(work) + work->cycle_ns;
	work->judged = atomic_load(&work->w->shared->delivered);
	clock_gettime(CLOCK_REALTIME, &now);
	if (hierarchy_cycle(work->hierarchy, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
			    &err) >= 0 ||
	    work->board_failed)
		return;
	work->board_failed = true;
	refuse(work, "reasoner", err.text);
}

/* ---- the node ---- */

static void fact_say(void *arg, const struct fact *fact, const void *row)
{
	say(arg, fact, row);
}

static void node_start(struct work *work)
{
	const struct watcher_options *o = work->w->options;
	struct node_options options = {
		.config = o->config, .host = o->run->host, .arg = work, .fact = fact_say
	};
	struct err err = { 0 };

	work->node = node_new(&options, &err);
	if (err.code)
		refuse(work, "statistics", err.text);
}

static void node_look(struct work *work, int64_t now_ns)
{
	double percent[4];

	if (node_poll(work->node, now_ns, percent) && work->hierarchy)
		hierarchy_load(work->hierarchy, percent);
}

static void node_end(struct work *work)
{
	char text[32];
	struct note row = { .time_ns = -1,
			    .process = -1,
			    .host = work->w->options->run->host,
			    .source = "statistics",
			    .kind = NOTE_COST,
			    .name = "cpu time ns",
			    .value = text };

	if (!work->node)
		return;
	snprintf(text, sizeof(text), "%lld", (long long)node_finish(work->node, run_ns(work)));
	note(work, &row);
	node_free(work->node);
}

/* ---- what is heard ---- */

static void activities_take(struct work *work, const void *bytes, size_t n)
{
	const void *end = (const char *)bytes + n;
	size_t count = 0;

	while (bytes < end && count < WATCHER_BATCH) {
		struct activity *a = &work->batch[count];
		int64_t start;

		bytes = message_unpack_activity(bytes, a);
		start = a->start_ns;
		a->start_ns = ticks_ns(&work->ticks, start);
		a->duration_ns = ticks_span_ns(&work->ticks, start, a->start_ns, a->duration_ns);
		if (work->hierarchy && (!count || a->process != a[-1].process))
			hierarchy_seen(work->hierarchy, a->process);
		count++;
	}
	audience_activities(work->audience, work->batch, count);
	atomic_fetch_add(&work->w->shared->delivered, count);
}

static void fact_take(struct work *work, uint32_t kind, const void *bytes, size_t n)
{
	union fact_row row = { 0 };
	const struct fact *fact = kind < MESSAGE_KINDS ? message_facts[kind] : NULL;

	if (!fact)
		return;
	if (message_unpack(fact, bytes, n, &row)) {
		if (fact == &fact_file)
			audience_file(work->audience, row.file.id, row.file.path);
		else if (fact == &fact_process)
			audience_process(work->audience, &row.process);
		else if (fact == &fact_clock)
			ticks_init(&work->ticks, &row.clock);
	}
	fact_release(fact, &row);
}

/* Takes messages for a while. False: there was none. */
static bool messages_take(struct work *work)
{
	int64_t until = run_ns(work) + TAKE_NS;
	bool any = false;
	const void *bytes;
	uint32_t kind;
	size_t n;

	while ((bytes = queue_peek(work->w->in, &kind, &n))) {
		if (kind == MESSAGE_ACTIVITIES)
			activities_take(work, bytes, n);
		else
			fact_take(work, kind, bytes, n);
		queue_pop(work->w->in);
		any = true;
		if (run_ns(work) > until)
			break;
	}
	return any;
}

/* What is due by now. Returns when the next is. */
static int64_t chores(struct work *work)
{
	int64_t now = run_ns(work), next;

	audience_time(work->audience, now);
	if (now >= work->tick_due_ns) {
		audience_tick(work->audience);
		work->tick_due_ns = now + TICK_NS;
	}
	next = work->tick_due_ns;
	if (work->node)
		node_look(work, now);
	if (work->node && node_due_ns(work->node) < next)
		next = node_due_ns(work->node);
	if (work->hierarchy && now >= work->cycle_due_ns)
		reasoners_judge(work);
	if (work->hierarchy && work->cycle_due_ns < next)
		next = work->cycle_due_ns;
	return next;
}

static void work_end(struct work *work)
{
	audience_time(work->audience, run_ns(work));
	if (work->hierarchy && atomic_load(&work->w->shared->delivered) != work->judged)
		reasoners_judge(work);
	node_end(work);
	audience_report(work->audience);
	audience_free(work->audience);
	hierarchy_free(work->hierarchy);
	free(work->detectors);
	buf_release(&work->packed);
}

void watching_run(const struct watching *w)
{
	struct work work = { .w = w };

	process_settle(w->parent);
	ticks_init(&work.ticks, w->options->clock);
	plugins_start(&work);
	reasoners_start(&work);
	node_start(&work);
	while (!queue_is_over(w->in)) {
		uint32_t bell = atomic_load(&w->shared->bell);
		bool any = messages_take(&work);
		int64_t next = chores(&work);

		if (getppid() != w->parent)
			_exit(0);
		if (!any && !queue_is_over(w->in))
			sleep_until(&work, bell, next);
	}
	work_end(&work);
	atomic_store(&w->shared->finished, 1);
}
