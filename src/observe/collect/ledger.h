/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ledger of a run whose collector may be killed and continued by another one: a small mapped
 * file beside the trace, which only collectors can access. It says which part of the trace is valid
 * and which records of the spools are in it. Everything in it survives the death of the collector.
 *
 * A pass writes records to the trace and then consumes them in the spools. The trace counts up to
 *
 *   LEDGER_IDLE      the size after the last pass
 *   LEDGER_WRITING   the size before this pass: its records are still in the spools
 *   LEDGER_WRITTEN   the size after this pass: spools may hold records of it, which end by `until`
 *
 * A collector that continues copies the valid part to a trace of the next generation. The
 * generation is stored last, so that one of the two traces counts at any time.
 */
#ifndef SLUICE_OBSERVE_COLLECT_LEDGER_H
#define SLUICE_OBSERVE_COLLECT_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "contract/handover.h"

struct err;

#define LEDGER_MAGIC UINT64_C(0x315245474445534c) /* "LSEDGER1" */
#define LEDGER_SUFFIX ".ledger"

enum ledger_state { LEDGER_IDLE, LEDGER_WRITING, LEDGER_WRITTEN };

struct ledger_sizes {
	uint64_t before, after; /* bytes */
};

struct ledger_page {
	uint64_t magic;
	_Atomic uint32_t state;	      /* enum ledger_state */
	_Atomic uint32_t generation;  /* of the trace; 0: there is none yet */
	struct ledger_sizes sizes[2]; /* of even and odd generations */
	uint64_t until;		      /* ticks; of the pass */
	/* Records of known processes that end by this time are in the trace. */
	uint64_t written_until;
	/* The clock of the run, with which all times of the trace were computed. */
	uint64_t tick0, num, den;
	int64_t begin_ns; /* CLOCK_MONOTONIC at time 0 */
	/* What the first process said about its run. */
	uint32_t mode; /* enum policy_mode */
	uint32_t reserved;
	uint64_t key;
	char job[HANDOVER_JOB_BYTES], partition[HANDOVER_PARTITION_BYTES];
	char control[HANDOVER_NAME_BYTES]; /* name of the control page */
	uint64_t control_inode;
};

struct ledger {
	struct ledger_page *page; /* NULL: closed */
	int fd;			  /* locked as long as it is open */
};

/*
 * Opens the ledger in a private directory, or creates it. Returns 1 if there is a trace to
 * continue, 0 if the ledger is new, -EBUSY if another collector has it.
 */
int ledger_open(struct ledger *ledger, const char *path, struct err *err);
void ledger_close(struct ledger *ledger); /* the file stays; accepts a zeroed ledger */

/* The valid size of the trace. */
uint64_t ledger_valid_bytes(const struct ledger *ledger);

/* A pass begins, has written everything, has consumed everything. */
void ledger_begin(struct ledger *ledger, uint64_t until);
void ledger_written(struct ledger *ledger, uint64_t bytes);
void ledger_consumed(struct ledger *ledger);

/* Between passes: the trace is valid up to this size. */
void ledger_extend(struct ledger *ledger, uint64_t bytes);

/* The trace of the next generation has this size and takes the place of the current one. */
void ledger_replace(struct ledger *ledger, uint64_t bytes);

#endif
