/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A summary made readable. Renderers write to the stream they are given and decide nothing.
 */
#ifndef SLUICE_OBSERVE_REPORT_RENDER_H
#define SLUICE_OBSERVE_REPORT_RENDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct buf;
struct file_surveyor;
struct json;
struct ranks;
struct summary;

/* What is to be rendered, and how much of it. */
struct report {
	const struct summary *summary;
	const struct ranks *ranks;	      /* that surveys are compared by */
	const struct file_surveyor *surveyor; /* NULL: files were not surveyed */
	uint64_t top;			      /* rows of functions and of files, at most */
	bool by_rank;			      /* a table with a row per rank, too */
};

/* The verdict alone: one line without its newline. */
void render_verdict(struct buf *out, const struct summary *summary);

/* What the verdict leaves out, one sentence per line: ranks, storage, start-up, network, clocks. */
void render_notes(struct buf *out, const struct summary *summary);

/* Verdict and notes, what happened meanwhile, tables by layer, function and file, and the rest. */
void render_text(FILE *out, const struct report *report);

/*
 * Lines of SIOX's reporter: [FileSurveyor:MPI] "<file>"/Accesses = (average,minimum,maximum), and
 * "<file>"/Sharing/Writing = 4 ranks, interleaved
 */
void render_survey(FILE *out, const struct report *report);

/* What happened: anomalies, what was given up and left out, what was applied. */
void render_events(FILE *out, const struct report *report);

/* The node while the program did I/O, reports of plug-ins, what Sluice cost. */
void render_findings(FILE *out, const struct report *report);

/* Reports of plug-ins alone, all of them: lines, or one object of schema sluice.report.plugins/1.
 */
void render_plugins(FILE *out, const struct summary *summary);
void render_plugins_json(FILE *out, const struct summary *summary);

/* All of that as fields of the object that is open. */
void render_findings_json(struct json *json, const struct summary *summary);

/* What became of the parameters that were given: a table of those that were asked for. */
void render_parameters(FILE *out, const struct report *report);

/* All that is known of them, read back alone or not, as the field "parameters". */
void render_parameters_json(struct json *json, const struct summary *summary);

/* "3 of 4 honoured", of parameters by name; nothing where none was asked for. */
void render_honoured(struct buf *out, const struct summary *summary);

/* One object of schema sluice.report/1. */
void render_json(FILE *out, const struct report *report);

#endif
