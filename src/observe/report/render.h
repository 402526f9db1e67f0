/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders a summary as text or JSON. Renderers write to the given stream and decide nothing.
 */
#ifndef SLUICE_OBSERVE_REPORT_RENDER_H
#define SLUICE_OBSERVE_REPORT_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;
struct finding;
struct json;
struct profile;
struct summary;
struct survey_row;
struct table;

/* What to render, and how much of it. */
struct report {
	const struct summary *summary;
	const struct profile *profile;	 /* what the summary is a part of; NULL: there is none */
	const struct survey_row *survey; /* of profile_survey(); NULL: files were not surveyed */
	size_t survey_count;
	const struct finding *findings; /* of diagnose(); NULL: the run was not diagnosed */
	size_t finding_count;
	size_t findings_shown; /* of these, how many are shown in full */
	uint64_t top;	       /* maximum number of rows of functions and files */
	bool by_rank;	       /* add a table with one row per rank */
	bool all;	       /* show each system file instead of one row for all of them */
};

/* Appends the verdict: one line without a newline. */
void render_verdict(struct buf *out, const struct summary *summary);

/*
 * Appends what the verdict leaves out, one sentence per line: ranks, storage, start-up, network,
 * clocks.
 */
void render_notes(struct buf *out, const struct summary *summary);

/*
 * The tables of a report. Each function initializes the table, which the caller releases, and
 * returns the number of its rows. Of functions, files and notes the table contains at most the
 * first report->top.
 */
size_t render_layer_table(struct table *table, const struct report *report);
size_t render_function_table(struct table *table, const struct report *report);
size_t render_file_table(struct table *table, const struct report *report);
size_t render_rank_table(struct table *table, const struct report *report);
size_t render_parameter_table(struct table *table, const struct report *report);
size_t render_node_table(struct table *table, const struct report *report);
size_t render_activity_table(struct table *table, const struct report *report);
size_t render_phase_table(struct table *table, const struct report *report);
size_t render_layout_table(struct table *table, const struct report *report);
size_t render_note_table(struct table *table, const struct report *report);

/* Appends the title of the table of node statistics, which names the time that it covers. */
void render_node_title(struct buf *out, const struct summary *summary);

/* Prints verdict and notes, events, tables by layer, function and file, and note groups. */
void render_text(FILE *out, const struct report *report);

/*
 * Prints lines of SIOX's reporter: [FileSurveyor:MPI] "<file>"/Accesses =
 * (average,minimum,maximum), and "<file>"/Sharing/Writing = 4 ranks, interleaved
 */
void render_survey(FILE *out, const struct report *report);

/* Prints anomalies, reductions of the recording, refused plug-ins, and applied actions. */
void render_events(FILE *out, const struct report *report);

/* Prints node statistics, reports of plug-ins, and the overhead of recording. */
void render_note_groups(FILE *out, const struct report *report);

/* Prints all reports of plug-ins: as lines, or as one object of schema sluice.report.plugins/1. */
void render_plugins(FILE *out, const struct summary *summary);
void render_plugins_json(FILE *out, const struct summary *summary);

/* Says how the program has used include/sluice/instrument.h wrongly, if it has. */
void render_misuse(FILE *out, const struct report *report);

/* Adds the fields "activities", "phases" and "instrumentation_misuse", if the program uses
 * include/sluice/instrument.h. */
void render_marks_json(struct json *json, const struct report *report);

/* Adds the field "layouts", if the files of the run have stripes. */
void render_layouts_json(struct json *json, const struct report *report);

/* Adds events and note groups to the open JSON object. */
void render_note_groups_json(struct json *json, const struct summary *summary);

/* Prints a table of the requested parameters and their effect. */
void render_parameters(FILE *out, const struct report *report);

/* Adds all parameters, requested or only read back, as the field "parameters". */
void render_parameters_json(struct json *json, const struct summary *summary);

/* Appends "3 of 4 applied", counting parameters by name; nothing if none was requested. */
void render_applied(struct buf *out, const struct summary *summary);

/* One object of schema sluice.report/1. */
void render_json(FILE *out, const struct report *report);

#endif
