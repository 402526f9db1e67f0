/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files that traces are written to. Sluice never overwrites or deletes a file that it did not
 * create: a new trace may replace an older trace or an empty file of the user, and nothing else.
 * Traces hold command lines and file names, so they are private to their owner.
 */
#ifndef SLUICE_TRACE_OUTPUT_H
#define SLUICE_TRACE_OUTPUT_H

#include <stdbool.h>

struct err;
struct file_draft;

/*
 * True if the path is a regular file (not a link to one) that holds a trace, even a damaged one. No
 * other file may be deleted as a run.
 */
bool trace_is_trace(const char *path);

/* Fails with -EEXIST if something is there that a trace must not replace. */
int trace_output_check(const char *path, struct err *err);

/* Creates the file; an older trace is removed. Returns a descriptor open to read and write. */
int trace_output_create(const char *path, struct err *err);

/* The same for a draft (base/file.h), which is zeroed on failure. */
int trace_output_draft(struct file_draft *draft, const char *path, struct err *err);

#endif
