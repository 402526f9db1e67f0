/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which way a call moves bytes, and when the bytes of an asynchronous one are known: a call of
 * class START says what it asks for, and the call of class WAIT that refers to it what was moved.
 */
#ifndef SLUICE_OBSERVE_TALLY_TRAFFIC_H
#define SLUICE_OBSERVE_TALLY_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/tally/recent.h"
#include "trace/format.h"

enum { READING, WRITING };

/* Bits 1 << READING and 1 << WRITING; 0 where nothing is moved. */
unsigned traffic_ways(const struct call_info *call);

/* Bytes of a call that has ended: moved, or asked for by one that began an operation. */
uint64_t traffic_bytes(const struct activity *activity, const struct call_info *call);

/*
 * Is it a record that we made ourselves, beneath a call that waits for many operations, to say that
 * one of them is complete? It is no call, and takes no time.
 */
bool traffic_is_notice(const struct call_info *call);

/* The ways of all calls of the trace, by number. The caller frees. */
uint8_t *traffic_table(const struct trace_head *head);

/*
 * The call that began what this one completes, as far as it is among those remembered: which of its
 * links names it depends on the call. Id 0 where there is none.
 */
struct call_ref traffic_start(const struct recent *started, const struct trace_head *head,
			      const struct activity *completion);

/*
 * What was moved by an operation that asked for `asked` bytes, as the call that completes it says.
 * A completion that failed moved what it says it did; one that cannot say (its result is negative)
 * moved all.
 */
uint64_t traffic_completed(const struct activity *completion, uint64_t asked);

#endif
