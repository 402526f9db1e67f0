/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"
#include "http/server.h"
#include "web/body.h"

void reply_open(struct reply *reply)
{
	*reply = (struct reply){ 0 };
	reply->out = xmemstream(&reply->text, &reply->bytes);
}

void reply_close(struct reply *reply, struct web_call *call)
{
	fclose(reply->out);
	call->answer->body = (struct buf){ reply->text, reply->bytes, reply->bytes };
}

void reply_start(struct reply *reply, const char *schema)
{
	reply_open(reply);
	json_start(&reply->json, reply->out, schema);
}

void reply_end(struct reply *reply, struct web_call *call)
{
	json_end(&reply->json);
	reply_close(reply, call);
}

void reply_event(struct reply *reply, const char *name, struct buf *piece)
{
	json_end(&reply->json);
	fclose(reply->out);
	http_put_event(piece, name, reply->text);
	free(reply->text);
}

void call_fail(struct web_call *call, unsigned status, const char *format, ...)
{
	AUTO_FREE char *sentence = NULL;
	struct reply reply;
	va_list args;

	va_start(args, format);
	sentence = xvprintf(format, args);
	va_end(args);
	reply_start(&reply, "sluice.error/1");
	json_text(&reply.json, "error", sentence);
	reply_end(&reply, call);
	call->answer->status = status;
}

const char *call_text(const struct web_call *call, const char *name, const char *fallback)
{
	const char *text = http_query(call->request, name);

	return text && *text ? text : fallback;
}

bool call_number(struct web_call *call, const char *name, int64_t low, int64_t high,
		 int64_t fallback, int64_t *number)
{
	const char *text = call_text(call, name, NULL);
	char *end;

	*number = fallback;
	if (!text)
		return true;
	errno = 0;
	*number = strtoll(text, &end, 10);
	if (!errno && !*end && *number >= low && *number <= high)
		return true;
	call_fail(call, 400, "%s=%s: not an integer from %lld to %lld", name, text, (long long)low,
		  (long long)high);
	return false;
}

bool call_choice(struct web_call *call, const char *name, const char *words, int fallback,
		 int *choice)
{
	const char *text = call_text(call, name, NULL);

	*choice = text ? option_choice(words, text, strlen(text)) : fallback;
	if (*choice >= 0)
		return true;
	call_fail(call, 400, "%s=%s: must be one of %s", name, text, words);
	return false;
}

struct body *call_body(struct web_call *call)
{
	struct err err = { 0 };
	struct body *body = body_read(call->request->body, call->request->body_bytes, &err);

	if (!body)
		call_fail(call, 400, "%s", err.text);
	return body;
}
