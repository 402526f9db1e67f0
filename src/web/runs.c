/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of runs, and one run or two as a whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/server.h"
#include "observe/compare/contrast.h"
#include "observe/compare/render_compare.h"
#include "plot/plot.h"
#include "trace/runs/tags.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/open.h"
#include "web/run_cache.h"
#include "web/run_index.h"

#define LIST_MAX 1000
#define WIDTH_MIN 200
#define WIDTH_MAX 4000

static void put_row(void *arg, const struct run_row *row)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "id", row->id);
	json_text(json, "name", row->name);
	json_text(json, "state", row->state);
	json_bool(json, "complete", strcmp(row->state, "complete") == 0);
	json_count(json, "bytes", row->bytes);
	tags_json(json, row->tags);
	json_text(json, "error", row->error);
	if (!row->error) {
		json_number(json, "started_ns", row->started_ns);
		json_number(json, "duration_ns", row->duration_ns);
		json_number(json, "exit_status", row->exit_status);
		json_text(json, "command", row->command);
		json_text(json, "program", row->program);
		json_text(json, "host", row->host);
		json_text(json, "user", row->user);
		json_count(json, "activities", row->activities);
		json_count(json, "processes", row->processes);
		json_count(json, "ranks", row->ranks);
		json_open(json, "applied", '[');
		if (*row->applied)
			json_text(json, NULL, row->applied);
		json_close(json);
	}
	json_close(json);
}

void handle_runs(struct web_call *call)
{
	struct run_query query = { .search = call_text(call, "search", ""),
				   .tag = call_text(call, "tag", "") };
	int64_t limit, offset, total;
	struct err err = { 0 };
	struct reply reply;
	int order, direction;

	if (!call_number(call, "limit", 1, LIST_MAX, 50, &limit) ||
	    !call_number(call, "offset", 0, INT32_MAX, 0, &offset) ||
	    !call_choice(call, "sort", RUN_ORDER_WORDS, RUN_BY_START, &order) ||
	    !call_choice(call, "order", "desc|asc", 0, &direction))
		return;
	query.limit = (size_t)limit;
	query.offset = (size_t)offset;
	query.order = (enum run_order)order;
	query.ascending = direction;
	reply_start(&reply, "sluice.runs/1");
	json_text(&reply.json, "directory", call->directory);
	json_open(&reply.json, "runs", '[');
	total = run_index_list(call->index, &query, put_row, &reply.json, &err);
	json_close(&reply.json);
	json_count(&reply.json, "total", total < 0 ? 0 : (uint64_t)total);
	reply_end(&reply, call);
	if (total < 0) {
		buf_release(&call->answer->body);
		call_fail(call, 500, "%s", err.text);
	}
}

void handle_run(struct web_call *call)
{
	struct open_run *run = open_named_run(call, call->words[0]);
	const struct buf *report;
	struct err err = { 0 };

	if (!run)
		return;
	report = open_run_report(run, &err);
	if (report)
		buf_add(&call->answer->body, report->data, report->len);
	else
		call_fail(call, 500, "%s", err.text);
	run_cache_put(call->cache, run);
}

/* --- plots --- */

static const struct plot_kind *find_kind(const char *name, size_t n)
{
	for (const struct plot_kind *const *kind = plot_run_kinds; *kind; kind++)
		if (strlen((*kind)->name) == n && strncmp((*kind)->name, name, n) == 0)
			return *kind;
	return NULL;
}

static void draw(struct web_call *call, const struct plot_kind *kind, bool is_csv,
		 const struct plot_source *source)
{
	struct err err = { 0 };
	int r = is_csv ? plot_table(kind, source, &call->answer->body, &err)
		       : plot_draw(kind, source, &call->answer->body, &err);

	if (r < 0) {
		buf_release(&call->answer->body);
		call_fail(call, r == -ENODATA ? 404 : 500, "%s", err.text);
		return;
	}
	call->answer->type = is_csv ? "text/csv; charset=utf-8" : "image/svg+xml";
}

void handle_run_plot(struct web_call *call)
{
	const char *name = call->words[1], *dot = strrchr(name, '.');
	const struct plot_kind *kind = dot ? find_kind(name, (size_t)(dot - name)) : NULL;
	bool is_csv = dot && strcmp(dot, ".csv") == 0;
	struct plot_source source = { .file = call_text(call, "file", NULL) };
	struct open_run *run;
	struct err err = { 0 };
	int64_t width;
	int theme;

	if (!kind || (!is_csv && strcmp(dot, ".svg") != 0)) {
		call_fail(call, 404,
			  "%s: no such plot; 'sluice plot --list' names the kinds, and "
			  "the suffix is .svg or .csv",
			  name);
		return;
	}
	if (!call_number(call, "width", WIDTH_MIN, WIDTH_MAX, 0, &width) ||
	    !call_choice(call, "theme", STYLE_THEMES, 0, &theme))
		return;
	run = open_named_run(call, call->words[0]);
	if (!run)
		return;
	source.width = (double)width;
	source.theme = (enum style_theme)theme;
	source.profile = open_run_profile(run, &err);
	if (source.profile)
		draw(call, kind, is_csv, &source);
	else
		call_fail(call, 500, "%s", err.text);
	run_cache_put(call->cache, run);
}

/* --- comparison --- */

static bool read_account(struct web_call *call, const char *parameter, struct account *account)
{
	const char *name = call_text(call, parameter, NULL);
	const struct profile *profile = NULL;
	struct open_run *run;
	struct err err = { 0 };

	if (!name) {
		call_fail(call, 400, "compare needs the parameters base=RUN and with=RUN");
		return false;
	}
	run = open_named_run(call, name);
	if (!run)
		return false;
	profile = open_run_profile(run, &err);
	if (profile)
		account_init(account, open_run_path(run), profile, false);
	else
		call_fail(call, 500, "%s", err.text);
	run_cache_put(call->cache, run);
	return profile;
}

void handle_compare(struct web_call *call)
{
	struct account sides[SIDES];
	const struct account *accounts[SIDES] = { &sides[SIDE_A], &sides[SIDE_B] };
	const size_t runs[SIDES] = { 1, 1 };
	struct contrast contrast;
	struct reply reply;

	if (!read_account(call, "base", &sides[SIDE_A]))
		return;
	if (read_account(call, "with", &sides[SIDE_B])) {
		contrast_init(&contrast, accounts, runs, CONTRAST_RUN_TIME, RUN_ROWS_MAX);
		reply_open(&reply);
		render_compare_json(reply.out, &contrast);
		reply_close(&reply, call);
		contrast_release(&contrast);
		account_release(&sides[SIDE_B]);
	}
	account_release(&sides[SIDE_A]);
}
