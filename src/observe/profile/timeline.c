/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/timeline.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/profile/merged_head.h"

/* Width of a bin if the length of the run is unknown. */
#define FIRST_BIN_NS 1000000
/* Of longer runs, only the beginning has bins. */
#define BIN_NS_MAX (INT64_C(1) << 52)

void timeline_init(struct timeline *timeline, int64_t duration_ns, int64_t members)
{
	int64_t bin_ns = duration_ns / TIMELINE_BINS + 1;

	*timeline = (struct timeline){ .members = members > 0 ? members : 1 };
	timeline->bin_ns = duration_ns <= 0	 ? FIRST_BIN_NS
			   : bin_ns > BIN_NS_MAX ? BIN_NS_MAX
						 : bin_ns;
	timeline->row_count =
		timeline->members < TIMELINE_ROWS ? (size_t)timeline->members : TIMELINE_ROWS;
	timeline->rows = xcalloc(timeline->row_count * TIMELINE_BINS, sizeof(*timeline->rows));
}

void timeline_release(struct timeline *timeline)
{
	rasters_release(&timeline->rasters);
	free(timeline->rows);
	*timeline = (struct timeline){ 0 };
}

static void add_bin(struct timeline_bin *to, const struct timeline_bin *from)
{
	to->calls += from->calls;
	to->bytes[0] += from->bytes[0];
	to->bytes[1] += from->bytes[1];
	to->time_ns += from->time_ns;
}

static void add_cell(struct timeline_cell *to, const struct timeline_cell *from)
{
	to->bytes[0] += from->bytes[0];
	to->bytes[1] += from->bytes[1];
	to->time_ns += from->time_ns;
}

static void halve_bins(struct timeline_bin *bins)
{
	for (int i = 0; i < TIMELINE_BINS; i++) {
		struct timeline_bin moved = bins[i];

		bins[i] = (struct timeline_bin){ 0 };
		add_bin(&bins[i / 2], &moved);
	}
}

static void halve_row(struct timeline_cell *row)
{
	for (int i = 0; i < TIMELINE_BINS; i++) {
		struct timeline_cell moved = row[i];

		row[i] = (struct timeline_cell){ 0 };
		add_cell(&row[i / 2], &moved);
	}
}

static int64_t end_of(const struct timeline *t)
{
	return t->from_ns + t->bin_ns * TIMELINE_BINS;
}

/* Makes bins wider until the time is inside. */
static void reach(struct timeline *timeline, int64_t time_ns)
{
	while (time_ns > end_of(timeline) && timeline->bin_ns < BIN_NS_MAX) {
		for (int i = 0; i < LAYER_COUNT; i++)
			halve_bins(timeline->layers[i]);
		halve_bins(timeline->io);
		for (size_t i = 0; i < timeline->row_count; i++)
			halve_row(&timeline->rows[i * TIMELINE_BINS]);
		timeline->bin_ns *= 2;
	}
}

int64_t timeline_row_first(const struct timeline *timeline, size_t row)
{
	int64_t rows = (int64_t)timeline->row_count;

	return ((int64_t)row * timeline->members + rows - 1) / rows;
}

static size_t row_of(const struct timeline *timeline, int64_t member)
{
	if (member < 0)
		return 0;
	if (member >= timeline->members)
		return timeline->row_count - 1;
	if (timeline->members == (int64_t)timeline->row_count)
		return (size_t)member;
	return (size_t)(member * (int64_t)timeline->row_count / timeline->members);
}

static int bin_of(const struct timeline *t, int64_t time_ns)
{
	int64_t bin = time_ns > t->from_ns ? (time_ns - t->from_ns) / t->bin_ns : 0;

	return bin < TIMELINE_BINS ? (int)bin : TIMELINE_BINS - 1;
}

struct timeline_span timeline_find(struct timeline *timeline, int64_t start_ns, int64_t duration_ns)
{
	struct timeline_span span = { .start_ns = start_ns, .duration_ns = duration_ns };

	reach(timeline, start_ns + duration_ns);
	span.first = span.last = bin_of(timeline, start_ns);
	if (start_ns + duration_ns > timeline->from_ns + (span.first + 1) * timeline->bin_ns)
		span.last = bin_of(timeline, start_ns + duration_ns - 1);
	return span;
}

/* The parts of a call's bytes and time that belong to some bins. */
struct portion {
	uint64_t bytes[2], time_ns;
};

/* Of the bins up to and including `bin`. */
static struct portion portion_until(const struct timeline *t, const struct timeline_span *span,
				    int bin, const struct timeline_bin *what)
{
	struct portion whole = { .bytes = { what->bytes[0], what->bytes[1] },
				 .time_ns = (uint64_t)what->time_ns };
	double passed = (double)(t->from_ns + (bin + 1) * t->bin_ns - span->start_ns);
	double share = passed / (double)span->duration_ns;

	if (bin >= span->last)
		return whole;
	return (struct portion){ .bytes = { (uint64_t)((double)whole.bytes[0] * share),
					    (uint64_t)((double)whole.bytes[1] * share) },
				 .time_ns = (uint64_t)((double)whole.time_ns * share) };
}

/* What a bin gets is the difference of two portions, so that all bins add up to the whole. */
static void add_portion(uint64_t bytes[2], int64_t *time_ns, const struct portion *until,
			const struct portion *before)
{
	bytes[0] += until->bytes[0] - before->bytes[0];
	bytes[1] += until->bytes[1] - before->bytes[1];
	*time_ns += (int64_t)(until->time_ns - before->time_ns);
}

void timeline_add(const struct timeline *timeline, const struct timeline_span *span,
		  struct timeline_bin *bins, const struct timeline_bin *what)
{
	struct portion before = { 0 };

	if (span->first == span->last) {
		add_bin(&bins[span->first], what);
		return;
	}
	bins[span->first].calls += what->calls;
	for (int i = span->first; i <= span->last; i++) {
		struct portion until = portion_until(timeline, span, i, what);

		add_portion(bins[i].bytes, &bins[i].time_ns, &until, &before);
		before = until;
	}
}

static void add_to_row(const struct timeline *timeline, const struct timeline_span *span,
		       struct timeline_cell *row, const struct timeline_bin *what)
{
	struct portion before = { 0 };

	for (int i = span->first; i <= span->last; i++) {
		struct portion until = portion_until(timeline, span, i, what);

		add_portion(row[i].bytes, &row[i].time_ns, &until, &before);
		before = until;
	}
}

void timeline_add_member(struct timeline *timeline, const struct timeline_span *span,
			 int64_t member, const struct timeline_bin *what)
{
	add_to_row(timeline, span, &timeline->rows[row_of(timeline, member) * TIMELINE_BINS], what);
}

/* Do the bins start at the same times? */
static bool is_aligned(const struct timeline *a, const struct timeline *b, int64_t shift_ns)
{
	return a->bin_ns == b->bin_ns && a->from_ns == b->from_ns + shift_ns;
}

static void merge_bins(struct timeline *to, const struct timeline *from, int64_t shift_ns,
		       struct timeline_bin *bins, const struct timeline_bin *others)
{
	bool aligned = is_aligned(to, from, shift_ns);

	for (int i = 0; i < TIMELINE_BINS; i++) {
		struct timeline_span span = { .first = i, .last = i };

		if (!others[i].calls && !others[i].bytes[0] && !others[i].bytes[1] &&
		    !others[i].time_ns)
			continue;
		if (!aligned)
			span = timeline_find(to, from->from_ns + i * from->bin_ns + shift_ns,
					     from->bin_ns);
		timeline_add(to, &span, bins, &others[i]);
	}
}

static void merge_row(struct timeline *to, const struct timeline *from, int64_t shift_ns,
		      size_t row, int64_t member)
{
	struct timeline_cell *cells = &to->rows[row_of(to, member) * TIMELINE_BINS];
	bool aligned = is_aligned(to, from, shift_ns);

	for (int i = 0; i < TIMELINE_BINS; i++) {
		const struct timeline_cell *cell = &from->rows[row * TIMELINE_BINS + (size_t)i];
		struct timeline_bin what = { .bytes = { cell->bytes[0], cell->bytes[1] },
					     .time_ns = cell->time_ns };
		struct timeline_span span = { .first = i, .last = i };

		if (!what.bytes[0] && !what.bytes[1] && !what.time_ns)
			continue;
		if (!aligned)
			span = timeline_find(to, from->from_ns + i * from->bin_ns + shift_ns,
					     from->bin_ns);
		add_to_row(to, &span, cells, &what);
	}
}

void timeline_merge(struct timeline *timeline, const struct timeline *other,
		    const struct merged_map *map, int32_t member_base)
{
	int64_t shift_ns = map->shift_ns;

	/* Bins become wider before anything is added, because pointers into them are kept. */
	reach(timeline, end_of(other) + shift_ns);
	for (int i = 0; i < LAYER_COUNT; i++)
		merge_bins(timeline, other, shift_ns, timeline->layers[i], other->layers[i]);
	merge_bins(timeline, other, shift_ns, timeline->io, other->io);
	for (size_t row = 0; row < other->row_count; row++)
		merge_row(timeline, other, shift_ns, row,
			  timeline_row_first(other, row) + member_base);
	rasters_merge(&timeline->rasters, &other->rasters, map, member_base);
}
