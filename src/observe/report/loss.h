/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a trace does not hold, in words: shown by every command that reads one, unasked.
 */
#ifndef SLUICE_OBSERVE_REPORT_LOSS_H
#define SLUICE_OBSERVE_REPORT_LOSS_H

#include "trace/format.h"

struct buf;
struct json;

struct loss_total {
	uint64_t records, threads; /* over all processes */
	uint64_t processes;        /* that lost any */
	uint64_t counted;          /* calls that are in the aggregates */
};

struct loss_total loss_sum(const struct trace_head *head);

/* One sentence per line; nothing where the trace is whole. */
void loss_describe(struct buf *out, const struct trace_head *head);

/* Adds "complete" and "losses" to the object that is open. */
void loss_json(struct json *json, const struct trace_head *head);

#endif
