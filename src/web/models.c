/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The performance models of the user: how well they predict, and what they recommend. Nothing is
 * measured or run.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
#include "params/set.h"
#include "predict/model/access_words.h"
#include "predict/model/hybrid/advice.h"
#include "predict/model/hybrid/claim.h"
#include "predict/model/hybrid/pairs.h"
#include "store/elements.h"
#include "web/call.h"
#include "web/handlers.h"

#define MODELS_MAX 64
#define MODEL_BYTES_MAX (256 << 20)
#define PAIRS_MAX 4000
#define TOP_MAX 50
/* The work of a recommendation grows with the logarithm of the ranks. */
#define RANKS_MAX (INT64_C(1) << 24)

/* --- finding models --- */

/* Splits the setting model.path: models are looked for in its directory. */
static char *models_directory(const struct web_call *call, const char **own)
{
	const char *path = config_text(call->config, SETTING_MODEL_PATH);
	const char *slash = strrchr(path, '/');

	*own = slash ? slash + 1 : path;
	return slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup("./");
}

/* A regular file of acceptable size that begins like a model. */
static bool is_model(const char *path, struct stat *st)
{
	static const char head[] = "{\"schema\": \"" HYBRID_SCHEMA "/";
	char begin[sizeof(head)] = "";
	FILE *file;
	bool is_good;

	/* Opening anything else might wait. */
	if (stat(path, st) < 0 || !S_ISREG(st->st_mode) || st->st_size > MODEL_BYTES_MAX)
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	is_good = fgets(begin, sizeof(begin), file) && strcmp(begin, head) == 0;
	fclose(file);
	return is_good;
}

/* A description of a machine with that name exists, and no access was measured on it. */
static bool is_modelled(const struct hybrid *hybrid)
{
	struct machine described;

	return !hybrid->validation.count &&
	       machine_open(&described, hybrid->machine.name, NULL) >= 0;
}

static void put_head(struct json *json, const struct hybrid *hybrid)
{
	json_text(json, "title", hybrid->machine.title);
	json_bool(json, "modelled", is_modelled(hybrid));
	json_number(json, "made_ns", hybrid->made * NS_PER_S);
	json_number(json, "measured_ns", hybrid->measured * NS_PER_S);
	json_bool(json, "is_calibrated", hybrid->validation.count > 0);
	claim_doubts_json(json, hybrid);
}

static void put_listed(struct json *json, const char *path, const char *name, bool is_default,
		       const struct stat *st)
{
	struct hybrid hybrid = { 0 };
	struct err err = { 0 };
	int r = hybrid_load(&hybrid, path, &err);

	json_open(json, NULL, '{');
	json_text(json, "name", name);
	json_bool(json, "is_default", is_default);
	json_count(json, "bytes", (uint64_t)st->st_size);
	json_text(json, "error", r < 0 ? err.text : NULL);
	if (r >= 0) {
		json_text(json, "machine", hybrid.machine.name);
		put_head(json, &hybrid);
		hybrid_release(&hybrid);
	}
	json_close(json);
}

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void put_models(struct web_call *call, struct json *json)
{
	const char *own;
	AUTO_FREE char *directory = models_directory(call, &own);
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, NULL, compare_entries);
	size_t shown = 0;

	json_text(json, "directory", directory);
	json_open(json, "models", '[');
	for (int i = 0; i < count; i++) {
		AUTO_FREE char *path = xprintf("%s%s", directory, entries[i]->d_name);
		struct stat st;

		if (shown < MODELS_MAX && is_model(path, &st)) {
			put_listed(json, path, entries[i]->d_name,
				   strcmp(entries[i]->d_name, own) == 0, &st);
			shown++;
		}
		free(entries[i]);
	}
	free(entries);
	json_close(json);
}

static int put_platform(void *arg, const char *platform, uint64_t rows)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "name", platform);
	json_count(json, "rows", rows);
	json_close(json);
	return 0;
}

/* What was measured, whether or not a model was learned from it. */
static void put_platforms(const struct web_call *call, struct json *json)
{
	struct store *store = NULL;
	struct err err = { 0 };
	int r = store_open_existing(&store, config_text(call->config, SETTING_STORE_PATH), &err);

	json_open(json, "platforms", '[');
	if (r >= 0)
		elements_platforms(store, put_platform, json, &err);
	json_close(json);
	store_close(store);
}

void handle_models(struct web_call *call)
{
	struct reply reply;

	pthread_mutex_lock(call->heavy);
	reply_start(&reply, "sluice.models/1");
	put_models(call, &reply.json);
	put_platforms(call, &reply.json);
	reply_end(&reply, call);
	pthread_mutex_unlock(call->heavy);
}

/* The model that the request names, a file of the directory. False: the request was answered. */
static bool open_model(struct web_call *call, struct hybrid *hybrid)
{
	const char *own, *name = call->words[0];
	AUTO_FREE char *directory = models_directory(call, &own);
	AUTO_FREE char *path = xprintf("%s%s", directory, name);
	struct err err = { 0 };
	struct stat st;

	if (strchr(name, '/') || !is_model(path, &st)) {
		call_fail(call, 404, "%s: no such model; /models lists them", name);
		return false;
	}
	if (hybrid_load(hybrid, path, &err) >= 0)
		return true;
	call_fail(call, 500, "%s", err.text);
	return false;
}

static bool read_coverage(struct web_call *call, double *coverage)
{
	const char *text = call_text(call, "coverage", NULL);
	char *end = NULL;

	*coverage = text ? strtod(text, &end) : HYBRID_COVERAGE;
	if (!text || (end > text && !*end && *coverage > 0 && *coverage < 1))
		return true;
	call_fail(call, 400, "coverage=%s: not a number between 0 and 1", text);
	return false;
}

/* --- one model --- */

static void put_scores(struct json *json, const struct pairs *pairs)
{
	json_open(json, "scores", '[');
	for (int group = 0; group <= PAIR_GROUPS; group++) {
		struct pairs_score score;

		pairs_score(pairs, (enum pair_group)group, &score);
		if (!score.count)
			continue;
		json_open(json, NULL, '{');
		json_text(json, "group", group < PAIR_GROUPS ? pair_group_names[group] : "all");
		json_count(json, "count", score.count);
		json_double(json, "median_error", score.median_error);
		json_double(json, "bias", score.bias);
		json_close(json);
	}
	json_close(json);
}

/* Each pair is an array, because there may be many. Of too many, every n-th one is sent. */
static void put_pairs(struct json *json, const struct pairs *pairs)
{
	size_t step = pairs->count / PAIRS_MAX + 1;

	json_open(json, "pairs", '[');
	for (size_t i = 0; i < pairs->count; i += step) {
		const struct pair *pair = &pairs->list[i];

		json_open(json, NULL, '[');
		json_double(json, NULL, pair->predicted);
		json_double(json, NULL, pair->measured);
		json_text(json, NULL, pair_group_names[pair->group]);
		json_text(json, NULL, pair->what);
		json_close(json);
	}
	json_close(json);
	json_count(json, "pair_count", pairs->count);
}

static void put_calibration(struct json *json, const struct validation *v, double coverage)
{
	bool is_calibrated = v->count > 0;
	double margin = is_calibrated ? validation_margin(v, VALIDATION_TIMES, coverage) : NAN;

	json_open(json, "calibration", '{');
	json_count(json, "cases", v->count);
	json_count(json, "held_out", v->checked[VALIDATION_TIMES]);
	json_count(json, "repeat", v->repeat);
	json_text(json, "host", v->environment.host);
	json_text(json, "library", v->environment.version);
	json_double(json, "coverage", coverage);
	json_double(json, "measured_coverage",
		    is_calibrated ? validation_measured_coverage(v, VALIDATION_TIMES, coverage)
				  : NAN);
	json_bool(json, "is_supported",
		  is_calibrated && validation_supports(v, VALIDATION_TIMES, coverage));
	json_double(json, "factor", exp(margin));
	json_close(json);
}

static void answer_model(struct web_call *call, struct hybrid *hybrid, double coverage)
{
	char claim[CLAIM_TEXT];
	struct pairs pairs;
	struct reply reply;

	pairs_init(&pairs, hybrid);
	reply_start(&reply, "sluice.model_view/1");
	json_text(&reply.json, "name", call->words[0]);
	put_head(&reply.json, hybrid);
	json_text(&reply.json, "claim",
		  claim_text(hybrid, VALIDATION_TIMES, hybrid->validation.count > 0, coverage,
			     claim));
	json_count(&reply.json, "cores", hybrid->machine.cores);
	hybrid_json(hybrid, &reply.json, HYBRID_SCORES);
	if (hybrid->validation.count)
		put_calibration(&reply.json, &hybrid->validation, coverage);
	else
		json_text(&reply.json, "calibration", NULL);
	put_scores(&reply.json, &pairs);
	put_pairs(&reply.json, &pairs);
	reply_end(&reply, call);
	pairs_release(&pairs);
}

void handle_model(struct web_call *call)
{
	struct hybrid hybrid = { 0 };
	double coverage;

	if (!read_coverage(call, &coverage))
		return;
	pthread_mutex_lock(call->heavy);
	if (open_model(call, &hybrid))
		answer_model(call, &hybrid, coverage);
	hybrid_release(&hybrid);
	pthread_mutex_unlock(call->heavy);
}

/* --- recommendations --- */

/* A size such as "16M"; fallback if the request lacks it. */
static bool read_size(struct web_call *call, const char *name, uint64_t fallback, uint64_t *bytes)
{
	const char *text = call_text(call, name, NULL);

	*bytes = fallback;
	if (!text || unit_parse_bytes(text, bytes) >= 0)
		return true;
	call_fail(call, 400, "%s=%s: not a size, such as 16M or 4096", name, text);
	return false;
}

static bool read_access(struct web_call *call, const struct hybrid *hybrid, struct access *access)
{
	int64_t ranks, nodes;
	uint64_t size, block, stride, offset;
	struct err err = { 0 };
	int direction, pattern;

	if (!call_number(call, "ranks", 1, RANKS_MAX, 0, &ranks) ||
	    !call_number(call, "nodes", 1, RANKS_MAX, 0, &nodes) ||
	    !call_choice(call, "direction", "write|read", 0, &direction) ||
	    !call_choice(call, "pattern", ACCESS_WORDS, ACCESS_CONTIGUOUS, &pattern) ||
	    !read_size(call, "size", 0, &size) || !read_size(call, "block", 0, &block) ||
	    !read_size(call, "stride", block, &stride) || !read_size(call, "offset", 0, &offset))
		return false;
	if (!ranks || !size || (pattern == ACCESS_STRIDED && !block)) {
		call_fail(call, 400, "%s",
			  ranks && size ? "pattern=strided requires block"
					: "describe the access with ranks and size");
		return false;
	}
	*access = (struct access){ .is_read = direction,
				   .pattern = (enum access_pattern)pattern,
				   .ranks = (uint64_t)ranks,
				   .nodes = (uint64_t)nodes,
				   .rank_bytes = size,
				   .offset = offset };
	if (!nodes)
		access->nodes = hybrid_choose_nodes(hybrid, &hybrid->machine, access->ranks);
	if (pattern == ACCESS_STRIDED) {
		access->block_bytes = block;
		access->stride_bytes = stride;
	}
	if (access_check(access, &err) >= 0)
		return true;
	call_fail(call, 400, "%s", err.text);
	return false;
}

/* The current settings: NAME=VALUE, separated by blanks. */
static bool read_settings(struct web_call *call, struct advice *advice)
{
	AUTO_FREE char *text = xstrdup(call_text(call, "params", ""));
	struct param_set set = { 0 };
	struct err err = { 0 };
	char *rest = text, *word;
	int r = 0;

	while (r >= 0 && (word = strsep(&rest, " \t\r\n")))
		if (*word)
			r = param_set_put_text(&set, word, &err);
	if (r >= 0)
		r = settings_from_params(&advice->initial, &advice->hybrid->machine,
					 &advice->access, &set, &err);
	param_set_release(&set);
	if (r < 0)
		call_fail(call, 400, "params: %s", err.text);
	return r >= 0;
}

static void answer_advice(struct web_call *call, struct advice *advice)
{
	char access[ACCESS_TEXT];
	struct err err = { 0 };
	struct reply reply;
	int r = advice_find(advice, &err);

	if (r < 0) {
		call_fail(call, r == -ENODATA ? 422 : 400, "%s", err.text);
		return;
	}
	access_text(&advice->access, access);
	reply_start(&reply, "sluice.model/1");
	json_text(&reply.json, "text", access);
	json_bool(&reply.json, "modelled", is_modelled(advice->hybrid));
	advice_json(advice, &reply.json);
	reply_end(&reply, call);
}

void handle_recommend(struct web_call *call)
{
	struct hybrid hybrid = { 0 };
	struct advice advice = { .hybrid = &hybrid };
	int64_t top;

	if (!call_number(call, "top", 1, TOP_MAX, 10, &top) ||
	    !read_coverage(call, &advice.coverage))
		return;
	advice.top = (size_t)top;
	pthread_mutex_lock(call->heavy);
	if (open_model(call, &hybrid) && read_access(call, &hybrid, &advice.access) &&
	    read_settings(call, &advice))
		answer_advice(call, &advice);
	advice_release(&advice);
	hybrid_release(&hybrid);
	pthread_mutex_unlock(call->heavy);
}
