/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders a summary as one JSON object of schema sluice.report/1.
 */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "observe/report/loss.h"
#include "observe/report/render.h"
#include "observe/report/render_findings.h"
#include "observe/tally/names.h"
#include "observe/tally/summary.h"
#include "observe/tally/survey_rows.h"
#include "observe/tally/traffic.h"

static void put_run(struct json *json, const struct trace_head *head)
{
	json_open(json, "run", '{');
	json_text(json, "uuid", head->run.uuid);
	json_text(json, "command", head->run.command);
	json_text(json, "host", head->run.host);
	json_text(json, "user", head->run.user);
	json_number(json, "started_ns", head->run.started_ns);
	json_number(json, "duration_ns", head->end.duration_ns);
	json_number(json, "exit_status", head->end.exit_status);
	json_count(json, "processes", head->process_count);
	json_count(json, "activities", head->activities);
	json_close(json);
}

static void put_verdict(struct json *json, const struct summary *s)
{
	AUTO_BUF struct buf text = { 0 };
	char *rest, *line;

	render_verdict(&text, s);
	json_text(json, "verdict", buf_text(&text));
	buf_clear(&text);
	render_notes(&text, s);
	json_open(json, "remarks", '[');
	for (line = text.len ? strtok_r(text.data, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		json_text(json, NULL, line);
	json_close(json);
}

static void put_tally(struct json *json, const struct tally *tally)
{
	measure_json(json, tally_measures, TALLY_MEASURES, tally);
}

static void put_sum(struct json *json, const char *key, const struct tally *tally)
{
	json_open(json, key, '{');
	put_tally(json, tally);
	json_close(json);
}

/* Writes null if nothing was requested, because there is no ratio then. */
static void put_ratio(struct json *json, const char *key, uint64_t part, uint64_t whole)
{
	if (whole)
		json_double(json, key, (double)part / (double)whole);
	else
		json_text(json, key, NULL);
}

static void put_storage(struct json *json, const struct sums *sums)
{
	json_open(json, "storage", '{');
	put_tally(json, &sums->storage);
	put_ratio(json, "read_amplification", sums->storage.bytes_read, sums->io.bytes_read);
	put_ratio(json, "write_amplification", sums->storage.bytes_written, sums->io.bytes_written);
	json_count(json, "bytes_read_to_write", sums->bytes_read_to_write);
	json_close(json);
}

static void put_sums(struct json *json, const struct summary *s)
{
	const struct sums *all = &s->all;

	json_open(json, "io", '{');
	if (!s->has_aggregates)
		json_number(json, "busy_ns", all->busy_ns);
	put_tally(json, &all->io);
	json_double(json, "share", summary_io_share(s));
	json_close(json);
	put_storage(json, all);
	put_sum(json, "startup", &all->startup);
	put_sum(json, "process", &all->process);
	put_sum(json, "network", &all->network);
	put_sum(json, "network_in_io", &all->network_in_io);
	if (s->ranks.count)
		put_sum(json, "outside_ranks", &s->outside.io);
}

static void put_rank_rows(struct json *json, const struct summary *s)
{
	json_open(json, "rows", '[');
	for (size_t i = 0; i < s->ranks.count; i++) {
		json_open(json, NULL, '{');
		json_number(json, "rank", s->ranks.list[i].number);
		json_text(json, "host", s->ranks.list[i].host);
		measure_json(json, sums_measures, SUMS_MEASURES, &s->of_rank[i]);
		json_close(json);
	}
	json_close(json);
}

static void put_ranks(struct json *json, const struct summary *s)
{
	json_open(json, "ranks", '{');
	json_count(json, "count", s->ranks.count);
	json_count(json, "world", s->ranks.world);
	json_count(json, "hosts", s->ranks.hosts);
	json_open(json, "fields", '{');
	for (size_t i = 0; i < SUMS_MEASURES; i++) {
		struct spread spread = summary_rank_spread(s, &sums_measures[i]);

		spread_json(json, sums_measures[i].name, &spread);
	}
	json_close(json);
	if (s->of_rank)
		put_rank_rows(json, s);
	json_close(json);
}

static void put_hosts(struct json *json, const struct trace_head *head)
{
	json_open(json, "hosts", '[');
	for (size_t i = 0; i < head->host_count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "host", head->hosts[i].host);
		json_text(json, "clock_method", head->hosts[i].method);
		json_number(json, "clock_offset_ns", head->hosts[i].offset_ns);
		if (head->hosts[i].error_ns >= 0)
			json_number(json, "clock_error_ns", head->hosts[i].error_ns);
		json_close(json);
	}
	json_close(json);
}

/* Distribution of the row's numbers over the ranks that have it. */
static void put_spreads(struct json *json, const struct summary *s, const struct summary_row *row)
{
	struct spread calls = summary_spread(s, row, &tally_measures[TALLY_CALLS]);

	json_open(json, "ranks", '{');
	json_count(json, "count", calls.count);
	json_open(json, "fields", '{');
	for (size_t i = 0; i < TALLY_MEASURES; i++) {
		struct spread spread = summary_spread(s, row, &tally_measures[i]);

		spread_json(json, tally_measures[i].name, &spread);
	}
	json_close(json);
	json_close(json);
}

static void put_layer_names(struct json *json, uint8_t layers)
{
	json_open(json, "layers", '[');
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++) {
		if (layers >> layer & 1)
			json_text(json, NULL, names_layer(layer));
	}
	json_close(json);
}

static void put_row(struct json *json, const struct summary *s, const struct summary_row *row)
{
	json_open(json, NULL, '{');
	if (row->table == SUMMARY_FILES) {
		json_text(json, "file", row->name);
		json_text(json, "class", file_class_names[row->class]);
		put_layer_names(json, row->layers);
	} else {
		if (row->table == SUMMARY_FUNCTIONS)
			json_text(json, row->counted ? "group" : "function", row->name);
		json_text(json, "layer", names_layer(row->layer));
	}
	put_tally(json, row->tally);
	if (!row->is_process && !row->is_network && names_layer_is_io(row->layer))
		json_double(json, "share", summary_share(s, (double)row->tally->time_ns));
	if (s->ranks.count)
		put_spreads(json, s, row);
	json_close(json);
}

/* Returns the number of rows. */
static size_t put_rows(struct json *json, const struct summary *s, enum summary_table table,
		       const char *key, uint64_t top)
{
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_rows(s, table, &count);

	json_open(json, key, '[');
	for (size_t i = 0; i < count && i < top; i++)
		put_row(json, s, &rows[i]);
	json_close(json);
	return count;
}

static void put_sharing(struct json *json, const char *key, const struct survey_row *row, int way)
{
	json_open(json, key, '{');
	json_count(json, "count", row->accessing[way]);
	json_text(json, "sharing", sharing_names[row->sharing[way]]);
	json_close(json);
}

static void put_survey_row(struct json *json, const struct report *report,
			   const struct survey_row *row)
{
	json_open(json, NULL, '{');
	json_text(json, "file", report->summary->head->files[row->file]);
	json_text(json, "layer", names_layer(row->layer));
	json_count(json, report->summary->ranks.count ? "ranks" : "processes", row->members);
	put_sharing(json, "reading", row, READING);
	put_sharing(json, "writing", row, WRITING);
	json_open(json, "fields", '{');
	for (size_t i = 0; i < SURVEY_MEASURES; i++)
		spread_json(json, survey_measures[i].name, &row->fields[i]);
	json_close(json);
	json_close(json);
}

static void put_survey(struct json *json, const struct report *report)
{
	const struct survey_row *rows = report->survey;
	size_t files = 0;

	json_open(json, "survey", '[');
	for (size_t i = 0; i < report->survey_count; i++) {
		files += !i || rows[i].file != rows[i - 1].file;
		if (files <= report->top)
			put_survey_row(json, report, &rows[i]);
	}
	json_close(json);
}

void render_json(FILE *out, const struct report *report)
{
	const struct summary *s = report->summary;
	struct json json;

	json_start(&json, out, "sluice.report/1");
	put_run(&json, s->head);
	put_verdict(&json, s);
	if (report->findings)
		render_findings_json(&json, report->profile, report->findings,
				     report->finding_count);
	put_sums(&json, s);
	if (s->ranks.count)
		put_ranks(&json, s);
	if (s->head->host_count)
		put_hosts(&json, s->head);
	put_rows(&json, s, SUMMARY_LAYERS, "layers", UINT64_MAX);
	put_rows(&json, s, SUMMARY_FUNCTIONS, "functions", report->top);
	json_count(&json, "file_count", put_rows(&json, s, SUMMARY_FILES, "files", report->top));
	render_layouts_json(&json, report);
	render_marks_json(&json, report);
	if (report->survey)
		put_survey(&json, report);
	render_parameters_json(&json, s);
	render_note_groups_json(&json, s);
	loss_json(&json, s->head);
	json_end(&json);
}
