/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "daemon/counters.h"
#include "daemon/keeper.h"
#include "daemon/server.h"
#include "daemon/status.h"
#include "daemon/sums_table.h"

#define THREADS_MAX 64
#define IDLE_NS (600 * NS_PER_S) /* a connection without messages is closed */
#define CLIENTS_SHARE 4		 /* connections get this part of the memory */

struct worker {
	const struct worker_options *options;
	int channel;
	int64_t started_ns;
	struct counters counters;
	unsigned threads;
	struct sums_table **sums; /* one per thread of the server */
};

static int refuse(enum refusal why)
{
	return -1 - (int)why;
}

static int handle_sums(struct worker *worker, unsigned thread, const struct frame *frame)
{
	int64_t calls = sums_table_add_frame(worker->sums[thread], frame);

	return calls < 0 ? refuse(REFUSAL_CONTENT) : 0;
}

static int handle_status(struct worker *worker, struct client *client)
{
	AUTO_BUF struct buf text = { 0 };
	struct sums_counts sums = { 0 };

	for (unsigned i = 0; i < worker->threads; i++)
		sums_table_count(worker->sums[i], &sums);
	status_write(&text, &worker->counters, &sums,
		     (double)(clock_now_ns() - worker->started_ns) / NS_PER_S);
	return client_send(client, FRAME_STATUS, buf_text(&text), text.len);
}

static int handle_frame(void *arg, unsigned thread, struct client *client,
			const struct frame *frame)
{
	struct worker *worker = arg;

	switch (frame->type) {
	case FRAME_SUMS:
		return handle_sums(worker, thread, frame);
	case FRAME_STATUS_REQUEST:
		return handle_status(worker, client);
	default:
		return refuse(REFUSAL_TYPE);
	}
}

/* Blocks the signals in all threads of the worker; wait_for_stop() receives them. */
static void block_signals(sigset_t *mask)
{
	sigemptyset(mask);
	sigaddset(mask, SIGTERM);
	sigaddset(mask, SIGINT);
	sigaddset(mask, SIGHUP);
	sigprocmask(SIG_BLOCK, mask, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void wait_for_stop(const sigset_t *mask)
{
	const struct timespec period = { .tv_sec = 1 };
	int number;

	do
		number = sigtimedwait(mask, NULL, &period);
	while (number != SIGTERM && number != SIGINT);
}

static int serve(struct worker *worker, const sigset_t *mask, struct err *err)
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
	struct server *server;
	int r = server_start(&server, &options, err);

	if (r < 0)
		return r;
	r = keeper_ready(worker->channel);
	if (r == 0)
		wait_for_stop(mask);
	server_stop(server);
	return 0;
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
	worker.counters.memory_limit = config_number(config, SETTING_SITE_MEMORY) / CLIENTS_SHARE;
	worker.threads = (unsigned)u64_min(u64_max(config_number(config, SETTING_SITE_THREADS), 1),
					   THREADS_MAX);
	worker.sums = xcalloc(worker.threads, sizeof(*worker.sums));
	for (unsigned i = 0; i < worker.threads; i++)
		worker.sums[i] = sums_table_new();
	r = serve(&worker, &mask, err);
	for (unsigned i = 0; i < worker.threads; i++)
		sums_table_free(worker.sums[i]);
	free(worker.sums);
	return r;
}
