/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/watcher.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/mem.h"
#include "base/process.h"
#include "contract/clock.h"
#include "contract/spool.h"
#include "observe/watch/message.h"
#include "observe/watch/plugins.h"
#include "observe/watch/queue.h"
#include "observe/watch/watcher_process.h"

#define BACK_BYTES (1024u * 1024)
/*
 * Number of batches after which a sleeping watcher is woken. While it keeps up, the data stay in
 * the cache.
 */
#define WAKE_BATCHES 16

#define EXTEND_NS (NS_PER_S / 2) /* the end of suggestions is postponed this often */

struct watcher {
	struct watcher_sink sink;
	char *host;
	struct queue *in, *back;
	struct watcher_shared *shared;
	struct control *control; /* of the options; NULL: none */
	uint64_t last_ticks;	 /* SUGGESTIONS_LAST_NS */
	uint64_t extended_ns;	 /* when the end of suggestions was postponed */
	bool has_suggestions;	 /* they have not ended */
	struct plugin_choices choices;
	pid_t pid;
	bool shows;	  /* at least one plug-in wants activities */
	bool ended;	  /* the process is gone, and a note says so */
	unsigned batches; /* batches pushed since the last wake-up */
	bool pushed;	  /* something was pushed since the last wake-up */
	struct buf
		pending; /* facts that did not fit into the queue: kind, length, bytes; in order */
	size_t pending_at;
	uint64_t produced, taken; /* activities, and those of them that were queued */
	int64_t cpu_ns;
	unsigned stop_ms;
};

_Static_assert(WATCHER_BATCH *MESSAGE_ACTIVITY_MAX <= QUEUE_MESSAGE_MAX, "a batch is a message");

static void write_note(const struct watcher *w, const char *source, const char *kind,
		       const char *name, const char *value)
{
	struct note row = { .time_ns = -1,
			    .process = -1,
			    .host = w->host,
			    .source = (char *)source,
			    .kind = (char *)kind,
			    .name = (char *)name,
			    .value = (char *)value };

	w->sink.fact(w->sink.arg, &fact_note, &row);
}

static void write_number(const struct watcher *w, const char *kind, const char *name,
			 uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	write_note(w, "watcher", kind, name, text);
}

static void watcher_free(struct watcher *w)
{
	queue_free(w->in);
	queue_free(w->back);
	if (w->shared)
		munmap(w->shared, sizeof(*w->shared));
	plugin_choices_release(&w->choices);
	buf_release(&w->pending);
	free(w->host);
	free(w);
}

static int create_queues(struct watcher *w, uint64_t bytes)
{
	void *p = mmap(NULL, sizeof(*w->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	w->shared = p;
	atomic_store(&w->shared->turn, -1);
	w->in = queue_new((size_t)bytes);
	w->back = queue_new(BACK_BYTES);
	return w->in && w->back ? 0 : -ENOMEM;
}

static int start_process(struct watcher *w, const struct watcher_options *o)
{
	struct watcher_process process = { .options = o,
					   .choices = &w->choices,
					   .in = w->in,
					   .back = w->back,
					   .shared = w->shared,
					   .parent = getpid() };

	w->pid = fork();
	if (w->pid < 0)
		return -errno;
	if (w->pid)
		return 0;
	watcher_process_run(&process);
	_exit(0);
}

static void report_refusals(const struct watcher *w)
{
	for (size_t i = 0; i < w->choices.count; i++)
		if (w->choices.list[i].refusal)
			write_note(w, w->choices.list[i].short_name, NOTE_REFUSED, "not used",
				   w->choices.list[i].refusal);
}

/* As long as this is called, suggestions do not end. */
static void extend_suggestions(struct watcher *w)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (!w->has_suggestions || now_ns < w->extended_ns + EXTEND_NS)
		return;
	w->extended_ns = now_ns;
	w->has_suggestions = suggestions_extend(&w->control->suggestions_until,
						clock_ticks(w->control->clock) + w->last_ticks);
	if (!w->has_suggestions)
		write_note(w, "model_hints", NOTE_REFUSED, "suggestions ended",
			   "the recorder did not run for seconds, so hints that were suggested are "
			   "not used any more");
}

struct watcher *watcher_start(const struct watcher_options *o, const struct watcher_sink *sink)
{
	struct watcher *w = xcalloc(1, sizeof(*w));
	int r = 0;

	w->sink = *sink;
	w->host = xstrdup(o->run->host);
	w->control = o->control;
	w->stop_ms = o->stop_ms ? o->stop_ms : WATCHER_STOP_MS;
	plugin_choices_make(&w->choices, o->config);
	if (o->control) {
		plugin_choices_control(&w->choices, o->config, o->directory, o->control,
				       o->clock->num, o->clock->den);
		w->last_ticks = (uint64_t)((__uint128_t)SUGGESTIONS_LAST_NS * o->clock->den /
					   o->clock->num);
		w->has_suggestions = true;
	}
	report_refusals(w);
	if (o->wants_detector && !plugin_choices_detect(&w->choices))
		write_note(w, "flight_recorder", NOTE_REFUSED, "no detector",
			   "capture.mode is flight, but no plug-in detects anomalies, so no call "
			   "will be "
			   "recorded; load a detector such as histogram (plugins.load)");
	w->shows = plugin_choices_have(&w->choices, SLUICE_ASYNC);
	if (!w->shows && !config_number(o->config, SETTING_STATS_PERIOD)) {
		watcher_free(w);
		return NULL;
	}
	r = create_queues(w, config_number(o->config, SETTING_PLUGINS_QUEUE));
	if (r >= 0)
		r = start_process(w, o);
	if (r < 0) {
		AUTO_FREE char *text = xprintf(
			"asynchronous plug-ins are not used: cannot start the watcher process: "
			"%s",
			strerror(-r));

		write_note(w, "watcher", NOTE_REFUSED, "not used", text);
		watcher_free(w);
		return NULL;
	}
	extend_suggestions(w);
	return w;
}

/*
 * Pending facts go first, because all that follows may refer to them. Returns true if nothing is
 * pending.
 */
static bool flush_pending(struct watcher *w)
{
	while (w->pending_at < w->pending.len) {
		uint32_t head[2];
		void *room;

		memcpy(head, w->pending.data + w->pending_at, sizeof(head));
		room = queue_room(w->in, head[1]);
		if (!room)
			return false;
		memcpy(room, w->pending.data + w->pending_at + sizeof(head), head[1]);
		queue_push(w->in, head[0], head[1]);
		w->pending_at += sizeof(head) + head[1];
		w->pushed = true;
	}
	buf_clear(&w->pending);
	w->pending_at = 0;
	return true;
}

static void send_fact(struct watcher *w, const struct fact *fact, const void *row)
{
	uint32_t head[2] = { message_kind_of(fact), 0 };
	size_t at = w->pending.len;

	if (w->ended || !w->shows)
		return;
	buf_add(&w->pending, head, sizeof(head));
	message_pack(&w->pending, fact, row);
	head[1] = (uint32_t)(w->pending.len - at - sizeof(head));
	memcpy(w->pending.data + at, head, sizeof(head));
	flush_pending(w);
}

void watcher_file(struct watcher *w, file_id id, const char *path)
{
	struct file_row row = { id, (char *)path };

	send_fact(w, &fact_file, &row);
}

void watcher_process(struct watcher *w, const struct process_info *process)
{
	send_fact(w, &fact_process, process);
}

void watcher_clock(struct watcher *w, const struct run_clock *clock)
{
	send_fact(w, &fact_clock, clock);
}

void watcher_activities(struct watcher *w, const struct activity *batch, size_t n)
{
	void *room;

	if (!w->shows)
		return;
	w->produced += n;
	if (w->ended || !flush_pending(w))
		return;
	room = queue_room(w->in, n * MESSAGE_ACTIVITY_MAX);
	if (!room)
		return;
	queue_push(w->in, MESSAGE_ACTIVITIES, message_pack_activities(room, batch, n));
	w->taken += n;
	w->pushed = true;
	if (++w->batches % WAKE_BATCHES == 0)
		watcher_wake(w->shared);
}

static void receive_facts(struct watcher *w)
{
	const void *bytes;
	uint32_t kind;
	size_t n;

	while ((bytes = queue_peek(w->back, &kind, &n))) {
		const struct fact *fact = kind < MESSAGE_KINDS ? message_facts[kind] : NULL;
		union fact_row row = { 0 };

		if (fact && message_unpack(fact, bytes, n, &row))
			w->sink.fact(w->sink.arg, fact, &row);
		if (fact)
			fact_release(fact, &row);
		queue_pop(w->back);
	}
}

/* The plug-in that was running when the watcher died. */
static const char *running_plugin(const struct watcher *w)
{
	int32_t turn = atomic_load(&w->shared->turn);

	if (turn < 0 || turn >= WATCHER_NAMES)
		return NULL;
	w->shared->names[turn][LIBRARY_NAME_BYTES - 1] = 0;
	return w->shared->names[turn];
}

/* Records that the watcher ended abnormally; `what` says how. */
static void report_death(const struct watcher *w, const char *what)
{
	const char *who = running_plugin(w);
	AUTO_FREE char *at = who ? xprintf(" in plug-in %s", who) : xstrdup("");
	AUTO_FREE char *text =
		xprintf("the watcher %s%s: its plug-ins received %llu of %llu calls, and their "
			"results are incomplete",
			what, at, (unsigned long long)atomic_load(&w->shared->delivered),
			(unsigned long long)w->produced);

	write_note(w, who ? who : "watcher", NOTE_REFUSED, "watcher ended early", text);
}

static void report_exit(const struct watcher *w, int status)
{
	AUTO_FREE char *what = NULL;

	if (WIFSIGNALED(status))
		what = xprintf("was killed by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else if (!atomic_load(&w->shared->finished))
		what = xprintf("ended with exit code %d", WEXITSTATUS(status));
	if (what)
		report_death(w, what);
}

/* Checks whether the watcher is gone; if so, receives its last messages. */
static bool check_exit(struct watcher *w)
{
	struct rusage used;
	int status;
	pid_t pid;

	if (w->ended)
		return true;
	pid = wait4(w->pid, &status, WNOHANG, &used);
	if (pid != w->pid)
		return false;
	w->ended = true;
	w->cpu_ns = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NS_PER_S +
		    (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * NS_PER_US;
	receive_facts(w);
	report_exit(w, status);
	return true;
}

/* Without the watcher, nobody would notice that accesses are slower with the hints it suggested. */
static void withdraw_suggestions(struct control *control)
{
	for (unsigned i = 0; control && i < SUGGESTIONS; i++) {
		uint32_t state = SUGGESTION_VALID;

		atomic_compare_exchange_strong(&control->suggestions[i].state, &state,
					       SUGGESTION_WITHDRAWN);
	}
}

void watcher_poll(struct watcher *w)
{
	if (w->ended)
		return;
	extend_suggestions(w);
	flush_pending(w);
	if (w->pushed)
		watcher_wake(w->shared);
	w->pushed = false;
	receive_facts(w);
	if (check_exit(w))
		withdraw_suggestions(w->control);
}

struct watcher_counts watcher_counts(const struct watcher *w)
{
	struct watcher_counts counts = {
		.produced = w->produced,
		.dropped = w->produced - w->taken,
		.delivered = atomic_load(&w->shared->delivered),
		.anomalies = atomic_load(&w->shared->anomalies),
		.cpu_ns = w->cpu_ns,
	};

	/* Activities still in the queue count as dropped. */
	if (w->ended)
		counts.dropped += w->taken - counts.delivered;
	return counts;
}

/* Waits for the watcher to exit, and receives its messages meanwhile. */
static void await_exit(struct watcher *w)
{
	AUTO_CLOSE int pidfd = process_pidfd(w->pid);
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	uint64_t limit = (uint64_t)w->stop_ms * NS_PER_MS, idle = 0;
	uint64_t last = clock_monotonic_ns(), until = last + WATCHER_PATIENCE * limit;
	bool finished = false;

	while (!check_exit(w) && idle < limit && last < until) {
		uint64_t now = clock_monotonic_ns();

		if (!finished && flush_pending(w)) {
			queue_finish(w->in);
			finished = true;
		}
		watcher_wake(w->shared);
		receive_facts(w);
		poll(&fd, pidfd >= 0, 1);
		if (process_is_idle(w->pid))
			idle += now - last;
		last = now;
	}
}

static void force_exit(struct watcher *w)
{
	AUTO_FREE char *what =
		xprintf("did not exit within %.3g s and was killed", w->stop_ms / 1e3);
	int status;

	kill(w->pid, SIGKILL);
	waitpid(w->pid, &status, 0);
	w->ended = true;
	receive_facts(w);
	report_death(w, what);
}

static void report_counts(const struct watcher *w, const struct watcher_counts *counts)
{
	if (!w->shows)
		return;
	write_number(w, NOTE_COST, "calls produced", counts->produced);
	write_number(w, NOTE_COST, "calls delivered", counts->delivered);
	if (counts->dropped)
		write_number(w, NOTE_DEGRADED, "calls dropped", counts->dropped);
}

void watcher_stop(struct watcher *w, struct watcher_counts *counts)
{
	struct watcher_counts last;

	if (!w) {
		if (counts)
			*counts = (struct watcher_counts){ 0 };
		return;
	}
	await_exit(w);
	if (!w->ended)
		force_exit(w);
	last = watcher_counts(w);
	report_counts(w, &last);
	if (counts)
		*counts = last;
	watcher_free(w);
}
