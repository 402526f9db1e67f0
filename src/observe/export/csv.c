/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comma-separated values: the lines of `sluice print --csv`.
 */
#include "base/buf.h"
#include "observe/export/export.h"
#include "observe/report/line.h"

struct csv {
	const struct trace_head *head;
	FILE *out;
	struct buf lines;
};

static void flush_lines(struct csv *csv)
{
	fwrite(buf_text(&csv->lines), 1, csv->lines.len, csv->out);
	buf_clear(&csv->lines);
}

static int add_lines(void *arg, const struct activity *batch, size_t n, struct err *err)
{
	struct csv *csv = arg;

	(void)err; /* export_trace() finds failures of the stream */
	for (size_t i = 0; i < n; i++)
		line_csv(&csv->lines, csv->head, &batch[i]);
	flush_lines(csv);
	return 0;
}

static int write_lines(const struct export_job *job, FILE *out, struct err *err)
{
	struct csv csv = { .head = &job->trace->head, .out = out };
	int r;

	line_csv_titles(&csv.lines);
	flush_lines(&csv);
	r = export_read(job, add_lines, &csv, err);
	buf_release(&csv.lines);
	return r;
}

const struct export_format export_csv = {
	.name = "csv",
	.suffix = ".csv",
	.help = "comma-separated values, one line per call",
	.write = write_lines,
};
