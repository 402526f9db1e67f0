/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/watcher_process.h"

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

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "contract/clock.h"
#include "observe/reason/hierarchy.h"
#include "observe/watch/message.h"
#include "observe/watch/node.h"
#include "observe/watch/plugin_host.h"
#include "observe/watch/plugins.h"
#include "observe/watch/queue.h"
#include "observe/watch/watcher.h"
#include "trace/ticks.h"

#define TICK_NS 100000000
/* How long messages are received before the periodic tasks run again. */
#define RECEIVE_NS 20000000
/* The program has priority. */
#define NICENESS 10

struct detector {
	struct plugin_host *plugins;
	size_t plugin;
};

struct work {
	const struct watcher_process *w;
	struct plugin_host *plugins;
	struct hierarchy *hierarchy;
	struct detector *detectors;
	struct node *node;
	struct ticks ticks;
	struct buf packed; /* buffer for the message to send */
	struct activity batch[WATCHER_BATCH];
	int64_t tick_due_ns, cycle_due_ns, cycle_ns;
	uint64_t judged; /* value of `delivered` when the reasoners last judged */
	bool health_file_failed;
};

static int64_t run_ns(const struct work *work)
{
	return (int64_t)clock_monotonic_ns() - work->w->options->begin_ns;
}

static void ignore_signals(void)
{
	static const int list[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP,	SIGUSR1,
				    SIGUSR2, SIGPIPE, SIGXFSZ, SIGALRM, SIGCONT };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		sigaction(list[i], &ignore, NULL);
}

/* The watcher must not keep pipes and locks of the program or the collector open. */
static void close_descriptors(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
		return;
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
}

static void prepare_process(pid_t parent)
{
	const struct rlimit none = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_NAME, "sluice-watcher");
	ignore_signals();
	close_descriptors();
	setrlimit(RLIMIT_CORE, &none);
	setpriority(PRIO_PROCESS, 0, NICENESS);
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *t)
{
	syscall(SYS_futex, (uint32_t *)word, operation, value, t, NULL, 0);
}

void watcher_wake(struct watcher_shared *shared)
{
	/* Pairs with sleep_until(): either it sees the new value, or we see that it sleeps. */
	atomic_fetch_add(&shared->bell, 1);
	if (atomic_load(&shared->asleep))
		futex(&shared->bell, FUTEX_WAKE, INT_MAX, NULL);
}

static void sleep_until(struct work *work, uint32_t bell, int64_t due_ns)
{
	struct watcher_shared *shared = work->w->shared;
	int64_t left = due_ns - run_ns(work);
	struct timespec time = { left / NS_PER_S, left % NS_PER_S };

	if (left <= 0)
		return;
	atomic_store(&shared->asleep, 1);
	futex(&shared->bell, FUTEX_WAIT, bell, &time);
	atomic_store(&shared->asleep, 0);
}

/* The collector receives messages at least ten times a second; if it is gone, the watcher exits. */
static void send_fact(struct work *work, const struct fact *fact, const void *row)
{
	void *room;

	buf_clear(&work->packed);
	message_pack(&work->packed, fact, row);
	while (!(room = queue_room(work->w->back, work->packed.len))) {
		if (getppid() != work->w->parent)
			_exit(0);
		clock_sleep_ns(NS_PER_MS);
	}
	memcpy(room, work->packed.data, work->packed.len);
	queue_push(work->w->back, message_kind_of(fact), work->packed.len);
}

/*
 * Longer texts do not fit into the queue and are cut, so that one plug-in cannot stop the others.
 */
#define NOTE_TEXT_MAX 16384

static void send_note(void *arg, const struct note *given)
{
	struct note row = *given;
	AUTO_FREE char *value = xstrndup(row.value ? row.value : "", NOTE_TEXT_MAX);
	AUTO_FREE char *name = xstrndup(row.name ? row.name : "", NOTE_TEXT_MAX);

	row.value = value;
	row.name = name;
	send_fact(arg, &fact_note, &row);
}

static void send_refusal(struct work *work, const char *source, const char *why)
{
	struct note row = { .time_ns = -1,
			    .process = -1,
			    .host = work->w->options->run->host,
			    .source = (char *)source,
			    .kind = NOTE_REFUSED,
			    .name = "not used",
			    .value = (char *)why };

	send_note(work, &row);
}

static void set_running(void *arg, int plugin)
{
	struct work *work = arg;

	atomic_store_explicit(&work->w->shared->turn, plugin, memory_order_relaxed);
}

static void start_plugin(struct work *work, const struct plugin_choice *choice)
{
	size_t index = plugin_host_count(work->plugins);
	const struct sluice_plugin *plugin;
	AUTO_FREE char *text = NULL;
	struct err err = { 0 };

	if (index < WATCHER_NAMES) {
		snprintf(work->w->shared->names[index], LIBRARY_NAME_BYTES, "%s",
			 choice->short_name);
		set_running(work, (int)index);
	}
	plugin = plugin_load(choice, &err);
	if (plugin &&
	    plugin_host_add(work->plugins, plugin, choice->short_name, choice->layers, &err) >= 0)
		return;
	text = xprintf("%s (%s)", err.text, choice->origin);
	send_refusal(work, choice->short_name, text);
}

static void start_plugins(struct work *work)
{
	const struct watcher_options *o = work->w->options;
	struct plugin_host_options options = {
		.config = o->config,
		.run = o->run,
		.calls = call_table,
		.call_count = call_count,
		.arg = work,
		.note = send_note,
		.running = set_running,
		.control = o->control,
	};

	work->plugins = plugin_host_new(&options);
	for (size_t i = 0; i < work->w->choices->count; i++) {
		const struct plugin_choice *choice = &work->w->choices->list[i];

		if (choice->kind == SLUICE_ASYNC && !choice->refusal)
			start_plugin(work, choice);
	}
	set_running(work, -1);
}

static bool detector_poll(void *arg, uint32_t process, struct sluice_health *health)
{
	const struct detector *detector = arg;

	return plugin_host_health(detector->plugins, detector->plugin, process, health);
}

static void on_anomaly(void *arg, int32_t process, const struct anomaly *anomaly)
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

	/* A lasting anomaly is signaled in each cycle and noted once. */
	if (anomaly->is_new)
		send_note(work, &row);
	/* After the note, so that the trace holds the reason when the signal is seen. */
	atomic_fetch_add(&work->w->shared->anomalies, 1);
}

/* Reasoners are needed only if there is a detector. */
static void start_reasoners(struct work *work)
{
	const struct watcher_options *o = work->w->options;
	struct reasoner_settings rules = hierarchy_settings(o->config);
	size_t count = plugin_host_count(work->plugins), used = 0;

	work->cycle_ns = (int64_t)config_number(o->config, SETTING_HEALTH_INTERVAL);
	work->detectors = xcalloc(count + 1, sizeof(*work->detectors));
	for (size_t i = 0; work->cycle_ns && i < count; i++) {
		if (!plugin_host_is_detector(work->plugins, i))
			continue;
		if (!work->hierarchy)
			work->hierarchy = hierarchy_new(o->run->host, o->health_directory, &rules);
		work->detectors[used] = (struct detector){ work->plugins, i };
		hierarchy_add_detector(work->hierarchy, detector_poll, &work->detectors[used++]);
	}
	if (work->hierarchy)
		hierarchy_listen(work->hierarchy, on_anomaly, work);
	work->cycle_due_ns = run_ns(work) + work->cycle_ns;
}

static void run_reasoners(struct work *work)
{
	struct err err = { 0 };

	work->cycle_due_ns = run_ns(work) + work->cycle_ns;
	work->judged = atomic_load(&work->w->shared->delivered);
	if (hierarchy_cycle(work->hierarchy, clock_realtime_ns(), &err) >= 0 ||
	    work->health_file_failed)
		return;
	work->health_file_failed = true;
	send_refusal(work, "reasoner", err.text);
}

static void on_statistics_fact(void *arg, const struct fact *fact, const void *row)
{
	send_fact(arg, fact, row);
}

static void start_node(struct work *work)
{
	const struct watcher_options *o = work->w->options;
	struct node_options options = {
		.config = o->config, .host = o->run->host, .arg = work, .fact = on_statistics_fact
	};
	struct err err = { 0 };

	work->node = node_new(&options, &err);
	if (err.code)
		send_refusal(work, "statistics", err.text);
}

static void poll_node(struct work *work, int64_t now_ns)
{
	double percent[4];

	if (node_poll(work->node, now_ns, percent) && work->hierarchy)
		hierarchy_load(work->hierarchy, percent);
}

static void finish_node(struct work *work)
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
	send_note(work, &row);
	node_free(work->node);
}

static void receive_activities(struct work *work, const void *bytes, size_t n)
{
	const void *end = (const char *)bytes + n;
	size_t count = 0;

	while (bytes < end && count < WATCHER_BATCH) {
		struct activity *a = &work->batch[count];
		int64_t start_ticks, duration_ticks;

		bytes = message_unpack_activity(bytes, a);
		start_ticks = a->start_ns;
		duration_ticks = a->duration_ns;
		a->start_ns = ticks_ns(&work->ticks, start_ticks);
		a->duration_ns =
			ticks_span_ns(&work->ticks, start_ticks, a->start_ns, duration_ticks);
		if (work->hierarchy && (!count || a->process != a[-1].process))
			hierarchy_seen(work->hierarchy, a->process);
		count++;
	}
	plugin_host_activities(work->plugins, work->batch, count);
	atomic_fetch_add(&work->w->shared->delivered, count);
}

static void receive_fact(struct work *work, uint32_t kind, const void *bytes, size_t n)
{
	union fact_row row = { 0 };
	const struct fact *fact = kind < MESSAGE_KINDS ? message_facts[kind] : NULL;

	if (!fact)
		return;
	if (message_unpack(fact, bytes, n, &row)) {
		if (fact == &fact_file)
			plugin_host_file(work->plugins, row.file.id, row.file.path);
		else if (fact == &fact_process)
			plugin_host_process(work->plugins, &row.process);
		else if (fact == &fact_clock)
			ticks_init(&work->ticks, &row.clock);
	}
	fact_release(fact, &row);
}

/* Receives messages for a while. Returns false if there was none. */
static bool receive_messages(struct work *work)
{
	int64_t until = run_ns(work) + RECEIVE_NS;
	bool any = false;
	const void *bytes;
	uint32_t kind;
	size_t n;

	while ((bytes = queue_peek(work->w->in, &kind, &n))) {
		if (kind == MESSAGE_ACTIVITIES)
			receive_activities(work, bytes, n);
		else
			receive_fact(work, kind, bytes, n);
		queue_pop(work->w->in);
		any = true;
		if (run_ns(work) > until)
			break;
	}
	return any;
}

/* Runs the periodic tasks that are due. Returns when the next one is due. */
static int64_t run_periodic_tasks(struct work *work)
{
	int64_t now = run_ns(work), next;

	plugin_host_time(work->plugins, now);
	if (now >= work->tick_due_ns) {
		plugin_host_tick(work->plugins);
		work->tick_due_ns = now + TICK_NS;
	}
	next = work->tick_due_ns;
	if (work->node)
		poll_node(work, now);
	if (work->node && node_due_ns(work->node) < next)
		next = node_due_ns(work->node);
	if (work->hierarchy && now >= work->cycle_due_ns)
		run_reasoners(work);
	if (work->hierarchy && work->cycle_due_ns < next)
		next = work->cycle_due_ns;
	return next;
}

static void finish_work(struct work *work)
{
	plugin_host_time(work->plugins, run_ns(work));
	if (work->hierarchy && atomic_load(&work->w->shared->delivered) != work->judged)
		run_reasoners(work);
	finish_node(work);
	plugin_host_report(work->plugins);
	plugin_host_free(work->plugins);
	hierarchy_free(work->hierarchy);
	free(work->detectors);
	buf_release(&work->packed);
}

void watcher_process_run(const struct watcher_process *w)
{
	struct work work = { .w = w };

	prepare_process(w->parent);
	ticks_init(&work.ticks, w->options->clock);
	start_plugins(&work);
	start_reasoners(&work);
	start_node(&work);
	while (!queue_is_over(w->in)) {
		uint32_t bell = atomic_load(&w->shared->bell);
		bool any = receive_messages(&work);
		int64_t next = run_periodic_tasks(&work);

		if (getppid() != w->parent)
			_exit(0);
		if (!any && !queue_is_over(w->in))
			sleep_until(&work, bell, next);
	}
	finish_work(&work);
	atomic_store(&w->shared->finished, 1);
}
