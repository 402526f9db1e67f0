/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a request costs apart from its bytes, and what larger requests would save. A request takes
 *
 *   request_ns + bytes * byte_ns
 *
 * If requests of the run have different sizes, both numbers follow from their times ("request
 * sizes"). If all have about one size, the run cannot tell them apart; requests to a file in memory
 * do, if this is the machine of the run and its requests took about as long as those ("replay in
 * memory"). Otherwise nothing is known.
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_COST_H
#define SLUICE_OBSERVE_DIAGNOSE_COST_H

#include <stdint.h>

struct case_file;
struct costs; /* what was computed or measured for one diagnosis, so that it is done once */
struct diagnosis;
struct match;

struct costs *costs_new(void);
void costs_free(struct costs *costs); /* accepts NULL */

/* How a gain was predicted. */
#define SOURCE_CHAIN "causal chain"
#define SOURCE_SIZES "request sizes"
#define SOURCE_REPLAY "replay in memory"

/*
 * Sets saved_ns and source of a match whose calls move its bytes in time_ns through the requesting
 * layer of the file, in the direction `way`: what is saved if requests of 1 MiB move `moved` bytes
 * instead. If that cannot be told, or nothing is saved, sets `unknown`.
 */
void cost_merge(const struct diagnosis *d, const struct case_file *file, struct match *m,
		uint64_t moved);

/* The same for a stream, whose bytes libc moves in requests of the size of its buffer. */
void cost_merge_stream(const struct diagnosis *d, struct match *m, uint64_t buffer);

/* What is saved if the reads of the match find their data in memory. */
void cost_cache(const struct diagnosis *d, struct match *m);

/*
 * Share of the run time that recording took, 0 to 1: in the program, and before its first process
 * could start.
 */
double cost_recording(const struct diagnosis *d);

#endif
