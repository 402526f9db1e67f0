/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/window/chapter.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void draft_init(struct draft *draft)
{
	*draft = (struct draft){ 0 };
	tops_init(&draft->tops);
}

void draft_release(struct draft *draft)
{
	tops_release(&draft->tops);
	free(draft->events);
	free(draft->enclosing);
	free(draft->threads);
	map_release(&draft->thread_index);
	free(draft->slots);
	*draft = (struct draft){ 0 };
}

static struct chapter_thread *add_thread(struct draft *draft, uint32_t process, uint32_t thread)
{
	uint64_t key = ((uint64_t)process << 32 | thread) + 1;
	size_t place = (size_t)(uintptr_t)map_get(&draft->thread_index, key);

	if (place)
		return &draft->threads[place - 1];
	draft->threads = xgrow(draft->threads, &draft->thread_cap, draft->thread_count + 1,
			       sizeof(*draft->threads));
	draft->threads[draft->thread_count++] =
		(struct chapter_thread){ process, thread, UINT64_MAX, 0 };
	map_put(&draft->thread_index, key, (void *)(uintptr_t)draft->thread_count);
	return &draft->threads[draft->thread_count - 1];
}

void draft_add_id(struct draft *draft, uint32_t process, uint64_t id)
{
	struct chapter_thread *t = add_thread(draft, process, id_thread(id));

	if (id < t->low)
		t->low = id;
	if (id > t->high)
		t->high = id;
}

/* The place of a row with this key in the hash table. */
static uint32_t *find_slot(const struct draft *draft, const struct chapter_row *rows,
			   const struct chapter_row *key)
{
	uint64_t hash = (uint64_t)key->process << 32 | key->node;
	size_t slot;

	hash = (hash ^ (uint64_t)key->part << 56 ^ (uint64_t)key->kind << 48) *
	       UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 31) * UINT64_C(0xc2b2ae3d27d4eb4f);
	slot = hash >> 32 & (draft->slot_cap - 1);
	while (draft->slots[slot]) {
		const struct chapter_row *row = &rows[draft->slots[slot] - 1];

		if (row->node == key->node && row->process == key->process &&
		    row->part == key->part && row->kind == key->kind)
			break;
		slot = (slot + 1) & (draft->slot_cap - 1);
	}
	return &draft->slots[slot];
}

/* Adds a row to the first *count rows, which have a slot each. */
static void add_row(struct draft *draft, struct chapter_row *rows, size_t *count,
		    const struct chapter_row *row)
{
	uint32_t *slot = find_slot(draft, rows, row);

	if (!*slot) {
		rows[(*count)++] = *row;
		*slot = (uint32_t)*count;
		return;
	}
	rows[*slot - 1].calls += row->calls;
	rows[*slot - 1].bytes += row->bytes;
	rows[*slot - 1].time_ns += row->time_ns;
}

static void clear_slots(struct draft *draft, size_t rows)
{
	size_t cap = draft->slot_cap ? draft->slot_cap : 1024;

	while (cap < 2 * rows)
		cap *= 2;
	if (cap != draft->slot_cap) {
		free(draft->slots);
		draft->slots = xcalloc(cap, sizeof(*draft->slots));
		draft->slot_cap = cap;
		return;
	}
	memset(draft->slots, 0, cap * sizeof(*draft->slots));
}

static size_t part_of(const struct chapter *c, int64_t start_ns)
{
	return (size_t)((start_ns - c->first_ns) / c->part_ns);
}

/* Bits of a duration: the threshold of long calls is a power of two. */
static unsigned bits_of(int64_t ns)
{
	return ns > 0 ? 64 - (unsigned)__builtin_clzll((uint64_t)ns) : 0;
}

static bool may_be_long(const struct chapter *c, const struct event *event)
{
	return event->duration_ns > c->part_ns || event_end(event) > c->last_ns;
}

/* Durations with so many bits or more are long. */
static unsigned find_long_bits(const struct chapter *c, const struct draft *draft, size_t limit)
{
	size_t counts[65] = { 0 }, sum = 0;
	unsigned bits = 65;

	for (size_t i = 0; i < draft->count; i++) {
		if (may_be_long(c, &draft->events[i]))
			counts[bits_of(draft->events[i].duration_ns)]++;
	}
	while (bits && sum + counts[bits - 1] <= limit)
		sum += counts[--bits];
	return bits;
}

static void split_events(struct chapter *c, struct draft *draft, size_t long_limit)
{
	unsigned bits = find_long_bits(c, draft, long_limit);
	size_t long_cap = 0;

	c->capped = bits > 0;
	c->rows = xcalloc(draft->count + 1, sizeof(*c->rows));
	clear_slots(draft, draft->count);
	for (size_t i = 0; i < draft->count; i++) {
		const struct event *e = &draft->events[i];
		const struct chapter_row row = {
			.bytes = e->bytes,
			.time_ns = e->duration_ns,
			.node = e->node,
			.process = e->process,
			.calls = 1,
			.part = (uint8_t)part_of(c, e->start_ns),
			.kind = e->kind,
		};

		if (bits_of(e->duration_ns) < bits || !may_be_long(c, e)) {
			add_row(draft, c->rows, &c->row_count, &row);
			continue;
		}
		c->longs = xgrow(c->longs, &long_cap, c->long_count + 1, sizeof(*c->longs));
		c->longs[c->long_count++] = *e;
	}
}

static void widen_parts(struct chapter *c, struct draft *draft)
{
	size_t count = 0;

	clear_slots(draft, c->row_count);
	for (size_t i = 0; i < c->row_count; i++) {
		struct chapter_row row = c->rows[i];

		row.part /= 2;
		add_row(draft, c->rows, &count, &row);
	}
	c->row_count = count;
	c->part_ns *= 2;
}

static int compare_rows(const void *a, const void *b)
{
	const struct chapter_row *x = a, *y = b;

	return x->time_ns < y->time_ns ? 1 : x->time_ns > y->time_ns ? -1 : 0;
}

/* What rows lose; each step includes those before. */
enum fold { FOLD_FILE, FOLD_PROCESS, FOLD_CHAIN };

/* The rows with the most time, half of what is allowed, stay as they are. */
static void fold_rows(struct chapter *c, struct draft *draft, size_t limit, struct nodes *nodes,
		      const uint8_t *is_outside, enum fold fold)
{
	size_t kept = limit / 2, count = 0;

	c->folded = true;
	qsort(c->rows, c->row_count, sizeof(*c->rows), compare_rows);
	clear_slots(draft, c->row_count);
	for (size_t i = 0; i < c->row_count; i++) {
		struct chapter_row row = c->rows[i];

		if (i >= kept) {
			row.node = nodes_fold(nodes, row.node, fold == FOLD_CHAIN);
			if (fold >= FOLD_PROCESS && row.process < PROCESS_OUTSIDE)
				row.process =
					is_outside[row.process] ? PROCESS_OUTSIDE : PROCESS_OTHERS;
		}
		add_row(draft, c->rows, &count, &row);
	}
	c->row_count = count;
}

static void sample_transfers(struct chapter *c, const struct draft *draft)
{
	uint64_t transfers = 0, seen = 0;

	for (size_t i = 0; i < draft->count; i++)
		transfers += draft->events[i].offset != OFFSET_UNKNOWN;
	c->sample_step = (transfers + CHAPTER_SAMPLES - 1) / CHAPTER_SAMPLES;
	if (!transfers)
		return;
	c->samples = xcalloc(CHAPTER_SAMPLES, sizeof(*c->samples));
	for (size_t i = 0; i < draft->count; i++) {
		if (draft->events[i].offset != OFFSET_UNKNOWN && seen++ % c->sample_step == 0)
			c->samples[c->sample_count++] = draft->events[i];
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct chapter_call *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_threads(const void *a, const void *b)
{
	const struct chapter_thread *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void *copy_of(const void *array, size_t count, size_t bytes)
{
	return count ? memcpy(xmalloc(count * bytes), array, count * bytes) : NULL;
}

static void take_calls(struct chapter *c, struct draft *draft, size_t thread_limit)
{
	c->enclosing_count = draft->enclosing_count;
	c->enclosing = copy_of(draft->enclosing, c->enclosing_count, sizeof(*c->enclosing));
	if (c->enclosing)
		qsort(c->enclosing, c->enclosing_count, sizeof(*c->enclosing), compare_calls);
	c->has_threads = draft->thread_count <= thread_limit;
	if (c->has_threads && draft->thread_count) {
		c->thread_count = draft->thread_count;
		c->threads = copy_of(draft->threads, c->thread_count, sizeof(*c->threads));
		qsort(c->threads, c->thread_count, sizeof(*c->threads), compare_threads);
	}
	draft->enclosing_count = draft->thread_count = 0;
	map_release(&draft->thread_index);
}

static void find_times(struct chapter *c, const struct draft *draft)
{
	c->first_ns = draft->events[0].start_ns;
	c->last_ns = draft->events[draft->count - 1].start_ns;
	c->part_ns = (c->last_ns - c->first_ns) / CHAPTER_PARTS + 1;
	c->end_ns = c->first_ns;
	for (size_t i = 0; i < draft->count; i++) {
		if (event_end(&draft->events[i]) > c->end_ns)
			c->end_ns = event_end(&draft->events[i]);
		if (draft->events[i].duration_ns > c->longest_ns)
			c->longest_ns = draft->events[i].duration_ns;
	}
}

struct chapter *chapter_new(struct draft *draft, const struct chapter_limits *limits,
			    struct nodes *nodes, const uint8_t *is_outside)
{
	struct chapter *c = xcalloc(1, sizeof(*c));

	c->count = draft->count;
	find_times(c, draft);
	split_events(c, draft, limits->longs);
	for (int parts = CHAPTER_PARTS; parts > 1 && c->row_count > limits->rows; parts /= 2)
		widen_parts(c, draft);
	for (enum fold fold = FOLD_FILE; fold <= FOLD_CHAIN && c->row_count > limits->rows; fold++)
		fold_rows(c, draft, limits->rows, nodes, is_outside, fold);
	c->rows = xrealloc(c->rows, c->row_count + 1, sizeof(*c->rows));
	if (c->longs)
		c->longs = xrealloc(c->longs, c->long_count, sizeof(*c->longs));
	sample_transfers(c, draft);
	take_calls(c, draft, limits->threads);
	tops_take(&draft->tops, limits->tops, &c->tops);
	draft->count = 0;
	return c;
}

void chapter_free(struct chapter *chapter)
{
	if (!chapter)
		return;
	free(chapter->rows);
	free(chapter->longs);
	free(chapter->samples);
	free(chapter->enclosing);
	free(chapter->threads);
	tops_release(&chapter->tops);
	free(chapter);
}

size_t chapter_bytes(const struct chapter *chapter)
{
	return sizeof(*chapter) + chapter->row_count * sizeof(*chapter->rows) +
	       chapter->long_count * sizeof(*chapter->longs) +
	       (chapter->samples ? CHAPTER_SAMPLES * sizeof(*chapter->samples) : 0) +
	       chapter->enclosing_count * sizeof(*chapter->enclosing) +
	       chapter->thread_count * sizeof(*chapter->threads) +
	       chapter->tops.cap * sizeof(*chapter->tops.list);
}

struct row_span chapter_row_span(const struct chapter *chapter, const struct chapter_row *row)
{
	int64_t average = row->calls && row->time_ns > 0 ? row->time_ns / row->calls : 0;
	struct row_span span = { .from_ns = chapter->first_ns + row->part * chapter->part_ns };

	span.starts_ns = span.from_ns + chapter->part_ns;
	if (span.starts_ns > chapter->last_ns)
		span.starts_ns = chapter->last_ns + 1;
	span.until_ns = span.starts_ns + average;
	if (!chapter->capped && span.until_ns > chapter->last_ns)
		span.until_ns = chapter->last_ns + 1;
	return span;
}

uint32_t chapter_find_enclosing(const struct chapter *chapter, uint32_t process, uint64_t id)
{
	const struct chapter_call key = { .id = id, .process = process };
	const struct chapter_call *found = NULL;

	if (chapter->enclosing_count)
		found = bsearch(&key, chapter->enclosing, chapter->enclosing_count, sizeof(key),
				compare_calls);
	return found ? found->node : 0;
}

bool chapter_may_have(const struct chapter *chapter, uint32_t process, uint64_t id)
{
	const struct chapter_thread key = { .process = process, .thread = id_thread(id) };
	const struct chapter_thread *found = NULL;

	if (!chapter->has_threads)
		return true;
	if (chapter->thread_count)
		found = bsearch(&key, chapter->threads, chapter->thread_count, sizeof(key),
				compare_threads);
	return found && id >= found->low && id <= found->high;
}
