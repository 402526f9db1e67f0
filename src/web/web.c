/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/web.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "http/server.h"
#include "site/portal.h"
#include "web/assets.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/run_cache.h"
#include "web/run_index.h"
#include "web/trend_cache.h"

#define API "/api/"
#define API_VERSION API "v1/"
#define ASSETS "/assets/"

struct web {
	const struct config *config;
	char *directory, *base, *user;
	struct run_index *index;
	struct run_cache *cache;
	struct trend_cache *trends;
	pthread_mutex_t heavy;
	struct portal *portal; /* of a site; index, cache and trends are then NULL */
	struct http_server *server;
};

/*
 * An asterisk stands for one part of the path, which may not be empty. A route that changes
 * something has a second handler, for POST requests; one that only changes something has no first.
 */
static const struct route {
	const char *pattern;
	void (*get)(struct web_call *call);
	void (*post)(struct web_call *call);
} routes[] = {
	{ "about", handle_about, NULL },
	{ "settings", handle_settings, NULL },
	{ "runs", handle_runs, NULL },
	{ "runs/*", handle_run, NULL },
	{ "runs/*/window", handle_window, NULL },
	{ "runs/*/heatmap", handle_heatmap, NULL },
	{ "runs/*/causes", handle_causes, NULL },
	{ "runs/*/offsets", handle_offsets, NULL },
	{ "runs/*/activities", handle_activities, NULL },
	{ "runs/*/activities/*", handle_activity, NULL },
	{ "runs/*/plots/*", handle_run_plot, NULL },
	{ "compare", handle_compare, NULL },
	{ "changes", handle_changes, NULL },
	{ "programs", handle_programs, NULL },
	{ "programs/*", handle_program, NULL },
	{ "runs/*/tags", handle_tags, handle_change_tags },
	{ "tunings", handle_tunings, NULL },
	{ "tunings/*", handle_tuning, NULL },
	{ "tunings/*/outcome", handle_tuning_outcome, NULL },
	{ "tunings/*/events", handle_tuning_events, NULL },
	{ "tunings/*/stop", NULL, handle_tuning_stop },
	{ "tunings/*/resume", NULL, handle_tuning_resume },
	{ "knowledge", handle_knowledge, NULL },
	{ "targets", handle_targets, NULL },
	{ "targets/history", handle_target_history, NULL },
	{ "forecast", handle_forecast, NULL },
	{ "load", handle_load, NULL },
	{ "node", handle_node, NULL },
	{ "runs/*/statistics", handle_run_statistics, NULL },
	{ "models", handle_models, NULL },
	{ "models/*", handle_model, NULL },
	{ "models/*/recommend", handle_recommend, NULL },
};

/* Of the server of a site. */
static const struct route site_routes[] = {
	{ "about", handle_site_about, NULL },
	{ "runs", handle_site_runs, NULL },
	{ "runs/*/sums", handle_site_sums, NULL },
	{ "site", handle_site, NULL },
};

/* Copies what stands for the asterisks into words. */
static bool path_matches(const char *pattern, const char *path, char *words[CALL_WORDS])
{
	size_t count = 0;

	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			size_t n = strcspn(path, "/");

			if (!n)
				return false;
			free(words[count]);
			words[count++] = xstrndup(path, n);
			path += n;
		} else if (*pattern != *path++) {
			return false;
		}
	}
	return !*path;
}

static const struct route *find_in(const struct route *list, size_t count, const char *path,
				   char *words[CALL_WORDS])
{
	for (size_t i = 0; i < count; i++)
		if (path_matches(list[i].pattern, path, words))
			return &list[i];
	return NULL;
}

/* The route of a path, and the words of its asterisks; NULL: none. */
static const struct route *find_route(const struct web *web, const char *path,
				      char *words[CALL_WORDS])
{
	if (!text_starts_with(path, API_VERSION))
		return NULL;
	path += strlen(API_VERSION);
	return web->portal ? find_in(site_routes, sizeof(site_routes) / sizeof(site_routes[0]),
				     path, words)
			   : find_in(routes, sizeof(routes) / sizeof(routes[0]), path, words);
}

static void free_words(char *words[CALL_WORDS])
{
	for (int i = 0; i < CALL_WORDS; i++)
		free(words[i]);
}

static unsigned find_methods(void *arg, const char *path)
{
	char *words[CALL_WORDS] = { 0 };
	const struct route *route = find_route(arg, path, words);

	free_words(words);
	if (!route)
		return HTTP_GET;
	return (route->get ? HTTP_GET : 0u) | (route->post ? HTTP_POST : 0u);
}

static void run_route(const struct route *route, struct web_call *call)
{
	if (call->request->method == HTTP_POST)
		route->post(call);
	else
		route->get(call);
}

/* With the role of the user, whom the proxy has named. */
static void run_site_route(struct web *web, const struct route *route, struct web_call *call)
{
	struct err err = { 0 };
	int r = portal_enter(web->portal, call->user, &call->site, &err);

	if (r < 0) {
		call_fail(call,
			  r == -EACCES			  ? 403
			  : r == -EBUSY || r == -ENOTCONN ? 503
							  : 500,
			  "%s", err.text);
		return;
	}
	run_route(route, call);
	portal_leave(web->portal, call->site);
}

static void handle_api(struct web *web, struct web_call *call, const char *path)
{
	const struct route *route = find_route(web, path, call->words);

	if (route && web->portal)
		run_site_route(web, route, call);
	else if (route)
		run_route(route, call);
	else if (!text_starts_with(path, API_VERSION))
		call_fail(call, 404, "%s: this server has version 1 of the interface: " API_VERSION,
			  path);
	else
		call_fail(call, 404, "%s: not a part of the interface", path);
}

static void serve_asset(const struct web_asset *asset, struct http_answer *answer)
{
	answer->type = asset->type;
	answer->etag = asset->etag;
	if (asset->is_gzip) {
		answer->packed = asset->bytes;
		answer->packed_bytes = asset->length;
	} else {
		buf_add(&answer->body, asset->bytes, asset->length);
	}
}

/* The page below the base path of this server. */
static void serve_index(const struct web *web, const struct web_asset *asset,
			struct http_answer *answer)
{
	const char *base = strstr(asset->bytes, WEB_BASE);

	if (!base || !*web->base) {
		serve_asset(asset, answer);
		return;
	}
	answer->type = asset->type;
	buf_add(&answer->body, asset->bytes, (size_t)(base - asset->bytes));
	buf_printf(&answer->body, "<base href=\"%s/\">", web->base);
	buf_puts(&answer->body, base + strlen(WEB_BASE));
}

static void refuse_page(struct http_answer *answer, const char *sentence)
{
	answer->status = 404;
	answer->type = "text/plain; charset=utf-8";
	buf_puts(&answer->body, sentence);
}

/* The application chooses the page by the path, so that each of them can be opened directly. */
static void handle_page(const struct web *web, const char *path, struct http_answer *answer)
{
	const struct web_asset *index = web_assets_find(WEB_INDEX), *asset = web_assets_find(path);

	if (asset && asset != index)
		serve_asset(asset, answer);
	else if (text_starts_with(path, ASSETS))
		refuse_page(answer, "not found\n");
	else if (index)
		serve_index(web, index, answer);
	else
		refuse_page(answer, "This sluice was built without the web application, for which "
				    "npm is needed. The data are at " API_VERSION ".\n");
}

static void on_request(void *arg, const struct http_request *request, struct http_answer *answer)
{
	struct web *web = arg;
	struct web_call call = { .config = web->config,
				 .directory = web->directory,
				 .user = web->portal ? request->user : web->user,
				 .index = web->index,
				 .cache = web->cache,
				 .trends = web->trends,
				 .heavy = &web->heavy,
				 .request = request,
				 .answer = answer };

	if (text_starts_with(request->path, API))
		handle_api(web, &call, request->path);
	else
		handle_page(web, request->path, answer);
	free_words(call.words);
}

int web_start(struct web **made, const struct web_options *options, struct err *err)
{
	struct web *web = xcalloc(1, sizeof(*web));
	struct http_server_options http = {
		.address = options->address,
		.base = options->base,
		.proxy = options->proxy,
		.handle = on_request,
		.methods = find_methods,
		.arg = web,
	};
	int r = 0;

	web->config = options->config;
	web->base = xstrdup(options->base);
	pthread_mutex_init(&web->heavy, NULL);
	if (options->database) {
		r = portal_open(&web->portal, options->database, err);
	} else {
		web->directory = xstrdup(options->directory);
		web->user = place_user();
		web->index = run_index_new(options->directory);
		web->cache = run_cache_new(options->config);
		web->trends = trend_cache_new();
	}
	if (r >= 0)
		r = http_server_start(&web->server, &http, err);
	if (r < 0) {
		web_stop(web);
		return r;
	}
	*made = web;
	return 0;
}

void web_stop(struct web *web)
{
	if (!web)
		return;
	http_server_stop(web->server);
	run_cache_free(web->cache);
	trend_cache_free(web->trends);
	run_index_free(web->index);
	pthread_mutex_destroy(&web->heavy);
	portal_close(web->portal);
	free(web->directory);
	free(web->base);
	free(web->user);
	free(web);
}

unsigned web_port(const struct web *web)
{
	return http_server_port(web->server);
}

const char *web_token(const struct web *web)
{
	return http_server_token(web->server);
}
