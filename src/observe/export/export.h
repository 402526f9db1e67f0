/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a trace for other programs: query engines, trace viewers, flame graphs, spreadsheets.
 * Unlike the formats of trace/format.h, an export is not read back and may leave out information.
 *
 * A format is one constant `struct export_format` in the list export_formats[].
 */
#ifndef SLUICE_OBSERVE_EXPORT_EXPORT_H
#define SLUICE_OBSERVE_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct activity;
struct err;
struct trace;
struct trace_filter;
struct trace_watch;

struct export_options {
	uint64_t max_events; /* perfetto: activities to write at most */
	uint64_t memory;     /* parquet: bytes for rows that wait to be written, about */
	int64_t slice_ns;    /* parquet: time that a part covers; 0: by the number of activities */
	struct trace_watch *watch; /* may be NULL */
};

struct export_totals {
	uint64_t activities; /* that were selected */
	uint64_t left_out;   /* of them, because of a limit */
	int64_t shortest_ns; /* the calls that were left out are not longer; 0 if there are none */
	uint64_t files, bytes;
};

/* What a format needs to write one trace. */
struct export_job {
	struct trace *trace; /* open, nothing was read yet */
	const char *path;    /* of the trace, and the filter it was opened with, to read it again */
	const struct trace_filter *filter;
	struct export_options *options;
	struct export_totals *totals;
};

struct export_format {
	const char *name, *suffix, *help;
	/* Exactly one of these is set. The directory exists and is empty; fill() syncs its files. */
	int (*write)(const struct export_job *job, FILE *out, struct err *err);
	int (*fill)(const struct export_job *job, const char *directory, struct err *err);
};

extern const struct export_format export_parquet, export_perfetto, export_folded, export_csv;
extern const struct export_format *const export_formats[]; /* ends with NULL */

/* The format whose suffix the path has, slashes at its end aside; NULL if there is none. */
const struct export_format *export_format_by_suffix(const char *path);

/*
 * Writes a trace that was just opened. The file or directory `path` must not exist; it appears when
 * it is complete, and after a failure there is nothing. The path "-" is the standard output.
 */
int export_trace(const struct export_job *job, const struct export_format *format, const char *path,
		 struct err *err);

/* Receives activities in order. */
typedef int export_add(void *arg, const struct activity *batch, size_t n, struct err *err);

/* Reads all activities of the job's trace and passes them to add(). */
int export_read(const struct export_job *job, export_add *add, void *arg, struct err *err);

/*
 * The same in one of several passes, the first of which is 0: each of them opens the trace again.
 * Fails with -EBUSY if the trace has changed.
 */
int export_read_pass(const struct export_job *job, unsigned pass, unsigned passes, export_add *add,
		     void *arg, struct err *err);

#endif
