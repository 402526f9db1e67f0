/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of many settings. They are cut into blocks, one thread each. A block counts its settings,
 * numbers the distinct (operation, arguments) among their terms, prices each of those once and all
 * of an operation together, and adds up. Blocks share nothing, so nobody waits.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "predict/model/hybrid/hybrid_internal.h"

/* Enough that most terms of a block were seen before, few enough for several threads. */
enum { BLOCK_SETTINGS = 256 };

struct times {
	const struct hybrid *hybrid;
	const struct access *access;
	const struct settings *settings;
	size_t count;
	double *seconds;
	bool bound;	    /* first and full rounds alone */
	struct err *errors; /* one per block: why a setting could not be counted or priced */
};

/* A use of a distinct operation by a setting. */
struct use {
	uint32_t setting, distinct;
	double count;
};

/* Distinct arguments of one operation. */
struct distinct {
	struct elemental *at;
	double *seconds;
	size_t count, cap;
};

struct block {
	struct distinct of[OPERATIONS];
	struct use *uses[OPERATIONS];
	size_t use_count[OPERATIONS], use_cap[OPERATIONS];
	uint32_t *slots; /* number of the distinct plus one; 0: free */
	uint8_t *slot_operation;
	size_t mask, used;
};

/* ---- the table ---- */

static uint64_t term_hash(enum operation operation, const struct elemental *at)
{
	return XXH3_64bits_withSeed(at, sizeof(*at), (uint64_t)operation);
}

static size_t slot_free(const struct block *block, uint64_t hash)
{
	size_t slot = hash & block->mask;

	while (block->slots[slot])
		slot = (slot + 1) & block->mask;
	return slot;
}

static void table_grow(struct block *block)
{
	struct block old = *block;
	size_t cap = old.slots ? 2 * (old.mask + 1) : 4096;

	block->slots = xcalloc(cap, sizeof(*block->slots));
	block->slot_operation = xcalloc(cap, sizeof(*block->slot_operation));
	block->mask = cap - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		enum operation operation = (enum operation)old.slot_operation[i];
		size_t slot;

		if (!old.slots[i])
			continue;
		slot = slot_free(block,
				 term_hash(operation, &old.of[operation].at[old.slots[i] - 1]));
		block->slots[slot] = old.slots[i];
		block->slot_operation[slot] = old.slot_operation[i];
	}
	free(old.slots);
	free(old.slot_operation);
}

static uint32_t distinct_add(struct distinct *distinct, const struct elemental *at)
{
	distinct->at =
		xgrow(distinct->at, &distinct->cap, distinct->count + 1, sizeof(*distinct->at));
	distinct->at[distinct->count] = *at;
	return (uint32_t)distinct->count++;
}

static uint32_t distinct_number(struct block *block, const struct term *term)
{
	struct distinct *distinct = &block->of[term->operation];
	size_t slot;

	if (!block->slots || 2 * block->used > block->mask)
		table_grow(block);
	for (slot = term_hash(term->operation, &term->at) & block->mask; block->slots[slot];
	     slot = (slot + 1) & block->mask) {
		uint32_t number = block->slots[slot] - 1;

		if (block->slot_operation[slot] == (uint8_t)term->operation &&
		    elementals_are_same(&distinct->at[number], &term->at))
			return number;
	}
	block->used++;
	block->slot_operation[slot] = (uint8_t)term->operation;
	block->slots[slot] = distinct_add(distinct, &term->at) + 1;
	return block->slots[slot] - 1;
}

/* ---- a block ---- */

/* Most of the time of an access, by few surrogates; what is left out differs in each setting. */
static bool is_bound(enum operation operation)
{
	return operations[operation].kind == OPERATION_STORAGE &&
	       !operations[operation].is_derived && operation != OPERATION_WRITE_PARTIAL &&
	       operation != OPERATION_READ_PARTIAL;
}

static void terms_note(struct block *block, const struct counts *counts, size_t setting,
		       const struct times *times)
{
	for (size_t i = 0; i < counts->count; i++) {
		const struct term *term = &counts->terms[i];
		enum operation o = term->operation;

		if (times->bound && !is_bound(o))
			continue;

		block->uses[o] = xgrow(block->uses[o], &block->use_cap[o], block->use_count[o] + 1,
				       sizeof(*block->uses[o]));
		block->uses[o][block->use_count[o]++] =
			(struct use){ (uint32_t)setting, distinct_number(block, term),
				      term->count };
	}
}

static void block_release(struct block *block)
{
	for (int i = 0; i < OPERATIONS; i++) {
		free(block->of[i].at);
		free(block->of[i].seconds);
		free(block->uses[i]);
	}
	free(block->slots);
	free(block->slot_operation);
}

static void block_price(struct block *block, const struct hybrid *hybrid, double *seconds)
{
	for (int i = 0; i < OPERATIONS; i++) {
		struct distinct *distinct = &block->of[i];

		if (!distinct->count)
			continue;
		distinct->seconds = xmalloc(distinct->count * sizeof(double));
		hybrid_prices(hybrid, (enum operation)i, distinct->at, distinct->count,
			      distinct->seconds);
		for (size_t j = 0; j < block->use_count[i]; j++) {
			const struct use *use = &block->uses[i][j];

			seconds[use->setting] += use->count * distinct->seconds[use->distinct];
		}
	}
}

static void times_block(void *arg, size_t piece, unsigned worker)
{
	struct times *times = arg;
	size_t from = piece * BLOCK_SETTINGS, n = times->count - from;
	struct block block = { 0 };
	struct counts counts;
	struct err *err = &times->errors[piece];

	(void)worker;
	if (n > BLOCK_SETTINGS)
		n = BLOCK_SETTINGS;
	for (size_t i = 0; i < n; i++) {
		int r = counts_of(&counts, &times->hybrid->machine, times->access,
				  &times->settings[from + i], err);

		if (r >= 0)
			r = hybrid_priced(times->hybrid, &counts, err);
		times->seconds[from + i] = r < 0 ? NAN : 0;
		if (r >= 0)
			terms_note(&block, &counts, i, times);
	}
	block_price(&block, times->hybrid, times->seconds + from);
	block_release(&block);
}

static int times_run(struct times *times, struct err *err)
{
	size_t blocks = (times->count + BLOCK_SETTINGS - 1) / BLOCK_SETTINGS, defined = 0;
	AUTO_FREE struct err *errors = xcalloc(blocks + 1, sizeof(*errors));

	times->errors = errors;
	parallel_for(parallel_cores(), blocks, times_block, times);
	for (size_t i = 0; i < times->count; i++)
		defined += !isnan(times->seconds[i]);
	for (size_t i = 0; !defined && i < blocks; i++) {
		if (errors[i].code)
			return err_set(err, errors[i].code, "%s", errors[i].text);
	}
	return 0;
}

int hybrid_times(const struct hybrid *hybrid, const struct access *access,
		 const struct settings *settings, size_t count, double *seconds, struct err *err)
{
	AUTO_FREE double *made = xmalloc((count + 1) * sizeof(*made));
	struct times times = { .hybrid = hybrid,
			       .access = access,
			       .settings = settings,
			       .count = count,
			       .seconds = made };
	int r = times_run(&times, err);

	if (r >= 0)
		memcpy(seconds, made, count * sizeof(*made));
	return r;
}

/* ---- the best ---- */

/* Asked for at once: enough for all threads, few where the first ones are the best. */
enum { BATCH_SETTINGS = 512 };

struct ranked {
	double seconds; /* a bound, or the time */
	size_t at;
};

/* By time, then by index; NAN last. */
static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (isnan(x->seconds) || isnan(y->seconds))
		return isnan(x->seconds) - isnan(y->seconds);
	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void rank(struct ranked *ranked, const double *seconds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ seconds[i], i };
	qsort(ranked, count, sizeof(*ranked), ranked_compare);
}

/* Times of some settings, which are merged into the n best so far. */
static void batch_try(struct times *times, const struct settings *settings,
		      const struct ranked *batch, size_t count, struct ranked *best, size_t *found,
		      size_t n)
{
	AUTO_FREE struct settings *asked = xmalloc(count * sizeof(*asked));
	AUTO_FREE double *seconds = xmalloc(count * sizeof(*seconds));

	for (size_t i = 0; i < count; i++)
		asked[i] = settings[batch[i].at];
	times->settings = asked;
	times->count = count;
	times->seconds = seconds;
	times_run(times, NULL);
	for (size_t i = 0; i < count; i++) {
		if (!isnan(seconds[i]))
			best[(*found)++] = (struct ranked){ seconds[i], batch[i].at };
	}
	qsort(best, *found, sizeof(*best), ranked_compare);
	if (*found > n)
		*found = n;
}

int hybrid_best(const struct hybrid *hybrid, const struct access *access,
		const struct settings *settings, size_t count, size_t n, size_t *best,
		double *seconds, struct err *err)
{
	AUTO_FREE double *bounds = xmalloc((count + 1) * sizeof(*bounds));
	AUTO_FREE struct ranked *order = xmalloc((count + 1) * sizeof(*order));
	AUTO_FREE struct ranked *kept = xmalloc((n + BATCH_SETTINGS) * sizeof(*kept));
	struct times times = { .hybrid = hybrid,
			       .access = access,
			       .settings = settings,
			       .count = count,
			       .seconds = bounds,
			       .bound = true };
	size_t found = 0;
	int r = times_run(&times, err);

	if (r < 0)
		return r;
	rank(order, bounds, count);
	times.bound = false;
	for (size_t i = 0, some; i < count && !isnan(order[i].seconds); i += some) {
		if (found == n && order[i].seconds > kept[n - 1].seconds)
			break;
		some = count - i < BATCH_SETTINGS ? count - i : BATCH_SETTINGS;
		batch_try(&times, settings, order + i, some, kept, &found, n);
	}
	for (size_t i = 0; i < found; i++) {
		best[i] = kept[i].at;
		seconds[i] = kept[i].seconds;
	}
	return (int)found;
}
