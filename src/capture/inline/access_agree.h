/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of an open file agree on when its hints change, and to what, without messages and
 * without waiting. Guest.
 *
 * Changing hints is a collective call, so all ranks must make it before the same access. They make
 * the same collective accesses in the same order, and each rank counts them. The first rank that
 * arrives at an access decides by a compare-and-swap whether hints change before it; all others
 * find that decision, however late they are, because changes are kept in a list. There are no
 * changes until all ranks take part. One that does not, because it is not recorded or the table
 * was full, keeps the others from changing anything.
 *
 * Hints are changed from one choice to another. Choice 0 are the hints that the file was opened
 * with; the meaning of other numbers is up to the caller.
 */
#ifndef SLUICE_CAPTURE_INLINE_ACCESS_AGREE_H
#define SLUICE_CAPTURE_INLINE_ACCESS_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/spool.h"

/* Accesses are numbered from 1. */
struct access_step {
	unsigned choice;
	uint32_t keys; /* hints that change: a bit per index in hints_changeable[]; 0: none */
	bool is_mine;  /* this rank has decided it */
};

/* A rank that is about to make an access. */
struct access_rank {
	uint32_t access;
	uint32_t ranks; /* that have opened the file */
	uint32_t limit; /* changes, not counting the last one, which restores choice 0 */
	unsigned wanted;
	bool has_opinion; /* false: whatever is in force */
	/* The hints that differ between two choices. */
	uint32_t (*differ)(const void *arg, unsigned from, unsigned to);
	const void *arg;
};

#pragma GCC visibility push(hidden)

/* The entry of an opening, the same in all processes. NULL: there is no room, for any rank. */
struct control_changes *access_entry(struct control *control, uint64_t opening);

/*
 * Before the first access of a rank, which is counted only if it has the same values and choices as
 * the others, of which `opened` is a hash. own: hints that must not change.
 */
void access_join(struct control_changes *changes, uint64_t opened, uint32_t own);

/* From now on these hints must not change, either. Before a call that all ranks make together. */
void access_keep(struct control_changes *changes, uint32_t own);

/* What to change before this access. Each rank asks once for each of its accesses, in order. */
struct access_step access_decide(struct control_changes *changes, const struct access_rank *rank);

#pragma GCC visibility pop

#endif
