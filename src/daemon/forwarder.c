/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/forwarder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "daemon/about.h"
#include "daemon/accounts.h"
#include "site/anomaly.h"
#include "site/build.h"
#include "site/forget.h"
#include "observe/stats/mount_table.h"
#include "site/notice.h"
#include "site/report.h"
#include "site/rows.h"
#include "site/site.h"

#define SUFFIX ".sluice"
#define FORGOTTEN_NS (30 * NS_PER_S) /* between questions what was forgotten */
#define TRACES_MAX 100000	     /* that wait in memory; more are found after a restart */
#define BATCH_FRAMES 64
#define BATCH_BYTES (4u << 20)
#define RETRY_FIRST_NS NS_PER_S
#define RETRY_MAX_NS (30 * NS_PER_S)
#define IDLE_NS (200 * NS_PER_MS)
#define VERDICT_NS (5 * NS_PER_S) /* between looks at verdicts without a notification */
#define FULL_NS (30 * NS_PER_S)	  /* until a trace that did not fit is tried again */

struct waiting {
	char *trace;
	uid_t user;
};

/* A report that waits for the queue. */
struct report {
	struct buf payload;
	bool is_load;
};

struct forwarder {
	struct forwarder_options options;
	char *state, *traces, *database, *node;
	struct disk_queue *queue;
	pthread_t builder, sender;
	bool has_builder, has_sender;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stops;
	struct waiting *waiting; /* in order; under the lock, like the rest */
	size_t waiting_count, waiting_cap;
	struct report reports[FORWARDER_REPORTS]; /* in order */
	size_t report_count;
	struct forwarder_verdict verdict;
	struct forwarder_status status;
	char problem[512]; /* that was told last */
};

/* --- both threads --- */

static bool is_stopping(struct forwarder *forwarder)
{
	bool stops;

	pthread_mutex_lock(&forwarder->lock);
	stops = forwarder->stops;
	pthread_mutex_unlock(&forwarder->lock);
	return stops;
}

/* Returns early if the forwarder stops, or if there is something new to do. */
static void wait_ns(struct forwarder *forwarder, int64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += until.tv_nsec;
	until.tv_sec += ns / NS_PER_S;
	until.tv_nsec = ns % NS_PER_S;
	pthread_mutex_lock(&forwarder->lock);
	if (!forwarder->stops)
		pthread_cond_timedwait(&forwarder->changed, &forwarder->lock, &until);
	pthread_mutex_unlock(&forwarder->lock);
}

/* Tells a problem once, until another one or none (NULL) takes its place. */
static void tell_problem(struct forwarder *forwarder, const char *problem)
{
	bool is_new;

	pthread_mutex_lock(&forwarder->lock);
	is_new = strcmp(forwarder->problem, problem ? problem : "") != 0;
	snprintf(forwarder->problem, sizeof(forwarder->problem), "%s", problem ? problem : "");
	pthread_mutex_unlock(&forwarder->lock);
	if (is_new && problem)
		forwarder->options.tell(problem);
}

/* --- traces --- */

static void enqueue(struct forwarder *forwarder, const char *trace, uid_t user)
{
	pthread_mutex_lock(&forwarder->lock);
	if (forwarder->waiting_count < TRACES_MAX) {
		forwarder->waiting =
			xgrow(forwarder->waiting, &forwarder->waiting_cap,
			      forwarder->waiting_count + 1, sizeof(*forwarder->waiting));
		forwarder->waiting[forwarder->waiting_count++] =
			(struct waiting){ xstrdup(trace), user };
		forwarder->status.traces = forwarder->waiting_count;
	}
	pthread_cond_broadcast(&forwarder->changed);
	pthread_mutex_unlock(&forwarder->lock);
}

void forwarder_add(struct forwarder *forwarder, const char *trace, uid_t user,
		   const struct about *about)
{
	about_settle(trace, about);
	enqueue(forwarder, trace, user);
}

/* Finds the traces of one user that were not sent. */
static void find_traces(struct forwarder *forwarder, const char *directory, uid_t user)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AUTO_FREE char *path = NULL, *sent = NULL;

		if (!text_ends_with(entry->d_name, SUFFIX))
			continue;
		path = place_join(directory, entry->d_name);
		sent = xprintf("%s" FORWARDER_SENT, path);
		if (place_exists(sent))
			continue;
		/* Unless the daemon was killed before it has done so. */
		about_claim(path);
		enqueue(forwarder, path, user);
	}
	if (dir)
		closedir(dir);
}

static void find_all_traces(struct forwarder *forwarder)
{
	DIR *dir = opendir(forwarder->traces);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AUTO_FREE char *path = NULL;
		char *end;
		unsigned long user = strtoul(entry->d_name, &end, 10);

		if (*end || end == entry->d_name)
			continue;
		path = place_join(forwarder->traces, entry->d_name);
		find_traces(forwarder, path, (uid_t)user);
	}
	if (dir)
		closedir(dir);
}

/* --- reports of the node --- */

/* Takes the payload of the writer. A load takes the place of one that still waits at the end. */
static void add_report(struct forwarder *forwarder, struct rows_writer *writer, bool is_load)
{
	size_t at;

	pthread_mutex_lock(&forwarder->lock);
	at = forwarder->report_count;
	if (is_load && at && forwarder->reports[at - 1].is_load)
		at--;
	/* The newest one says how things are now. */
	if (at == FORWARDER_REPORTS)
		at--;
	buf_clear(&forwarder->reports[at].payload);
	buf_add(&forwarder->reports[at].payload, buf_text(&writer->bytes), writer->bytes.len);
	forwarder->reports[at].is_load = is_load;
	forwarder->report_count = at + 1;
	pthread_cond_broadcast(&forwarder->changed);
	pthread_mutex_unlock(&forwarder->lock);
	rows_release(writer);
}

void forwarder_report_anomaly(struct forwarder *forwarder, const struct report_anomaly *anomaly)
{
	struct rows_writer writer = { 0 };

	report_put_anomaly(&writer, anomaly);
	add_report(forwarder, &writer, false);
}

void forwarder_report_loads(struct forwarder *forwarder, const struct report_load *loads,
			    size_t count, int64_t now_ns)
{
	struct rows_writer writer = { 0 };

	report_put_loads(&writer, forwarder->node, loads, count, now_ns);
	add_report(forwarder, &writer, true);
}

/* Appends the first report; it leaves the list when it is durable. Returns 0 if there is none. */
static int append_report(struct forwarder *forwarder)
{
	AUTO_BUF struct buf payload = { 0 };
	struct report first;
	int r = 0;

	pthread_mutex_lock(&forwarder->lock);
	if (forwarder->report_count)
		buf_add(&payload, buf_text(&forwarder->reports[0].payload),
			forwarder->reports[0].payload.len);
	pthread_mutex_unlock(&forwarder->lock);
	if (!payload.len)
		return 0;
	r = disk_queue_append(forwarder->queue, BUILD_FRAME_TYPE, buf_text(&payload), payload.len,
			      NULL);
	if (r == 0)
		r = disk_queue_sync(forwarder->queue);
	if (r < 0)
		return r;
	pthread_mutex_lock(&forwarder->lock);
	/* Unless a newer load has taken its place meanwhile. */
	first = forwarder->reports[0];
	if (first.payload.len == payload.len &&
	    memcmp(first.payload.data, payload.data, payload.len) == 0) {
		forwarder->report_count--;
		memmove(forwarder->reports, forwarder->reports + 1,
			forwarder->report_count * sizeof(first));
		forwarder->reports[forwarder->report_count] = first;
	}
	pthread_mutex_unlock(&forwarder->lock);
	return 1;
}

static int append_rows(void *arg, uint16_t type, const void *payload, size_t bytes, struct err *err)
{
	struct forwarder *forwarder = arg;
	int r;

	/* A large trace must not keep them waiting. */
	while (append_report(forwarder) > 0)
		;
	r = disk_queue_append(forwarder->queue, type, payload, bytes, NULL);
	if (r < 0)
		return err_set(err, -r,
			       "%s/queue: %s; rows for the database wait until there is "
			       "space (setting site.queue)",
			       forwarder->state, strerror(-r));
	return is_stopping(forwarder) ? -EINTR : 0;
}

static int build(struct forwarder *forwarder, const struct waiting *waiting, struct err *err)
{
	AUTO_FREE char *owner = accounts_user_name(waiting->user);
	AUTO_FREE char *sent = xprintf("%s" FORWARDER_SENT, waiting->trace);
	AUTO_FREE char *beside = xprintf("%s" ABOUT_SUFFIX, waiting->trace);
	struct mount_table mounts = { 0 };
	char host[256] = "";
	struct build_options options = { .config = forwarder->options.config,
					 .owner = owner,
					 .mounts = &mounts,
					 .mounts_host = host };
	struct about about;
	int r;

	gethostname(host, sizeof(host) - 1);
	mount_table_load(&mounts);
	about_read(waiting->trace, &about);
	options.job = about.job;
	options.partition = about.partition;
	if (!about.only_sums)
		options.sample = config_number(forwarder->options.config, SETTING_SITE_SAMPLE);
	r = build_trace(waiting->trace, &options, append_rows, forwarder, err);
	if (r == 0) {
		r = disk_queue_sync(forwarder->queue);
		if (r < 0)
			err_set(err, -r, "%s/queue: %s", forwarder->state, strerror(-r));
	}
	if (r == 0 && !about.only_sums)
		r = file_write_all(sent, "", 0, err);
	if (r == 0 && about.only_sums) {
		unlink(waiting->trace);
		unlink(beside);
	}
	about_release(&about);
	mount_table_release(&mounts);
	return r;
}

/* Takes the first trace out of the list; false if there is none. */
static bool take_trace(struct forwarder *forwarder, struct waiting *waiting)
{
	bool found;

	pthread_mutex_lock(&forwarder->lock);
	found = forwarder->waiting_count > 0;
	if (found) {
		*waiting = forwarder->waiting[0];
		forwarder->waiting_count--;
		memmove(forwarder->waiting, forwarder->waiting + 1,
			forwarder->waiting_count * sizeof(*forwarder->waiting));
		forwarder->status.traces = forwarder->waiting_count;
	}
	pthread_mutex_unlock(&forwarder->lock);
	return found;
}

static void *run_builder(void *arg)
{
	struct forwarder *forwarder = arg;

	find_all_traces(forwarder);
	while (!is_stopping(forwarder)) {
		struct waiting waiting;
		struct err err = { 0 };
		int r;

		while (append_report(forwarder) > 0)
			;
		if (!take_trace(forwarder, &waiting)) {
			wait_ns(forwarder, FULL_NS);
			continue;
		}
		r = build(forwarder, &waiting, &err);
		if (r == -ENOSPC || r == -EIO || r == -EINTR) {
			tell_problem(forwarder, r == -EINTR ? NULL : err.text);
			enqueue(forwarder, waiting.trace, waiting.user);
			if (r != -EINTR)
				wait_ns(forwarder, FULL_NS);
		} else if (r < 0 && r != -ENOENT) {
			pthread_mutex_lock(&forwarder->lock);
			forwarder->status.failed++;
			pthread_mutex_unlock(&forwarder->lock);
			tell_problem(forwarder, err.text);
		}
		free(waiting.trace);
	}
	return NULL;
}

/* --- database --- */

struct batch {
	struct buf bytes[BATCH_FRAMES];
	struct frame frames[BATCH_FRAMES];
	struct site_payload payloads[BATCH_FRAMES];
	size_t count;
};

/* Reads frames with consecutive numbers. Returns their number or -errno. */
static int read_batch(struct forwarder *forwarder, struct batch *batch, struct err *err)
{
	size_t bytes = 0;

	batch->count = 0;
	while (batch->count < BATCH_FRAMES && bytes < BATCH_BYTES) {
		struct frame *frame = &batch->frames[batch->count];
		int r = disk_queue_read(forwarder->queue, &batch->bytes[batch->count], frame, err);

		if (r < 0)
			return r;
		if (r == 0)
			break;
		batch->payloads[batch->count] =
			(struct site_payload){ frame->payload, frame->length };
		bytes += frame->length;
		batch->count++;
		/* A frame was lost: what was read after it has to wait for the next batch. */
		if (frame->sequence != batch->frames[0].sequence + batch->count - 1) {
			batch->count--;
			disk_queue_rewind(forwarder->queue);
			break;
		}
	}
	return (int)batch->count;
}

static void count_frames(struct forwarder *forwarder, size_t applied, size_t invalid)
{
	pthread_mutex_lock(&forwarder->lock);
	forwarder->status.applied += applied;
	forwarder->status.invalid += invalid;
	forwarder->status.is_connected = true;
	pthread_mutex_unlock(&forwarder->lock);
}

/* Sends one batch. Returns 0, or -errno if it has to be sent again later. */
static int send_batch(struct forwarder *forwarder, struct site_db *site, const struct batch *batch,
		      struct err *err)
{
	uint64_t first = batch->frames[0].sequence;
	const char *stream = batch->frames[0].stream;
	size_t bad = 0, done = batch->count, invalid = 0;
	int r = site_apply_batch(site, stream, first, batch->payloads, batch->count, &bad, err);

	if (r == -EBADMSG) {
		/* Those before the invalid one are applied; it is dropped. */
		invalid = 1;
		done = bad;
		forwarder->options.tell(err->text);
		r = bad ? site_apply_batch(site, stream, first, batch->payloads, bad, &bad, err)
			: 0;
	}
	if (r < 0)
		return r;
	r = disk_queue_release(forwarder->queue, first + done + invalid - 1);
	disk_queue_rewind(forwarder->queue);
	count_frames(forwarder, done, invalid);
	return r;
}

/* --- verdicts --- */

static int keep_verdict(void *arg, const struct anomaly *a)
{
	struct forwarder_verdict *verdict = arg;

	snprintf(verdict->kind, sizeof(verdict->kind), "%s", a->cause);
	snprintf(verdict->detail, sizeof(verdict->detail), "%s: %s", a->cause, a->detail);
	return 1;
}

static void set_verdict(struct forwarder *forwarder, const struct forwarder_verdict *verdict)
{
	pthread_mutex_lock(&forwarder->lock);
	forwarder->verdict = *verdict;
	pthread_mutex_unlock(&forwarder->lock);
}

struct forwarder_verdict forwarder_verdict(struct forwarder *forwarder)
{
	struct forwarder_verdict verdict;

	pthread_mutex_lock(&forwarder->lock);
	verdict = forwarder->verdict;
	pthread_mutex_unlock(&forwarder->lock);
	return verdict;
}

/*
 * Passes on that something was learned, and looks at the verdicts if there was a notification, or
 * if the last look was long ago.
 */
static int hear_site(struct forwarder *forwarder, struct site_db *site, int64_t *looked_ns,
		     struct err *err)
{
	struct forwarder_verdict verdict = { 0 };
	bool is_due = clock_now_ns() - *looked_ns > VERDICT_NS;
	bool has_learned = false;
	enum notice notice;
	int64_t id;
	int r;

	while ((r = notice_wait(site, 0, &notice, &id, err)) > 0) {
		is_due |= notice == NOTICE_ANOMALY;
		has_learned |= notice == NOTICE_KNOWLEDGE;
	}
	if (has_learned)
		forwarder->options.on_knowledge(forwarder->options.arg);
	if (r == -EOPNOTSUPP)
		r = 0;
	if (r < 0 || !is_due)
		return r;
	*looked_ns = clock_now_ns();
	r = anomaly_list_verdicts(site, forwarder->node, clock_realtime_ns(), keep_verdict,
				  &verdict, err);
	if (r >= 0)
		set_verdict(forwarder, &verdict);
	return r;
}

/* Asks what was forgotten since `since_ns`, and moves that on. */
static int ask_forgotten(struct forwarder *forwarder, struct site_db *site, int64_t *since_ns,
			 struct err *err)
{
	return forwarder->options.on_forgotten
		       ? forget_list(site, since_ns, forwarder->options.on_forgotten,
				     forwarder->options.arg, err)
		       : 0;
}

/* -EOPNOTSUPP: the database does not notify, and is asked now and then. */
static int listen_to_site(struct forwarder *forwarder, struct site_db *site, struct err *err)
{
	int r = 0;

	for (enum notice notice = 0; r >= 0 && notice < NOTICES; notice++)
		r = notice_listen(site, notice, err);
	/* What was notified before is lost. */
	if (r >= 0)
		forwarder->options.on_knowledge(forwarder->options.arg);
	return r;
}

/* Sends until the database is lost or the forwarder stops. Returns -errno of the failure. */
static int send_all(struct forwarder *forwarder, struct site_db *site, struct batch *batch,
		    struct err *err)
{
	int64_t looked_ns = 0, since_ns = 0, asked_ns = 0;
	int listens = listen_to_site(forwarder, site, err);

	if (listens < 0 && listens != -EOPNOTSUPP)
		return listens;
	while (!is_stopping(forwarder)) {
		int r = 0;

		if (!asked_ns || clock_now_ns() - asked_ns > FORGOTTEN_NS) {
			r = ask_forgotten(forwarder, site, &since_ns, err);
			asked_ns = clock_now_ns();
		}
		if (r == 0)
			r = read_batch(forwarder, batch, err);
		if (r > 0)
			r = send_batch(forwarder, site, batch, err);
		else if (r == 0)
			wait_ns(forwarder, IDLE_NS);
		if (r >= 0)
			r = hear_site(forwarder, site, &looked_ns, err);
		if (r < 0)
			return r;
		tell_problem(forwarder, NULL);
	}
	return 0;
}

static void *run_sender(void *arg)
{
	struct forwarder *forwarder = arg;
	struct batch *batch = xcalloc(1, sizeof(*batch));
	int64_t pause_ns = RETRY_FIRST_NS;

	while (!is_stopping(forwarder)) {
		struct site_db *site = NULL;
		struct err err = { 0 };
		uint64_t before = forwarder_status(forwarder).applied;
		int r = site_open(&site, forwarder->database, &err);

		if (r == 0) {
			count_frames(forwarder, 0, 0);
			r = send_all(forwarder, site, batch, &err);
			site_close(site);
		}
		disk_queue_rewind(forwarder->queue);
		/* Nothing is known of the site now. */
		set_verdict(forwarder, &(struct forwarder_verdict){ 0 });
		pthread_mutex_lock(&forwarder->lock);
		forwarder->status.is_connected = false;
		pthread_mutex_unlock(&forwarder->lock);
		if (r < 0)
			tell_problem(forwarder, err.text);
		if (forwarder_status(forwarder).applied > before)
			pause_ns = RETRY_FIRST_NS;
		wait_ns(forwarder, pause_ns);
		pause_ns = pause_ns * 2 > RETRY_MAX_NS ? RETRY_MAX_NS : pause_ns * 2;
	}
	for (size_t i = 0; i < BATCH_FRAMES; i++)
		buf_release(&batch->bytes[i]);
	free(batch);
	return NULL;
}

/* --- start and stop --- */

struct forwarder_status forwarder_status(struct forwarder *forwarder)
{
	struct forwarder_status status;

	pthread_mutex_lock(&forwarder->lock);
	status = forwarder->status;
	pthread_mutex_unlock(&forwarder->lock);
	status.stream = disk_queue_id(forwarder->queue);
	status.queue = disk_queue_status(forwarder->queue);
	return status;
}

int forwarder_start(struct forwarder **made, const struct forwarder_options *options,
		    struct err *err)
{
	struct forwarder *forwarder = xcalloc(1, sizeof(*forwarder));
	AUTO_FREE char *directory = place_join(options->state, "queue");
	struct disk_queue_options queue = { .directory = directory,
					    .bytes_max = config_number(options->config,
								       SETTING_SITE_QUEUE) };
	pthread_condattr_t attributes;
	int r;

	forwarder->options = *options;
	forwarder->state = xstrdup(options->state);
	forwarder->traces = xstrdup(options->traces);
	forwarder->database = xstrdup(options->database);
	forwarder->node = xstrdup(options->node);
	pthread_mutex_init(&forwarder->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&forwarder->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	r = disk_queue_open(&forwarder->queue, &queue, err);
	if (r == 0) {
		r = -pthread_create(&forwarder->builder, NULL, run_builder, forwarder);
		forwarder->has_builder = r == 0;
		if (r == 0)
			r = -pthread_create(&forwarder->sender, NULL, run_sender, forwarder);
		forwarder->has_sender = forwarder->has_builder && r == 0;
		if (r < 0)
			err_set(err, -r, "cannot start a thread: %s", strerror(-r));
	}
	if (r < 0) {
		forwarder_stop(forwarder);
		return r;
	}
	*made = forwarder;
	return 0;
}

void forwarder_stop(struct forwarder *forwarder)
{
	if (!forwarder)
		return;
	pthread_mutex_lock(&forwarder->lock);
	forwarder->stops = true;
	pthread_cond_broadcast(&forwarder->changed);
	pthread_mutex_unlock(&forwarder->lock);
	if (forwarder->has_builder)
		pthread_join(forwarder->builder, NULL);
	if (forwarder->has_sender)
		pthread_join(forwarder->sender, NULL);
	disk_queue_close(forwarder->queue);
	for (size_t i = 0; i < forwarder->waiting_count; i++)
		free(forwarder->waiting[i].trace);
	free(forwarder->waiting);
	for (size_t i = 0; i < FORWARDER_REPORTS; i++)
		buf_release(&forwarder->reports[i].payload);
	pthread_cond_destroy(&forwarder->changed);
	pthread_mutex_destroy(&forwarder->lock);
	free(forwarder->state);
	free(forwarder->traces);
	free(forwarder->database);
	free(forwarder->node);
	free(forwarder);
}
