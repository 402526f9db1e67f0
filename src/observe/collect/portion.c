/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/portion.h"

#include <stdlib.h>

#include "base/mem.h"

#define BLOCK_WORDS (128u * 1024)
/* With this many lanes, the part of each has room for any record. */
#define LANES_MAX (PORTION_WORDS / RECORD_WORDS_MAX)

_Static_assert(BLOCK_WORDS >= CHUNK_WORDS, "any sequence fits into a block");

/* The pending chunks of one thread. */
struct lane {
	struct pending *first;
	size_t count;
	uint64_t words;
};

void portion_release(struct portion *portion)
{
	for (size_t i = 0; i < portion->block_count; i++)
		free(portion->blocks[i]);
	free(portion->blocks);
	free(portion->lanes);
	*portion = (struct portion){ 0 };
}

static int sequence_compare(const void *a, const void *b)
{
	const struct pending *pa = a, *pb = b;

	if (pa->spool != pb->spool)
		return pa->spool < pb->spool ? -1 : 1;
	if (pa->thread != pb->thread)
		return pa->thread < pb->thread ? -1 : 1;
	return pa->time < pb->time ? -1 : pa->time > pb->time;
}

void portion_sort(struct pending *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pending_peek(&list[i]);
	if (count)
		qsort(list, count, sizeof(*list), sequence_compare);
}

void portion_begin(struct portion *portion)
{
	portion->block = 0;
	portion->used = 0;
}

/* Returns room for that many words, at most BLOCK_WORDS. */
static uint64_t *make_room(struct portion *portion, size_t words)
{
	if (portion->used + words > BLOCK_WORDS) {
		portion->block++;
		portion->used = 0;
	}
	if (portion->block == portion->block_count) {
		portion->blocks = xgrow(portion->blocks, &portion->block_cap,
					portion->block_count + 1, sizeof(*portion->blocks));
		portion->blocks[portion->block_count++] =
			xmalloc(BLOCK_WORDS * sizeof(**portion->blocks));
	}
	return portion->blocks[portion->block] + portion->used;
}

void portion_add(struct portion *portion, struct pending *p)
{
	pending_load(p, make_room(portion, p->words), p->words);
}

void portion_keep(struct portion *portion, const uint64_t *end)
{
	portion->used = (size_t)(end - portion->blocks[portion->block]);
}

static void list_lanes(struct portion *portion, struct pending *list, size_t count)
{
	struct lane *lane = NULL;

	portion->lane_count = 0;
	for (struct pending *p = list; p < list + count; p++) {
		if (!lane || lane->first->spool != p->spool || lane->first->thread != p->thread) {
			portion->lanes = xgrow(portion->lanes, &portion->lane_cap,
					       portion->lane_count + 1, sizeof(*portion->lanes));
			lane = &portion->lanes[portion->lane_count++];
			*lane = (struct lane){ .first = p };
		}
		lane->count++;
		lane->words += p->words;
	}
}

static int lane_compare_time(const void *a, const void *b)
{
	const struct lane *la = a, *lb = b;

	return la->first->time < lb->first->time ? -1 : la->first->time > lb->first->time;
}

static int lane_compare_words(const void *a, const void *b)
{
	const struct lane *la = a, *lb = b;

	return la->words < lb->words ? -1 : la->words > lb->words;
}

/* Returns the latest end of a record of the copy. */
static uint64_t latest_end(struct pending p)
{
	const uint64_t *at = p.records, *r;
	uint64_t damaged = p.spool->damaged_words, latest = 0;

	while (at < p.end && (r = pending_next(&p, &at)))
		if (record_start(r) + record_duration(r) > latest)
			latest = record_start(r) + record_duration(r);
	/* It is counted when the records are taken. */
	p.spool->damaged_words = damaged;
	return latest;
}

/* Loads up to `words` words. Returns how many; *until: the end of an incomplete lane. */
static uint64_t lane_load(struct portion *portion, const struct lane *lane, uint64_t words,
			  uint64_t *until)
{
	uint64_t left = words < lane->words ? words : lane->words, loaded = 0;
	const struct pending *last = NULL;

	for (struct pending *p = lane->first; p < lane->first + lane->count; p++) {
		uint32_t part = p->words < left ? p->words : (uint32_t)left;

		/* Too little for a record, perhaps. */
		if (part < p->words && part < RECORD_WORDS_MAX)
			break;
		pending_load(p, make_room(portion, part), part);
		portion->used += part;
		left -= part;
		loaded += part;
		last = p;
	}
	if (last && loaded < lane->words) {
		uint64_t end = latest_end(*last);

		/* A program can write wrong times, but must not delay the records of others. */
		if (end > portion->until && end < *until)
			*until = end;
	}
	return loaded;
}

uint64_t portion_load(struct portion *portion, struct pending *list, size_t count, uint64_t now)
{
	uint64_t left = PORTION_WORDS, until = now;

	portion_begin(portion);
	list_lanes(portion, list, count);
	if (portion->lane_count > LANES_MAX) {
		qsort(portion->lanes, portion->lane_count, sizeof(struct lane), lane_compare_time);
		until = portion->lanes[LANES_MAX].first->time;
		portion->lane_count = LANES_MAX;
	}
	if (portion->lane_count)
		qsort(portion->lanes, portion->lane_count, sizeof(struct lane), lane_compare_words);
	for (size_t i = 0; i < portion->lane_count; i++)
		left -= lane_load(portion, &portion->lanes[i], left / (portion->lane_count - i),
				  &until);
	if (now != UINT64_MAX)
		portion->until = until;
	return until < now ? until : now;
}
