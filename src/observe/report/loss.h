/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Describes in sentences what a trace does not contain. Every command that reads a trace shows it.
 */
#ifndef SLUICE_OBSERVE_REPORT_LOSS_H
#define SLUICE_OBSERVE_REPORT_LOSS_H

#include "trace/format.h"

struct buf;
struct json;

struct loss_total {
	uint64_t records, threads; /* over all processes */
	uint64_t processes;	   /* processes with losses */
	uint64_t counted;	   /* calls that were counted but not recorded */
};

struct loss_total loss_sum(const struct trace_head *head);

/* One sentence per line; nothing if the trace is complete. */
void loss_describe(struct buf *out, const struct trace_head *head);

/* Adds "complete" and "losses" to the open JSON object. */
void loss_json(struct json *json, const struct trace_head *head);

#endif
