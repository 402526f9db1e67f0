/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the server of a site answers. PostgreSQL decides what the user of the request may see.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "http/server.h"
#include "site/view.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/run_index.h"

#define LIST_MAX 1000
#define ROWS_MAX 200 /* of a table of sums, of anomalies and of loads */

/* RUN_ORDER_WORDS and enum view_order have the same order; "size" is that of the moved bytes. */
_Static_assert((int)VIEW_BY_COMMAND == (int)RUN_BY_COMMAND, "orders differ");

void handle_site_about(struct web_call *call)
{
	static const char *const pages[] = { "runs", "site" };
	struct reply reply;

	reply_start(&reply, "sluice.about/1");
	json_text(&reply.json, "version", SLUICE_VERSION);
	json_text(&reply.json, "user", call->user);
	json_bool(&reply.json, "is_site", true);
	json_text(&reply.json, "directory", "");
	json_open(&reply.json, "pages", '[');
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		json_text(&reply.json, NULL, pages[i]);
	json_close(&reply.json);
	reply_end(&reply, call);
}

/* Replaces an answer that is not complete. */
static void fail(struct web_call *call, const struct err *err)
{
	unsigned status = err->code == ENOENT						      ? 404
			  : err->code == EACCES						      ? 403
			  : err->code == ENOTCONN || err->code == EINTR || err->code == EBUSY ? 503
											      : 500;

	buf_release(&call->answer->body);
	call_fail(call, status, "%s", err->text);
}

/* --- runs --- */

static void put_share(struct json *json, const char *name, double value)
{
	if (isnan(value))
		json_text(json, name, NULL);
	else
		json_double(json, name, value);
}

static void put_run_fields(struct json *json, const struct view_run *run)
{
	json_text(json, "id", run->id);
	json_text(json, "name", run->id);
	json_text(json, "state",
		  !run->is_complete ? "partial"
		  : run->lost	    ? "with losses"
				    : "complete");
	json_bool(json, "complete", run->is_complete && !run->lost);
	json_open(json, "tags", '['); /* they are files of the user */
	json_close(json);
	json_text(json, "error", NULL);
	json_number(json, "started_ns", run->started_ns);
	json_number(json, "duration_ns", run->duration_ns);
	json_number(json, "exit_status", run->exit_status);
	json_text(json, "command", run->command);
	json_text(json, "program", run->program);
	json_text(json, "host", run->host);
	json_text(json, "user", run->owner);
	json_text(json, "job", run->job);
	json_number(json, "activities", run->activities);
	json_number(json, "processes", run->processes);
	json_number(json, "ranks", run->ranks);
	json_number(json, "bytes", run->bytes_read + run->bytes_written);
	json_number(json, "bytes_read", run->bytes_read);
	json_number(json, "bytes_written", run->bytes_written);
	put_share(json, "io_share", run->io_share);
	json_open(json, "applied", '[');
	json_close(json);
}

static void put_run(void *arg, const struct view_run *run)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	put_run_fields(json, run);
	json_close(json);
}

void handle_site_runs(struct web_call *call)
{
	struct view_query query = { .search = call_text(call, "search", "") };
	struct err err = { 0 };
	struct reply reply;
	int order, direction;
	int64_t total;

	if (!call_number(call, "limit", 1, LIST_MAX, 50, &query.limit) ||
	    !call_number(call, "offset", 0, INT32_MAX, 0, &query.offset) ||
	    !call_choice(call, "sort", RUN_ORDER_WORDS, RUN_BY_START, &order) ||
	    !call_choice(call, "order", "desc|asc", 0, &direction))
		return;
	query.order = (enum view_order)order;
	query.ascending = direction;
	reply_start(&reply, "sluice.runs/1");
	json_text(&reply.json, "directory", "");
	json_open(&reply.json, "runs", '[');
	total = view_runs(call->site, &query, put_run, &reply.json, &err);
	json_close(&reply.json);
	json_number(&reply.json, "total", total < 0 ? 0 : total);
	reply_end(&reply, call);
	if (total < 0)
		fail(call, &err);
}

/* --- one run --- */

struct run_answer {
	struct json *json;
	int64_t number;
};

static void put_whole_run(void *arg, const struct view_run *run)
{
	struct run_answer *answer = arg;
	struct json *json = answer->json;

	answer->number = run->number;
	json_open(json, "run", '{');
	put_run_fields(json, run);
	json_number(json, "kept", run->kept);
	json_number(json, "sample", run->sample);
	json_number(json, "lost", run->lost);
	json_bool(json, "hidden", run->is_hidden);
	json_close(json);
}

static void put_sum_fields(struct json *json, const struct view_sum *sum)
{
	json_text(json, "layer", sum->layer);
	json_number(json, "calls", sum->calls);
	json_number(json, "errors", sum->errors);
	json_number(json, "opens", sum->opens);
	json_number(json, "reads", sum->reads);
	json_number(json, "writes", sum->writes);
	json_number(json, "bytes_read", sum->bytes_read);
	json_number(json, "bytes_written", sum->bytes_written);
	json_number(json, "time_ns", sum->time_ns);
	json_number(json, "sequential", sum->sequential);
	json_number(json, "small", sum->small);
	json_number(json, "first_ns", sum->first_ns);
	json_number(json, "last_ns", sum->last_ns);
}

static void put_layer(void *arg, const struct view_sum *sum)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	put_sum_fields(json, sum);
	json_close(json);
}

static void put_file(void *arg, const struct view_sum *sum)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "file", sum->file);
	json_text(json, "filesystem", sum->filesystem);
	put_sum_fields(json, sum);
	json_close(json);
}

static void put_member(void *arg, const struct view_sum *sum)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_number(json, "member", sum->member);
	put_sum_fields(json, sum);
	json_close(json);
}

static void put_finding(void *arg, const struct view_finding *finding)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "code", finding->code);
	json_text(json, "title", finding->title);
	json_text(json, "severity", finding->severity);
	json_bool(json, "possible", finding->is_possible);
	put_share(json, "share", finding->share);
	put_share(json, "gain", finding->gain);
	json_number(json, "file_count", finding->files);
	json_text(json, "file", finding->file);
	json_text(json, "evidence", finding->evidence);
	json_close(json);
}

static int put_details(struct web_call *call, struct json *json, int64_t run, struct err *err)
{
	static const struct {
		const char *list, *count;
		view_visit_sum *put;
	} parts[VIEW_PARTS] = {
		[VIEW_LAYERS] = { "layers", "layer_count", put_layer },
		[VIEW_FILES] = { "files", "file_count", put_file },
		[VIEW_MEMBERS] = { "members", "member_count", put_member },
	};
	int64_t total = 0;
	int r;

	for (int part = 0; part < VIEW_PARTS && total >= 0; part++) {
		json_open(json, parts[part].list, '[');
		total = view_sums(call->site, run, (enum view_part)part, ROWS_MAX, parts[part].put,
				  json, err);
		json_close(json);
		json_number(json, parts[part].count, total);
	}
	json_open(json, "findings", '[');
	r = total < 0 ? (int)total : view_findings(call->site, run, put_finding, json, err);
	json_close(json);
	return r;
}

static bool is_id(const char *text)
{
	size_t n = strlen(text);

	return n >= RUNS_ID_SHOWN && n <= 32 && strspn(text, "0123456789abcdef") == n;
}

void handle_site_sums(struct web_call *call)
{
	struct reply reply;
	struct run_answer answer = { .json = &reply.json };
	struct err err = { 0 };
	int r;

	if (!is_id(call->words[0])) {
		call_fail(call, 400, "%s: not the id of a run", call->words[0]);
		return;
	}
	reply_start(&reply, "sluice.run_sums/1");
	r = view_run(call->site, call->words[0], put_whole_run, &answer, &err);
	if (r >= 0)
		r = put_details(call, &reply.json, answer.number, &err);
	reply_end(&reply, call);
	if (r < 0)
		fail(call, &err);
}

/* --- the site --- */

static void put_anomaly(void *arg, const struct view_anomaly *anomaly)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "node", anomaly->node);
	json_text(json, "subject", anomaly->subject);
	json_text(json, "user", anomaly->owner);
	json_text(json, "job", anomaly->job);
	json_text(json, "target", anomaly->target);
	json_text(json, "cause", anomaly->cause);
	json_text(json, "detail", anomaly->detail);
	json_number(json, "started_ns", anomaly->started_ns);
	if (anomaly->ended_ns)
		json_number(json, "ended_ns", anomaly->ended_ns);
	else
		json_text(json, "ended_ns", NULL);
	json_double(json, "value", anomaly->value);
	json_close(json);
}

static void put_load(void *arg, const struct view_load *load)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "user", load->owner);
	json_text(json, "job", load->job);
	json_text(json, "target", load->target);
	json_number(json, "nodes", load->nodes);
	json_double(json, "bytes_read_per_s", load->bytes_read);
	json_double(json, "bytes_written_per_s", load->bytes_written);
	json_double(json, "operations_per_s", load->operations);
	json_close(json);
}

void handle_site(struct web_call *call)
{
	struct err err = { 0 };
	struct reply reply;
	int r;

	reply_start(&reply, "sluice.site/1");
	json_open(&reply.json, "anomalies", '[');
	r = view_anomalies(call->site, ROWS_MAX, put_anomaly, &reply.json, &err);
	json_close(&reply.json);
	json_open(&reply.json, "loads", '[');
	if (r >= 0)
		r = view_loads(call->site, ROWS_MAX, put_load, &reply.json, &err);
	json_close(&reply.json);
	reply_end(&reply, call);
	if (r < 0)
		fail(call, &err);
}
