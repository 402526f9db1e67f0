/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders the survey of files as lines of SIOX's reporter.
 * Papers: SIOX-53, SIOX-54.
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "observe/report/render.h"
#include "observe/tally/names.h"
#include "observe/tally/summary.h"
#include "observe/tally/survey_rows.h"
#include "observe/tally/traffic.h"

static void print_prefix(FILE *out, const struct report *report, const struct survey_row *row)
{
	term_printf(out, "[FileSurveyor:%s] ", names_layer(row->layer));
	json_quote(out, report->summary->head->files[row->file]);
}

static void print_sharing(FILE *out, const struct report *report, const struct survey_row *row,
			  int way)
{
	bool ranked = report->summary->ranks.count;
	const char *one = ranked ? "rank" : "process", *many = ranked ? "ranks" : "processes";

	print_prefix(out, report, row);
	term_printf(out, "/Sharing/%s = %zu %s, %s\n", way == READING ? "Reading" : "Writing",
		    row->accessing[way], row->accessing[way] == 1 ? one : many,
		    sharing_names[row->sharing[way]]);
}

static void print_row(FILE *out, const struct report *report, const struct survey_row *row)
{
	AUTO_BUF struct buf text = { 0 };

	for (size_t i = 0; i < SURVEY_MEASURES; i++) {
		print_prefix(out, report, row);
		buf_clear(&text);
		spread_format(&text, &row->fields[i]);
		term_printf(out, "/%s = %s\n", survey_measures[i].name, buf_text(&text));
	}
	for (int way = READING; way <= WRITING; way++) {
		if (row->accessing[way])
			print_sharing(out, report, row, way);
	}
}

void render_survey(FILE *out, const struct report *report)
{
	const struct survey_row *rows = report->survey;
	size_t files = 0;

	for (size_t i = 0; i < report->survey_count; i++) {
		files += !i || rows[i].file != rows[i - 1].file;
		if (files <= report->top)
			print_row(out, report, &rows[i]);
	}
	if (files > report->top)
		fprintf(out, "... and %zu more files (--top %zu shows all)\n",
			files - (size_t)report->top, files);
}
