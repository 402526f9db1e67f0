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
#include "base/config.h"
#include "base/mem.h"
#include "base/process.h"
#include "observe/watch/message.h"
#include "observe/watch/plugins.h"
#include "observe/watch/queue.h"
#include "observe/watch/watching.h"
#include "contract/clock.h"
#include "contract/spool.h"

#define BACK_BYTES (1024u * 1024)
/* Batches after which the watcher is woken, should it sleep: while it keeps up, what is passed
 * stays in the cache. */
#define WAKE_BATCHES 16

struct watcher {
	struct watcher_sink sink;
	char *host;
	struct queue *in, *back;
	struct watching_shared *shared;
	struct plugin_choices choices;
	pid_t pid;
	bool shows;	    /* somebody wants to see activities */
	bool ended;	    /* it is gone, and told so */
	unsigned batches;   /* pushed since it was last woken */
	bool pushed;	    /* something, since it was last woken */
	struct buf pending; /* facts that found no room: kind, length, bytes; in order */
	size_t pending_at;
	uint64_t produced, taken; /* activities; of these, put into the queue */
	int64_t cpu_ns;
	unsigned stop_ms;
};

_Static_assert(WATCHER_BATCH *MESSAGE_ACTIVITY_MAX <= QUEUE_MESSAGE_MAX, "a batch is a message");

static void note(const struct watcher *w, const char *source, const char *kind, const char *name,
		 const char *value)
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

static void note_number(const struct watcher *w, const char *kind, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	note(w, "watcher", kind, name, text);
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

static int memory_make(struct watcher *w, uint64_t bytes)
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

static int child_start(struct watcher *w, const struct watcher_options *o)
{
	struct watching watching = { .options = o,
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
	watching_run(&watching);
	_exit(0);
}

static void refusals_tell(const struct watcher *w)
{
	for (size_t i = 0; i < w->choices.count; i++)
		if (w->choices.list[i].refusal)
			note(w, w->choices.list[i].short_name, NOTE_REFUSED, "not used",
			     w->choices.list[i].refusal);
}

struct watcher *watcher_start(const struct watcher_options *o, const struct watcher_sink *sink)
{
	struct watcher *w = xcalloc(1, sizeof(*w));
	int r = 0;

	w->sink = *sink;
	w->host = xstrdup(o->run->host);
	w->stop_ms = o->stop_ms ? o->stop_ms : WATCHER_STOP_MS;
	plugin_choices_make(&w->choices, o->config);
	if (o->control)
		plugin_choices_control(&w->choices, o->config, o->directory, o->control,
				       o->clock->num, o->clock->den);
	refusals_tell(w);
	if (o->wants_detector && !plugin_choices_detect(&w->choices))
		note(w, "flight_recorder", NOTE_REFUSED, "no detector",
		     "capture.mode is flight and no plug-in detects anomalies: no call will be in "
		     "the trace; load one, such as histogram (plugins.load)");
	w->shows = plugin_choices_have(&w->choices, SLUICE_ASYNC);
	if (!w->shows && !config_number(o->config, SETTING_STATS_PERIOD)) {
		watcher_free(w);
		return NULL;
	}
	r = memory_make(w, config_number(o->config, SETTING_PLUGINS_QUEUE));
	if (r >= 0)
		r = child_start(w, o);
	if (r < 0) {
		AUTO_FREE char *text =
			xprintf("asynchronous plug-ins are not used: no watcher could be started: "
				"%s",
				strerror(-r));

		note(w, "watcher", NOTE_REFUSED, "not used", text);
		watcher_free(w);
		return NULL;
	}
	return w;
}

/* ---- to the watcher ---- */

/* What waits goes first: all that follows may name it. True when nothing waits any more. */
static bool pending_flush(struct watcher *w)
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

static void fact_send(struct watcher *w, const struct fact *fact, const void *row)
{
	uint32_t head[2] = { message_kind_of(fact), 0 };
	size_t at = w->pending.len;

	if (w->ended || !w->shows)
		return;
	buf_add(&w->pending, head, sizeof(head));
	message_pack(&w->pending, fact, row);
	head[1] = (uint32_t)(w->pending.len - at - sizeof(head));
	memcpy(w->pending.data + at, head, sizeof(head));
	pending_flush(w);
}

void watcher_file(struct watcher *w, file_id id, const char *path)
{
	struct file_row row = { id, (char *)path };

	fact_send(w, &fact_file, &row);
}

void watcher_process(struct watcher *w, const struct process_info *process)
{
	fact_send(w, &fact_process, process);
}

void watcher_clock(struct watcher *w, const struct run_clock *clock)
{
	fact_send(w, &fact_clock, clock);
}

void watcher_activities(struct watcher *w, const struct activity *batch, size_t n)
{
	void *room;

	if (!w->shows)
		return;
	w->produced += n;
	if (w->ended || !pending_flush(w))
		return;
	room = queue_room(w->in, n * MESSAGE_ACTIVITY_MAX);
	if (!room)
		return;
	queue_push(w->in, MESSAGE_ACTIVITIES, message_pack_activities(room, batch, n));
	w->taken += n;
	w->pushed = true;
	if (++w->batches % WAKE_BATCHES == 0)
		watching_wake(w->shared);
}

/* ---- from the watcher ---- */

static void said_take(struct watcher *w)
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

/* The plug-in that was at work when it died. */
static const char *culprit(const struct watcher *w)
{
	int32_t turn = atomic_load(&w->shared->turn);

	if (turn < 0 || turn >= WATCHING_NAMES)
		return NULL;
	w->shared->names[turn][LIBRARY_NAME_BYTES - 1] = 0;
	return w->shared->names[turn];
}

/* It did not end as it should: because of `what`. */
static void death_tell(const struct watcher *w, const char *what)
{
	const char *who = culprit(w);
	AUTO_FREE char *at = who ? xprintf(" in plug-in %s", who) : xstrdup("");
	AUTO_FREE char *text =
		xprintf("the watcher %s%s: its plug-ins saw %llu of %llu calls, and what they "
			"found is lost from there on",
			what, at, (unsigned long long)atomic_load(&w->shared->delivered),
			(unsigned long long)w->produced);

	note(w, who ? who : "watcher", NOTE_REFUSED, "watcher ended early", text);
}

static void end_tell(const struct watcher *w, int status)
{
	AUTO_FREE char *what = NULL;

	if (WIFSIGNALED(status))
		what = xprintf("was killed by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else if (!atomic_load(&w->shared->finished))
		what = xprintf("ended with exit code %d", WEXITSTATUS(status));
	if (what)
		death_tell(w, what);
}

/* Is it gone? Then all that it said is taken. */
static bool end_check(struct watcher *w)
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
	w->cpu_ns = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000000000) +
		    (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * INT64_C(1000);
	said_take(w);
	end_tell(w, status);
	return true;
}

void watcher_poll(struct watcher *w)
{
	if (w->ended)
		return;
	pending_flush(w);
	if (w->pushed)
		watching_wake(w->shared);
	w->pushed = false;
	said_take(w);
	end_check(w);
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

	/* What was on its way is nobody's any more. */
	if (w->ended)
		counts.dropped += w->taken - counts.delivered;
	return counts;
}

/* Waits for its end, and listens meanwhile. */
static void end_await(struct watcher *w)
{
	AUTO_CLOSE int pidfd = process_pidfd(w->pid);
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	uint64_t until = clock_monotonic_ns() + (uint64_t)w->stop_ms * 1000000;
	bool finished = false;

	while (!end_check(w) && clock_monotonic_ns() < until) {
		if (!finished && pending_flush(w)) {
			queue_finish(w->in);
			finished = true;
		}
		watching_wake(w->shared);
		said_take(w);
		poll(&fd, pidfd >= 0, 1);
	}
}

static void end_force(struct watcher *w)
{
	AUTO_FREE char *what =
		xprintf("did not come to an end within %.3g s and was stopped", w->stop_ms / 1e3);
	int status;

	kill(w->pid, SIGKILL);
	waitpid(w->pid, &status, 0);
	w->ended = true;
	said_take(w);
	death_tell(w, what);
}

static void counts_tell(const struct watcher *w, const struct watcher_counts *counts)
{
	if (!w->shows)
		return;
	note_number(w, NOTE_COST, "calls produced", counts->produced);
	note_number(w, NOTE_COST, "calls delivered", counts->delivered);
	if (counts->dropped)
		note_number(w, NOTE_DEGRADED, "calls dropped", counts->dropped);
}

void watcher_stop(struct watcher *w, struct watcher_counts *counts)
{
	struct watcher_counts last;

	if (!w) {
		if (counts)
			*counts = (struct watcher_counts){ 0 };
		return;
	}
	end_await(w);
	if (!w->ended)
		end_force(w);
	last = watcher_counts(w);
	counts_tell(w, &last);
	if (counts)
		*counts = last;
	watcher_free(w);
}
