/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stripes of a file: its bytes are distributed over `count` objects, each on another storage
 * target, in units that take turns. Objects have no limit, as on Lustre.
 *
 * The time of a round depends on the object that receives the most bytes, and on the pieces into
 * which the writes are cut. Both follow from the ranges that are written.
 */
#ifndef SLUICE_PREDICT_MODEL_STRIPES_H
#define SLUICE_PREDICT_MODEL_STRIPES_H

#include <stddef.h>
#include <stdint.h>

/* Limit of `count`: a file of Lustre has no more stripes. */
#define STRIPES_MOST 2000

struct stripes {
	uint64_t count, unit; /* 0: the file system does not stripe files, or it is unknown */
};

/* From the first byte to the byte after the last. Empty: from == to. */
struct range {
	uint64_t from, to;
};

/* Bytes of a range that belong to object `object`, which is less than count. */
uint64_t stripes_bytes(const struct stripes *stripes, uint64_t object, struct range range);

/* The number of objects that a range covers, and of pieces into which the units cut it. */
uint64_t stripes_objects(const struct stripes *stripes, struct range range);
uint64_t stripes_pieces(const struct stripes *stripes, struct range range);

/*
 * How a round is spread over the objects. targets is the sum of all bytes divided by the bytes of
 * the object with the most: it equals the number of objects if all receive the same, and 1 if only
 * one object receives data, however many stripes the file has.
 */
struct stripes_spread {
	double pieces, targets; /* 0: unknown stripes, or no bytes */
};
struct stripes_spread stripes_spread_find(const struct stripes *stripes, const struct range *ranges,
					  size_t count);

/* Rounds targets: models find benchmarked values by equality. */
double stripes_targets(double targets);

#endif
