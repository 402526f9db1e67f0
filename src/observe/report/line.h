/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One activity as text: a line of SIOX's trace reader, a CSV row, or a JSON object.
 *
 *   0.0036336 ID2 POSIX write(POSIX/quantity/BytesToWrite=10, ..., POSIX/file/position=0) = 0 ID1
 *
 * The line has the start in seconds, the id, the layer, the call with its attributes, the error
 * number, and the ids of the cause and of the calls that created its handles.
 * Papers: SIOX-48.
 */
#ifndef SLUICE_OBSERVE_REPORT_LINE_H
#define SLUICE_OBSERVE_REPORT_LINE_H

#include <stddef.h>

#include "trace/format.h"

struct buf;
struct chain;
struct json;

/* Appends the line, including its newline, to out. */
void line_format(struct buf *out, const struct trace_head *head, const struct activity *activity);

/*
 * Appends the same line in aligned columns, with the call indented by its depth. Causes and effects
 * on the other end of a connection follow after "<-" and "->"; chain may be NULL.
 */
void line_tree(struct buf *out, const struct trace_head *head, const struct activity *activity,
	       size_t depth, const struct chain *chain);

/*
 * Appends ID17; ID3.17 for thread 3; ID2:0.17 for process 2. process is the one that made the call.
 */
void line_id(struct buf *out, uint32_t process, uint64_t id);

void line_csv_titles(struct buf *out);
void line_csv(struct buf *out, const struct trace_head *head, const struct activity *activity);

/* Adds one object to the open JSON array. chain may be NULL. */
void line_json(struct json *json, const struct trace_head *head, const struct activity *activity,
	       const struct chain *chain);

/* Adds the list "attributes" to the open JSON object: names and values as in the line. */
void line_json_attributes(struct json *json, const struct trace_head *head,
			  const struct activity *activity);

#endif
