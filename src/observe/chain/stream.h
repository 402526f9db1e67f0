/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matches the calls that sent bytes in one direction of a connection with the calls that received
 * them, by offset: a connection delivers every byte once and in order. Pure: knows nothing of
 * traces.
 *
 * An offset is a sum of all earlier transfers, so one that is missing would shift all that follow.
 * What is not certain is therefore not matched:
 *
 *   - calls that end after certain_ns of their side, and whatever shares bytes with them;
 *   - calls of one side that overlap in time, because their order is not known. What follows them
 *     is certain again;
 *   - the whole direction, if it contradicts itself: more bytes were received than sent, the
 *     receiver has seen the end of the stream at another offset than the sender, or bytes were
 *     received before they were sent.
 */
#ifndef SLUICE_OBSERVE_CHAIN_STREAM_H
#define SLUICE_OBSERVE_CHAIN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One call that transferred bytes, at least one. */
struct stream_call {
	int64_t start_ns, stop_ns;
	uint64_t bytes;
	/* Results of stream_match(). */
	uint64_t offset;	/* of its first byte; meaningless if it is cut off */
	uint32_t first, count;	/* the calls of the other side that share bytes with it; 0: none */
	bool is_cut;		/* it ends after certain_ns */
	bool is_unordered;	/* another call of its side overlaps it in time */
	bool is_partly_matched; /* it shares bytes with a call that is not certain */
};

struct stream_side {
	struct stream_call *calls; /* in order of their start */
	size_t count;
	int64_t certain_ns; /* no call is missing that began before; INT64_MAX: none is missing */
	bool has_ended;	    /* the receiver has seen the end of the stream */
};

/*
 * Sets the results of all calls. slack_ns is the error of the difference of the two clocks;
 * INT64_MAX: unknown. Returns false if the direction contradicts itself; then nothing is matched.
 */
bool stream_match(struct stream_side *sent, struct stream_side *received, int64_t slack_ns);

#endif
