/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reports, prints and exports arbitrary bytes as a trace: the text form if the first byte is '#',
 * else a container (container_file.h). Whatever the trace holds, the output is UTF-8 without
 * controls.
 */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "container_file.h"
#include "observe/diagnose/finding.h"
#include "observe/export/export.h"
#include "observe/page/page.h"
#include "observe/profile/profile.h"
#include "observe/report/brief.h"
#include "observe/report/line.h"
#include "observe/report/loss.h"
#include "observe/report/render.h"
#include "observe/tally/summary.h"

#define BATCH 64
#define BATCHES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Only line breaks are allowed besides printable text. */
static void check_output(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\n')
			text[i] = ' ';
		else if (!text[i])
			abort();
	if (escape_is_needed(text))
		abort();
}

static void print_activities(FILE *out, struct profile *profile, struct trace *trace)
{
	AUTO_BUF struct buf text = { 0 };
	struct activity batch[BATCH];
	struct json json;
	struct err err;
	ssize_t n;

	json_start(&json, out, NULL);
	json_open(&json, "activities", '[');
	for (int i = 0; i < BATCHES_MAX && (n = trace_next(trace, batch, BATCH, &err)) > 0; i++)
		for (ssize_t k = 0; k < n; k++) {
			line_format(&text, &trace->head, &batch[k]);
			line_tree(&text, &trace->head, &batch[k], 2, NULL);
			line_csv(&text, &trace->head, &batch[k]);
			line_json(&json, &trace->head, &batch[k], NULL);
			profile_add(profile, &batch[k]);
		}
	json_end(&json);
	fputs(buf_text(&text), out);
}

static size_t count_text(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

/* The page has only its own script and style sheet, and is never too large. */
static void check_page(const struct report *report)
{
	AUTO_BUF struct buf html = { 0 };

	page_render(&html, &(struct page){ .report = report, .run = "run" });
	if (html.len > PAGE_BYTES_MAX || strlen(html.data) != html.len ||
	    count_text(html.data, "<script") != 1 || count_text(html.data, "<style") != 1)
		abort();
}

static void report_trace(FILE *out, struct trace *trace)
{
	AUTO_BUF struct buf losses = { 0 };
	AUTO_FREE struct survey_row *survey = NULL;
	struct config config;
	struct diagnose_options options = { .config = &config };
	struct finding *findings;
	struct profile profile;
	struct report report = {
		.summary = &profile.summary, .profile = &profile, .top = 5, .by_rank = true
	};

	config_init(&config);
	profile_init(&profile, &trace->head, NULL);
	print_activities(out, &profile, trace);
	report.survey = survey = profile_survey(&profile, &report.survey_count);
	findings = diagnose(&profile, &options, &report.finding_count);
	report.findings = findings;
	report.findings_shown = SIZE_MAX;
	check_page(&report);
	render_text(out, &report);
	report.all = true;
	render_text(out, &report);
	render_survey(out, &report);
	render_json(out, &report);
	render_plugins(out, &profile.summary);
	brief_render(out, &profile.summary, report.finding_count ? findings : NULL, "trace", true);
	findings_release(findings, report.finding_count);
	config_release(&config);
	loss_describe(&losses, &trace->head);
	fputs(buf_text(&losses), out);
	profile_release(&profile);
}

/* Writes the trace in one format. A directory is written for few inputs only, because it is slow.
 */
static void export_format(FILE *out, const char *path, const struct export_format *format,
			  bool directories)
{
	struct export_options options = { .max_events = 3 };
	struct export_totals totals = { 0 };
	char directory[] = "/dev/shm/sluice-fuzz-XXXXXX";
	struct trace trace;
	struct export_job job = { &trace, path, NULL, &options, &totals };
	struct err err;

	if ((format->fill && !directories) || trace_open(&trace, path, NULL, &err) < 0)
		return;
	if (format->write)
		format->write(&job, out, &err);
	else if (mkdtemp(directory)) {
		format->fill(&job, directory, &err);
		file_remove_tree(directory);
	}
	trace_close(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf file = { 0 };
	char path[MEMORY_PATH], *text = NULL;
	struct trace trace;
	struct err err;
	size_t n;
	FILE *out;
	int fd;

	if (size && data[0] == '#')
		buf_add(&file, data, size);
	else
		container_make(&file, data, size);
	fd = memory_file(path, buf_text(&file), file.len);
	if (fd >= 0 && trace_open(&trace, path, NULL, &err) >= 0) {
		out = open_memstream(&text, &n);
		report_trace(out, &trace);
		trace_close(&trace);
		for (size_t i = 0; export_formats[i]; i++)
			export_format(out, path, export_formats[i], size % 16 == 0);
		fclose(out);
		check_output(text, n);
		free(text);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}
