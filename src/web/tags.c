/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tags of a run.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/format.h"
#include "trace/runs/tags.h"
#include "web/body.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/open.h"
#include "web/run_cache.h"

/* Opens the run that the request names, and its trace. False: the request was answered. */
static bool open_trace(struct web_call *call, struct open_run **run, struct trace *trace)
{
	struct err err = { 0 };

	*run = open_named_run(call, call->words[0]);
	if (!*run)
		return false;
	if (trace_open(trace, open_run_path(*run), NULL, &err) >= 0)
		return true;
	call_fail(call, 500, "%s", err.text);
	run_cache_put(call->cache, *run);
	return false;
}

static void put_tags(struct web_call *call, const char *tags)
{
	struct reply reply;

	reply_start(&reply, "sluice.tags/1");
	tags_json(&reply.json, tags);
	reply_end(&reply, call);
}

void handle_tags(struct web_call *call)
{
	AUTO_FREE char *tags = NULL;
	struct open_run *run;
	struct trace trace;

	if (!open_trace(call, &run, &trace))
		return;
	tags = tags_read(open_run_path(run), text_or_empty(trace.head.run.uuid));
	put_tags(call, tags);
	trace_close(&trace);
	run_cache_put(call->cache, run);
}

/* The words of a list, separated by blanks. False: one of them is not a tag. */
static bool read_words(const struct body *body, const char *name, struct buf *words,
		       struct err *err)
{
	int count = body_text_count(body, name);

	for (int i = 0; i < count; i++) {
		const char *word = body_text_at(body, name, i);

		if (!tag_is_valid(word, err))
			return false;
		buf_printf(words, "%s%s", i ? " " : "", word);
	}
	return true;
}

static void change_tags(struct web_call *call, const char *add, const char *remove)
{
	AUTO_FREE char *tags = NULL;
	struct open_run *run;
	struct trace trace;
	struct err err = { 0 };
	int r;

	if (!open_trace(call, &run, &trace))
		return;
	r = tags_change(open_run_path(run), text_or_empty(trace.head.run.uuid), add, remove, &tags,
			&err);
	if (r < 0)
		call_fail(call, r == -EINVAL || r == -E2BIG ? 400 : 500, "%s", err.text);
	else
		put_tags(call, tags);
	trace_close(&trace);
	run_cache_put(call->cache, run);
}

void handle_change_tags(struct web_call *call)
{
	struct body *body = call_body(call);
	AUTO_BUF struct buf add = { 0 };
	AUTO_BUF struct buf remove = { 0 };
	struct err err = { 0 };

	if (!body)
		return;
	if (body_text_count(body, "add") < 0 && body_text_count(body, "remove") < 0)
		call_fail(call, 400, "expected {\"add\": [TAG, ...], \"remove\": [TAG, ...]}");
	else if (!read_words(body, "add", &add, &err) || !read_words(body, "remove", &remove, &err))
		call_fail(call, 400, "%s", err.text);
	else
		change_tags(call, buf_text(&add), buf_text(&remove));
	body_free(body);
}
