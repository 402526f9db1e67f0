/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One activity as text: the line of SIOX's trace reader, a row of CSV, an object of JSON.
 *
 *   0.0036336 ID2 POSIX write(POSIX/quantity/BytesToWrite=10, ..., POSIX/file/position=0) = 0 ID1
 *
 * that is: start in seconds, id, layer, call with its attributes, error number, then the ids of the
 * cause and of the calls that made its handles.
 */
#ifndef SLUICE_OBSERVE_REPORT_LINE_H
#define SLUICE_OBSERVE_REPORT_LINE_H

#include <stddef.h>

#include "trace/format.h"

struct buf;
struct json;

/* Adds the line with its newline to out. */
void line_format(struct buf *out, const struct trace_head *head, const struct activity *activity);

/* The same with its parts below those of the line before, and the call indented by its depth. */
void line_tree(struct buf *out, const struct trace_head *head, const struct activity *activity,
	       size_t depth);

/* ID17; ID3.17 of thread 3; ID2:0.17 of process 2. process is the one that made the call. */
void line_id(struct buf *out, uint32_t process, uint64_t id);

void line_csv_titles(struct buf *out);
void line_csv(struct buf *out, const struct trace_head *head, const struct activity *activity);

/* Adds one object to the array that is open in json. */
void line_json(struct json *json, const struct trace_head *head, const struct activity *activity);

#endif
