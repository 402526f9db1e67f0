/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/file_surveyor.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"

/*
 * More files than a process may open. Beyond it, the files opened first are treated as opened
 * again.
 */
#define OPENS_MAX 65536
#define STARTED_MAX 65536

/* State of an open file, overall and per direction. */
struct survey_open {
	int64_t expected; /* position where the latest access ended */
	struct {
		bool any;	/* at least one access happened */
		bool backwards; /* direction of the latest seek */
		uint64_t seek;	/* its distance; 0: first access, or same position */
		int64_t latest; /* start of the latest access */
	} way[2];
};

struct survey_start {
	struct survey *survey;
	uint64_t asked;
	int way;
};

void file_surveyor_init(struct file_surveyor *surveyor, const struct sluice_host *host)
{
	*surveyor = (struct file_surveyor){ .host = host };
	recent_init(&surveyor->opens, OPENS_MAX, sizeof(struct survey_open));
	recent_init(&surveyor->started, STARTED_MAX, sizeof(struct survey_start));
}

void file_surveyor_release(struct file_surveyor *surveyor)
{
	for (size_t i = 0; i < surveyor->surveys.cap; i++) {
		if (!surveyor->surveys.entries[i].key)
			continue;
		survey_release(surveyor->surveys.entries[i].value);
		free(surveyor->surveys.entries[i].value);
	}
	map_release(&surveyor->surveys);
	recent_release(&surveyor->opens);
	recent_release(&surveyor->started);
	nest_release(&surveyor->nest);
	*surveyor = (struct file_surveyor){ 0 };
}

static const struct call_info *call_of(const struct file_surveyor *s, unsigned number)
{
	return s->host->call(s->host->self, number);
}

/*
 * Keys sort by layer, then file, then process: 8 bits for the layer + 1, 32 for the file, 24 for
 * the process.
 */
#define KEY_PROCESS_BITS 24
#define KEY_FILE_BITS 32
#define KEY_PROCESS_MASK ((UINT64_C(1) << KEY_PROCESS_BITS) - 1)

static uint64_t key_make(unsigned layer, file_id file, uint32_t process)
{
	return ((uint64_t)(layer + 1) << KEY_FILE_BITS | file) << KEY_PROCESS_BITS | process;
}

static unsigned key_layer(uint64_t key)
{
	return (unsigned)(key >> (KEY_FILE_BITS + KEY_PROCESS_BITS)) - 1;
}

static file_id key_file(uint64_t key)
{
	return (file_id)(key >> KEY_PROCESS_BITS);
}

/* NULL if the process number does not fit the key. */
static struct survey *survey_get(struct file_surveyor *s, const struct activity *a, file_id file)
{
	int64_t end = a->start_ns + a->duration_ns;
	struct survey *survey;
	uint64_t key;

	if (a->process > KEY_PROCESS_MASK)
		return NULL;
	key = key_make(a->layer, file, a->process);
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

/*
 * Finds the remembered call with this id, made by the process or by one of its ancestors: ids are
 * unique along a line of forks. The id is 0 if the call is not remembered.
 */
static struct call_ref lineage_find(const struct file_surveyor *s, const struct recent *recent,
				    uint32_t process, uint64_t id)
{
	while (id) {
		struct call_ref ref = { process, id };
		const struct sluice_process *p;

		if (recent_find(recent, ref))
			return ref;
		p = s->host->process(s->host->self, process);
		/* A parent's index is lower than its child's, so the loop ends. */
		if (!p || p->parent < 0 || (uint32_t)p->parent >= process)
			break;
		process = (uint32_t)p->parent;
	}
	return (struct call_ref){ 0 };
}

/*
 * Identifies the open that an access goes through: the call that created the handle. A handle from
 * before the recording counts as opened once per process.
 */
static struct call_ref open_ref(const struct file_surveyor *s, const struct activity *a)
{
	uint64_t id = a->link & ID_MASK;
	struct call_ref ref = lineage_find(s, &s->opens, a->process, id);

	if (ref.id || id)
		return ref.id ? ref : (struct call_ref){ a->process, id };
	return (struct call_ref){ a->process, ~ID_MASK | (uint64_t)a->layer << 32 | a->file };
}

/* The result is unsigned, so that a broken trace cannot overflow it. */
static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Returns whether the distance from the previous access equals the one before it. */
static bool note_seek(struct survey *survey, struct survey_open *open, int way, int64_t at)
{
	bool backwards = at < open->way[way].latest;
	uint64_t seek = open->way[way].any ? distance(at, open->way[way].latest) : 0;
	bool strided = seek && seek == open->way[way].seek && backwards == open->way[way].backwards;

	survey->seek_bytes[way] += seek;
	if (seek > survey->seek_largest[way])
		survey->seek_largest[way] = seek;
	open->way[way].any = true;
	open->way[way].backwards = backwards;
	open->way[way].seek = seek;
	open->way[way].latest = at;
	return strided;
}

static void note_place(struct survey *survey, const struct activity *a, int way, int64_t bytes,
		       int64_t span)
{
	regions_add(&survey->regions[way], a->offset, span, span > bytes);
	if (span == bytes && a->offset >= 0)
		survey_add_alignment(survey, way, (uint64_t)a->offset, (uint64_t)bytes);
}

static void note_position(struct file_surveyor *s, struct survey *survey, const struct activity *a,
			  int way, int64_t bytes)
{
	struct call_ref ref = open_ref(s, a);
	struct survey_open *open = recent_find(&s->opens, ref);
	int64_t span = a->present & PRESENT(SPAN) && a->span > bytes ? a->span : bytes;
	bool strided;
	uint64_t seek;

	if (!open)
		open = recent_put(&s->opens, ref);
	seek = distance(a->offset, open->expected);
	strided = note_seek(survey, open, way, a->offset);
	if (span > bytes || seek > SURVEY_SHORT_SEEK_BYTES)
		survey->long_seeks[way]++;
	else if (seek)
		survey->short_seeks[way]++;
	else
		survey->sequential[way]++;
	if (strided && (span > bytes || seek))
		survey_add_stride(survey, way, open->way[way].seek);
	note_place(survey, a, way, bytes, span);
	open->expected = a->offset + span;
}

static void note_start(struct file_surveyor *s, struct survey *survey, const struct activity *a,
		       int way, uint64_t asked)
{
	struct survey_start *start =
		recent_put(&s->started, (struct call_ref){ a->process, a->id });

	*start = (struct survey_start){ survey, asked, way };
}

static void note_access(struct file_surveyor *s, const struct activity *a,
			const struct call_info *call, file_id file, int way)
{
	struct survey *survey = survey_get(s, a, file);
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
	else if (bytes)
		survey->regions[way].unplaced = true;
	if (starts)
		note_start(s, survey, a, way, bytes);
}

/* Which of the two links refers to the call that started the operation depends on the call. */
static struct call_ref start_ref(const struct file_surveyor *s, const struct activity *a)
{
	struct call_ref ref = lineage_find(s, &s->started, a->process, a->link & ID_MASK);

	return ref.id ? ref : lineage_find(s, &s->started, a->process, a->link2 & ID_MASK);
}

static void note_completion(struct file_surveyor *s, const struct activity *a)
{
	struct call_ref ref = start_ref(s, a);
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

/* The handle is remembered for the process that created it, so that its children find it there. */
static void note_open(struct file_surveyor *s, const struct activity *a)
{
	struct survey *survey = a->file ? survey_get(s, a, a->file) : NULL;
	struct call_ref ref = { a->process, a->id };

	if (survey)
		survey->open_ns += a->duration_ns;
	if (survey && !a->error && !recent_find(&s->opens, ref))
		recent_put(&s->opens, ref);
}

/* A child that closes an inherited handle leaves it open in its parent. */
static void note_close(struct file_surveyor *s, const struct activity *a)
{
	struct survey *survey = a->file ? survey_get(s, a, a->file) : NULL;
	struct call_ref ref = open_ref(s, a);

	if (survey)
		survey->close_ns += a->duration_ns;
	if (ref.process == a->process)
		recent_drop(&s->opens, ref);
}

static void note_repositioning(struct file_surveyor *s, const struct activity *a)
{
	struct survey *survey = a->file ? survey_get(s, a, a->file) : NULL;

	if (survey)
		survey->seeks++;
}

/* The duplicate of a handle shares its position. */
static void note_duplicate(struct file_surveyor *s, const struct activity *a)
{
	const struct survey_open *from = recent_find(&s->opens, open_ref(s, a));
	struct call_ref to = { a->process, a->id };
	struct survey_open state;

	if (!from || recent_find(&s->opens, to))
		return;
	state = *from; /* recent_put() may drop the original */
	memcpy(recent_put(&s->opens, to), &state, sizeof(state));
}

/*
 * A call inside another one of the same layer and file is part of that call; see also the header.
 */
static bool is_surveyed(struct file_surveyor *s, const struct activity *a, const char *name)
{
	const struct nest_call *enclosing;
	size_t depth = nest_enter(&s->nest, a, &enclosing);

	for (size_t i = 0; i < depth; i++) {
		if (call_of(s, enclosing[i].call)->class == CLASS_PROCESS)
			return false;
		if (enclosing[i].layer == a->layer && enclosing[i].file == a->file)
			return false;
	}
	return a->layer != LAYER_NETWORK && (!a->file || names_is_file(name));
}

static void note_accesses(struct file_surveyor *s, const struct activity *a,
			  const struct call_info *call)
{
	unsigned ways = traffic_ways(call);
	bool copies = ways == (1u << READING | 1u << WRITING);
	file_id source = copies ? a->file2 : a->file;

	if (ways & 1u << WRITING && a->file)
		note_access(s, a, call, a->file, WRITING);
	if (ways & 1u << READING && source)
		note_access(s, a, call, source, READING);
}

void file_surveyor_add(struct file_surveyor *surveyor, const struct activity *activity)
{
	struct file_surveyor *s = surveyor;
	const struct activity *a = activity;
	const struct call_info *call = call_of(s, a->call);
	const char *name = s->host->file(s->host->self, a->file);
	bool surveyed;

	if (!call || !name || a->layer >= LAYER_COUNT)
		return;
	surveyed = is_surveyed(s, a, name);
	if (call->class ==
	    CLASS_WAIT) /* even if enclosed: the operation it completes was surveyed */
		note_completion(s, a);
	else if (surveyed && call->class == CLASS_DUP)
		note_duplicate(s, a);
	else if (surveyed && call->class == CLASS_OPEN)
		note_open(s, a);
	else if (surveyed && call->class == CLASS_CLOSE)
		note_close(s, a);
	else if (surveyed && call->class == CLASS_SEEK)
		note_repositioning(s, a);
	else if (surveyed)
		note_accesses(s, a, call);
}

static int compare_keys(const void *a, const void *b)
{
	const struct map_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

void file_surveyor_list(const struct file_surveyor *surveyor, survey_seen seen, void *arg)
{
	const struct map *map = &surveyor->surveys;
	AUTO_FREE struct map_entry *entries = xcalloc(map->count + 1, sizeof(*entries));
	size_t n = 0;

	for (size_t i = 0; i < map->cap; i++) {
		if (map->entries[i].key)
			entries[n++] = map->entries[i];
	}
	qsort(entries, n, sizeof(*entries), compare_keys);
	for (size_t i = 0; i < n; i++)
		seen(arg, key_layer(entries[i].key), key_file(entries[i].key),
		     (uint32_t)(entries[i].key & KEY_PROCESS_MASK), entries[i].value);
}
