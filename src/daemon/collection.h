/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collection: takes the spools that processes hand over and lets one thread collect all runs
 * (observe/collect/reception.h). Threads of the server call collection_offer(); the keeper gets a
 * copy of every message, so that nothing has to be handed over again after the worker was killed.
 * Papers: SIOX-64.
 */
#ifndef SLUICE_DAEMON_COLLECTION_H
#define SLUICE_DAEMON_COLLECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/client.h"
#include "observe/collect/reception.h"

struct config;
struct counters;
struct err;
struct collection;
struct kept;
struct observer;

struct collection_options {
	const struct config *config;
	const char *spools, *traces; /* directories; spools exists */
	int channel;		     /* to the keeper */
	uint64_t resident_max;	     /* no new spools while the process has more memory, in bytes */
	struct counters *counters;
	struct observer *observer;
	/* What the keeper held of an earlier worker: was it something else than a spool, and taken?
	 */
	bool (*on_kept)(void *arg, const struct kept *kept);
	/* A run of the user has begun, or of an unknown one (NULL); its ledger exists. Called by
	 * the thread that collects, or before it starts. */
	void (*on_begin)(void *arg, const uid_t *user);
	/* A run is over; called by the collecting thread. */
	void (*on_end)(void *arg, const struct reception_end *end);
	void *arg;
};

/* Takes what the keeper has held for this worker, and starts the thread. */
int collection_start(struct collection **collection, const struct collection_options *options,
		     struct err *err);

/*
 * Takes a frame HELLO and the descriptors of the client. Never waits for the collecting thread.
 * Returns 0 or -1 - enum refusal.
 */
int collection_offer(struct collection *collection, struct client *client,
		     const struct frame *frame);

/* The counts of a moment ago. */
struct reception_counts collection_counts(struct collection *collection);

/* Stops collecting. Unfinished runs are left to the next worker. Accepts NULL. */
void collection_stop(struct collection *collection);

#endif
