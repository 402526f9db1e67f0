/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of a window of a run.
 */
#include "web/windows.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "observe/tally/traffic.h"
#include "trace/facts.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/open.h"
#include "web/run_cache.h"

#define BINS_DEFAULT 400
#define FILES_MAX 100
#define MEMBERS_MAX 1000
#define HEATMAP_BINS 200
#define HEATMAP_ROWS 256
#define CAUSES_MAX 2000
#define ACCESSES_MAX 20000
/* The first request would have an empty answer, and be repeated by the page; this is faster. */
#define FIRST_WAIT_NS (200 * NS_PER_MS)

static bool read_filter(struct web_call *call, struct window_filter *filter)
{
	int64_t member, errors;
	int level;

	if (!call_number(call, "from_ns", 0, INT64_MAX / 2, 0, &filter->from_ns) ||
	    !call_number(call, "to_ns", 0, INT64_MAX / 2, 0, &filter->to_ns) ||
	    !call_number(call, "member", 0, INT32_MAX, -1, &member) ||
	    !call_number(call, "errors", 0, 1, 0, &errors) ||
	    !call_number(call, "min_ns", 0, INT64_MAX / 2, 0, &filter->min_ns) ||
	    !call_choice(call, "level", "program|storage|all", WINDOW_PROGRAM, &level))
		return false;
	filter->level = (enum window_level)level;
	filter->layer = call_text(call, "layer", NULL);
	filter->function = call_text(call, "function", NULL);
	filter->file = call_text(call, "file", NULL);
	filter->has_member = member >= 0;
	filter->member = (int32_t)member;
	filter->errors = errors;
	return true;
}

void window_put_frame(struct json *json, const struct window_frame *frame)
{
	json_number(json, "from_ns", frame->from_ns);
	json_number(json, "to_ns", frame->to_ns);
	json_double(json, "covered", frame->covered);
	json_bool(json, "folded", frame->folded);
}

static void put_sum(struct json *json, const struct window_sum *sum)
{
	json_count(json, "calls", sum->calls);
	json_count(json, "errors", sum->errors);
	json_count(json, "bytes_read", sum->bytes[READING]);
	json_count(json, "bytes_written", sum->bytes[WRITING]);
	json_number(json, "time_ns", sum->time_ns);
}

enum row_kind { ROW_LAYER, ROW_FUNCTION, ROW_FILE, ROW_MEMBER };

static void put_name(struct json *json, enum row_kind kind, const struct window_row *row)
{
	static const char *const keys[] = { "layer", "function", "file" };

	if (kind == ROW_MEMBER) {
		json_number(json, "member", row->member);
		json_text(json, "name", row->name);
		json_text(json, "host", row->host);
		return;
	}
	json_text(json, keys[kind], row->name);
	if (kind == ROW_FUNCTION)
		json_text(json, "layer", layer_name(row->layer));
}

static void put_rows(struct json *json, const char *key, enum row_kind kind,
		     const struct window_rows *rows)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < rows->count; i++) {
		json_open(json, NULL, '{');
		put_name(json, kind, &rows->list[i]);
		put_sum(json, &rows->list[i].sum);
		json_close(json);
	}
	json_close(json);
}

/* One array per figure: shorter than one object per bin, and what a chart needs. */
#define PUT_BINS(json, result, key, put, member)                    \
	do {                                                        \
		json_open(json, key, '[');                          \
		for (size_t i_ = 0; i_ < (result)->bin_count; i_++) \
			put(json, NULL, (result)->bins[i_].member); \
		json_close(json);                                   \
	} while (0)

static void put_bins(struct json *json, const struct window_result *result)
{
	json_open(json, "bins", '{');
	json_count(json, "count", result->bin_count);
	json_number(json, "bin_ns", result->bin_ns);
	PUT_BINS(json, result, "calls", json_count, calls);
	PUT_BINS(json, result, "bytes_read", json_count, bytes[READING]);
	PUT_BINS(json, result, "bytes_written", json_count, bytes[WRITING]);
	PUT_BINS(json, result, "time_ns", json_number, time_ns);
	json_close(json);
}

static void put_sizes(struct json *json, const struct window_result *result)
{
	static const char *const keys[] = { [READING] = "reads", [WRITING] = "writes" };

	json_open(json, "sizes", '{');
	json_open(json, "edges", '[');
	for (unsigned i = 0; i < CELL_SIZE_BINS; i++)
		json_count(json, NULL, cell_bin_bytes(i));
	json_close(json);
	for (int way = READING; way <= WRITING; way++) {
		json_open(json, keys[way], '[');
		for (unsigned i = 0; i < CELL_SIZE_BINS; i++)
			json_count(json, NULL, result->sizes[way][i]);
		json_close(json);
	}
	json_close(json);
}

static void answer_window(struct web_call *call, const struct window_result *result)
{
	struct reply reply;

	reply_start(&reply, "sluice.window/1");
	window_put_frame(&reply.json, &result->frame);
	json_open(&reply.json, "totals", '{');
	put_sum(&reply.json, &result->total);
	json_close(&reply.json);
	put_bins(&reply.json, result);
	put_rows(&reply.json, "layers", ROW_LAYER, &result->layers);
	put_rows(&reply.json, "functions", ROW_FUNCTION, &result->functions);
	put_rows(&reply.json, "files", ROW_FILE, &result->files);
	json_count(&reply.json, "file_count", result->files.total);
	put_rows(&reply.json, "members", ROW_MEMBER, &result->members);
	json_count(&reply.json, "member_count", result->members.total);
	put_sizes(&reply.json, result);
	reply_end(&reply, call);
}

static void fail_query(struct web_call *call, int r, const struct err *err)
{
	call_fail(call, r == -EINVAL ? 400 : r == -ENOENT ? 404 : 500, "%s", err->text);
}

bool window_ask(struct web_call *call, struct window_question *question)
{
	struct err err = { 0 };

	*question = (struct window_question){ 0 };
	if (!read_filter(call, &question->filter))
		return false;
	question->run = open_named_run(call, call->words[0]);
	if (!question->run)
		return false;
	question->index = open_run_index(question->run, &err);
	if (question->index) {
		window_index_wait_first(question->index, FIRST_WAIT_NS);
		return true;
	}
	call_fail(call, 500, "%s", err.text);
	window_done(call, question, 0, NULL);
	return false;
}

void window_done(struct web_call *call, const struct window_question *question, int r,
		 const struct err *err)
{
	if (r < 0)
		fail_query(call, r, err);
	run_cache_put(call->cache, question->run);
}

void handle_window(struct web_call *call)
{
	struct window_limits limits = { .files = FILES_MAX, .members = MEMBERS_MAX };
	struct window_question question;
	struct window_result result;
	struct err err = { 0 };
	int64_t bins;
	int r;

	if (!call_number(call, "bins", 1, WINDOW_BINS_MAX, BINS_DEFAULT, &bins) ||
	    !window_ask(call, &question))
		return;
	limits.bins = (size_t)bins;
	r = window_query(question.index, &question.filter, &limits, &result, &err);
	if (r == 0) {
		answer_window(call, &result);
		window_result_release(&result);
	}
	window_done(call, &question, r, &err);
}

/* --- heat map --- */

static void put_lanes(struct json *json, const struct window_heatmap *map)
{
	json_open(json, "rows", '[');
	for (size_t i = 0; i < map->lane_count; i++) {
		json_open(json, NULL, '{');
		json_number(json, "first_member", map->lanes[i].first_member);
		json_number(json, "last_member", map->lanes[i].last_member);
		json_text(json, "name", map->lanes[i].name);
		json_text(json, "host", map->lanes[i].host);
		json_close(json);
	}
	json_close(json);
}

static void answer_heatmap(struct web_call *call, const struct window_heatmap *map, const char *of)
{
	struct reply reply;

	reply_start(&reply, "sluice.heatmap/1");
	window_put_frame(&reply.json, &map->frame);
	json_number(&reply.json, "bin_ns", map->bin_ns);
	json_text(&reply.json, "of", of);
	put_lanes(&reply.json, map);
	json_open(&reply.json, "values", '[');
	for (size_t i = 0; i < map->lane_count; i++) {
		json_open(&reply.json, NULL, '[');
		for (size_t k = 0; k < map->bin_count; k++)
			json_count(&reply.json, NULL, map->values[i * map->bin_count + k]);
		json_close(&reply.json);
	}
	json_close(&reply.json);
	reply_end(&reply, call);
}

void handle_heatmap(struct web_call *call)
{
	static const char *const words[] = { "time", "bytes", "calls" };
	struct window_question question;
	struct window_heatmap map;
	struct err err = { 0 };
	int64_t bins, rows;
	int of, r;

	if (!call_number(call, "bins", 1, WINDOW_HEATMAP_MAX, HEATMAP_BINS, &bins) ||
	    !call_number(call, "rows", 1, WINDOW_HEATMAP_MAX, HEATMAP_ROWS, &rows) ||
	    !call_choice(call, "of", "time|bytes|calls", WINDOW_TIME, &of) ||
	    !window_ask(call, &question))
		return;
	r = window_heatmap(question.index, &question.filter, (size_t)bins, (size_t)rows,
			   (enum window_measure)of, &map, &err);
	if (r == 0) {
		answer_heatmap(call, &map, words[of]);
		window_heatmap_release(&map);
	}
	window_done(call, &question, r, &err);
}

/* --- causes --- */

static void answer_causes(struct web_call *call, const struct window_causes *causes)
{
	struct reply reply;

	reply_start(&reply, "sluice.causes/1");
	window_put_frame(&reply.json, &causes->frame);
	json_count(&reply.json, "total", causes->total);
	json_open(&reply.json, "nodes", '[');
	for (size_t i = 0; i < causes->count; i++) {
		const struct window_cause *cause = &causes->list[i];

		json_open(&reply.json, NULL, '{');
		json_count(&reply.json, "id", cause->id);
		json_count(&reply.json, "parent", cause->parent);
		json_text(&reply.json, "function", cause->function);
		json_text(&reply.json, "layer", layer_name(cause->layer));
		json_text(&reply.json, "file", cause->file);
		put_sum(&reply.json, &cause->sum);
		json_close(&reply.json);
	}
	json_close(&reply.json);
	reply_end(&reply, call);
}

void handle_causes(struct web_call *call)
{
	struct window_question question;
	struct window_causes causes;
	struct err err = { 0 };
	int r;

	if (!window_ask(call, &question))
		return;
	r = window_causes(question.index, &question.filter, CAUSES_MAX, &causes, &err);
	if (r == 0) {
		answer_causes(call, &causes);
		window_causes_release(&causes);
	}
	window_done(call, &question, r, &err);
}

/* --- offsets --- */

/* Each access is an array, because there may be many. */
static void put_access(struct json *json, const struct window_access *access)
{
	json_open(json, NULL, '[');
	json_number(json, NULL, access->start_ns);
	json_number(json, NULL, access->duration_ns);
	json_number(json, NULL, access->offset);
	json_count(json, NULL, access->bytes);
	json_count(json, NULL, access->way);
	json_number(json, NULL, access->member);
	json_close(json);
}

static void answer_offsets(struct web_call *call, const struct window_offsets *offsets,
			   const char *file)
{
	struct reply reply;

	reply_start(&reply, "sluice.offsets/1");
	window_put_frame(&reply.json, &offsets->frame);
	json_text(&reply.json, "file", file);
	json_bool(&reply.json, "sampled", offsets->sampled);
	json_open(&reply.json, "accesses", '[');
	for (size_t i = 0; i < offsets->count; i++)
		put_access(&reply.json, &offsets->list[i]);
	json_close(&reply.json);
	reply_end(&reply, call);
}

void handle_offsets(struct web_call *call)
{
	struct window_question question;
	struct window_offsets offsets;
	struct err err = { 0 };
	int64_t limit;
	int r;

	if (!call_number(call, "limit", 1, ACCESSES_MAX, ACCESSES_MAX, &limit) ||
	    !window_ask(call, &question))
		return;
	r = window_offsets(question.index, &question.filter, (size_t)limit, &offsets, &err);
	if (r == 0) {
		answer_offsets(call, &offsets, question.filter.file);
		window_offsets_release(&offsets);
	}
	window_done(call, &question, r, &err);
}
