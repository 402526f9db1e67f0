/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/regions.h"

#include <stdlib.h>

#include "base/mem.h"

/* Beyond this, the sum of two positions could overflow. */
#define POSITION_MAX (INT64_C(1) << 62)
/* Limit of the steps spent on comparing the regions of one file. */
#define STEPS_MAX 10000000

const char *const sharing_names[SHARINGS] = {
	[SHARING_NONE] = "none",
	[SHARING_ONE] = "one",
	[SHARING_DISJOINT] = "disjoint",
	[SHARING_INTERLEAVED] = "interleaved",
	[SHARING_OVERLAPPING] = "overlapping",
	[SHARING_UNKNOWN] = "unknown",
};

void regions_release(struct regions *regions)
{
	free(regions->runs);
	*regions = (struct regions){ 0 };
}

static int64_t run_end(const struct region_run *run)
{
	return run->from + (int64_t)(run->count - 1) * run->stride + run->bytes;
}

static void extend_range(struct regions *r, int64_t low, int64_t high)
{
	if (!r->count || low < r->low)
		r->low = low;
	if (!r->count || high > r->high)
		r->high = high;
}

/* Adds the block to the run if it continues it. */
static bool run_extend(struct region_run *run, int64_t offset, int64_t bytes)
{
	int64_t step = offset - run->from;

	if (run->has_holes)
		return false;
	if (run->count == 1 && step >= 0 && step <= run->bytes) {
		if (step + bytes > run->bytes)
			run->bytes = step + bytes;
		return true;
	}
	if (bytes != run->bytes || step <= run->bytes)
		return false;
	if (run->count > 1 && step != (int64_t)run->count * run->stride)
		return false;
	if (run->count == 1)
		run->stride = step;
	run->count++;
	return true;
}

/* Makes room for another run. Most regions have one or two. */
static void grow_runs(struct regions *r)
{
	if (r->count < r->cap)
		return;
	r->cap = r->cap ? 2 * r->cap : 2;
	r->runs = xrealloc(r->runs, r->cap, sizeof(*r->runs));
}

/* Replaces all runs by one with holes, because there is no room for more. */
static void collapse_runs(struct regions *r)
{
	r->count = 1;
	r->runs[0] = (struct region_run){
		.from = r->low, .bytes = r->high - r->low, .count = 1, .has_holes = true
	};
}

static bool run_equals(const struct region_run *a, const struct region_run *b)
{
	return a->from == b->from && a->bytes == b->bytes && a->stride == b->stride &&
	       a->count == b->count && a->has_holes == b->has_holes;
}

/* A program that repeats its accesses in each iteration produces the same run again. */
static void drop_repeated(struct regions *r)
{
	for (size_t i = 0; i + 1 < r->count; i++) {
		if (run_equals(&r->runs[i], &r->runs[r->count - 1])) {
			r->count--;
			return;
		}
	}
}

static void run_put(struct regions *r, const struct region_run *run)
{
	bool is_collapsed = r->count == 1 && r->runs[0].has_holes;

	extend_range(r, run->from, run_end(run));
	drop_repeated(r);
	if (is_collapsed || r->count == REGIONS_RUNS_MAX) {
		collapse_runs(r);
		return;
	}
	grow_runs(r);
	r->runs[r->count++] = *run;
}

void regions_add(struct regions *regions, int64_t offset, int64_t bytes, bool has_holes)
{
	struct region_run run = {
		.from = offset, .bytes = bytes, .count = 1, .has_holes = has_holes
	};

	if (offset < 0 || bytes < 0 || offset > POSITION_MAX || bytes > POSITION_MAX - offset) {
		regions->unplaced = true;
		return;
	}
	if (!bytes)
		return;
	if (!has_holes && regions->count &&
	    run_extend(&regions->runs[regions->count - 1], offset, bytes))
		extend_range(regions, offset, offset + bytes);
	else
		run_put(regions, &run);
}

bool regions_put(struct regions *regions, const struct region_run *run)
{
	if (run->from < 0 || run->bytes < 1 || run->count < 1 || run->stride < 0 ||
	    run->from > POSITION_MAX || run->bytes > POSITION_MAX - run->from ||
	    (run->count > 1 && run->stride < 1) ||
	    (run->stride && run->count > (uint64_t)(POSITION_MAX / 4 / run->stride)) ||
	    run_end(run) > POSITION_MAX || regions->count == REGIONS_RUNS_MAX)
		return false;
	extend_range(regions, run->from, run_end(run));
	grow_runs(regions);
	regions->runs[regions->count++] = *run;
	return true;
}

void regions_add_all(struct regions *regions, const struct regions *other)
{
	regions->unplaced |= other->unplaced;
	for (size_t i = 0; i < other->count; i++)
		run_put(regions, &other->runs[i]);
}

uint64_t regions_bytes(const struct regions *regions)
{
	uint64_t extent = regions->count ? (uint64_t)(regions->high - regions->low) : 0, sum = 0;

	for (size_t i = 0; i < regions->count && sum < extent; i++) {
		const struct region_run *run = &regions->runs[i];

		sum += (uint64_t)run->bytes * run->count;
	}
	return sum < extent ? sum : extent;
}

/* Does a block of the run overlap [from, to)? */
static bool run_touches(const struct region_run *run, int64_t from, int64_t to)
{
	int64_t block;

	if (to <= run->from || from >= run_end(run))
		return false;
	if (run->count == 1 || from < run->from + run->bytes)
		return true;
	/*
	 * Takes the last block that starts before `to`: if it ends before `from`, so do all earlier
	 * ones.
	 */
	block = (to - 1 - run->from) / run->stride;
	if ((uint64_t)block >= run->count)
		block = (int64_t)run->count - 1;
	return run->from + block * run->stride + run->bytes > from;
}

static int64_t divide_down(int64_t a, int64_t b)
{
	return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/*
 * With equal strides s, block j of b overlaps block i of a if (j - i) * s is above a.from - b.from
 * - b.bytes and below a.from - b.from + a.bytes. This tries the largest possible j - i that is
 * below.
 */
static bool strides_touch(const struct region_run *a, const struct region_run *b)
{
	int64_t apart = a->from - b->from;
	int64_t steps = divide_down(apart + a->bytes - 1, a->stride);

	if (steps > (int64_t)b->count - 1)
		steps = (int64_t)b->count - 1;
	if (steps < 1 - (int64_t)a->count)
		return false;
	return steps * a->stride > apart - b->bytes;
}

/*
 * Returns SHARING_OVERLAPPING, _INTERLEAVED (no overlap) or _UNKNOWN. *steps is the remaining
 * budget.
 */
static enum sharing runs_compare(const struct region_run *a, const struct region_run *b,
				 int64_t *steps)
{
	bool touch = false;

	if (run_end(a) <= b->from || run_end(b) <= a->from)
		return SHARING_INTERLEAVED;
	if (a->has_holes || b->has_holes)
		return SHARING_UNKNOWN;
	if (a->count > 1 && b->count > 1 && a->stride == b->stride)
		return strides_touch(a, b) ? SHARING_OVERLAPPING : SHARING_INTERLEAVED;
	if (a->count > b->count)
		return runs_compare(b, a, steps);
	for (uint64_t i = 0; i < a->count && !touch; i++) {
		int64_t from = a->from + (int64_t)i * a->stride;

		if (--*steps < 0)
			return SHARING_UNKNOWN;
		touch = run_touches(b, from, from + a->bytes);
	}
	return touch ? SHARING_OVERLAPPING : SHARING_INTERLEAVED;
}

static enum sharing pair_compare(const struct regions *a, const struct regions *b, int64_t *steps)
{
	enum sharing worst = SHARING_INTERLEAVED;

	for (size_t i = 0; i < a->count; i++) {
		for (size_t j = 0; j < b->count; j++) {
			enum sharing now = runs_compare(&a->runs[i], &b->runs[j], steps);

			if (now == SHARING_OVERLAPPING)
				return now;
			if (--*steps < 0 || now == SHARING_UNKNOWN)
				worst = SHARING_UNKNOWN;
		}
	}
	return worst;
}

static int compare_low(const void *a, const void *b)
{
	const struct regions *x = *(const struct regions *const *)a;
	const struct regions *y = *(const struct regions *const *)b;

	return x->low < y->low ? -1 : x->low > y->low;
}

/*
 * The regions are sorted by their start, so only those that start before one ends can overlap it.
 */
static enum sharing sorted_compare(const struct regions *const *each, size_t count)
{
	enum sharing worst = SHARING_DISJOINT;
	int64_t steps = STEPS_MAX;

	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count && each[j]->low < each[i]->high; j++) {
			enum sharing now = pair_compare(each[i], each[j], &steps);

			if (now == SHARING_OVERLAPPING)
				return now;
			if (steps < 0)
				return SHARING_UNKNOWN;
			if (now > worst)
				worst = now;
		}
	}
	return worst;
}

enum sharing regions_compare(const struct regions *const *each, size_t count)
{
	AUTO_FREE const struct regions **present = xcalloc(count + 1, sizeof(*present));
	bool unplaced = false;
	enum sharing found;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		unplaced |= each[i]->unplaced;
		if (each[i]->count || each[i]->unplaced)
			present[n++] = each[i];
	}
	if (n < 2)
		return n ? SHARING_ONE : SHARING_NONE;
	qsort(present, n, sizeof(*present), compare_low);
	found = sorted_compare(present, n);
	return unplaced && found != SHARING_OVERLAPPING ? SHARING_UNKNOWN : found;
}
