/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "params/constraints.h"

static void dimension_release(struct space_dimension *dimension)
{
	for (size_t i = 0; i < dimension->count; i++)
		free(dimension->values[i]);
	for (size_t i = 0; i < dimension->condition_count; i++)
		free(dimension->conditions[i].values);
	free(dimension->values);
	free(dimension->conditions);
	free(dimension->file);
	free(dimension->object);
}

void space_release(struct space *space)
{
	for (size_t i = 0; i < space->count; i++)
		dimension_release(&space->dimensions[i]);
	free(space->dimensions);
	free(space->name);
	*space = (struct space){ 0 };
}

/* ---- building ---- */

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Index of a value as people write it, "" for NULL; count: it is none, told in err if it is wrong.
 */
static size_t value_find(const struct space_dimension *dimension, const char *text, struct err *err)
{
	AUTO_FREE char *value = NULL;
	size_t i = 0;

	if (*text) {
		value = tunable_parse(dimension->tunable, text, err);
		if (!value)
			return dimension->count;
	}
	while (i < dimension->count && !is_same(dimension->values[i], value))
		i++;
	if (i == dimension->count)
		err_set(err, EINVAL, "%s: %s is none of its values", dimension->tunable->name,
			value ? value : "null");
	return i;
}

static int values_read(struct space_dimension *dimension, const char *const *values,
		       struct err *err)
{
	size_t count = 0, cap = 0;

	for (; values[count]; count++) {
		char *value = NULL;

		if (*values[count]) {
			value = tunable_parse(dimension->tunable, values[count], err);
			if (!value)
				return -EINVAL;
		}
		for (size_t i = 0; i < count; i++) {
			if (!is_same(dimension->values[i], value))
				continue;
			err_set(err, EINVAL, "%s: %s is listed twice", dimension->tunable->name,
				value ? value : "null");
			free(value);
			return -EINVAL;
		}
		dimension->values = xgrow(dimension->values, &cap, count + 1, sizeof(char *));
		dimension->values[count] = value;
		dimension->count = count + 1;
	}
	if (!count)
		return err_set(err, EINVAL, "%s: there are no values", dimension->tunable->name);
	return 0;
}

/* The default: as named, else "leave it alone", else the first. */
static int initial_find(struct space_dimension *dimension, const char *initial, struct err *err)
{
	size_t i = 0;

	if (initial) {
		i = value_find(dimension, initial, err);
		if (i == dimension->count)
			return err_prefix(err, "default");
	} else {
		while (i < dimension->count && dimension->values[i])
			i++;
		i = i == dimension->count ? 0 : i;
	}
	dimension->initial = i;
	return 0;
}

static int place_check(const struct space *space, const struct tunable *tunable, const char *file,
		       const char *object, struct err *err)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		for (size_t k = 0; k < d->tie_count; k++)
			if (d->ties[k] == tunable)
				return err_set(err, EEXIST, "%s: is tied to %s", tunable->name,
					       d->tunable->name);
		if (d->tunable == tunable && is_same(d->file, file) && is_same(d->object, object))
			return err_set(err, EEXIST, "%s: is a dimension already", tunable->name);
	}
	return 0;
}

static const struct tunable *tunable_find(const char *name, struct err *err)
{
	const struct tunable *tunable = tunable_by_name(name);

	if (!tunable)
		err_set(err, ENOENT, "%.80s: there is no such parameter; see 'sluice params list'",
			name);
	return tunable;
}

int space_add_for(struct space *space, const char *tunable, const char *const *values,
		  const char *initial, const char *file, const char *object, struct err *err)
{
	struct space_dimension dimension = { .tunable = tunable_find(tunable, err) };
	int r;

	if (!dimension.tunable)
		return -ENOENT;
	if (param_pattern(&file, tunable, err) < 0 || param_pattern(&object, tunable, err) < 0)
		return -EINVAL;
	if (space->count == SPACE_DIMENSIONS)
		return err_set(err, E2BIG, "%s: a space has %d dimensions at most",
			       dimension.tunable->name, SPACE_DIMENSIONS);
	r = place_check(space, dimension.tunable, file, object, err);
	if (r >= 0)
		r = values_read(&dimension, values, err);
	if (r >= 0)
		r = initial_find(&dimension, initial, err);
	if (r < 0) {
		dimension_release(&dimension);
		return r;
	}
	dimension.file = xstrdup(file);
	dimension.object = xstrdup(object);
	dimension.is_ordered = dimension.tunable->kind != TUNABLE_CHOICE &&
			       dimension.tunable->kind != TUNABLE_TEXT &&
			       dimension.tunable->kind != TUNABLE_SPREAD;
	space->dimensions =
		xgrow(space->dimensions, &space->cap, space->count + 1, sizeof(*space->dimensions));
	space->dimensions[space->count++] = dimension;
	return 0;
}

int space_add(struct space *space, const char *tunable, const char *const *values,
	      const char *initial, struct err *err)
{
	return space_add_for(space, tunable, values, initial, NULL, NULL, err);
}

/* The latest of that name: the one that is being built where files narrow several. */
static struct space_dimension *dimension_find(struct space *space, const char *name,
					      struct err *err)
{
	const struct tunable *tunable = tunable_find(name, err);

	for (size_t i = space->count; tunable && i--;)
		if (space->dimensions[i].tunable == tunable)
			return &space->dimensions[i];
	if (tunable)
		err_set(err, ENOENT, "%s: is no dimension of the space so far", tunable->name);
	return NULL;
}

int space_tie(struct space *space, const char *tunable, const char *to, struct err *err)
{
	const struct tunable *tied = tunable_find(tunable, err);
	struct space_dimension *d = tied ? dimension_find(space, to, err) : NULL;
	int r;

	if (!d)
		return -ENOENT;
	r = place_check(space, tied, d->file, d->object, err);
	if (r < 0)
		return r;
	if (d->tie_count == SPACE_TIES)
		return err_set(err, E2BIG, "%s: more than %d ties", d->tunable->name, SPACE_TIES);
	for (size_t i = 0; i < d->count; i++) {
		AUTO_FREE char *value =
			d->values[i] ? tunable_parse(tied, d->values[i], err) : NULL;

		if (d->values[i] && !value)
			return -EINVAL;
		if (value && strcmp(value, d->values[i]) != 0)
			return err_set(err, EINVAL, "%s cannot have the value %s of %s", tied->name,
				       d->values[i], d->tunable->name);
	}
	d->ties[d->tie_count++] = tied;
	return 0;
}

int space_when(struct space *space, const char *tunable, const char *other,
	       const char *const *values, struct err *err)
{
	struct space_dimension *d = dimension_find(space, tunable, err);
	struct space_dimension *o = d ? dimension_find(space, other, err) : NULL;
	bool *allowed;

	if (!o)
		return -ENOENT;
	if (o >= d)
		return err_set(err, EINVAL, "%s: %s must come before it", d->tunable->name,
			       o->tunable->name);
	allowed = xcalloc(o->count, sizeof(*allowed));
	for (; *values; values++) {
		size_t i = value_find(o, *values, err);

		if (i == o->count) {
			free(allowed);
			return err_prefix(err, "%s, when", d->tunable->name);
		}
		allowed[i] = true;
	}
	d->conditions = xrealloc(d->conditions, d->condition_count + 1, sizeof(*d->conditions));
	d->conditions[d->condition_count++] =
		(struct space_condition){ (size_t)(o - space->dimensions), allowed };
	return 0;
}

/* ---- points ---- */

/* Which dimensions count; conditions look back only, so one pass tells. */
static void counts_find(const struct space *space, const size_t *point, bool *counts)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		counts[i] = true;
		for (size_t k = 0; k < d->condition_count; k++) {
			size_t other = d->conditions[k].dimension;

			if (!counts[other] || !d->conditions[k].values[point[other]])
				counts[i] = false;
		}
	}
}

bool space_counts(const struct space *space, const size_t *point, size_t dimension)
{
	bool counts[SPACE_DIMENSIONS];

	counts_find(space, point, counts);
	return counts[dimension];
}

void space_settle(const struct space *space, size_t *point)
{
	bool counts[SPACE_DIMENSIONS];

	counts_find(space, point, counts);
	for (size_t i = 0; i < space->count; i++)
		if (!counts[i])
			point[i] = 0;
}

void space_default(const struct space *space, size_t *point)
{
	for (size_t i = 0; i < space->count; i++)
		point[i] = space->dimensions[i].initial;
	space_settle(space, point);
}

uint64_t space_points(const struct space *space)
{
	uint64_t points = 1;

	for (size_t i = 0; i < space->count; i++)
		if (__builtin_mul_overflow(points, space->dimensions[i].count, &points))
			return 0;
	return points;
}

void space_point(const struct space *space, uint64_t number, size_t *point)
{
	for (size_t i = space->count; i--;) {
		point[i] = number % space->dimensions[i].count;
		number /= space->dimensions[i].count;
	}
}

uint64_t space_number(const struct space *space, const size_t *point)
{
	uint64_t number = 0;

	for (size_t i = 0; i < space->count; i++)
		number = number * space->dimensions[i].count + point[i];
	return number;
}

/* ---- sets ---- */

#define SPACE_PARAMS (SPACE_DIMENSIONS * (SPACE_TIES + 1))

/* The parameters of a point; their texts are the space's. */
static size_t params_find(const struct space *space, const size_t *point, struct param *params)
{
	bool counts[SPACE_DIMENSIONS];
	size_t count = 0;

	counts_find(space, point, counts);
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];
		char *value = d->values[point[i]];

		if (!counts[i] || !value)
			continue;
		params[count++] = (struct param){ d->tunable, value, d->file, d->object, 0 };
		for (size_t k = 0; k < d->tie_count; k++)
			params[count++] =
				(struct param){ d->ties[k], value, d->file, d->object, 0 };
	}
	return count;
}

void space_set(const struct space *space, const size_t *point, struct param_set *set)
{
	struct param params[SPACE_PARAMS];
	struct param_set view = { .params = params, .origin = space->name };

	view.count = params_find(space, point, params);
	param_set_copy(set, &view);
}

static int is_forbidding(void *arg, const struct param *param, enum constraint_weight weight,
			 const char *text)
{
	(void)arg;
	(void)param;
	(void)text;
	return weight > CONSTRAINT_ADVICE;
}

bool space_allows(const struct space *space, const size_t *point)
{
	struct param params[SPACE_PARAMS];
	struct param_set view = { .params = params };
	struct tunable_context context = space->context;

	view.count = params_find(space, point, params);
	/* Whoever made the space has named the parameter, which is all that the class asks for. */
	context.allowed = TUNABLE_SEMANTICS;
	return !constraints_check(&view, &context, false, is_forbidding, NULL);
}

void space_line(const struct space *space, const size_t *point, struct buf *out)
{
	struct param params[SPACE_PARAMS];
	struct param_set view = { .params = params };

	view.count = params_find(space, point, params);
	param_set_line(&view, out);
}
