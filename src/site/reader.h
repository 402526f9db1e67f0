/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a run of the database like a trace, so that it can be converted to a trace file and
 * exported. If only a sample of its activities was stored, the trace has only these. Details that
 * logs of other tools have beyond calls (trace/usage.h) are not stored.
 */
#ifndef SLUICE_SITE_READER_H
#define SLUICE_SITE_READER_H

struct err;
struct site_db;
struct trace;

/*
 * Opens the run with that id, or with a unique prefix of it, for trace_next(); trace_close() ends
 * it. The site cannot be used for anything else meanwhile. -ENOENT: no such run, or not the
 * user's.
 */
int site_read(struct trace *trace, struct site_db *site, const char *uuid, struct err *err);

#endif
