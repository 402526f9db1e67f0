/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The backlogs of the users of the node (contract/exchange.h): keeps the last sums of each, and
 * answers with those of all others. There is no thread and no timer: without messages nothing
 * happens.
 *
 * A sender may be hostile, and his sums may be wrong. At most BACKLOGS_USER backlogs of a user
 * count, with at most BACKLOG_SUM_MAX bytes per target each. What a backlog has seen of a target
 * counts at most like two half-lives of uninterrupted writing, which no honest one exceeds, so that
 * one user cannot outweigh the others. How far readers believe sums at all is up to them
 * (contract/backlog.h).
 */
#ifndef SLUICE_DAEMON_EXCHANGE_BACKLOGS_H
#define SLUICE_DAEMON_EXCHANGE_BACKLOGS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "contract/exchange.h"

#define BACKLOGS_MAX 128 /* of all users */
#define BACKLOGS_USER 4

struct backlogs;

struct backlogs_counts {
	uint64_t messages; /* that were answered */
	uint64_t ignored;  /* of them: one backlog too many, so its sums do not count */
	uint64_t backlogs; /* that count now */
};

struct backlogs *backlogs_new(void);
void backlogs_free(struct backlogs *backlogs); /* accepts NULL */

/*
 * Takes a message of the user, of n bytes, and fills in the answer, of which exchange_bytes()
 * are used. now_ns is of CLOCK_MONOTONIC. False: the message is invalid. Any thread.
 */
bool backlogs_exchange(struct backlogs *backlogs, uid_t user, const void *bytes, size_t n,
		       int64_t now_ns, struct exchange *answer);

struct backlogs_counts backlogs_count(struct backlogs *backlogs, int64_t now_ns);

#endif
