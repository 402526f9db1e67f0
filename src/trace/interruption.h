/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recording of one host of a job was interrupted: the node was lost, or its collector was
 * killed, so that the part of its trace has no end. Whoever joins the parts leaves a note in the
 * result, because only the parts show which host it was.
 */
#ifndef SLUICE_TRACE_INTERRUPTION_H
#define SLUICE_TRACE_INTERRUPTION_H

#include <stdbool.h>

#include "trace/format.h"

/*
 * If the part has no end, *note receives the row that says so, and the result is true. The texts
 * belong to the part.
 */
bool interruption_make_note(struct note *note, const struct trace_head *part);

/* Is it such a note? Its host is the one that was interrupted. */
bool interruption_is_note(const struct note *note);

#endif
