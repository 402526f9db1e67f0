/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the text form, shared by its writer and its reader.
 *
 *   #sluice-text TAB 2                   the first line: what it is, and the version
 *   #FACT TAB field=value TAB ...        run, clock, call, process, file, host, ...
 *   # anything                           a comment
 *   start_ns TAB duration_ns TAB ...     the first other line names the columns
 *   1200 TAB 350 TAB ...                 one line per activity, in order; - where absent
 *
 * Facts may stand anywhere. Texts are UTF-8; backslash, control characters and bytes that are not
 * UTF-8 are written as \\, \t, \n and \xHH.
 */
#ifndef SLUICE_TRACE_TEXT_TEXT_H
#define SLUICE_TRACE_TEXT_TEXT_H

#include "base/buf.h"
#include "trace/facts.h"

#define TEXT_MAGIC "#sluice-text"
#define TEXT_VERSION FACTS_VERSION

void text_escape(struct buf *out, const char *text);
/* Undoes it in place. False where an escape is none. */
bool text_unescape(char *text);

void text_put_number(struct buf *out, int64_t value, bool is_unsigned);
/* The whole of text as a decimal number; false where it is none or does not fit. */
bool text_get_number(const char *text, bool is_unsigned, int64_t *value);

/* The reader. */
int text_open(void **reader, const char *path, const struct trace_filter *filter,
	      struct trace_head *head, struct err *err);
ssize_t text_next(void *reader, struct activity *batch, size_t cap, struct err *err);
void text_close(void *reader);

#endif
