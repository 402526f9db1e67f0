/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Activities of a run, one by one.
 * Papers: SIOX-50 to SIOX-52.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "observe/report/line.h"
#include "trace/facts.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/windows.h"

#define PAGE_DEFAULT 100
#define PAGE_MAX 1000

/* The number of the rank or, in a run without ranks, of the process. */
static int64_t member_of(const struct trace_head *head, const struct activity *a)
{
	int32_t rank = head->processes[a->process].rank;

	return rank >= 0 ? rank : (int64_t)a->process;
}

static void put_present(struct json *json, const char *key, const struct activity *a,
			uint16_t present, int64_t number)
{
	if (a->present & present)
		json_number(json, key, number);
	else
		json_text(json, key, NULL);
}

/* "PROCESS.ID": an id alone does not fit into a number of JavaScript, nor is it unique. */
static void put_key(struct json *json, const char *name, uint32_t process, uint64_t id)
{
	AUTO_FREE char *key = xprintf("%" PRIu32 ".%" PRIu64, process, id);

	json_text(json, name, key);
}

static void put_error(struct json *json, const struct activity *a)
{
	bool is_errno = a->error > 0 && (a->layer == LAYER_POSIX || a->layer == LAYER_STDIO);

	json_number(json, "error", a->error);
	json_text(json, "error_text", is_errno ? strerrordesc_np(a->error) : NULL);
}

static void put_row(struct json *json, const char *name, const struct trace_head *head,
		    const struct activity *a)
{
	json_open(json, name, '{');
	put_key(json, "key", a->process, a->id);
	json_text(json, "function", head->calls[a->call].name);
	json_text(json, "layer", layer_name(a->layer));
	json_number(json, "start_ns", a->start_ns);
	json_number(json, "duration_ns", a->duration_ns);
	json_number(json, "member", member_of(head, a));
	json_count(json, "process", a->process);
	json_count(json, "thread", id_thread(a->id));
	json_text(json, "program", head->processes[a->process].program);
	json_text(json, "host", head->processes[a->process].host);
	json_text(json, "file", a->file ? head->files[a->file] : NULL);
	put_present(json, "offset", a, PRESENT(OFFSET), a->offset);
	put_present(json, "size", a, PRESENT(SIZE), a->size);
	json_number(json, "result", a->result);
	put_error(json, a);
	json_close(json);
}

static void put_rows(struct json *json, const char *key, const struct trace_head *head,
		     const struct activity *list, size_t count)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		put_row(json, NULL, head, &list[i]);
	json_close(json);
}

void handle_activities(struct web_call *call)
{
	struct window_question question;
	struct window_activities found;
	struct err err = { 0 };
	struct reply reply;
	int64_t limit, offset;
	int r;

	if (!call_number(call, "limit", 1, PAGE_MAX, PAGE_DEFAULT, &limit) ||
	    !call_number(call, "offset", 0, INT64_MAX / 2, 0, &offset) ||
	    !window_ask(call, &question))
		return;
	r = window_activities(question.index, &question.filter, (size_t)limit, (uint64_t)offset,
			      &found, &err);
	if (r == 0) {
		reply_start(&reply, "sluice.activities/1");
		window_put_frame(&reply.json, &found.frame);
		json_count(&reply.json, "total", found.total);
		json_bool(&reply.json, "total_is_low", found.total_is_low);
		put_rows(&reply.json, "activities", window_index_head(question.index), found.list,
			 found.count);
		reply_end(&reply, call);
		window_activities_release(&found);
	}
	window_done(call, &question, r, &err);
}

/* --- one of them --- */

static bool parse_key(struct web_call *call, uint32_t *process, uint64_t *id)
{
	const char *key = call->words[1];
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(key, &end, 10);
	if (!errno && *end == '.' && end > key && number <= UINT32_MAX) {
		char *rest = end + 1;

		*process = (uint32_t)number;
		*id = strtoull(rest, &end, 10);
		if (!errno && !*end && end > rest && *rest != '-' && *key != '-')
			return true;
	}
	call_fail(call, 400, "%s: not the key of an activity; lists of activities have them", key);
	return false;
}

static void put_call_ids(struct json *json, const struct trace_head *head, const struct activity *a)
{
	const struct process_info *process = &head->processes[a->process];

	json_count(json, "ucalid", a->call);
	json_count(json, "id", id_seq(a->id));
	json_count(json, "thread_id", id_thread(a->id));
	json_text(json, "cid_pid_nid", process->host);
	json_number(json, "cid_pid_time", process->attached_ns);
	json_count(json, "cid_id", a->process);
}

/* The cause, and the calls that made its handles. */
static void put_parents(struct json *json, const struct trace_head *head, const struct activity *a)
{
	const uint64_t ids[] = { a->parent, a->link & ID_MASK, a->link2 & ID_MASK };

	json_open(json, "parents", '[');
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		uint32_t owner = i ? trace_find_owner(head, a->process, ids[i]) : a->process;

		if (ids[i] && ids[i] != a->id && (!i || ids[i] != ids[i - 1]))
			put_key(json, NULL, owner, ids[i]);
	}
	json_close(json);
}

/* Calls of other ranks that take part, and those at the other end of a connection: SIOX calls them
 * remote. */
static void put_remote_calls(struct json *json, const struct window_activity *found)
{
	const struct activity *a = &found->self;

	json_open(json, "remote_calls", '[');
	if (a->present & PRESENT(COLLECTIVE) && a->collective) {
		AUTO_FREE char *text = xprintf("collective %016" PRIx64, a->collective);

		json_text(json, NULL, text);
	}
	for (size_t i = 0; i < found->remote_count; i++)
		put_key(json, NULL, found->remote[i].process, found->remote[i].id);
	json_close(json);
}

static void answer_activity(struct web_call *call, const struct trace_head *head,
			    const struct window_activity *found)
{
	const struct activity *a = &found->self;
	AUTO_BUF struct buf id = { 0 };
	struct reply reply;
	struct json *json = &reply.json;

	line_id(&id, a->process, a->id);
	reply_start(&reply, "sluice.activity/1");
	put_key(json, "key", a->process, a->id);
	json_text(json, "name", head->calls[a->call].name);
	json_text(json, "unique_id", buf_text(&id));
	put_call_ids(json, head, a);
	json_text(json, "program", head->processes[a->process].program);
	json_number(json, "time_start", a->start_ns);
	json_number(json, "time_stop", a->start_ns + a->duration_ns);
	json_number(json, "duration", a->duration_ns);
	line_json_attributes(json, head, a);
	put_remote_calls(json, found);
	put_parents(json, head, a);
	json_number(json, "error_value", a->error);
	json_text(json, "layer", layer_name(a->layer));
	json_text(json, "file", a->file ? head->files[a->file] : NULL);
	put_rows(json, "ancestors", head, found->ancestors, found->ancestor_count);
	put_rows(json, "children", head, found->children, found->child_count);
	json_bool(json, "children_cut", found->children_cut);
	if (found->has_opener)
		put_row(json, "opened_by", head, &found->opener);
	else
		json_text(json, "opened_by", NULL);
	reply_end(&reply, call);
}

void handle_activity(struct web_call *call)
{
	struct window_question question;
	struct window_activity found;
	struct err err = { 0 };
	uint32_t process;
	uint64_t id;
	int r;

	if (!parse_key(call, &process, &id) || !window_ask(call, &question))
		return;
	r = window_activity(question.index, process, id, &found, &err);
	if (r == 0) {
		answer_activity(call, window_index_head(question.index), &found);
		window_activity_release(&found);
	}
	window_done(call, &question, r, &err);
}
