/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The direction in which a call moves data, and the size of asynchronous transfers: a call of class
 * START states the requested size, and the call of class WAIT that refers to it states the
 * transferred size.
 */
#ifndef SLUICE_OBSERVE_TALLY_TRAFFIC_H
#define SLUICE_OBSERVE_TALLY_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/tally/recent.h"
#include "trace/format.h"

enum { READING, WRITING };

/* Returns the bits 1 << READING and 1 << WRITING; 0 if the call transfers no data. */
unsigned traffic_ways(const struct call_info *call);

/* Bytes of a finished call: transferred, or requested if the call starts an operation. */
uint64_t traffic_bytes(const struct activity *activity, const struct call_info *call);

/*
 * Is it a record that Sluice inserted below a call that waits for several operations, to mark the
 * completion of one of them? It is not a call of the program and takes no time.
 */
bool traffic_is_notice(const struct call_info *call);

/* traffic_ways() of all calls of the trace, by call number. The caller frees it. */
uint8_t *traffic_table(const struct trace_head *head);

/*
 * Returns the remembered call that started the operation that this one completes. Which of the two
 * links refers to it depends on the call. The id is 0 if there is no such call.
 */
struct call_ref traffic_start(struct recent *started, const struct trace_head *head,
			      const struct activity *completion);

/*
 * Returns the bytes that an operation transferred, given the requested bytes and the call that
 * completes it. A failed completion counts its own result; one with a negative result and no error
 * counts all bytes.
 */
uint64_t traffic_completed(const struct activity *completion, uint64_t asked);

#endif
