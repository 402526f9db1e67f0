/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A summary made readable. Renderers write to the stream they are given and decide nothing.
 */
#ifndef SLUICE_OBSERVE_REPORT_RENDER_H
#define SLUICE_OBSERVE_REPORT_RENDER_H

#include <stdint.h>
#include <stdio.h>

struct buf;
struct summary;

/* The verdict alone: one line without its newline. `sluice run` prints it after a run. */
void render_verdict(struct buf *out, const struct summary *summary);

/* Verdict, then tables by layer, function and file; at most `top` rows in the last two. */
void render_text(FILE *out, const struct summary *summary, uint64_t top);

/* One object of schema sluice.report/1. */
void render_json(FILE *out, const struct summary *summary, uint64_t top);

#endif
