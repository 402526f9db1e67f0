/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the ranks of a job on several nodes agree that all of them use the knowledge page
 * (contract/knowledge.h), or none. Guest-safe.
 *
 *   SITE/agreements    table of the daemon, which processes map read-only
 *
 * After MPI_Init, each rank sends one vote (a frame of type FRAME_VOTE) to the daemon of its node,
 * without waiting. It names the job, the number of its ranks, and a digest of all that decides on
 * hints. The daemons count votes in the database of the site (site/agreement.h). If all ranks have
 * voted for the same digest, each daemon confirms; if all have confirmed, hints are granted. The
 * state of the job is published in this table. A rank reads it when it first opens a file together
 * with other ranks.
 *
 * A job that was not confirmed on this node by its deadline is never granted: the daemon checks
 * the deadline after it has entered AGREEMENT_CONFIRMING, so a process that finds
 * AGREEMENT_WAITING after the deadline knows the result, even if the daemon is dead.
 */
#ifndef SLUICE_CONTRACT_AGREEMENT_H
#define SLUICE_CONTRACT_AGREEMENT_H

#include <stdatomic.h>
#include <stdint.h>

#define AGREEMENT_MAGIC UINT64_C(0x314545524741534c) /* "LSAGREE1" */
#define AGREEMENT_NAME "agreements"
#define AGREEMENT_JOBS 1024
#define AGREEMENT_PROBES 64
#define AGREEMENT_DEADLINE_NS INT64_C(3000000000) /* from the first vote of the node */
/* After the deadline, daemons and then processes give up on a job that was confirmed. */
#define AGREEMENT_GRACE_NS INT64_C(2000000000)
#define AGREEMENT_LIMIT_NS INT64_C(5000000000)

/* The payload of the frame. */
struct vote {
	uint64_t job;	 /* hash of the id of the job, the same on all nodes */
	uint64_t digest; /* of all that decides on hints */
	int64_t sent_ns; /* of CLOCK_MONOTONIC */
	uint32_t ranks;	 /* of MPI_COMM_WORLD */
	uint32_t reserved;
};

enum agreement_state {
	AGREEMENT_FREE,
	AGREEMENT_WAITING,    /* for votes */
	AGREEMENT_CONFIRMING, /* all ranks agree; this node is confirming it */
	AGREEMENT_CONFIRMED,  /* other nodes may grant it from now on */
	AGREEMENT_GRANTED,
	AGREEMENT_REFUSED,
};

struct agreement_entry {
	uint64_t job, digest;
	_Atomic int64_t deadline_ns; /* of CLOCK_MONOTONIC */
	uint32_t user;
	int32_t pid; /* of the last process that has voted */
	uint32_t ranks;
	_Atomic uint32_t votes;
	/* Written last, with release: the rest is complete then. */
	_Atomic uint32_t state; /* enum agreement_state */
	uint32_t reserved;
};

struct agreement_page {
	uint64_t magic;
	uint64_t bytes; /* sizeof(struct agreement_page) */
	struct agreement_entry jobs[AGREEMENT_JOBS];
};

_Static_assert(sizeof(struct vote) == 32 && sizeof(struct agreement_entry) == 48, "no padding");

/* The slots in which the entry of a job may be. */
static inline uint32_t agreement_slot(uint64_t job, uint32_t probe)
{
	return (uint32_t)((job >> 32) + probe) % AGREEMENT_JOBS;
}

#endif
