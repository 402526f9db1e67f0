/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Describes in sentences what a trace does not contain. Every command that reads a trace shows it.
 */
#ifndef SLUICE_OBSERVE_REPORT_LOSS_H
#define SLUICE_OBSERVE_REPORT_LOSS_H

#include "trace/format.h"

struct buf;
struct json;

/* One sentence per line; nothing if the trace is complete. */
void loss_describe(struct buf *out, const struct trace_head *head);

/* The lines of loss_describe() about lost calls and unrecorded processes. */
void loss_describe_causes(struct buf *out, const struct trace_head *head);

/* The same in one line of a few words. */
void loss_summarize(struct buf *out, const struct trace_head *head);

/* One word or two: "complete", "with losses", "partial" or "truncated". */
const char *loss_state(const struct trace_head *head);

/* Adds "complete" and "losses" to the open JSON object. */
void loss_json(struct json *json, const struct trace_head *head);

#endif
