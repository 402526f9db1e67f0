/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One request to the application: its parameters and its answer. A handler answers with JSON:
 *
 *	struct reply reply;
 *
 *	reply_start(&reply, "sluice.about/1");
 *	json_text(&reply.json, "version", SLUICE_VERSION);
 *	reply_end(&reply, call);
 *
 * or fails with a sentence that says what is wrong and what to do.
 */
#ifndef SLUICE_WEB_CALL_H
#define SLUICE_WEB_CALL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"

struct body;
struct buf;
struct config;
struct err;
struct http_answer;
struct http_request;
struct run_cache;
struct run_index;
struct site_db;
struct trend_cache;

#define CALL_WORDS 2

struct web_call {
	const struct config *config;
	const char *directory; /* of traces */
	const char *user;
	struct site_db *site; /* of a site, with the role of the user; the following are NULL */
	struct run_index *index;
	struct run_cache *cache;
	struct trend_cache *trends;
	/* Held while a request reads probe data or models: one at a time, to limit the memory. */
	pthread_mutex_t *heavy;
	const struct http_request *request;
	struct http_answer *answer;
	char *words[CALL_WORDS]; /* what stands in the path for the asterisks of the route */
};

/* Answers with an error of that HTTP status. */
void call_fail(struct web_call *call, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The parameter, or the fallback if the request lacks it. */
const char *call_text(const struct web_call *call, const char *name, const char *fallback);

/*
 * An integer from low to high; the fallback if the request lacks it. Returns false if it is
 * something else; the request was then answered.
 */
bool call_number(struct web_call *call, const char *name, int64_t low, int64_t high,
		 int64_t fallback, int64_t *number);

/* The number of the parameter's word in "a|b|c"; as call_number(). */
bool call_choice(struct web_call *call, const char *name, const char *words, int fallback,
		 int *choice);

/*
 * The JSON object of a request that changes something; the caller frees it with body_free(). NULL
 * if it is not one; the request was then answered.
 */
struct body *call_body(struct web_call *call);

struct reply {
	struct json json;
	FILE *out;
	char *text;
	size_t bytes;
};

void reply_start(struct reply *reply, const char *schema);
void reply_end(struct reply *reply, struct web_call *call);
/* Instead of reply_end(), in a stream (http/server.h): the object is the data of an event. */
void reply_event(struct reply *reply, const char *name, struct buf *piece);

/* The same for an object that a renderer writes to reply->out as a whole. */
void reply_open(struct reply *reply);
void reply_close(struct reply *reply, struct web_call *call);

#endif
