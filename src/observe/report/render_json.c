/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"
#include "base/mem.h"
#include "observe/report/loss.h"
#include "observe/report/names.h"
#include "observe/report/render.h"
#include "observe/report/summary.h"

static void put_tally(struct json *json, const struct tally *t)
{
	json_count(json, "calls", t->calls);
	json_count(json, "errors", t->errors);
	json_count(json, "bytes_read", t->bytes_read);
	json_count(json, "bytes_written", t->bytes_written);
	json_number(json, "time_ns", t->time_ns);
	json_count(json, "transfers", t->transfers);
	json_number(json, "transfer_ns", t->transfer_ns);
}

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

static void put_io(struct json *json, const struct summary *s)
{
	json_open(json, "io", '{');
	if (!s->has_aggregates)
		json_number(json, "busy_ns", s->busy_ns);
	put_tally(json, &s->run);
	json_close(json);
	json_open(json, "network", '{');
	put_tally(json, &s->network);
	json_close(json);
}

static void put_layers(struct json *json, const struct summary *s)
{
	json_open(json, "layers", '[');
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++) {
		if (!s->layers[layer].calls)
			continue;
		json_open(json, NULL, '{');
		json_text(json, "layer", names_layer(layer));
		put_tally(json, &s->layers[layer]);
		json_close(json);
	}
	json_close(json);
}

static void put_functions(struct json *json, const struct summary *s, uint64_t top)
{
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_functions(s, &count);

	json_open(json, "functions", '[');
	for (size_t i = 0; i < count && i < top; i++) {
		json_open(json, NULL, '{');
		json_text(json, rows[i].counted ? "group" : "function", rows[i].name);
		json_text(json, "layer", names_layer(rows[i].layer));
		put_tally(json, rows[i].tally);
		json_close(json);
	}
	json_close(json);
}

static void put_files(struct json *json, const struct summary *s, uint64_t top)
{
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_files(s, &count);

	json_open(json, "files", '[');
	for (size_t i = 0; i < count && i < top; i++) {
		json_open(json, NULL, '{');
		json_text(json, "file", rows[i].name);
		put_tally(json, rows[i].tally);
		json_close(json);
	}
	json_close(json);
	json_count(json, "file_count", count);
}

void render_json(FILE *out, const struct summary *summary, uint64_t top)
{
	struct json json;

	json_start(&json, out, "sluice.report/1");
	put_run(&json, summary->head);
	put_io(&json, summary);
	put_layers(&json, summary);
	put_functions(&json, summary, top);
	put_files(&json, summary, top);
	loss_json(&json, summary->head);
	json_end(&json);
}
