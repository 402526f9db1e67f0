/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
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

/* Returns the index of a value; "" stands for unset. On failure sets err and returns the number of
 * values. */
static size_t find_value(const struct space_dimension *dimension, const char *text, struct err *err)
{
	AUTO_FREE char *value = NULL;
	size_t i = 0;

	if (*text) {
		value = tunable_parse(dimension->tunable, text, err);
		if (!value)
			return dimension->count;
	}
	while (i < dimension->count && !text_equal(dimension->values[i], value))
		i++;
	if (i == dimension->count)
		err_set(err, EINVAL, "%s: %s is not among its values", dimension->tunable->name,
			value ? value : "null");
	return i;
}

static int add_values(struct space_dimension *dimension, const char *const *values, struct err *err)
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
			if (!text_equal(dimension->values[i], value))
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
		return err_set(err, EINVAL, "%s: the list of values is empty",
			       dimension->tunable->name);
	return 0;
}

/* The default is the named value, else unset, else the first value. */
static int set_default(struct space_dimension *dimension, const char *initial, struct err *err)
{
	size_t i = 0;

	if (initial) {
		i = find_value(dimension, initial, err);
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

static int check_not_used(const struct space *space, const struct tunable *tunable,
			  const char *file, const char *object, struct err *err)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		for (size_t k = 0; k < d->tie_count; k++)
			if (d->ties[k] == tunable)
				return err_set(err, EEXIST, "%s is already tied to %s",
					       tunable->name, d->tunable->name);
		if (d->tunable == tunable && text_equal(d->file, file) &&
		    text_equal(d->object, object))
			return err_set(err, EEXIST, "%s is already a dimension", tunable->name);
	}
	return 0;
}

static const struct tunable *find_tunable(const char *name, struct err *err)
{
	const struct tunable *tunable = tunable_by_name(name);

	if (!tunable)
		err_set(err, ENOENT, "%.80s: unknown parameter; see 'sluice kb params list'", name);
	return tunable;
}

/* Are the values numbers, so that neighbors in the list are similar? */
static bool is_ordered(const struct space_dimension *dimension)
{
	uint64_t number;

	if (dimension->tunable->kind != TUNABLE_WORDS)
		return dimension->tunable->kind != TUNABLE_CHOICE &&
		       dimension->tunable->kind != TUNABLE_TEXT &&
		       dimension->tunable->kind != TUNABLE_SPREAD;
	for (size_t i = 0; i < dimension->count; i++)
		if (dimension->values[i] && unit_parse_bytes(dimension->values[i], &number) < 0)
			return false;
	return true;
}

/* Variables and arguments belong to no file, and an argument always has a value. */
static int check_open(const struct space_dimension *dimension, const char *file, const char *object,
		      struct err *err)
{
	const struct tunable *tunable = dimension->tunable;

	if (tunable->place != TUNABLE_NO_PLACE)
		return 0;
	if (file || object)
		return err_set(err, EINVAL, "%s applies to the whole program, not to files",
			       tunable->name);
	for (size_t i = 0; i < dimension->count; i++)
		if (!dimension->values[i] && tunable->layer == TUNABLE_COMMAND)
			return err_set(err, EINVAL,
				       "%s: an argument cannot be unset; remove null from its "
				       "values",
				       tunable->name);
	return 0;
}

int space_add_for(struct space *space, const char *tunable, const char *const *values,
		  const char *initial, const char *file, const char *object, struct err *err)
{
	struct space_dimension dimension = { .tunable = find_tunable(tunable, err) };
	int r;

	if (!dimension.tunable)
		return -ENOENT;
	if (param_pattern(&file, tunable, err) < 0 || param_pattern(&object, tunable, err) < 0)
		return -EINVAL;
	if (space->count == SPACE_DIMENSIONS)
		return err_set(err, E2BIG, "%s: a space has at most %d dimensions",
			       dimension.tunable->name, SPACE_DIMENSIONS);
	r = check_not_used(space, dimension.tunable, file, object, err);
	if (r >= 0)
		r = add_values(&dimension, values, err);
	if (r >= 0)
		r = check_open(&dimension, file, object, err);
	if (r >= 0)
		r = set_default(&dimension, initial, err);
	if (r < 0) {
		dimension_release(&dimension);
		return r;
	}
	dimension.file = xstrdup(file);
	dimension.object = xstrdup(object);
	dimension.is_ordered = is_ordered(&dimension);
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

/* Finds the last dimension of the tunable: several may exist for different files. */
static struct space_dimension *find_dimension(struct space *space, const char *name,
					      struct err *err)
{
	const struct tunable *tunable = find_tunable(name, err);

	for (size_t i = space->count; tunable && i--;)
		if (space->dimensions[i].tunable == tunable)
			return &space->dimensions[i];
	if (tunable)
		err_set(err, ENOENT, "%s is not a dimension defined before", tunable->name);
	return NULL;
}

int space_tie(struct space *space, const char *tunable, const char *to, struct err *err)
{
	const struct tunable *tied = find_tunable(tunable, err);
	struct space_dimension *d = tied ? find_dimension(space, to, err) : NULL;
	int r;

	if (!d)
		return -ENOENT;
	r = check_not_used(space, tied, d->file, d->object, err);
	if (r < 0)
		return r;
	if (d->tie_count == SPACE_TIES)
		return err_set(err, E2BIG, "%s has more than %d ties", d->tunable->name,
			       SPACE_TIES);
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
	struct space_dimension *d = find_dimension(space, tunable, err);
	struct space_dimension *o = d ? find_dimension(space, other, err) : NULL;
	bool *allowed;

	if (!o)
		return -ENOENT;
	if (o >= d)
		return err_set(err, EINVAL, "%s: dimension %s must be defined before it",
			       d->tunable->name, o->tunable->name);
	allowed = xcalloc(o->count, sizeof(*allowed));
	for (; *values; values++) {
		size_t i = find_value(o, *values, err);

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

/* Finds the active dimensions. Conditions refer to earlier dimensions, so one pass suffices. */
static void find_active(const struct space *space, const size_t *point, bool *active)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		active[i] = true;
		for (size_t k = 0; k < d->condition_count; k++) {
			size_t other = d->conditions[k].dimension;

			if (!active[other] || !d->conditions[k].values[point[other]])
				active[i] = false;
		}
	}
}

bool space_is_active(const struct space *space, const size_t *point, size_t dimension)
{
	bool active[SPACE_DIMENSIONS];

	find_active(space, point, active);
	return active[dimension];
}

void space_settle(const struct space *space, size_t *point)
{
	bool active[SPACE_DIMENSIONS];

	find_active(space, point, active);
	for (size_t i = 0; i < space->count; i++)
		if (!active[i])
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

#define SPACE_PARAMS (SPACE_DIMENSIONS * (SPACE_TIES + 1))

/* Collects the parameters of a point. Their strings belong to the space. */
static size_t collect_params(const struct space *space, const size_t *point, struct param *params)
{
	bool active[SPACE_DIMENSIONS];
	size_t count = 0;

	find_active(space, point, active);
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];
		char *value = d->values[point[i]];

		if (!active[i] || !value)
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

	view.count = collect_params(space, point, params);
	param_set_copy(set, &view);
}

static int stop_unless_advice(void *arg, const struct param *param, enum constraint_weight weight,
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

	view.count = collect_params(space, point, params);
	/* Whoever made the space chose the parameter, so its safety class is accepted. */
	context.allowed = TUNABLE_SEMANTICS;
	return !constraints_check(&view, &context, false, stop_unless_advice, NULL);
}

void space_line(const struct space *space, const size_t *point, struct buf *out)
{
	struct param params[SPACE_PARAMS];
	struct param_set view = { .params = params };

	view.count = collect_params(space, point, params);
	param_set_line(&view, out);
}
