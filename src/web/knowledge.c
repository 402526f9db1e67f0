/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The knowledge base: the entries that `sluice kb list --json` prints, and how often they were
 * applied.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/server.h"
#include "store/entry_runs.h"
#include "store/knowledge.h"
#include "tune/loop/entry.h"
#include "web/call.h"
#include "web/handlers.h"

/* A store answers one question at a time, so ids are read before what belongs to them. */
struct ids {
	int64_t *list;
	size_t count, cap;
};

static int append_id(void *arg, const struct knowledge *knowledge)
{
	struct ids *ids = arg;

	ids->list = xgrow(ids->list, &ids->cap, ids->count + 1, sizeof(*ids->list));
	ids->list[ids->count++] = knowledge->id;
	return 0;
}

struct entry_writer {
	struct json *json;
	struct entry_usage usage;
};

static void put_range(struct json *json, const char *key, const struct entry_range *range)
{
	json_open(json, key, '{');
	json_count(json, "runs", range->runs);
	json_bool(json, "failed", range->runs && isinf(range->high));
	json_double(json, "low", range->low);
	json_double(json, "high", range->runs ? range->high : NAN);
	json_close(json);
}

static int put_entry(void *arg, const struct knowledge *knowledge)
{
	struct entry_writer *writer = arg;
	AUTO_BUF struct buf line = { 0 };

	entry_append_parameters(knowledge, &line);
	json_open(writer->json, NULL, '{');
	entry_json(knowledge, writer->json);
	json_text(writer->json, "parameter_line", buf_text(&line));
	json_open(writer->json, "used", '{');
	put_range(writer->json, "with", &writer->usage.with);
	put_range(writer->json, "without", &writer->usage.without);
	json_close(writer->json);
	json_close(writer->json);
	return 0;
}

static int put_entries(struct json *json, const struct config *config, struct err *err)
{
	struct entry_writer writer = { .json = json };
	struct store *store = NULL;
	struct ids ids = { 0 };
	int r = store_open_existing(&store, config_text(config, SETTING_STORE_PATH), err);

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = knowledge_list(store, append_id, &ids, err);
	for (size_t i = 0; r >= 0 && i < ids.count; i++) {
		r = entry_usage_read(&writer.usage, store, ids.list[i], err);
		if (r >= 0)
			r = knowledge_get(store, ids.list[i], put_entry, &writer, err);
		/* Somebody has just deleted it. */
		if (r == -ENOENT)
			r = 0;
	}
	free(ids.list);
	store_close(store);
	return r;
}

void handle_knowledge(struct web_call *call)
{
	struct err err = { 0 };
	struct reply reply;
	int r;

	reply_start(&reply, KB_SCHEMA);
	json_count(&reply.json, "runs_kept", ENTRY_RUNS_KEPT);
	json_open(&reply.json, "entries", '[');
	r = put_entries(&reply.json, call->config, &err);
	json_close(&reply.json);
	reply_end(&reply, call);
	if (r < 0) {
		buf_release(&call->answer->body);
		call_fail(call, 500, "%s", err.text);
	}
}
