/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a search space from JSON (see space.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/unit.h"
#include "params/form.h"
#include "params/space.h"

#define SCHEMA "sluice.space/1"
#define VALUES_MAX 4096

/* A NULL-terminated list of values. */
struct texts {
	char **items;
	size_t count, cap;
};

static void texts_release(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
}

static void append_text(struct texts *texts, const char *text)
{
	texts->items = xgrow(texts->items, &texts->cap, texts->count + 2, sizeof(char *));
	texts->items[texts->count++] = xstrdup(text);
	texts->items[texts->count] = NULL;
}

static int append_value(struct texts *texts, const json_t *value, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };

	if (!json_is_null(value) && (!form_json_value(&text, value) || !text.len))
		return err_set(err, EINVAL,
			       "a value must be a string, an integer, a boolean, an array or null");
	append_text(texts, buf_text(&text));
	return 0;
}

static int read_values(struct texts *texts, const json_t *array, const char *what, struct err *err)
{
	const json_t *value;
	size_t i;
	int r = 0;

	texts->items = xgrow(texts->items, &texts->cap, 1, sizeof(char *));
	texts->items[0] = NULL;
	if (!json_is_array(array))
		return err_set(err, EINVAL, "\"%s\" must be an array of values", what);
	if (json_array_size(array) > VALUES_MAX)
		return err_set(err, E2BIG, "\"%s\" has more than %d values", what, VALUES_MAX);
	json_array_foreach(array, i, value)
	{
		r = append_value(texts, value, err);
		if (r < 0)
			break;
	}
	return r;
}

static int read_ties(struct space *space, const char *name, const json_t *ties, struct err *err)
{
	const json_t *tie;
	size_t i;
	int r = 0;

	if (!ties)
		return 0;
	if (!json_is_array(ties))
		return err_set(err, EINVAL, "\"ties\" must be an array of names");
	json_array_foreach(ties, i, tie)
	{
		if (!json_is_string(tie))
			return err_set(err, EINVAL, "\"ties\" must be an array of names");
		r = space_tie(space, json_string_value(tie), name, err);
		if (r < 0)
			break;
	}
	return r;
}

static int read_conditions(struct space *space, const char *name, json_t *when, struct err *err)
{
	const char *other;
	json_t *values;
	int r = 0;

	if (!when)
		return 0;
	if (!json_is_object(when))
		return err_set(err, EINVAL, "\"when\" must be an object of names and values");
	json_object_foreach(when, other, values)
	{
		struct texts texts = { 0 };

		r = read_values(&texts, values, "when", err);
		if (r >= 0)
			r = space_when(space, name, other, (const char *const *)texts.items, err);
		texts_release(&texts);
		if (r < 0)
			break;
	}
	return r;
}

/* Sets *pattern to NULL if the key is missing. */
static int read_pattern(const json_t *dimension, const char *key, const char **pattern,
			struct err *err)
{
	const json_t *value = json_object_get(dimension, key);

	*pattern = json_string_value(value);
	if (value && !json_is_null(value) && !*pattern)
		return err_set(err, EINVAL, "\"%s\" must be a string", key);
	return 0;
}

/* Reads a whole number, or a size with a unit. */
static int read_bound(const json_t *range, const char *key, uint64_t *number, struct err *err)
{
	const json_t *value = json_object_get(range, key);
	AUTO_BUF struct buf text = { 0 };

	if (!value || !form_json_value(&text, value) ||
	    unit_parse_bytes(buf_text(&text), number) < 0)
		return err_set(err, EINVAL, "\"range\": \"%s\" must be a whole number", key);
	return 0;
}

static int append_range(struct texts *texts, uint64_t from, uint64_t to, uint64_t step,
			uint64_t factor, struct err *err)
{
	for (uint64_t at = from; at <= to;) {
		AUTO_FREE char *text = xprintf("%" PRIu64, at);

		if (texts->count == VALUES_MAX)
			return err_set(err, E2BIG, "\"range\" has more than %d values", VALUES_MAX);
		append_text(texts, text);
		if (__builtin_mul_overflow(at, factor, &at) ||
		    __builtin_add_overflow(at, step, &at))
			break;
	}
	return 0;
}

/* {"from": 1, "to": 64, "factor": 2}, or "step" */
static int read_range(struct texts *texts, const json_t *range, struct err *err)
{
	bool has_step = json_object_get(range, "step"),
	     has_factor = json_object_get(range, "factor");
	uint64_t from, to, by;
	int r;

	if (!range)
		return 0;
	if (has_step == has_factor)
		return err_set(err, EINVAL, "\"range\" needs either \"step\" or \"factor\"");
	r = read_bound(range, "from", &from, err);
	if (r >= 0)
		r = read_bound(range, "to", &to, err);
	if (r >= 0)
		r = read_bound(range, has_step ? "step" : "factor", &by, err);
	if (r < 0)
		return r;
	if (from > to || by < (has_step ? 1 : 2) || (has_factor && !from))
		return err_set(err, EINVAL,
			       "\"range\" must go up: \"from\" at most \"to\", \"step\" at least "
			       "1, \"factor\" at least 2 and from 1 on");
	return append_range(texts, from, to, has_step ? by : 0, has_step ? 1 : by, err);
}

static int read_default(const json_t *dimension, struct texts *initial, struct err *err)
{
	const json_t *value = json_object_get(dimension, "default");

	return value ? append_value(initial, value, err) : 0;
}

/* Fails on a value that is refused in every environment: a tuning would never try it. */
static int refuse_dangerous_values(const char *name, const struct texts *values, struct err *err)
{
	const struct tunable *tunable = tunable_by_name(name);
	struct tunable_context anywhere = { .allowed = TUNABLE_SEMANTICS };
	int r = 0;

	for (size_t i = 0; tunable && i < values->count && r >= 0; i++)
		if (*values->items[i]) /* null is an empty text */
			r = tunable_allow(tunable, values->items[i], &anywhere, err);
	return r;
}

static int add_dimension(struct space *space, const json_t *dimension, const char *name,
			 struct texts *values, struct texts *initial, struct err *err)
{
	const char *file, *object;
	const json_t *range = json_object_get(dimension, "range");
	const json_t *list = json_object_get(dimension, "values");
	int r = list || !range ? read_values(values, list, "values", err) : 0;

	if (r >= 0)
		r = read_range(values, range, err);
	if (r >= 0)
		r = refuse_dangerous_values(name, values, err);
	if (r >= 0)
		r = read_default(dimension, initial, err);
	if (r >= 0)
		r = read_pattern(dimension, "file", &file, err);
	if (r >= 0)
		r = read_pattern(dimension, "object", &object, err);
	if (r < 0)
		return r;
	return space_add_for(space, name, (const char *const *)values->items,
			     initial->count ? initial->items[0] : NULL, file, object, err);
}

static int read_dimension(struct space *space, const json_t *dimension, struct err *err)
{
	const char *name = json_string_value(json_object_get(dimension, "name"));
	struct texts values = { 0 }, initial = { 0 };
	int r;

	if (!name)
		return err_set(err, EINVAL, "the dimension has no \"name\"");
	r = add_dimension(space, dimension, name, &values, &initial, err);
	texts_release(&values);
	texts_release(&initial);
	if (r >= 0)
		r = read_ties(space, name, json_object_get(dimension, "ties"), err);
	if (r >= 0)
		r = read_conditions(space, name, json_object_get(dimension, "when"), err);
	return r;
}

static int read_root(struct space *space, const char *name, const json_t *root, const char *text,
		     struct err *err)
{
	const json_t *list = json_object_get(root, "dimensions"), *dimension;
	const char *schema = json_string_value(json_object_get(root, "schema"));
	struct form_lines lines;
	size_t i;
	int r = 0;

	if (json_check_schema(schema, SCHEMA, err) < 0)
		return err_prefix(err, "%s", name);
	if (!json_is_array(list))
		return err_set(err, EINVAL, "%s: missing array \"dimensions\"", name);
	if (!json_array_size(list))
		return err_set(err, EINVAL, "%s: \"dimensions\" is empty", name);
	form_lines_init(&lines, text);
	json_array_foreach(list, i, dimension)
	{
		unsigned line = json_is_object(dimension) ? form_lines_next(&lines) : 0;

		if (!line)
			return err_set(err, EINVAL, "%s: dimension %zu is not an object", name,
				       i + 1);
		r = read_dimension(space, dimension, err);
		if (r < 0) {
			err_prefix(err, "%s:%u", name, line);
			break;
		}
	}
	return r;
}

int space_read_text(struct space *space, const char *name, const char *text, size_t bytes,
		    struct err *err)
{
	AUTO_FREE char *copy = xstrndup(text, bytes);
	struct space fresh = { .context = space->context, .name = xstrdup(name) };
	json_error_t wrong;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &wrong);
	int r;

	if (root)
		r = read_root(&fresh, name, root, copy, err);
	else
		r = err_set(err, EINVAL, "%s:%d: %s", name, wrong.line, wrong.text);
	json_decref(root);
	if (r < 0) {
		space_release(&fresh);
		return r;
	}
	space_release(space);
	*space = fresh;
	return 0;
}

int space_read(struct space *space, const char *path, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	int r = form_read_file(path, &text, err);

	return r < 0 ? r : space_read_text(space, path, buf_text(&text), text.len, err);
}
