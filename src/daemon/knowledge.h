/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Serves what the database of the site has learned to the processes of the node. One thread reads
 * the database once per site.knowledge, and when it is told of a change, and publishes the
 * knowledge page (contract/knowledge.h). A copy in the daemon's state is published at the start, so
 * that the page exists while the database cannot be reached, or without a database. Hints that the
 * site forbids (params.forbid, params.allow) are not served.
 *
 * The same thread brings the votes of ranks to the database and publishes what becomes of them
 * (contract/agreement.h, site/agreement.h).
 */
#ifndef SLUICE_DAEMON_KNOWLEDGE_H
#define SLUICE_DAEMON_KNOWLEDGE_H

#include <stdbool.h>
#include <sys/types.h>

struct config;
struct err;
struct frame;
struct knowledge_service;

struct knowledge_options {
	const struct config *config;
	void (*tell)(const char *sentence);
};

int knowledge_start(struct knowledge_service **service, const struct knowledge_options *options,
		    struct err *err);

/*
 * The database may have learned something: it is read again now, but at most once per second. Any
 * thread; does not wait.
 */
void knowledge_refresh(struct knowledge_service *service);

/* Counts a vote. Any thread; never waits for the database. False: the frame is invalid. */
bool knowledge_vote(struct knowledge_service *service, const struct frame *frame, uid_t user,
		    pid_t pid);

/* Stops within a moment. The pages stay. Accepts NULL. */
void knowledge_stop(struct knowledge_service *service);

#endif
