/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who moves which bytes in which round of two-phase I/O: the access divided among aggregators as
 * ROMIO (MPICH 4.0.2) divides it, and the matrix of messages of every round (HYB-L-15). All of it
 * is arithmetic; nothing is kept per rank or round.
 *
 * An aggregator works through its own part of the file, window by window. What lies before its
 * first and behind its last byte of data is no part of it.
 */
#ifndef SLUICE_PREDICT_MODEL_COUNTS_LAYOUT_H
#define SLUICE_PREDICT_MODEL_COUNTS_LAYOUT_H

#include "predict/model/access.h"
#include "predict/model/machine.h"

enum layout_domains {
	LAYOUT_EVEN,	/* equal parts */
	LAYOUT_ALIGNED, /* ends moved to the nearest multiple of unit: striping_unit */
	LAYOUT_BLOCKS,	/* whole blocks, as equally many as can be, the larger parts first: GPFS */
	LAYOUT_STRIPES, /* stripes dealt out in turns, one per round: writes on Lustre */
};

struct layout {
	struct access access;
	enum layout_domains domains;
	uint64_t first, end;  /* of the data: from, and behind */
	uint64_t block;	      /* of data in one piece */
	uint64_t spacing;     /* from one piece to the next, whoever has it */
	uint64_t period;      /* from a piece of a rank to its next one */
	uint64_t pieces;      /* of one rank */
	uint64_t hinted;      /* aggregators that ROMIO was told (cb_nodes, as it is in effect) */
	uint64_t aggregators; /* of those, that get any work at all; on Lustre fewer */
	uint64_t node_aggregators, cores;
	uint64_t buffer; /* of a round of one aggregator; on Lustre the stripe */
	uint64_t unit;	 /* of ALIGNED, BLOCKS and STRIPES */
	uint64_t lists;	 /* messages that tell an aggregator what it gets */
	uint64_t domain; /* of EVEN and ALIGNED: bytes of a part before they are aligned */
};

/* access_check() has been asked. */
void layout_of(struct layout *layout, const struct machine *machine, const struct access *access,
	       const struct settings *settings);

/* Bytes of data in a range of the file: of one rank; of all. */
uint64_t layout_rank_bytes(const struct layout *layout, uint64_t rank, uint64_t from, uint64_t to);
uint64_t layout_bytes(const struct layout *layout, uint64_t from, uint64_t to);

/* The rank that is aggregator number i; the number that the rank has, or -1. */
uint64_t layout_aggregator(const struct layout *layout, uint64_t i);
int64_t layout_number(const struct layout *layout, uint64_t rank);

/* All that aggregator i gets, from first to last byte of data. Empty: from == to. */
struct range {
	uint64_t from, to;
};
struct range layout_part(const struct layout *layout, uint64_t i);

/* Rounds of aggregator i; of all together, those of the slowest. */
uint64_t layout_own_rounds(const struct layout *layout, uint64_t i);
uint64_t layout_rounds(const struct layout *layout);

/* What aggregator i reads or writes in a round. Empty: nothing. */
struct range layout_window(const struct layout *layout, uint64_t i, uint64_t round);

/* One element of the matrix: bytes between a rank and aggregator i in a round. */
uint64_t layout_message(const struct layout *layout, uint64_t round, uint64_t rank, uint64_t i);

/* The same of all rounds together. */
uint64_t layout_messages(const struct layout *layout, uint64_t rank, uint64_t i);

#endif
