/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker.h"

#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"
#include "daemon/about.h"
#include "daemon/accounts.h"
#include "daemon/collection.h"
#include "daemon/counters.h"
#include "daemon/exchange/backlogs.h"
#include "daemon/forwarder.h"
#include "daemon/keeper.h"
#include "daemon/knowledge.h"
#include "daemon/metering.h"
#include "daemon/observer.h"
#include "daemon/publication.h"
#include "daemon/reporter.h"
#include "daemon/retention.h"
#include "daemon/server.h"
#include "daemon/status.h"
#include "daemon/submission.h"
#include "daemon/sums_table.h"
#include "metrics/metrics.h"
#include "metrics/serve.h"

#define THREADS_MAX 64
#define IDLE_NS (600 * NS_PER_S) /* a connection without messages is closed */
#define CLIENTS_SHARE 4		 /* connections get this part of the memory */

struct worker {
	const struct worker_options *options;
	int channel;
	int64_t started_ns;
	char *traces;
	struct counters counters;
	unsigned threads;
	struct sums_table **sums; /* one per thread of the server */
	struct observer *observer;
	struct forwarder *forwarder; /* NULL: there is no database */
	struct submission *submission;
	struct collection *collection;
	struct knowledge_service *knowledge;
	struct backlogs *backlogs; /* NULL: they are not exchanged */
	struct server *server;
	struct metrics *metrics;
	struct metrics_server *metrics_server;
	struct metering metering; /* of the thread that serves metrics */
	pthread_mutex_t lock;	  /* protects what the first thread changes: */
	struct alert alert;
	int rules;
};

static int refuse(enum refusal why)
{
	return -1 - (int)why;
}

static void look_at_worker(struct worker *worker, struct status_view *view)
{
	*view = (struct status_view){
		.uptime_s = (double)(clock_now_ns() - worker->started_ns) / NS_PER_S,
		.memory_limit = config_number(worker->options->config, SETTING_SITE_MEMORY),
		.counters = &worker->counters,
		.reception = collection_counts(worker->collection),
		.submission = submission_counts(worker->submission),
		.traces_limit = config_number(worker->options->config, SETTING_SITE_TRACES),
		.has_forwarder = worker->forwarder,
	};
	for (unsigned i = 0; i < worker->threads; i++)
		sums_table_count(worker->sums[i], &view->sums);
	if (worker->backlogs)
		view->backlogs = backlogs_count(worker->backlogs, clock_now_ns());
	if (worker->forwarder)
		view->forwarder = forwarder_status(worker->forwarder);
	pthread_mutex_lock(&worker->lock);
	view->alert = worker->alert;
	view->rules = worker->rules;
	pthread_mutex_unlock(&worker->lock);
}

/* --- threads of the server --- */

static int handle_sums(struct worker *worker, unsigned thread, const struct frame *frame)
{
	int64_t calls = sums_table_add_frame(worker->sums[thread], frame);

	return calls < 0 ? refuse(REFUSAL_CONTENT) : 0;
}

static int handle_status(struct worker *worker, struct client *client)
{
	AUTO_BUF struct buf text = { 0 };
	struct status_view view;

	look_at_worker(worker, &view);
	view.with_names = client->user == 0 || client->user == geteuid();
	status_write(&text, &view);
	return client_send(client, FRAME_STATUS, buf_text(&text), text.len);
}

static int handle_vote(struct worker *worker, const struct client *client,
		       const struct frame *frame)
{
	return knowledge_vote(worker->knowledge, frame, client->user, client->process)
		       ? 0
		       : refuse(REFUSAL_CONTENT);
}

/* Without an exchange, the answer is empty. */
static int handle_backlog(struct worker *worker, struct client *client, const struct frame *frame)
{
	struct exchange answer = { .version = EXCHANGE_VERSION };

	if (worker->backlogs && !backlogs_exchange(worker->backlogs, client->user, frame->payload,
						   frame->length, clock_now_ns(), &answer))
		return refuse(REFUSAL_CONTENT);
	return client_send(client, FRAME_OTHERS, &answer, exchange_bytes(answer.count));
}

static int handle_frame(void *arg, unsigned thread, struct client *client,
			const struct frame *frame)
{
	struct worker *worker = arg;

	switch (frame->type) {
	case FRAME_HELLO:
		return collection_offer(worker->collection, client, frame);
	case FRAME_TRACE:
		return submission_offer(worker->submission, client, frame);
	case FRAME_SUMS:
		return handle_sums(worker, thread, frame);
	case FRAME_VOTE:
		return handle_vote(worker, client, frame);
	case FRAME_BACKLOG:
		return handle_backlog(worker, client, frame);
	case FRAME_STATUS_REQUEST:
		return handle_status(worker, client);
	default:
		return refuse(REFUSAL_TYPE);
	}
}

/* --- the collecting thread --- */

/* Its job must be known before its trace has a name; then it is too late, if this process dies. */
static void see_begin(void *arg, const uid_t *user)
{
	struct worker *worker = arg;

	if (worker->forwarder)
		about_write_ledgers(worker->traces, user);
}

static void see_end(void *arg, const struct reception_end *end)
{
	struct worker *worker = arg;
	struct about about = { (char *)(uintptr_t)end->run.job,
			       (char *)(uintptr_t)end->run.partition, false };

	if (end->err)
		worker->options->tell(end->err->text);
	if (end->trace && worker->forwarder)
		forwarder_add(worker->forwarder, end->trace, end->run.user, &about);
}

static bool take_kept(void *arg, const struct kept *kept)
{
	struct worker *worker = arg;

	return submission_take_kept(worker->submission, kept);
}

/* --- the thread of the submission --- */

static void see_submitted(void *arg, const struct submitted *submitted)
{
	struct worker *worker = arg;

	if (worker->forwarder)
		forwarder_add(worker->forwarder, submitted->trace, submitted->user,
			      submitted->about);
}

/* --- the sending thread of the forwarder --- */

static void see_forgotten(void *arg, const char *what, int64_t before_ns)
{
	struct worker *worker = arg;
	const char *prefix = "user:";
	struct passwd entry, *found = NULL;
	char room[4096], *end;
	unsigned long number;

	if (strncmp(what, prefix, strlen(prefix)) != 0) {
		retention_forget(worker->traces, false, 0, what, before_ns);
		return;
	}
	what += strlen(prefix);
	number = strtoul(what, &end, 10);
	if (getpwnam_r(what, &entry, room, sizeof(room), &found) == 0 && found)
		number = entry.pw_uid;
	else if (*end || end == what)
		return;
	retention_forget(worker->traces, true, (uid_t)number, NULL, before_ns);
}

static void see_knowledge(void *arg)
{
	struct worker *worker = arg;

	knowledge_refresh(worker->knowledge);
}

/* --- the thread that serves metrics --- */

static void update_metrics(void *arg, struct metrics *metrics)
{
	struct worker *worker = arg;
	struct status_view view;

	for (unsigned i = 0; i < worker->threads; i++)
		metering_add_sums(metrics, worker->sums[i]);
	metering_add_sums(metrics, observer_sums(worker->observer));
	look_at_worker(worker, &view);
	metering_update(&worker->metering, metrics, &view);
}

/* --- start and stop --- */

/* Blocks the signals in all threads of the worker; serve_until_stop() receives them. */
static void block_signals(sigset_t *mask)
{
	sigemptyset(mask);
	sigaddset(mask, SIGTERM);
	sigaddset(mask, SIGINT);
	sigaddset(mask, SIGHUP);
	sigprocmask(SIG_BLOCK, mask, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void publish_policy(struct worker *worker)
{
	struct err err = { 0 };
	int r = publication_update(worker->options->config, &err);

	if (r < 0) {
		worker->options->tell(err.text);
		return;
	}
	pthread_mutex_lock(&worker->lock);
	worker->rules = r;
	pthread_mutex_unlock(&worker->lock);
}

static void serve_until_stop(struct worker *worker, const sigset_t *mask)
{
	int64_t period_ns =
		i64_max((int64_t)config_number(worker->options->config, SETTING_HEALTH_INTERVAL),
			100 * NS_PER_MS);
	struct timespec period = { period_ns / NS_PER_S, period_ns % NS_PER_S };
	struct reporter reporter = { .observer = worker->observer,
				     .forwarder = worker->forwarder,
				     .metrics = worker->metrics };
	int64_t now_ns;

	reporter_start(&reporter, clock_realtime_ns());
	for (;;) {
		int number = sigtimedwait(mask, NULL, &period);

		if (number == SIGTERM || number == SIGINT)
			return;
		if (number == SIGHUP) {
			publish_policy(worker);
			continue;
		}
		now_ns = clock_realtime_ns();
		reporter_cycle(&reporter, now_ns, observer_cycle(worker->observer, now_ns));
		pthread_mutex_lock(&worker->lock);
		worker->alert = *observer_alert(worker->observer);
		pthread_mutex_unlock(&worker->lock);
	}
}

static int start_forwarder(struct worker *worker, const char *state, struct err *err)
{
	struct forwarder_options options = {
		.config = worker->options->config,
		.state = state,
		.traces = worker->traces,
		.database = config_text(worker->options->config, SETTING_SITE_DATABASE),
		.node = observer_node(worker->observer),
		.tell = worker->options->tell,
		.on_forgotten = see_forgotten,
		.on_knowledge = see_knowledge,
		.arg = worker,
	};

	return *options.database ? forwarder_start(&worker->forwarder, &options, err) : 0;
}

static int start_submission(struct worker *worker, struct err *err)
{
	const struct config *config = worker->options->config;
	struct submission_options options = {
		.traces = worker->traces,
		.channel = worker->channel,
		.has_database = worker->forwarder,
		.limits = { .age_ns = (int64_t)config_number(config, SETTING_SITE_KEEP_TRACES),
			    .bytes = config_number(config, SETTING_SITE_TRACES),
			    .has_database = worker->forwarder },
		.on_trace = see_submitted,
		.arg = worker,
		.tell = worker->options->tell,
	};

	return submission_start(&worker->submission, &options, err);
}

static int start_collection(struct worker *worker, struct err *err)
{
	const struct config *config = worker->options->config;
	struct collection_options options = {
		.config = config,
		.spools = config_text(config, SETTING_SITE_SPOOLS),
		.traces = worker->traces,
		.channel = worker->channel,
		.resident_max = config_number(config, SETTING_SITE_MEMORY) / 4 * 3,
		.counters = &worker->counters,
		.observer = worker->observer,
		.on_kept = take_kept,
		.on_begin = see_begin,
		.on_end = see_end,
		.arg = worker,
	};

	return collection_start(&worker->collection, &options, err);
}

static int start_knowledge(struct worker *worker, struct err *err)
{
	struct knowledge_options options = { .config = worker->options->config,
					     .tell = worker->options->tell };

	return knowledge_start(&worker->knowledge, &options, err);
}

static int start_server(struct worker *worker, struct err *err)
{
	const struct config *config = worker->options->config;
	struct server_options options = {
		.listener = worker->options->listener,
		.threads = worker->threads,
		.clients_max = worker->options->clients_max,
		.user_max = config_number(config, SETTING_SITE_USER_CLIENTS),
		.timeout_ns = (int64_t)config_number(config, SETTING_SITE_TIMEOUT),
		.idle_ns = IDLE_NS,
		.counters = &worker->counters,
		.handle = handle_frame,
		.arg = worker,
	};

	return server_start(&worker->server, &options, err);
}

static int start_metrics(struct worker *worker, const char *state, struct err *err)
{
	const struct config *config = worker->options->config;
	AUTO_FREE char *token = place_join(state, "metrics.token");
	struct metrics_server_options options = {
		.address = config_text(config, SETTING_SITE_METRICS),
		.token_file = token,
		.group = accounts_find_group(config_text(config, SETTING_SITE_GROUP)),
		.update = update_metrics,
		.arg = worker,
	};

	if (!*options.address)
		return 0;
	worker->metrics = metrics_new();
	return metrics_server_start(&worker->metrics_server, worker->metrics, &options, err);
}

static int start_all(struct worker *worker, struct err *err)
{
	const struct config *config = worker->options->config;
	const char *state = config_text(config, SETTING_SITE_STATE);
	int r = trusted_make_directory(state, err);

	if (r < 0)
		return r;
	close(r);
	worker->traces = place_join(state, "traces");
	r = publication_prepare(config, err);
	if (r == 0)
		r = observer_new(&worker->observer, config, config_text(config, SETTING_SITE_ALERT),
				 worker->options->tell, err);
	if (r == 0)
		r = start_knowledge(worker, err);
	if (r == 0)
		r = start_forwarder(worker, state, err);
	if (r == 0)
		r = start_submission(worker, err);
	if (r == 0)
		r = start_collection(worker, err);
	if (r == 0)
		r = start_metrics(worker, state, err);
	if (r == 0) {
		/* At last: a daemon that answers has a policy, and serves its metrics. */
		publish_policy(worker);
		r = start_server(worker, err);
	}
	return r;
}

static void stop_all(struct worker *worker)
{
	metrics_server_stop(worker->metrics_server);
	metrics_free(worker->metrics);
	server_stop(worker->server);
	collection_stop(worker->collection);
	submission_stop(worker->submission);
	forwarder_stop(worker->forwarder);
	knowledge_stop(worker->knowledge);
	observer_free(worker->observer);
	free(worker->traces);
}

int worker_run(const struct worker_options *options, int channel, struct err *err)
{
	const struct config *config = options->config;
	struct worker worker = { .options = options,
				 .channel = channel,
				 .started_ns = clock_now_ns() };
	sigset_t mask;
	int r;

	block_signals(&mask);
	pthread_mutex_init(&worker.lock, NULL);
	worker.counters.memory_limit = config_number(config, SETTING_SITE_MEMORY) / CLIENTS_SHARE;
	worker.threads = (unsigned)u64_min(u64_max(config_number(config, SETTING_SITE_THREADS), 1),
					   THREADS_MAX);
	worker.sums = xcalloc(worker.threads, sizeof(*worker.sums));
	for (unsigned i = 0; i < worker.threads; i++)
		worker.sums[i] = sums_table_new();
	if (config_choice(config, SETTING_PLACE_SHARE) == CONFIG_SHARE_ON)
		worker.backlogs = backlogs_new();
	r = start_all(&worker, err);
	if (r == 0) {
		/* If the keeper is gone, a signal ends this process as well. */
		keeper_ready(channel);
		serve_until_stop(&worker, &mask);
	}
	stop_all(&worker);
	for (unsigned i = 0; i < worker.threads; i++)
		sums_table_free(worker.sums[i]);
	free(worker.sums);
	backlogs_free(worker.backlogs);
	pthread_mutex_destroy(&worker.lock);
	return r;
}
