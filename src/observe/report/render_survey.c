/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "observe/plugins/file_surveyor.h"
#include "observe/report/names.h"
#include "observe/report/render.h"

static void print_row(FILE *out, const struct trace_head *head, const struct survey_row *row)
{
	AUTO_BUF struct buf text = { 0 };

	for (size_t i = 0; i < SURVEY_MEASURES; i++) {
		fprintf(out, "[FileSurveyor:%s] ", names_layer(row->layer));
		json_quote(out, head->files[row->file]);
		buf_clear(&text);
		spread_format(&text, &row->fields[i]);
		fprintf(out, "/%s = %s\n", survey_measures[i].name, buf_text(&text));
	}
}

void render_survey(FILE *out, const struct report *report)
{
	size_t count, files = 0;
	AUTO_FREE struct survey_row *rows = file_surveyor_rows(report->surveyor, &count);

	for (size_t i = 0; i < count; i++) {
		files += !i || rows[i].file != rows[i - 1].file;
		if (files <= report->top)
			print_row(out, report->surveyor->head, &rows[i]);
	}
	if (files > report->top)
		fprintf(out, "... and %zu more files (--top %zu shows all)\n",
			files - (size_t)report->top, files);
}
