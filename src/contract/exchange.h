/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the backlogs of several users of a node (contract/backlog.h) learn of each other: through the
 * daemon, which gets sums and answers with sums. No user reads memory of another one.
 *
 * While a run places files, its recorder sends a frame of type FRAME_BACKLOG with a struct exchange
 * about the backlog of its user, and gets one of type FRAME_OTHERS: for the same keys in the same
 * order, the sums of all other backlogs. An answer without any sum says that the site does not want
 * backlogs to be exchanged. A backlog counts for BACKLOG_OTHERS_NS.
 *
 * Targets have no names here. Who cannot name a target cannot ask for it, and an answer does not
 * tell users apart.
 */
#ifndef SLUICE_CONTRACT_EXCHANGE_H
#define SLUICE_CONTRACT_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/backlog.h"

#define EXCHANGE_VERSION 1

/* The payload of both frames ends with the last sum that is counted. */
struct exchange {
	uint32_t version; /* EXCHANGE_VERSION */
	uint32_t count;
	uint64_t backlog; /* tells the backlogs of a user apart; 0 in an answer */
	struct backlog_sum sums[BACKLOG_TARGETS]; /* by ascending key, from 1 on */
};

_Static_assert(sizeof(struct backlog_sum) == 32 && offsetof(struct exchange, sums) == 16,
	       "no padding: it is used as it is on the wire");

static inline size_t exchange_bytes(uint32_t count)
{
	return offsetof(struct exchange, sums) + count * sizeof(struct backlog_sum);
}

/* Are these bytes, which are at most sizeof(struct exchange), a message of this version? */
static inline bool exchange_is_valid(const struct exchange *message, size_t bytes)
{
	uint64_t last = 0;

	if (bytes < exchange_bytes(0) || message->version != EXCHANGE_VERSION ||
	    message->count > BACKLOG_TARGETS || bytes != exchange_bytes(message->count))
		return false;
	for (uint32_t i = 0; i < message->count; i++) {
		if (message->sums[i].key <= last)
			return false;
		last = message->sums[i].key;
	}
	return true;
}

#endif
