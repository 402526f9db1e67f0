/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/plan.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"

#define SCHEMA "sluice.tuning/1"

/* The fields by kind, for the writer and the reader. */
#define TEXTS(X)       \
	X(directory)   \
	X(on)          \
	X(kernel)      \
	X(fingerprint) \
	X(space_text)  \
	X(search)      \
	X(settings)    \
	X(verify)
/* Written only if they are set, so that the digests of older plans stay the same. */
#define NEW_TEXTS(X)    \
	X(model)        \
	X(model_digest) \
	X(restore)      \
	X(workdir)      \
	X(launcher)
#define COUNTS(X)    \
	X(on_ranks)  \
	X(seed)      \
	X(runs)      \
	X(repeat)    \
	X(pairs)     \
	X(drift)     \
	X(objective) \
	X(allowed)
#define REALS(X) X(slow)
#define FLAGS(X) \
	X(check) \
	X(partial)

void tuning_plan_release(struct tuning_plan *plan)
{
	for (size_t i = 0; plan->argv && plan->argv[i]; i++)
		free(plan->argv[i]);
	free(plan->argv);
#define X(name) free(plan->name);
	TEXTS(X)
	NEW_TEXTS(X)
#undef X
	access_profile_release(&plan->profile);
	space_release(&plan->space);
	*plan = (struct tuning_plan){ 0 };
}

char *tuning_plan_command(const struct tuning_plan *plan)
{
	struct buf out = { 0 };

	if (plan->on)
		buf_printf(&out, "%s %s with %llu ranks", plan->on, plan->kernel,
			   (unsigned long long)plan->on_ranks);
	if (plan->argv)
		buf_put_command(&out, plan->argv);
	buf_puts(&out, "");
	return buf_take(&out);
}

/* Command lines are bytes, but JSON holds UTF-8. Other text is saved byte by byte as U+0000 to
 * U+00FF after a mark that no text begins with. */
#define BYTES_MARK "\x01"

static json_t *text_json(const char *text)
{
	AUTO_BUF struct buf out = { 0 };
	json_t *json;

	if (!text)
		return json_null();
	json = json_string(text);
	if (json)
		return json;
	buf_puts(&out, BYTES_MARK);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p >= 0x80) {
			buf_putc(&out, (char)(0xc0 | *p >> 6));
			buf_putc(&out, (char)(0x80 | (*p & 0x3f)));
		} else {
			buf_putc(&out, (char)*p);
		}
	}
	return json_string(buf_text(&out));
}

static char *read_text(const json_t *json)
{
	const char *text = json_string_value(json);
	struct buf out = { 0 };

	if (!text || *text != *BYTES_MARK)
		return xstrdup(text);
	for (const unsigned char *p = (const unsigned char *)text + 1; *p; p++) {
		if (*p >= 0x80 && p[1]) {
			buf_putc(&out, (char)(p[0] << 6 | (p[1] & 0x3f)));
			p++;
		} else {
			buf_putc(&out, (char)*p);
		}
	}
	buf_puts(&out, "");
	return buf_take(&out);
}

static json_t *request_json(const struct tuning_plan *plan)
{
	json_t *asked = json_object(), *argv = json_array();

	for (size_t i = 0; plan->argv && plan->argv[i]; i++)
		json_array_append_new(argv, text_json(plan->argv[i]));
	json_object_set_new(asked, "argv", argv);
#define X(name) json_object_set_new(asked, #name, text_json(plan->name));
	TEXTS(X)
#undef X
#define X(name)         \
	if (plan->name) \
		json_object_set_new(asked, #name, text_json(plan->name));
	NEW_TEXTS(X)
#undef X
#define X(name) json_object_set_new(asked, #name, json_integer((json_int_t)plan->name));
	COUNTS(X)
#undef X
#define X(name) json_object_set_new(asked, #name, json_real(plan->name));
	REALS(X)
#undef X
#define X(name) json_object_set_new(asked, #name, json_boolean(plan->name));
	FLAGS(X)
#undef X
	json_object_set_new(asked, "seconds",
			    isfinite(plan->seconds) ? json_real(plan->seconds) : json_null());
	return asked;
}

void tuning_plan_digest(const struct tuning_plan *plan, char digest[TUNING_DIGEST])
{
	json_t *asked = request_json(plan);
	char *text = json_dumps(asked, JSON_SORT_KEYS | JSON_COMPACT);
	XXH128_hash_t hash = XXH3_128bits(text, strlen(text));

	snprintf(digest, TUNING_DIGEST, "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	free(text);
	json_decref(asked);
}

static json_t *space_json(const struct space *space)
{
	AUTO_BUF struct buf text = { 0 };

	space_write(space, &text);
	return json_loads(buf_text(&text), 0, NULL);
}

static json_t *access_profile_json(const struct access_profile *profile)
{
	AUTO_FREE char *text = access_profile_write(profile);

	return json_loads(text, 0, NULL);
}

char *tuning_plan_write(const struct tuning_plan *plan)
{
	const struct tunable_context *c = &plan->context;
	json_t *all = json_object();
	char *text, *copy;

	json_object_set_new(all, "schema", json_string(SCHEMA));
	json_object_set_new(all, "asked", request_json(plan));
	json_object_set_new(all, "space", space_json(&plan->space));
	json_object_set_new(all, "context",
			    json_pack("{s:i, s:i, s:i, s:I, s:I, s:b}", "middleware",
				      (int)c->middleware, "filesystem", (int)c->filesystem,
				      "allowed", (int)c->allowed, "ranks", (json_int_t)c->ranks,
				      "nodes", (json_int_t)c->nodes, "lockstep",
				      (int)c->is_lockstep));
	if (plan->model)
		json_object_set_new(all, "accessed", access_profile_json(&plan->profile));
	text = json_dumps(all, JSON_COMPACT);
	copy = xstrdup(text);
	free(text);
	json_decref(all);
	return copy;
}

static uint64_t read_count(const json_t *of, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(of, key));
}

static void read_argv(struct tuning_plan *plan, const json_t *argv)
{
	size_t n = json_array_size(argv);

	if (!n)
		return;
	plan->argv = xcalloc(n + 1, sizeof(*plan->argv));
	for (size_t i = 0; i < n; i++) {
		plan->argv[i] = read_text(json_array_get(argv, i));
		if (!plan->argv[i])
			plan->argv[i] = xstrdup("");
	}
}

static void read_request(struct tuning_plan *plan, const json_t *asked)
{
	const json_t *seconds = json_object_get(asked, "seconds");

	read_argv(plan, json_object_get(asked, "argv"));
#define X(name) plan->name = read_text(json_object_get(asked, #name));
	TEXTS(X)
	NEW_TEXTS(X)
#undef X
#define X(name) plan->name = (__typeof__(plan->name))read_count(asked, #name);
	COUNTS(X)
#undef X
#define X(name) plan->name = json_number_value(json_object_get(asked, #name));
	REALS(X)
#undef X
#define X(name) plan->name = json_is_true(json_object_get(asked, #name));
	FLAGS(X)
#undef X
	plan->seconds = json_is_number(seconds) ? json_number_value(seconds) : INFINITY;
}

static void read_context(struct tunable_context *context, const json_t *json)
{
	context->middleware = (enum middleware)read_count(json, "middleware");
	context->filesystem = (enum filesystem)read_count(json, "filesystem");
	context->allowed = (enum tunable_safety)read_count(json, "allowed");
	context->ranks = (uint32_t)read_count(json, "ranks");
	context->nodes = (uint32_t)read_count(json, "nodes");
	context->is_lockstep = json_is_true(json_object_get(json, "lockstep"));
}

/* The store may have been edited. */
static int check_plan(const struct tuning_plan *plan, struct err *err)
{
	if ((!plan->argv && (!plan->on || !plan->kernel)) || !plan->search || !plan->runs ||
	    !plan->repeat || !(plan->slow > 1) || plan->objective >= COST_KINDS ||
	    plan->allowed > TUNABLE_DANGEROUS || plan->context.middleware > MIDDLEWARE_OMPIO ||
	    plan->context.filesystem > FILESYSTEM_LAST)
		return err_set(err, EBADMSG,
			       "the plan of the tuning is damaged; start a new tuning");
	return 0;
}

static int read_space(struct tuning_plan *plan, const json_t *json, struct err *err)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	int r;

	if (!text)
		return err_set(err, EBADMSG, "the plan of the tuning lacks its space");
	plan->space.context = plan->context;
	r = space_read_text(&plan->space, "the space of the tuning", text, strlen(text), err);
	free(text);
	return r;
}

static int access_profile_from_json(struct access_profile *profile, const json_t *json,
				    struct err *err)
{
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	int r = access_profile_parse(profile, text ? text : "", err);

	free(text);
	return r;
}

int tuning_plan_read(struct tuning_plan *plan, const char *text, struct err *err)
{
	struct tuning_plan made = { 0 };
	json_t *all = json_loads(text, 0, NULL);
	const char *schema = json_string_value(json_object_get(all, "schema"));
	int r;

	r = json_check_schema(schema, SCHEMA, err);
	if (r < 0) {
		json_decref(all);
		err_prefix(err, "the plan of the tuning");
		return r;
	}
	read_request(&made, json_object_get(all, "asked"));
	read_context(&made.context, json_object_get(all, "context"));
	r = check_plan(&made, err);
	if (r >= 0)
		r = read_space(&made, json_object_get(all, "space"), err);
	if (r >= 0 && made.model)
		r = access_profile_from_json(&made.profile, json_object_get(all, "accessed"), err);
	json_decref(all);
	if (r < 0)
		tuning_plan_release(&made);
	else
		*plan = made;
	return r;
}
