/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comma-separated values: the lines of `sluice print --csv`.
 */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "observe/export/export.h"
#include "observe/report/line.h"

struct csv {
	const struct trace_head *head;
	FILE *out;
	struct buf lines;
};

static int flush_lines(struct csv *csv, struct err *err)
{
	size_t n = fwrite(buf_text(&csv->lines), 1, csv->lines.len, csv->out);

	if (n != csv->lines.len)
		return err_set(err, errno, "cannot write: %s", strerror(errno));
	buf_clear(&csv->lines);
	return 0;
}

static int add_lines(void *arg, const struct activity *batch, size_t n, struct err *err)
{
	struct csv *csv = arg;

	for (size_t i = 0; i < n; i++)
		line_csv(&csv->lines, csv->head, &batch[i]);
	return flush_lines(csv, err);
}

static int write_lines(const struct export_job *job, FILE *out, struct err *err)
{
	struct csv csv = { .head = &job->trace->head, .out = out };
	int r;

	line_csv_titles(&csv.lines);
	r = export_read(job, add_lines, &csv, err);
	if (!r)
		r = flush_lines(&csv, err); /* the titles, if there are no lines */
	buf_release(&csv.lines);
	return r;
}

const struct export_format export_csv = {
	.name = "csv",
	.suffix = ".csv",
	.help = "comma-separated values, one line per call",
	.write = write_lines,
};
