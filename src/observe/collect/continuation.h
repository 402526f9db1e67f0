/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a collector does that continues the trace of a dead one: recovery (recover.c), which
 * completes the trace, and a collector that was killed and started again (collector.c).
 */
#ifndef SLUICE_OBSERVE_COLLECT_CONTINUATION_H
#define SLUICE_OBSERVE_COLLECT_CONTINUATION_H

#include <stdbool.h>

struct err;
struct intake;
struct trace;
struct trace_head;

/* The call table of the old trace must equal ours: another build assigns other numbers to
 * functions. */
bool continuation_is_possible(const struct trace_head *head);

/*
 * Copies an open trace to the writer of the intake, and learns its processes, files and open
 * handles. The trace must stay open as long as the intake is in use.
 */
int continuation_copy(struct intake *in, struct trace *old, struct err *err);

#endif
