/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/search/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "params/space.h"

const struct search_ops *const searches[] = { &search_bayesian,	  &search_genetic,
					      &search_annealing,  &search_random,
					      &search_exhaustive, NULL };

/* What was told, by the number of its point: open addressing, grown by doubling. */
struct memory {
	uint64_t *numbers; /* + 1; 0: free */
	double *costs;
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

static size_t slot_of(const struct memory *memory, uint64_t number)
{
	size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (memory->cap - 1);

	while (memory->numbers[at] && memory->numbers[at] != number + 1)
		at = (at + 1) & (memory->cap - 1);
	return at;
}

static bool memory_get(const struct memory *memory, uint64_t number, double *cost)
{
	size_t at;

	if (!memory->cap)
		return false;
	at = slot_of(memory, number);
	if (!memory->numbers[at])
		return false;
	*cost = memory->costs[at];
	return true;
}

static void memory_put(struct memory *memory, uint64_t number, double cost);

static void memory_grow(struct memory *memory)
{
	struct memory old = *memory;

	memory->cap = old.cap ? 2 * old.cap : 256;
	memory->count = 0;
	memory->numbers = xcalloc(memory->cap, sizeof(*memory->numbers));
	memory->costs = xcalloc(memory->cap, sizeof(*memory->costs));
	for (size_t i = 0; i < old.cap; i++)
		if (old.numbers[i])
			memory_put(memory, old.numbers[i] - 1, old.costs[i]);
	free(old.numbers);
	free(old.costs);
}

static void memory_put(struct memory *memory, uint64_t number, double cost)
{
	size_t at;

	if (2 * memory->count >= memory->cap)
		memory_grow(memory);
	at = slot_of(memory, number);
	memory->count += !memory->numbers[at];
	memory->numbers[at] = number + 1;
	memory->costs[at] = cost;
}

static const struct search_ops *ops_by_name(const char *name)
{
	for (size_t i = 0; searches[i]; i++)
		if (strcmp(searches[i]->name, name) == 0)
			return searches[i];
	return NULL;
}

static int setting_read(const struct search_ops *ops, const char *text, size_t n, double *values,
			struct err *err)
{
	size_t k = strcspn(text, "=");
	char *end;

	for (size_t i = 0; ops->settings && ops->settings[i].name; i++) {
		const struct search_setting *s = &ops->settings[i];

		if (k >= n || strlen(s->name) != k || strncmp(s->name, text, k) != 0)
			continue;
		values[i] = strtod(text + k + 1, &end);
		if (end != text + n || end == text + k + 1 || !(values[i] >= s->min) ||
		    !(values[i] <= s->max))
			return err_set(err, EINVAL, "%s of the %s search is a number from %g to %g",
				       s->name, ops->name, s->min, s->max);
		return 0;
	}
	return err_set(err, EINVAL, "the %s search has no setting '%.*s'", ops->name, (int)n, text);
}

static int settings_read(const struct search_ops *ops, const char *text,
			 double values[SEARCH_SETTINGS], struct err *err)
{
	for (size_t i = 0; ops->settings && ops->settings[i].name; i++)
		values[i] = ops->settings[i].initial;
	while (text && *text) {
		size_t n = strcspn(text, ",");
		int r = setting_read(ops, text, n, values, err);

		if (r < 0)
			return r;
		text += n + (text[n] == ',');
	}
	return 0;
}

int search_new(struct search **out, const char *name, const char *settings,
	       const struct space *space, uint64_t seed, struct err *err)
{
	const struct search_ops *ops = ops_by_name(name);
	double values[SEARCH_SETTINGS] = { 0 };
	struct search *search;
	int r;

	if (!ops)
		return err_set(err, ENOENT, "there is no search '%s'", name);
	r = settings_read(ops, settings, values, err);
	if (r < 0)
		return r;
	search = xcalloc(1, sizeof(*search));
	search->ops = ops;
	search->space = space;
	search->best = xcalloc(space->count + 1, sizeof(*search->best));
	search->best_cost = INFINITY;
	search->state = ops->start(space, values, seed);
	*out = search;
	return 0;
}

void search_free(struct search *search)
{
	if (!search)
		return;
	search->ops->stop(search->state);
	free(search->memory.numbers);
	free(search->memory.costs);
	free(search->best);
	free(search);
}

static void remember(struct search *search, const size_t *point, double cost)
{
	memory_put(&search->memory, space_number(search->space, point), cost);
	if (!(cost < search->best_cost))
		return;
	search->best_cost = cost;
	memcpy(search->best, point, search->space->count * sizeof(*point));
}

void search_know(struct search *search, const size_t *point, double cost)
{
	remember(search, point, cost);
	if (search->ops->know)
		search->ops->know(search->state, point, cost);
}

int search_ask(struct search *search, size_t *point)
{
	double cost;

	while (search->ops->ask(search->state, point)) {
		search->counts.asked++;
		space_settle(search->space, point);
		if (!space_allows(search->space, point))
			cost = INFINITY;
		else if (!memory_get(&search->memory, space_number(search->space, point), &cost))
			return 1;
		search->ops->tell(search->state, point, cost);
	}
	return 0;
}

void search_tell(struct search *search, const size_t *point, double cost)
{
	search->counts.measured++;
	remember(search, point, cost);
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

struct search_counts search_counted(const struct search *search)
{
	return search->counts;
}

uint64_t search_planned(const struct search *search)
{
	return search->ops->planned ? search->ops->planned(search->state) : 0;
}
