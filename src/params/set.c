/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: H5T-8.
 */
#include "params/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/text.h"
#include "params/constraints.h"

#define PATTERN_BYTES 1024

static void param_release(struct param *param)
{
	free(param->value);
	free(param->file);
	free(param->object);
}

void param_set_release(struct param_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		param_release(&set->params[i]);
	free(set->params);
	free(set->origin);
	free(set->command);
	*set = (struct param_set){ 0 };
}

static struct param *append_param(struct param_set *set)
{
	set->params = xgrow(set->params, &set->cap, set->count + 1, sizeof(*set->params));
	set->params[set->count] = (struct param){ 0 };
	return &set->params[set->count++];
}

void param_set_copy(struct param_set *to, const struct param_set *from)
{
	*to = (struct param_set){ .origin = xstrdup(from->origin),
				  .command = xstrdup(from->command) };
	for (size_t i = 0; i < from->count; i++) {
		const struct param *p = &from->params[i];

		*append_param(to) = (struct param){ p->tunable, xstrdup(p->value), xstrdup(p->file),
						    xstrdup(p->object), p->line };
	}
}

int param_pattern(const char **pattern, const char *name, struct err *err)
{
	const char *text = *pattern;

	if (!text || !*text || strcmp(text, "*") == 0) {
		*pattern = NULL;
		return 0;
	}
	/* A tab or a newline would start another field in the format of contract/parameters.h. */
	if (escape_is_needed(text))
		return err_set(err, EINVAL,
			       "%s: the pattern contains control characters or invalid UTF-8",
			       name);
	if (strlen(text) > PATTERN_BYTES)
		return err_set(err, EINVAL, "%s: the pattern is too long", name);
	return 0;
}

static struct param *find_exact(struct param_set *set, const struct tunable *tunable,
				const char *file, const char *object)
{
	for (size_t i = 0; i < set->count; i++) {
		struct param *p = &set->params[i];

		if (p->tunable == tunable && text_equal(p->file, file) &&
		    text_equal(p->object, object))
			return p;
	}
	return NULL;
}

int param_set_put(struct param_set *set, const struct tunable *tunable, const char *value,
		  const char *file, const char *object, unsigned line, struct err *err)
{
	struct param *param;
	char *parsed;

	if (param_pattern(&file, tunable->name, err) < 0 ||
	    param_pattern(&object, tunable->name, err) < 0)
		return -EINVAL;
	parsed = tunable_parse(tunable, value, err);
	if (!parsed)
		return -EINVAL;
	param = find_exact(set, tunable, file, object);
	if (param) {
		free(param->value);
		param->value = parsed;
		param->line = line;
		return 0;
	}
	param = append_param(set);
	*param = (struct param){ tunable, parsed, xstrdup(file), xstrdup(object), line };
	return 0;
}

int param_set_put_text(struct param_set *set, const char *text, struct err *err)
{
	size_t n = strcspn(text, "=");
	AUTO_FREE char *name = xstrndup(text, n);
	const struct tunable *tunable = tunable_by_name(name);

	if (!text[n])
		return err_set(err, EINVAL, "expected NAME=VALUE, got \"%s\"", text);
	if (!tunable)
		return err_set(err, EINVAL, "unknown parameter \"%s\"; see 'sluice kb params list'",
			       name);
	return param_set_put(set, tunable, text + n + 1, NULL, NULL, 0, err);
}

/* Orders patterns for qsort(), the more specific one first. */
static int pattern_compare(const char *a, const char *b)
{
	size_t n, m;

	if (!a || !b)
		return !!b - !!a;
	if (!strchr(a, '/') != !strchr(b, '/'))
		return strchr(a, '/') ? -1 : 1;
	if (!strpbrk(a, "*?") != !strpbrk(b, "*?"))
		return strpbrk(a, "*?") ? 1 : -1;
	n = strlen(a);
	m = strlen(b);
	return n != m ? (n > m ? -1 : 1) : strcmp(a, b);
}

static int param_compare(const struct param *a, const struct param *b)
{
	int r = pattern_compare(a->file, b->file);

	return r ? r : pattern_compare(a->object, b->object);
}

static bool param_applies(const struct param *param, const char *path, const char *object)
{
	return (!param->file || (path && parameters_match(param->file, path))) &&
	       (!param->object || (object && parameters_glob(param->object, object)));
}

const struct param *param_set_find(const struct param_set *set, const struct tunable *tunable,
				   const char *path, const char *object)
{
	const struct param *best = NULL;

	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		if (p->tunable == tunable && param_applies(p, path, object) &&
		    (!best || param_compare(p, best) < 0))
			best = p;
	}
	return best;
}

static bool has_equal(const struct param_set *set, const struct param *param)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		if (p->tunable == param->tunable && text_equal(p->file, param->file) &&
		    text_equal(p->object, param->object) && strcmp(p->value, param->value) == 0)
			return true;
	}
	return false;
}

bool param_set_equal(const struct param_set *a, const struct param_set *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!has_equal(b, &a->params[i]))
			return false;
	return true;
}

void param_set_line(const struct param_set *set, struct buf *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		buf_printf(out, "%s%s=%s", i ? " " : "", p->tunable->name, p->value);
		if (p->file || p->object)
			buf_printf(out, "@%s", p->file ? p->file : "*");
		if (p->object)
			buf_printf(out, ":%s", p->object);
	}
}

void param_set_remove_layer(struct param_set *set, enum tunable_layer layer)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (set->params[i].tunable->layer == layer)
			param_release(&set->params[i]);
		else
			set->params[kept++] = set->params[i];
	}
	set->count = kept;
}

struct checking {
	const struct param_set *set;
	param_problem problem;
	void *arg;
	bool *dropped; /* per parameter */
	size_t count;
};

static int note_violation(void *arg, const struct param *param, enum constraint_weight weight,
			  const char *text)
{
	struct checking *checking = arg;
	bool drop = weight == CONSTRAINT_DROP, *dropped;

	dropped = &checking->dropped[param - checking->set->params];
	checking->count += drop && !*dropped;
	*dropped = *dropped || drop;
	if (checking->problem)
		checking->problem(checking->arg, param, drop, text);
	return 0;
}

static size_t check_set(const struct param_set *set, const struct tunable_context *context,
			param_problem problem, void *arg, bool *dropped)
{
	struct checking checking = { set, problem, arg, dropped, 0 };

	constraints_check(set, context, problem, note_violation, &checking);
	return checking.count;
}

size_t param_set_check(const struct param_set *set, const struct tunable_context *context,
		       param_problem problem, void *arg)
{
	AUTO_FREE bool *dropped = xcalloc(set->count + 1, sizeof(*dropped));

	return check_set(set, context, problem, arg, dropped);
}

void param_set_prune(struct param_set *set, const struct tunable_context *context,
		     param_problem problem, void *arg)
{
	AUTO_FREE bool *dropped = xcalloc(set->count + 1, sizeof(*dropped));
	size_t kept = 0;

	check_set(set, context, problem, arg, dropped);
	for (size_t i = 0; i < set->count; i++) {
		if (dropped[i])
			param_release(&set->params[i]);
		else
			set->params[kept++] = set->params[i];
	}
	set->count = kept;
}

static void write_line(struct parameters_writer *writer, enum parameters_place place,
		       const struct param *p, const char *key, const char *value)
{
	parameters_write_line(writer,
			      &(struct parameters_line){ .place = place,
							 .file = p->file ? p->file : "*",
							 .object = p->object ? p->object : "*",
							 .name = key,
							 .value = value });
}

/* For PLACE_PREFIX the guest gets the prefix of the file name, or "" for no prefix. */
static const char *guest_value(const struct param *p)
{
	if (p->tunable->place != PLACE_PREFIX)
		return p->value;
	return strcmp(p->value, "true") == 0 ? "bglockless:" : "";
}

static void compile_param(struct parameters_writer *writer, const struct param *p)
{
	const struct tunable *t = p->tunable;
	const char *value = guest_value(p);

	if (t->place == TUNABLE_NO_PLACE)
		return;
	/* An empty value matters only if it overrides a more general rule. */
	if (*value || p->file)
		write_line(writer, t->place, p, t->key ? t->key : t->name, value);
	if (t->layout)
		write_line(writer, PLACE_LAYOUT, p, t->layout, p->value);
}

static int compare_specificity(const void *a, const void *b)
{
	const struct param *const *p = a, *const *q = b;
	int r = param_compare(*p, *q);

	return r ? r : (*p)->tunable < (*q)->tunable ? -1 : (*p)->tunable > (*q)->tunable;
}

int param_set_compile(const struct param_set *set, bool application_wins,
		      char text[PARAMETERS_BYTES], struct err *err)
{
	AUTO_FREE const struct param **order = xcalloc(set->count + 1, sizeof(struct param *));
	struct parameters_writer writer;
	char out[PARAMETERS_BYTES];

	for (size_t i = 0; i < set->count; i++)
		order[i] = &set->params[i];
	qsort(order, set->count, sizeof(*order), compare_specificity);
	parameters_write_title(&writer, out, application_wins);
	for (size_t i = 0; i < set->count; i++)
		compile_param(&writer, order[i]);
	if (writer.bytes >= PARAMETERS_BYTES)
		return err_set(err, ENOSPC,
			       "%zu parameters need %zu bytes, but the limit is %d; "
			       "use patterns that match several files",
			       set->count, writer.bytes, PARAMETERS_BYTES - 1);
	memcpy(text, out, writer.bytes + 1);
	return 0;
}

/* Does the guest know the tunable by this name at this place? */
static bool is_compiled_to(const struct tunable *t, enum parameters_place place, const char *name)
{
	return (t->place == place && !strcmp(t->key ? t->key : t->name, name)) ||
	       (place == PLACE_LAYOUT && t->layout && !strcmp(t->layout, name));
}

static int decompile_line(struct param_set *set, const struct parameters_line *line,
			  struct err *err)
{
	const char *file = strcmp(line->file, "*") ? line->file : NULL;
	const char *object = strcmp(line->object, "*") ? line->object : NULL;
	const char *value = line->value;
	const struct tunable *t = tunables;
	const struct param *param;

	while (t->name && !is_compiled_to(t, line->place, line->name))
		t++;
	if (!t->name)
		return err_set(err, EINVAL, "unknown parameter \"%s\"", line->name);
	if (line->place == PLACE_PREFIX)
		value = *value ? "true" : "false";
	if (param_set_put(set, t, value, file, object, 0, err) < 0)
		return -EINVAL;
	param = find_exact(set, t, file, object);
	value = param && line->place == t->place ? guest_value(param) : param ? param->value : "";
	return strcmp(value, line->value) == 0
		       ? 0
		       : err_set(err, EINVAL, "invalid value \"%s\" of %s", line->value, t->name);
}

int param_set_decompile(struct param_set *set, const char *text, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text);
	struct parameters_line line;
	struct param_set made = { 0 };
	bool application_wins;
	char *at = parameters_read_title(copy, &application_wins);
	int r = at ? 0 : err_set(err, EINVAL, "not a text of parameters");

	while (r >= 0 && parameters_read_line(&at, &line))
		r = decompile_line(&made, &line, err);
	if (r >= 0 && !at)
		r = err_set(err, EINVAL, "a line of the text is damaged");
	if (r < 0) {
		param_set_release(&made);
		return r;
	}
	param_set_release(set);
	*set = made;
	return 0;
}
