/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: GA-12.
 */
#include "tune/search/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "params/space.h"

const struct search_ops *const searches[] = { &search_bayesian,
					      &search_genetic,
					      &search_annealing,
					      &search_random,
					      &search_exhaustive,
					      &search_model,
					      NULL };

/* The costs of all points told so far: a hash table with open addressing. A space may have more
 * points than a uint64_t can number, so the points themselves are the keys. */
struct memory {
	size_t width;
	size_t *points; /* cap x width */
	double *costs;	/* NAN: the slot is free */
	size_t count, cap;
};

struct search {
	const struct search_ops *ops;
	void *state;
	const struct space *space;
	struct memory memory;
	struct search_counts counts;
	size_t *best;
	double best_cost;
};

static uint64_t point_hash(const size_t *point, size_t width)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < width; i++)
		hash = (hash ^ point[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
	return hash ^ hash >> 32;
}

static size_t find_slot(const struct memory *memory, const size_t *point)
{
	size_t at = point_hash(point, memory->width) & (memory->cap - 1);

	while (!isnan(memory->costs[at]) && memcmp(memory->points + at * memory->width, point,
						   memory->width * sizeof(*point)) != 0)
		at = (at + 1) & (memory->cap - 1);
	return at;
}

static bool memory_get(const struct memory *memory, const size_t *point, double *cost)
{
	size_t at;

	if (!memory->cap)
		return false;
	at = find_slot(memory, point);
	if (isnan(memory->costs[at]))
		return false;
	*cost = memory->costs[at];
	return true;
}

static void memory_put(struct memory *memory, const size_t *point, double cost);

static void memory_grow(struct memory *memory)
{
	struct memory old = *memory;

	memory->cap = old.cap ? 2 * old.cap : 256;
	memory->count = 0;
	memory->points = xcalloc(memory->cap * memory->width, sizeof(*memory->points));
	memory->costs = xmalloc(memory->cap * sizeof(*memory->costs));
	for (size_t i = 0; i < memory->cap; i++)
		memory->costs[i] = NAN;
	for (size_t i = 0; i < old.cap; i++)
		if (!isnan(old.costs[i]))
			memory_put(memory, old.points + i * old.width, old.costs[i]);
	free(old.points);
	free(old.costs);
}

static void memory_put(struct memory *memory, const size_t *point, double cost)
{
	size_t at;

	if (2 * memory->count >= memory->cap)
		memory_grow(memory);
	at = find_slot(memory, point);
	memory->count += isnan(memory->costs[at]);
	memcpy(memory->points + at * memory->width, point, memory->width * sizeof(*point));
	memory->costs[at] = cost;
}

const struct search_ops *search_find(const char *name)
{
	for (size_t i = 0; searches[i]; i++)
		if (strcmp(searches[i]->name, name) == 0)
			return searches[i];
	return NULL;
}

static int fail_unknown_search(const char *name, struct err *err)
{
	AUTO_BUF struct buf names = { 0 };

	for (size_t i = 0; searches[i]; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", searches[i]->name);
	return err_set(err, ENOENT, "unknown search '%s'; expected one of %s", name,
		       buf_text(&names));
}

static int fail_unknown_setting(const struct search_ops *ops, const char *text, size_t n,
				struct err *err)
{
	AUTO_BUF struct buf names = { 0 };

	for (size_t i = 0; ops->settings && ops->settings[i].name; i++)
		buf_printf(&names, "%s%s", i ? ", " : "; it has ", ops->settings[i].name);
	return err_set(err, EINVAL, "the %s search has no setting '%.*s'%s", ops->name, (int)n,
		       text, buf_text(&names));
}

/* Parses the number text[0 .. n). */
static int parse_setting_value(const struct search_ops *ops, const struct search_setting *setting,
			       const char *text, size_t n, double *value, struct err *err)
{
	double number;

	if (!number_parse(text, n, &number) || !(number >= setting->min) ||
	    !(number <= setting->max) || (setting->is_whole && number != floor(number)))
		return err_set(err, EINVAL, "%s of the %s search must be a %snumber from %g to %g",
			       setting->name, ops->name, setting->is_whole ? "whole " : "",
			       setting->min, setting->max);
	*value = number;
	return 0;
}

/* Parses "name=number" in text[0 .. n). */
static int parse_setting(const struct search_ops *ops, const char *text, size_t n, double *values,
			 struct err *err)
{
	const char *equals = memchr(text, '=', n);
	size_t k = equals ? (size_t)(equals - text) : n;

	for (size_t i = 0; ops->settings && ops->settings[i].name; i++) {
		const struct search_setting *setting = &ops->settings[i];

		if (strlen(setting->name) != k || memcmp(setting->name, text, k) != 0)
			continue;
		if (!equals)
			return err_set(err, EINVAL, "%s of the %s search needs a number: %s=%g",
				       setting->name, ops->name, setting->name, setting->initial);
		return parse_setting_value(ops, setting, equals + 1, n - k - 1, &values[i], err);
	}
	return fail_unknown_setting(ops, text, k, err);
}

static int parse_settings(const struct search_ops *ops, const char *text,
			  double values[SEARCH_SETTINGS], struct err *err)
{
	for (size_t i = 0; ops->settings && ops->settings[i].name; i++)
		values[i] = ops->settings[i].initial;
	while (text && *text) {
		size_t n = strcspn(text, ",");
		int r = parse_setting(ops, text, n, values, err);

		if (r < 0)
			return r;
		text += n + (text[n] == ',');
	}
	return 0;
}

int search_check_settings(const char *name, const char *settings, struct err *err)
{
	const struct search_ops *ops = search_find(name);
	double values[SEARCH_SETTINGS];

	return ops ? parse_settings(ops, settings, values, err) : fail_unknown_search(name, err);
}

int search_new(struct search **out, const char *name, const char *settings,
	       const struct space *space, uint64_t seed, struct err *err)
{
	return search_new_with_prior(out, name, settings, space, NULL, seed, err);
}

int search_new_with_prior(struct search **out, const char *name, const char *settings,
			  const struct space *space, const struct search_prior *prior,
			  uint64_t seed, struct err *err)
{
	const struct search_ops *ops = search_find(name);
	double values[SEARCH_SETTINGS] = { 0 };
	struct search *search;
	void *state;
	int r;

	if (!ops)
		return fail_unknown_search(name, err);
	r = parse_settings(ops, settings, values, err);
	if (r < 0)
		return r;
	r = ops->start(&state, space, prior, values, seed, err);
	if (r < 0)
		return r;
	search = xcalloc(1, sizeof(*search));
	search->ops = ops;
	search->state = state;
	search->memory.width = space->count;
	search->space = space;
	search->best = xcalloc(space->count + 1, sizeof(*search->best));
	search->best_cost = INFINITY;
	*out = search;
	return 0;
}

void search_free(struct search *search)
{
	if (!search)
		return;
	search->ops->stop(search->state);
	free(search->memory.points);
	free(search->memory.costs);
	free(search->best);
	free(search);
}

/* Keeps the cost of a point; NAN counts as a failure. Returns the cost. */
static double keep_cost(struct search *search, const size_t *point, double cost)
{
	if (isnan(cost))
		cost = INFINITY;
	memory_put(&search->memory, point, cost);
	if (cost < search->best_cost) {
		search->best_cost = cost;
		memcpy(search->best, point, search->space->count * sizeof(*point));
	}
	return cost;
}

void search_know(struct search *search, const size_t *point, double cost)
{
	AUTO_FREE size_t *settled = xcalloc(search->space->count + 1, sizeof(*settled));

	memcpy(settled, point, search->space->count * sizeof(*settled));
	space_settle(search->space, settled);
	cost = keep_cost(search, settled, cost);
	if (search->ops->know)
		search->ops->know(search->state, settled, cost);
}

int search_ask(struct search *search, size_t *point)
{
	double cost;

	while (search->ops->ask(search->state, point)) {
		search->counts.asked++;
		space_settle(search->space, point);
		if (!space_allows(search->space, point))
			cost = INFINITY;
		else if (!memory_get(&search->memory, point, &cost))
			return 1;
		search->ops->tell(search->state, point, cost);
	}
	return 0;
}

void search_tell(struct search *search, const size_t *point, double cost)
{
	search->counts.measured++;
	cost = keep_cost(search, point, cost);
	search->ops->tell(search->state, point, cost);
}

bool search_best(const struct search *search, size_t *point, double *cost)
{
	if (!isfinite(search->best_cost))
		return false;
	memcpy(point, search->best, search->space->count * sizeof(*point));
	*cost = search->best_cost;
	return true;
}

struct search_counts search_get_counts(const struct search *search)
{
	return search->counts;
}
