/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text form of a trace: declarations that its writer and reader share.
 *
 *   #sluice-text TAB 2                   the first line: magic and version
 *   #FACT TAB field=value TAB ...        run, clock, call, process, file, host, ...
 *   # anything                           a comment
 *   start_ns TAB duration_ns TAB ...     the first other line names the columns
 *   1200 TAB 350 TAB ...                 one line per activity, in order; - if a field is absent
 *
 * Facts may appear on any line. Texts are UTF-8, escaped by escape_text() (base/escape.h),
 * backslashes included.
 */
#ifndef SLUICE_TRACE_TEXT_TEXT_H
#define SLUICE_TRACE_TEXT_TEXT_H

#include "base/buf.h"
#include "trace/facts.h"

#define TEXT_MAGIC "#sluice-text"
#define TEXT_VERSION FACTS_VERSION

/* Reverts escape_text() in place. False if the text has an invalid escape. */
bool text_unescape(char *text);

void text_put_number(struct buf *out, int64_t value, bool is_unsigned);
/* Parses the whole text as a decimal number. False if it is not a number or out of range. */
bool text_get_number(const char *text, bool is_unsigned, int64_t *value);

/* The functions of the reader, for the table in text.c. */
int text_open(void **reader, const char *path, const struct trace_filter *filter,
	      struct trace_head *head, struct err *err);
ssize_t text_next(void *reader, struct activity *batch, size_t cap, struct err *err);
void text_close(void *reader);

#endif
