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

struct export_options {
	uint64_t max_events; /* perfetto: activities to write at most */
	int64_t slice_ns;    /* parquet: time that a part covers; 0: by the number of activities */
	/* Called from time to time; may be NULL. True ends the export with -ECANCELED. */
	bool (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
};

struct export_totals {
	uint64_t activities; /* that were read */
	uint64_t left_out;   /* of them, because of a limit */
	int64_t shortest_ns; /* the calls that were left out are not longer; 0 if there are none */
	uint64_t files, bytes;
};

/* What a format needs to write one trace. */
struct export_job {
	struct trace *trace;
	const struct export_options *options;
	struct export_totals *totals;
};

struct export_format {
	const char *name, *suffix, *help;
	/* Exactly one of these is set. The directory exists and is empty. */
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

/* Reads all activities of the job's trace and passes them to add(), in order. */
int export_read(const struct export_job *job,
		int (*add)(void *arg, const struct activity *batch, size_t n, struct err *err),
		void *arg, struct err *err);

#endif
