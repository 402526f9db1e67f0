/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The portion of the pending records that one pass reads, in private memory of bounded size.
 *
 * Whatever a record depends on (such as the open before a write, in any thread) ended before the
 * record began, so a pass that reads all records up to one moment is self-contained. If not all
 * pending records fit, every lane (the chunks of one thread) gets an equal part of the memory, and
 * the moment is the earliest end of such a part.
 */
#ifndef SLUICE_OBSERVE_COLLECT_PORTION_H
#define SLUICE_OBSERVE_COLLECT_PORTION_H

#include "observe/collect/drain.h"

#define PORTION_WORDS (1024u * 1024)

struct lane;

struct portion {
	uint64_t **blocks;
	size_t block_count, block_cap;
	size_t block, used; /* the current block, and the words used in it */
	struct lane *lanes;
	size_t lane_count, lane_cap;
	uint64_t until; /* of the last pass */
};

void portion_release(struct portion *portion); /* a zeroed portion is empty */

/* Sorts the sequences by spool, thread and time. */
void portion_sort(struct pending *list, size_t count);

/*
 * Loads what fits of a sorted list of more than PORTION_WORDS words. Returns the time up to which
 * the loaded records are complete, at most `now`. Records of the last portion become invalid.
 * Sequences that did not fit have no records.
 */
uint64_t portion_load(struct portion *portion, struct pending *list, size_t count, uint64_t now);

/*
 * The same step by step, without a limit: portion_begin(), then for each sequence portion_add(),
 * which loads it, and portion_keep(), which gives back the memory after `end`.
 */
void portion_begin(struct portion *portion);
void portion_add(struct portion *portion, struct pending *p);
void portion_keep(struct portion *portion, const uint64_t *end);

#endif
