/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of votes of the node (contract/agreement.h), and how the state of a job changes. The
 * file outlives the daemon, so the next one continues. The caller serializes votes; one thread,
 * which may be another one, advances jobs.
 */
#ifndef SLUICE_DAEMON_AGREEMENT_TABLE_H
#define SLUICE_DAEMON_AGREEMENT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/agreement.h"

struct err;
struct site_db;

/* Maps the table SITE/agreements, which is created if it is missing or invalid. */
int agreement_table_open(struct agreement_page **page, const char *site, struct err *err);
void agreement_table_close(struct agreement_page *page);

/* Counts a vote at the time now_ns of CLOCK_MONOTONIC. False: there is no room for the job. */
bool agreement_table_vote(struct agreement_page *page, const struct vote *vote, uint32_t user,
			  int32_t pid, int64_t now_ns);

/* Is the job still to be decided? */
bool agreement_is_open(const struct agreement_entry *entry);

/* Without a database, or if it fails: gives up on a job that was not confirmed by its deadline. */
void agreement_expire(struct agreement_entry *entry, int64_t now_ns);

/*
 * Does the next step for a job. *sent is the number of votes that the database has of this node.
 * Returns 0, or -errno if the database failed.
 */
int agreement_advance(struct agreement_entry *entry, struct site_db *site, const char *node,
		      uint32_t *sent, struct err *err);

#endif
