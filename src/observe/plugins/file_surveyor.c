/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/file_surveyor.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/report/traffic.h"

/* More than a process may have open; of more, those opened first are taken for opened anew. */
#define OPENS_MAX 65536
#define STARTED_MAX 65536

/* What is kept of a file while it is open. */
struct survey_open {
	int64_t expected;  /* position behind the latest access */
	int64_t latest[2]; /* start of the latest access of each direction, */
	bool any[2];	   /* if there was one */
};

struct survey_start {
	struct survey *survey;
	uint64_t asked;
	int way;
};

#define GET(name, value)                         \
	static double name(const void *record)   \
	{                                        \
		const struct survey *s = record; \
		return value;                    \
	}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

GET(get_accesses, (double)(s->accesses[READING] + s->accesses[WRITING]))
GET(get_read_long, (double)s->long_seeks[READING])
GET(get_read_short, (double)s->short_seeks[READING])
GET(get_read_sequential, (double)s->sequential[READING])
GET(get_write_long, (double)s->long_seeks[WRITING])
GET(get_write_short, (double)s->short_seeks[WRITING])
GET(get_write_sequential, (double)s->sequential[WRITING])
GET(get_bytes, (double)(s->bytes[READING] + s->bytes[WRITING]))
GET(get_read_size, ratio(s->bytes[READING], s->accesses[READING]))
GET(get_read_bytes, (double)s->bytes[READING])
GET(get_written_bytes, (double)s->bytes[WRITING])
GET(get_write_size, ratio(s->bytes[WRITING], s->accesses[WRITING]))
GET(get_read_seek, ratio(s->seek_bytes[READING], s->accesses[READING]))
GET(get_write_seek, ratio(s->seek_bytes[WRITING], s->accesses[WRITING]))
GET(get_closing, (double)s->close_ns)
GET(get_opening, (double)s->open_ns)
GET(get_reading, (double)s->transfer_ns[READING])
GET(get_writing, (double)s->transfer_ns[WRITING])
GET(get_surveyed, (double)(s->last_ns - s->first_ns))

const struct measure survey_measures[SURVEY_MEASURES] = {
	{ "Accesses", NULL, QUANTITY_COUNT, get_accesses },
	{ "Accesses/Reading/Random, long seek", NULL, QUANTITY_COUNT, get_read_long },
	{ "Accesses/Reading/Random, short seek", NULL, QUANTITY_COUNT, get_read_short },
	{ "Accesses/Reading/Sequential", NULL, QUANTITY_COUNT, get_read_sequential },
	{ "Accesses/Writing/Random, long seek", NULL, QUANTITY_COUNT, get_write_long },
	{ "Accesses/Writing/Random, short seek", NULL, QUANTITY_COUNT, get_write_short },
	{ "Accesses/Writing/Sequential", NULL, QUANTITY_COUNT, get_write_sequential },
	{ "Bytes", NULL, QUANTITY_BYTES, get_bytes },
	{ "Bytes/Read per access", NULL, QUANTITY_BYTES, get_read_size },
	{ "Bytes/Total read", NULL, QUANTITY_BYTES, get_read_bytes },
	{ "Bytes/Total written", NULL, QUANTITY_BYTES, get_written_bytes },
	{ "Bytes/Written per access", NULL, QUANTITY_BYTES, get_write_size },
	{ "Seek Distance/Average reading", NULL, QUANTITY_BYTES, get_read_seek },
	{ "Seek Distance/Average writing", NULL, QUANTITY_BYTES, get_write_seek },
	{ "Time/Total for closing", NULL, QUANTITY_NS, get_closing },
	{ "Time/Total for opening", NULL, QUANTITY_NS, get_opening },
	{ "Time/Total for reading", NULL, QUANTITY_NS, get_reading },
	{ "Time/Total for writing", NULL, QUANTITY_NS, get_writing },
	{ "Time/Total surveyed", NULL, QUANTITY_NS, get_surveyed },
};

void file_surveyor_init(struct file_surveyor *surveyor, const struct trace_head *head,
			const struct ranks *ranks)
{
	*surveyor = (struct file_surveyor){ .head = head, .ranks = ranks };
	recent_init(&surveyor->opens, OPENS_MAX, sizeof(struct survey_open));
	recent_init(&surveyor->started, STARTED_MAX, sizeof(struct survey_start));
	surveyor->ways = traffic_table(head);
}

void file_surveyor_release(struct file_surveyor *surveyor)
{
	for (size_t i = 0; i < surveyor->surveys.cap; i++)
		free(surveyor->surveys.entries[i].value);
	map_release(&surveyor->surveys);
	recent_release(&surveyor->opens);
	recent_release(&surveyor->started);
	nest_release(&surveyor->nest);
	free(surveyor->ways);
	*surveyor = (struct file_surveyor){ 0 };
}

/*
 * Keys sort by layer, then file, then member, a rank's index or a process: layer in 8 bits, counted
 * from 1, file in 32, member in 24.
 */
#define KEY_MEMBER_BITS 24
#define KEY_FILE_BITS 32
#define KEY_MEMBER_MASK ((UINT64_C(1) << KEY_MEMBER_BITS) - 1)

static uint64_t key_make(unsigned layer, file_id file, uint32_t member)
{
	return ((uint64_t)(layer + 1) << KEY_FILE_BITS | file) << KEY_MEMBER_BITS | member;
}

static unsigned key_layer(uint64_t key)
{
	return (unsigned)(key >> (KEY_FILE_BITS + KEY_MEMBER_BITS)) - 1;
}

static file_id key_file(uint64_t key)
{
	return (file_id)(key >> KEY_MEMBER_BITS);
}

/* NULL for processes outside the ranks. */
static struct survey *survey_of(struct file_surveyor *s, const struct activity *a, file_id file)
{
	int32_t rank = ranks_of_process(s->ranks, a->process);
	uint32_t member = s->ranks->count ? (uint32_t)rank : a->process;
	int64_t end = a->start_ns + a->duration_ns;
	struct survey *survey;
	uint64_t key;

	if ((s->ranks->count && rank < 0) || member > KEY_MEMBER_MASK)
		return NULL;
	key = key_make(a->layer, file, member);
	survey = map_get(&s->surveys, key);
	if (!survey) {
		survey = xcalloc(1, sizeof(*survey));
		survey->first_ns = a->start_ns;
		map_put(&s->surveys, key, survey);
	}
	if (end > survey->last_ns)
		survey->last_ns = end;
	return survey;
}

/* A file whose open was not seen is taken for one that each process opens once. */
static struct call_ref open_ref(const struct file_surveyor *s, const struct activity *a)
{
	uint64_t id = a->link & ID_MASK;

	if (id)
		return (struct call_ref){ trace_owner(s->head, a->process, id), id };
	return (struct call_ref){ a->process, ~ID_MASK | (uint64_t)a->layer << 32 | a->file };
}

/* Unsigned, so that a broken trace cannot overflow it. */
static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static void note_seek(struct survey *survey, struct survey_open *open, int way, int64_t at)
{
	if (open->any[way])
		survey->seek_bytes[way] += distance(at, open->latest[way]);
	open->latest[way] = at;
	open->any[way] = true;
}

static void note_position(struct file_surveyor *s, struct survey *survey, const struct activity *a,
			  int way, int64_t bytes)
{
	struct call_ref ref = open_ref(s, a);
	struct survey_open *open = recent_find(&s->opens, ref);
	int64_t span = a->present & PRESENT(SPAN) ? a->span : bytes;
	uint64_t seek;

	if (!open)
		open = recent_put(&s->opens, ref);
	seek = distance(a->offset, open->expected);
	if (span > bytes || seek > SURVEY_SHORT_SEEK_BYTES)
		survey->long_seeks[way]++;
	else if (seek)
		survey->short_seeks[way]++;
	else
		survey->sequential[way]++;
	note_seek(survey, open, way, a->offset);
	open->expected = a->offset + (span > bytes ? span : bytes);
}

static void note_start(struct file_surveyor *s, struct survey *survey, const struct activity *a,
		       int way, uint64_t asked)
{
	struct survey_start *start =
		recent_put(&s->started, (struct call_ref){ a->process, a->id });

	*start = (struct survey_start){ survey, asked, way };
}

static void note_access(struct file_surveyor *s, const struct activity *a, file_id file, int way)
{
	const struct call_info *call = &s->head->calls[a->call];
	struct survey *survey = survey_of(s, a, file);
	uint64_t bytes = traffic_bytes(a, call);
	bool starts = call->class == CLASS_START;

	if (!survey)
		return;
	survey->transfer_ns[way] += a->duration_ns;
	if (starts ? a->error != 0 : a->result < 0)
		return;
	survey->accesses[way]++;
	survey->bytes[way] += bytes;
	if (bytes && call->class != CLASS_COPY && a->present & PRESENT(OFFSET))
		note_position(s, survey, a, way, (int64_t)bytes);
	if (starts)
		note_start(s, survey, a, way, bytes);
}

static void note_completion(struct file_surveyor *s, const struct activity *a)
{
	struct call_ref ref = traffic_start(&s->started, s->head, a);
	int64_t end = a->start_ns + a->duration_ns;
	struct survey_start *start;

	if (!ref.id)
		return;
	start = recent_find(&s->started, ref);
	start->survey->bytes[start->way] += traffic_completed(a, start->asked) - start->asked;
	start->survey->transfer_ns[start->way] += a->duration_ns;
	if (end > start->survey->last_ns)
		start->survey->last_ns = end;
	recent_drop(&s->started, ref);
}

static void note_open(struct file_surveyor *s, const struct activity *a)
{
	struct survey *survey = a->file ? survey_of(s, a, a->file) : NULL;

	if (survey)
		survey->open_ns += a->duration_ns;
}

static void note_close(struct file_surveyor *s, const struct activity *a)
{
	struct survey *survey = a->file ? survey_of(s, a, a->file) : NULL;

	if (survey)
		survey->close_ns += a->duration_ns;
	recent_drop(&s->opens, open_ref(s, a));
}

/* The duplicate of a handle stands where the handle does. */
static void note_duplicate(struct file_surveyor *s, const struct activity *a)
{
	const struct survey_open *from = recent_find(&s->opens, open_ref(s, a));
	struct call_ref to = { a->process, a->id };
	struct survey_open state;

	if (!from || recent_find(&s->opens, to))
		return;
	state = *from; /* putting may forget the original */
	memcpy(recent_put(&s->opens, to), &state, sizeof(state));
}

/* Streams on a pipe or socket that the program was given stay calls of their own layer: the name
 * that the kernel has for it tells. */
static bool has_path(const struct file_surveyor *s, file_id file)
{
	const char *name = s->head->files[file];

	return strncmp(name, "pipe:[", 6) != 0 && strncmp(name, "socket:[", 8) != 0;
}

/* A call inside another one of its layer on its file is part of that; see also the header. */
static bool is_surveyed(struct file_surveyor *s, const struct activity *a)
{
	const struct nest_call *enclosing;
	size_t depth = nest_enter(&s->nest, a, &enclosing);

	for (size_t i = 0; i < depth; i++) {
		if (s->head->calls[enclosing[i].call].class == CLASS_PROCESS)
			return false;
		if (enclosing[i].layer == a->layer && enclosing[i].file == a->file)
			return false;
	}
	return a->layer != LAYER_NETWORK && (!a->file || has_path(s, a->file));
}

static void note_accesses(struct file_surveyor *s, const struct activity *a)
{
	unsigned ways = s->ways[a->call];
	bool copies = ways == (1u << READING | 1u << WRITING);
	file_id source = copies ? a->file2 : a->file;

	if (ways & 1u << WRITING && a->file)
		note_access(s, a, a->file, WRITING);
	if (ways & 1u << READING && source)
		note_access(s, a, source, READING);
}

void file_surveyor_add(struct file_surveyor *surveyor, const struct activity *activity)
{
	struct file_surveyor *s = surveyor;
	const struct activity *a = activity;
	unsigned class;
	bool surveyed;

	if (a->call >= s->head->call_count || a->layer >= LAYER_COUNT ||
	    a->file >= s->head->file_count || a->file2 >= s->head->file_count)
		return;
	class = s->head->calls[a->call].class;
	surveyed = is_surveyed(s, a);
	if (class == CLASS_WAIT) /* wherever it stands: what it completes was surveyed */
		note_completion(s, a);
	else if (surveyed && class == CLASS_DUP)
		note_duplicate(s, a);
	else if (surveyed && class == CLASS_OPEN)
		note_open(s, a);
	else if (surveyed && class == CLASS_CLOSE)
		note_close(s, a);
	else if (surveyed)
		note_accesses(s, a);
}

static int compare_keys(const void *a, const void *b)
{
	const struct map_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static struct map_entry *sorted(const struct file_surveyor *s)
{
	const struct map *map = &s->surveys;
	struct map_entry *entries = xcalloc(map->count + 1, sizeof(*entries));
	size_t n = 0;

	for (size_t i = 0; i < map->cap; i++) {
		if (map->entries[i].key)
			entries[n++] = map->entries[i];
	}
	qsort(entries, n, sizeof(*entries), compare_keys);
	return entries;
}

static void row_add(const struct file_surveyor *s, struct survey_row *row,
		    const struct map_entry *entry)
{
	const struct survey *survey = entry->value;
	size_t member = entry->key & KEY_MEMBER_MASK;
	int32_t number = s->ranks->count ? s->ranks->list[member].number : (int32_t)member;

	row->layer = (uint8_t)key_layer(entry->key);
	row->file = key_file(entry->key);
	row->members++;
	row->time_ns += (double)(survey->open_ns + survey->transfer_ns[READING] +
				 survey->transfer_ns[WRITING] + survey->close_ns);
	for (size_t i = 0; i < SURVEY_MEASURES; i++)
		spread_add(&row->fields[i], number, survey_measures[i].get(survey));
}

/* What rows are sorted by. */
struct order {
	const struct trace_head *head;
	double *file_ns; /* of each file, the time of its costliest layer */
};

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct survey_row *x = a, *y = b;
	const struct order *order = arg;

	if (x->file == y->file)
		return (int)y->layer - (int)x->layer;
	if (order->file_ns[x->file] != order->file_ns[y->file])
		return order->file_ns[x->file] < order->file_ns[y->file] ? 1 : -1;
	return strcmp(order->head->files[x->file], order->head->files[y->file]);
}

static void sort_rows(const struct file_surveyor *s, struct survey_row *rows, size_t count)
{
	AUTO_FREE double *file_ns = xcalloc(s->head->file_count + 1, sizeof(*file_ns));
	struct order order = { s->head, file_ns };

	for (size_t i = 0; i < count; i++) {
		if (rows[i].time_ns > file_ns[rows[i].file])
			file_ns[rows[i].file] = rows[i].time_ns;
	}
	if (count)
		qsort_r(rows, count, sizeof(*rows), compare_rows, &order);
}

struct survey_row *file_surveyor_rows(const struct file_surveyor *surveyor, size_t *count)
{
	AUTO_FREE struct map_entry *entries = sorted(surveyor);
	struct survey_row *rows = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < surveyor->surveys.count;) {
		uint64_t same = entries[i].key >> KEY_MEMBER_BITS;
		struct survey_row row = { 0 };

		for (; entries[i].key >> KEY_MEMBER_BITS == same; i++)
			row_add(surveyor, &row, &entries[i]);
		if (row.fields[0].maximum <= 0) /* opened, but not accessed */
			continue;
		rows = xgrow(rows, &cap, n + 1, sizeof(*rows));
		rows[n++] = row;
	}
	sort_rows(surveyor, rows, n);
	*count = n;
	return rows;
}
