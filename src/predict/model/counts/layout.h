/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The geometry of two-phase I/O: how ROMIO (MPICH 4.0.2) divides an access among aggregators, and
 * the matrix of messages of every round. All functions are arithmetic; nothing is stored per rank
 * or round.
 *
 * An aggregator processes its part of the file window by window. Its part begins at its first and
 * ends at its last byte of data.
 */
#ifndef SLUICE_PREDICT_MODEL_COUNTS_LAYOUT_H
#define SLUICE_PREDICT_MODEL_COUNTS_LAYOUT_H

#include "predict/model/access.h"
#include "predict/model/machine.h"
#include "predict/model/stripes.h"

enum layout_domains {
	LAYOUT_EVEN,	/* equal parts */
	LAYOUT_ALIGNED, /* equal parts, aligned to the nearest multiple of unit (striping_unit) */
	LAYOUT_BLOCKS,	/* GPFS: whole blocks, divided as evenly as possible, larger parts first */
	LAYOUT_STRIPES, /* writes on Lustre: stripes round-robin, one per round */
};

struct layout {
	struct access access;
	enum layout_domains domains;
	uint64_t first, end;  /* the first byte of data, and the byte after the last */
	uint64_t block;	      /* bytes of one piece of data */
	uint64_t spacing;     /* distance of consecutive pieces, of any rank */
	uint64_t period;      /* distance of consecutive pieces of one rank */
	uint64_t pieces;      /* pieces of one rank */
	uint64_t hinted;      /* number of aggregators by the hint (cb_nodes in effect) */
	uint64_t aggregators; /* aggregators that get work; on Lustre possibly fewer */
	uint64_t node_aggregators, cores;
	uint64_t buffer;	/* bytes per aggregator and round; on Lustre the stripe */
	uint64_t unit;		/* of ALIGNED, BLOCKS and STRIPES, in bytes */
	uint64_t lists;		/* messages with offsets and lengths from a rank to an aggregator */
	uint64_t sieve;		/* largest window of data sieving; 0: a call per piece */
	uint64_t domain;	/* of EVEN and ALIGNED: bytes of a part before alignment */
	struct stripes stripes; /* of the file */
};

/* access_check() must have accepted the access. */
void layout_compute(struct layout *layout, const struct machine *machine,
		    const struct access *access, const struct settings *settings);

/* Bytes of data of all ranks in a range of the file. */
uint64_t layout_bytes(const struct layout *layout, uint64_t from, uint64_t to);

/* The number of the rank among aggregators, or -1 if it is not an aggregator. */
int64_t layout_number(const struct layout *layout, uint64_t rank);

/* The rounds of aggregator i, and of the aggregator with the most rounds. */
uint64_t layout_own_rounds(const struct layout *layout, uint64_t i);
uint64_t layout_rounds(const struct layout *layout);

/* The range that aggregator i reads or writes in a round; empty if there is none. */
struct range layout_window(const struct layout *layout, uint64_t i, uint64_t round);

/* One element of the message matrix: bytes between a rank and aggregator i in a round. */
uint64_t layout_message(const struct layout *layout, uint64_t round, uint64_t rank, uint64_t i);

/* Bytes between a rank and aggregator i in all rounds. */
uint64_t layout_messages(const struct layout *layout, uint64_t rank, uint64_t i);

#endif
