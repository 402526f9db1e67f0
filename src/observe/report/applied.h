/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Describes in a few words what Sluice did to a program: what in-line plug-ins did, and whether
 * parameters were applied.
 */
#ifndef SLUICE_OBSERVE_REPORT_APPLIED_H
#define SLUICE_OBSERVE_REPORT_APPLIED_H

#include "trace/format.h"

struct buf;
struct json;

/* Appends "history: hints given 4; read_ahead: advice given 12"; nothing if no plug-in acted. */
void applied_describe_acts(struct buf *out, const struct trace_head *head);

/* The same, after "parameters" if the program received any. */
void applied_summarize(struct buf *out, const struct trace_head *head);

/* Adds the list "applied" to the open JSON object, as in a report. */
void applied_json(struct json *json, const struct trace_head *head);

#endif
