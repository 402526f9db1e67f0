/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/surveyor.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/tally/traffic.h"

/*
 * More files than a process may open. Beyond it, the files opened first are treated as opened
 * again.
 */
#define OPENS_MAX 65536
#define STARTED_MAX 65536

/* State of an open file in one process, overall and per direction. */
struct survey_open {
	int64_t expected; /* position where the latest access of this process ended */
	int64_t together; /* the same of all processes that share the handle; in that of `owner` */
	struct call_ref owner; /* the call that created the handle; id 0: this one */
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

void surveyor_init(struct surveyor *surveyor, const struct surveyor_ops *ops, void *arg)
{
	*surveyor = (struct surveyor){ .ops = ops, .arg = arg };
	recent_init(&surveyor->opens, OPENS_MAX, sizeof(struct survey_open));
	recent_init(&surveyor->started, STARTED_MAX, sizeof(struct survey_start));
}

void surveyor_release(struct surveyor *surveyor)
{
	recent_release(&surveyor->opens);
	recent_release(&surveyor->started);
	*surveyor = (struct surveyor){ 0 };
}

/* NULL if the file is not surveyed for this process. */
static struct survey *survey_get(struct surveyor *s, const struct activity *a, file_id file)
{
	int64_t end = a->start_ns + a->duration_ns;
	struct survey *survey = s->ops->survey(s->arg, a, file);

	if (!survey)
		return NULL;
	if (!survey->calls)
		survey->first_ns = survey->last_ns = a->start_ns;
	if (end > survey->last_ns)
		survey->last_ns = end;
	survey->calls++;
	return survey;
}

/*
 * Finds the remembered call with this id, made by the process or by one of its ancestors: ids are
 * unique along a line of forks. The id is 0 if the call is not remembered.
 */
static struct call_ref lineage_find(const struct surveyor *s, struct recent *recent,
				    uint32_t process, uint64_t id)
{
	while (id) {
		struct call_ref ref = { process, id };
		int32_t parent;

		if (recent_find(recent, ref))
			return ref;
		parent = s->ops->parent(s->arg, process);
		/* A parent's index is lower than its child's, so the loop ends. */
		if (parent < 0 || (uint32_t)parent >= process)
			break;
		process = (uint32_t)parent;
	}
	return (struct call_ref){ 0 };
}

/*
 * Identifies the open that an access goes through: the call that created the handle. A handle from
 * before the recording counts as opened once per process.
 */
static struct call_ref open_ref(struct surveyor *s, const struct activity *a)
{
	uint64_t id = a->link & ID_MASK;
	struct call_ref ref = lineage_find(s, &s->opens, a->process, id);

	if (ref.id || id)
		return ref.id ? ref : (struct call_ref){ a->process, id };
	return (struct call_ref){ a->process, ~ID_MASK | (uint64_t)a->layer << 32 | a->file };
}

/* Where the latest access through the handle ended, of any process that shares it. */
static int64_t *open_together(struct surveyor *s, struct survey_open *open)
{
	struct survey_open *owner = open->owner.id ? recent_find(&s->opens, open->owner) : open;

	return owner ? &owner->together : &open->together;
}

/* Adds a handle that shares the position of another one, which is remembered. */
static struct survey_open *add_sharing(struct surveyor *s, struct call_ref to, struct call_ref from)
{
	struct survey_open state = *(struct survey_open *)recent_find(&s->opens, from), *open;

	state.together = state.expected = *open_together(s, recent_find(&s->opens, from));
	if (!state.owner.id)
		state.owner = from;
	open = recent_put(&s->opens, to); /* may drop the original */
	*open = state;
	return open;
}

/* The state of the open in the process of the access. */
static struct survey_open *open_get(struct surveyor *s, const struct activity *a)
{
	struct call_ref ref = open_ref(s, a);
	struct survey_open *open = recent_find(&s->opens, ref);

	if (open && ref.process != a->process)
		return add_sharing(s, (struct call_ref){ a->process, ref.id }, ref);
	return open ? open : recent_put(&s->opens, ref);
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

static void note_position(struct surveyor *s, struct survey *survey, const struct activity *a,
			  int way, int64_t bytes)
{
	struct survey_open *open = open_get(s, a);
	int64_t *together = open_together(s, open);
	int64_t span = a->present & PRESENT(SPAN) && a->span > bytes ? a->span : bytes;
	uint64_t seek = distance(a->offset, open->expected);
	uint64_t seek_together = distance(a->offset, *together);
	bool strided;

	if (seek_together < seek)
		seek = seek_together;
	strided = note_seek(survey, open, way, a->offset);
	if (span > bytes || seek > SURVEY_SHORT_SEEK_BYTES)
		survey->long_seeks[way]++;
	else if (seek)
		survey->short_seeks[way]++;
	else
		survey->sequential[way]++;
	if (strided && (span > bytes || seek))
		survey_add_strides(survey, way, open->way[way].seek, 1);
	note_place(survey, a, way, bytes, span);
	/* Unsigned, so that a broken trace cannot overflow it. */
	open->expected = *together = (int64_t)((uint64_t)a->offset + (uint64_t)span);
}

static void note_start(struct surveyor *s, struct survey *survey, const struct activity *a, int way,
		       uint64_t asked)
{
	struct survey_start *start =
		recent_put(&s->started, (struct call_ref){ a->process, a->id });

	*start = (struct survey_start){ survey, asked, way };
}

static void note_access(struct surveyor *s, const struct activity *a, const struct call_info *call,
			file_id file, int way)
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
static struct call_ref start_ref(struct surveyor *s, const struct activity *a)
{
	struct call_ref ref = lineage_find(s, &s->started, a->process, a->link & ID_MASK);

	return ref.id ? ref : lineage_find(s, &s->started, a->process, a->link2 & ID_MASK);
}

static void note_completion(struct surveyor *s, const struct activity *a)
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
static void note_open(struct surveyor *s, const struct activity *a)
{
	struct survey *survey = a->file ? survey_get(s, a, a->file) : NULL;
	struct call_ref ref = { a->process, a->id };

	if (survey)
		survey->open_ns += a->duration_ns;
	if (survey && !a->error && !recent_find(&s->opens, ref))
		recent_put(&s->opens, ref);
}

/* A child that closes an inherited handle leaves it open in its parent. */
static void note_close(struct surveyor *s, const struct activity *a)
{
	struct survey *survey = a->file ? survey_get(s, a, a->file) : NULL;
	struct call_ref ref = open_ref(s, a);

	if (survey)
		survey->close_ns += a->duration_ns;
	if (ref.process == a->process)
		recent_drop(&s->opens, ref);
}

static void note_repositioning(struct surveyor *s, const struct activity *a)
{
	struct survey *survey = a->file ? survey_get(s, a, a->file) : NULL;

	if (survey)
		survey->seeks++;
}

/* The duplicate of a handle shares its position. */
static void note_duplicate(struct surveyor *s, const struct activity *a)
{
	struct call_ref from = open_ref(s, a), to = { a->process, a->id };

	if (recent_find(&s->opens, from) && !recent_find(&s->opens, to))
		add_sharing(s, to, from);
}

static void note_accesses(struct surveyor *s, const struct activity *a,
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

void surveyor_add(struct surveyor *surveyor, const struct activity *activity,
		  const struct call_info *call, bool covered)
{
	struct surveyor *s = surveyor;
	const struct activity *a = activity;

	/* Even if it is enclosed: the operation that it completes was surveyed. */
	if (call->class == CLASS_WAIT)
		note_completion(s, a);
	else if (!covered && call->class == CLASS_DUP)
		note_duplicate(s, a);
	else if (!covered && call->class == CLASS_OPEN)
		note_open(s, a);
	else if (!covered && call->class == CLASS_CLOSE)
		note_close(s, a);
	else if (!covered && call->class == CLASS_SEEK)
		note_repositioning(s, a);
	else if (!covered)
		note_accesses(s, a, call);
}
