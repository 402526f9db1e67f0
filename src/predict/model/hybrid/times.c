/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predicts the times of many settings in blocks, which run in parallel. A block counts its
 * settings, finds the distinct pairs of operation and arguments, prices each of them once and all
 * of one operation together, and adds up. Blocks share no data, so there is no contention.
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

/* Large enough that most terms of a block repeat, small enough for several threads. */
enum { BLOCK_SETTINGS = 256 };

struct times {
	const struct hybrid *hybrid;
	const struct access *access;
	const struct settings *settings;
	size_t count;
	double *seconds;
	bool bound;	    /* price first and full rounds only */
	struct err *errors; /* one per block: the reason why a setting could not be predicted */
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
	uint32_t *slots; /* index of the distinct arguments plus one; 0: free */
	uint8_t *slot_operation;
	size_t mask, used;
};

static uint64_t term_hash(enum operation operation, const struct elemental *at)
{
	return XXH3_64bits_withSeed(at, sizeof(*at), (uint64_t)operation);
}

static size_t find_free_slot(const struct block *block, uint64_t hash)
{
	size_t slot = hash & block->mask;

	while (block->slots[slot])
		slot = (slot + 1) & block->mask;
	return slot;
}

static void grow_table(struct block *block)
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
		slot = find_free_slot(
			block, term_hash(operation, &old.of[operation].at[old.slots[i] - 1]));
		block->slots[slot] = old.slots[i];
		block->slot_operation[slot] = old.slot_operation[i];
	}
	free(old.slots);
	free(old.slot_operation);
}

static uint32_t append_distinct(struct distinct *distinct, const struct elemental *at)
{
	distinct->at =
		xgrow(distinct->at, &distinct->cap, distinct->count + 1, sizeof(*distinct->at));
	distinct->at[distinct->count] = *at;
	return (uint32_t)distinct->count++;
}

static uint32_t find_or_add_distinct(struct block *block, const struct term *term)
{
	struct distinct *distinct = &block->of[term->operation];
	size_t slot;

	if (!block->slots || 2 * block->used > block->mask)
		grow_table(block);
	for (slot = term_hash(term->operation, &term->at) & block->mask; block->slots[slot];
	     slot = (slot + 1) & block->mask) {
		uint32_t number = block->slots[slot] - 1;

		if (block->slot_operation[slot] == (uint8_t)term->operation &&
		    elementals_are_same(&distinct->at[number], &term->at))
			return number;
	}
	block->used++;
	block->slot_operation[slot] = (uint8_t)term->operation;
	block->slots[slot] = append_distinct(distinct, &term->at) + 1;
	return block->slots[slot] - 1;
}

/* Operations that dominate the time of an access and repeat among settings. */
static bool is_bound(enum operation operation)
{
	return operations[operation].kind == OPERATION_STORAGE &&
	       !operations[operation].is_derived && operation != OPERATION_WRITE_PARTIAL &&
	       operation != OPERATION_READ_PARTIAL;
}

static void note_terms(struct block *block, const struct counts *counts, size_t setting,
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
			(struct use){ (uint32_t)setting, find_or_add_distinct(block, term),
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

static void price_block(struct block *block, const struct hybrid *hybrid, double *seconds)
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

static void run_block(void *arg, size_t piece, unsigned worker)
{
	struct times *times = arg;
	size_t from = piece * BLOCK_SETTINGS, n = times->count - from;
	struct block block = { 0 };
	struct counts counts;
	double corrections[BLOCK_SETTINGS];
	struct err *err = &times->errors[piece];

	(void)worker;
	if (n > BLOCK_SETTINGS)
		n = BLOCK_SETTINGS;
	for (size_t i = 0; i < n; i++) {
		int r = counts_compute(&counts, &times->hybrid->machine, times->access,
				       &times->settings[from + i], err);

		if (r >= 0)
			r = hybrid_check_priced(times->hybrid, &counts, err);
		times->seconds[from + i] = r < 0 ? NAN : 0;
		if (r < 0)
			continue;
		corrections[i] = validation_correction(&times->hybrid->validation,
						       times->access->is_read, counts.transfer);
		note_terms(&block, &counts, i, times);
	}
	price_block(&block, times->hybrid, times->seconds + from);
	for (size_t i = 0; i < n; i++)
		if (!isnan(times->seconds[from + i]))
			times->seconds[from + i] *= corrections[i];
	block_release(&block);
}

static int run_blocks(struct times *times, struct err *err)
{
	size_t blocks = (times->count + BLOCK_SETTINGS - 1) / BLOCK_SETTINGS, defined = 0;
	AUTO_FREE struct err *errors = xcalloc(blocks + 1, sizeof(*errors));

	times->errors = errors;
	parallel_for(parallel_cores(), blocks, run_block, times);
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
	int r = run_blocks(&times, err);

	if (r >= 0)
		memcpy(seconds, made, count * sizeof(*made));
	return r;
}

/* Settings priced at once: enough for all threads, few if the first ones are the best. */
enum { BATCH_SETTINGS = 512 };

struct ranked {
	double seconds; /* a lower bound, or the time */
	size_t at;
};

/* Orders by time, then by index; NAN last. */
static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (isnan(x->seconds) || isnan(y->seconds))
		return isnan(x->seconds) - isnan(y->seconds);
	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_ranked(struct ranked *ranked, const double *seconds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ seconds[i], i };
	qsort(ranked, count, sizeof(*ranked), compare_ranked);
}

/* Predicts a batch of settings and merges them into the n best so far. */
static void try_batch(struct times *times, const struct settings *settings,
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
	run_blocks(times, NULL);
	for (size_t i = 0; i < count; i++) {
		if (!isnan(seconds[i]))
			best[(*found)++] = (struct ranked){ seconds[i], batch[i].at };
	}
	qsort(best, *found, sizeof(*best), compare_ranked);
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
	int r = run_blocks(&times, err);

	if (r < 0)
		return r;
	sort_ranked(order, bounds, count);
	times.bound = false;
	for (size_t i = 0, some; i < count && !isnan(order[i].seconds); i += some) {
		if (found == n && order[i].seconds > kept[n - 1].seconds)
			break;
		some = count - i < BATCH_SETTINGS ? count - i : BATCH_SETTINGS;
		try_batch(&times, settings, order + i, some, kept, &found, n);
	}
	for (size_t i = 0; i < found; i++) {
		best[i] = kept[i].at;
		seconds[i] = kept[i].seconds;
	}
	return (int)found;
}
