/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/darshan/region.h"

/* A period with more segments than this is not sorted: a hostile log would exhaust memory. */
#define WINDOW_MAX (16u << 20)
#define RECORD_BYTES 104 /* id, rank, shared, host name (64), number of writes, number of reads */
#define HOST_AT 24
#define HOST_BYTES 64
#define WRITES_AT 88
#define SEGMENT_BYTES 40 /* offset, length, start, end, thread */
#define SEGMENT_BYTES_OLD 32
#define THREAD_BITS 16

enum { READING, WRITING };
enum { POSIX, MPIIO };
static const enum darshan_module modules[] = { DARSHAN_DXT_POSIX, DARSHAN_DXT_MPIIO };

struct segment {
	int64_t start_ns, duration_ns, offset, length;
	uint64_t number; /* in the log, from 1 */
	uint32_t process;
	file_id file;
	uint32_t thread;
	uint8_t call; /* enum import_call */
};

struct enclosing {
	uint64_t id;
	int64_t end_ns;
	uint32_t thread;
};

/* A pass over the segments of a log. */
struct pass {
	struct segments *segments;
	struct import *import;
	void (*take)(struct pass *pass, const struct segment *segment);
	struct coverage *coverage; /* of the file whose segments are read */
	unsigned from, to;	   /* periods of the window */
	uint64_t number;
};

static unsigned period_of(const struct segments *s, int64_t start_ns)
{
	int64_t period = start_ns / s->period_ns;

	return (unsigned)MIN(period, SEGMENTS_PERIODS - 1);
}

/* Thread ids are addresses; a few bits of a hash tell the threads of a process apart. */
static uint32_t thread_number(uint64_t thread)
{
	return 1 + (uint32_t)(thread * UINT64_C(0x9e3779b97f4a7c15) >> (64 - THREAD_BITS));
}

static struct segment parse_segment(const struct darshan_log *log, const unsigned char *bytes,
				    unsigned module, unsigned version)
{
	int64_t start = darshan_ns(darshan_real(log, bytes + 16));
	int64_t end = darshan_ns(darshan_real(log, bytes + 24));
	int64_t length = (int64_t)darshan_word(log, bytes + 8);
	bool has_thread = version >= (module == POSIX ? 2 : 3);
	bool has_offset = module == POSIX || version >= 2;

	return (struct segment){
		.start_ns = start,
		.duration_ns = MAX(end - start, 0),
		.offset = has_offset ? (int64_t)darshan_word(log, bytes) : -1,
		.length = length < 0 ? 0 : MIN(length, (int64_t)HEAD_COUNT_MAX),
		.thread = has_thread ? thread_number(darshan_word(log, bytes + 32)) : 1,
	};
}

/* NULL: there are too many files. Their segments are left out, so that they are not counted twice.
 */
static struct coverage *get_coverage(struct map *map, uint64_t id, bool is_sealed)
{
	struct coverage *coverage = id ? map_get(map, id) : NULL;

	if (id && !coverage && !is_sealed && map->count < IMPORT_ROWS_MAX) {
		coverage = xcalloc(1, sizeof(*coverage));
		map_put(map, id, coverage);
	}
	return coverage;
}

/* The segments of writes precede those of reads. */
static int read_segments(struct pass *pass, struct region *region, unsigned module,
			 const unsigned char *record, struct err *err)
{
	const struct darshan_log *log = &pass->import->log;
	unsigned version = log->modules[modules[module]].version;
	bool is_old = version < (module == POSIX ? 2 : 3);
	uint64_t id = darshan_word(log, record);
	uint32_t process = import_process(pass->import, (int64_t)darshan_word(log, record + 8));
	file_id file = import_file(pass->import, id);
	unsigned char bytes[SEGMENT_BYTES];
	int r = 1;

	pass->coverage = get_coverage(&pass->import->coverage[module], id, pass->import->is_sealed);
	for (int way = WRITING; way >= READING && r > 0; way--) {
		uint64_t left = darshan_word(log, record + WRITES_AT + (way == READING ? 8 : 0));

		for (; left && r > 0; left--) {
			struct segment segment;

			r = region_read(region, bytes, is_old ? SEGMENT_BYTES_OLD : SEGMENT_BYTES,
					err);
			if (r <= 0)
				return r ? r : err_set(err, EBADMSG, "a record is incomplete");
			segment = parse_segment(log, bytes, module, version);
			segment.process = process;
			segment.file = file;
			segment.number = ++pass->number;
			segment.call = (uint8_t)(IMPORT_POSIX_READ + 2 * module + (unsigned)way);
			if (pass->coverage)
				pass->take(pass, &segment);
		}
	}
	return r;
}

static void note_host(struct import *import, uint32_t process, const unsigned char *record)
{
	struct process_info *p = &import->builder.head->processes[process];

	if (*p->host)
		return;
	free(p->host);
	p->host = xstrndup((const char *)record + HOST_AT,
			   strnlen((const char *)record + HOST_AT, HOST_BYTES));
}

static int read_module(struct pass *pass, unsigned module, struct err *err)
{
	struct import *import = pass->import;
	struct region *region = darshan_log_module(&import->log, modules[module], err);
	unsigned char record[RECORD_BYTES];
	int r = region ? 1 : -EBADMSG;

	while (r > 0 && (r = region_read(region, record, sizeof(record), err)) > 0) {
		note_host(import,
			  import_process(import, (int64_t)darshan_word(&import->log, record + 8)),
			  record);
		r = read_segments(pass, region, module, record, err);
	}
	region_close(region);
	return r;
}

static unsigned size_class(int64_t bytes)
{
	unsigned i = 0;

	while (bytes > usage_size_limits[i])
		i++;
	return i;
}

/* A hostile log may have any numbers. */
static void add_limited(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = INT64_MAX;
}

static void count_segment(struct pass *pass, const struct segment *segment)
{
	unsigned way = (segment->call - IMPORT_POSIX_READ) % 2;
	struct coverage *coverage = pass->coverage;

	pass->segments->in_period[period_of(pass->segments, segment->start_ns)]++;
	pass->segments->total++;
	pass->import->last_ns =
		MAX(pass->import->last_ns, segment->start_ns + segment->duration_ns);
	coverage->calls[way]++;
	coverage->traced[way] = true;
	add_limited(&coverage->bytes[way], segment->length);
	add_limited(&coverage->ns[way], segment->duration_ns);
	coverage->sizes[way][size_class(segment->length)]++;
}

void segments_count(struct segments *segments, struct import *import)
{
	const struct darshan_job *job = &import->log.job;
	struct pass pass = { .segments = segments, .import = import, .take = count_segment };

	segments->window_max = SEGMENTS_WINDOW;
	segments->period_ns =
		(MAX(job->end_ns - job->start_ns, 0) + NS_PER_S) / SEGMENTS_PERIODS + 1;
	for (unsigned module = POSIX; module <= MPIIO; module++) {
		struct err err;

		if (darshan_log_has(&import->log, modules[module]) &&
		    read_module(&pass, module, &err) < 0)
			import_damaged(import, modules[module], &err);
	}
}

static void keep_segment(struct pass *pass, const struct segment *segment)
{
	struct segments *s = pass->segments;
	unsigned period = period_of(s, segment->start_ns);

	/* The log may have changed since it was counted; the room is that of the count. */
	if (period >= pass->from && period < pass->to && s->count < s->cap)
		s->window[s->count++] = *segment;
}

static int compare_segments(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Chooses the next periods: as many as fit into a window, and at least one. */
static uint64_t choose_window(struct segments *s)
{
	uint64_t room = 0;

	while (s->next_period < SEGMENTS_PERIODS &&
	       (!room || room + s->in_period[s->next_period] <= s->window_max))
		room += s->in_period[s->next_period++];
	return room;
}

/* Returns 1, 0 if no segments are left, or -errno. */
static int load_window(struct segments *s, struct import *import, struct err *err)
{
	struct pass pass = {
		.segments = s, .import = import, .take = keep_segment, .from = s->next_period
	};
	uint64_t room = choose_window(s);

	if (room > WINDOW_MAX)
		return err_set(err, EFBIG, "%s: too many accesses begin at the same time",
			       import->log.path);
	free(s->window);
	s->window = room ? xmalloc(room * sizeof(*s->window)) : NULL;
	s->cap = room;
	s->count = s->used = 0;
	if (!room)
		return 0;
	pass.to = s->next_period;
	/* Damage was found and noted when the segments were counted; what precedes it is read. */
	for (unsigned module = POSIX; module <= MPIIO; module++) {
		struct err ignored;

		if (import->coverage[module].count)
			read_module(&pass, module, &ignored);
	}
	qsort(s->window, s->count, sizeof(*s->window), compare_segments);
	return s->count > 0;
}

static struct activity activity_of(struct segments *s, const struct segment *segment)
{
	struct enclosing *outer = &s->enclosing[segment->process];
	int64_t end_ns = segment->start_ns + segment->duration_ns;
	bool is_mpiio = segment->call >= IMPORT_MPIIO_READ;
	struct activity a = {
		.start_ns = segment->start_ns,
		.duration_ns = segment->duration_ns,
		.id = id_make(segment->thread, segment->number),
		.process = segment->process,
		.file = segment->file,
		.result = segment->length,
		.size = segment->length,
		.offset = segment->offset,
		.handle = -1,
		.call = segment->call,
		.layer = is_mpiio ? LAYER_MPI : LAYER_POSIX,
		.present = PRESENT(SIZE),
	};

	if (segment->offset >= 0)
		a.present |= PRESENT(OFFSET);
	else
		a.offset = 0;
	if (is_mpiio)
		*outer = (struct enclosing){ a.id, end_ns, segment->thread };
	else if (outer->id && outer->thread == segment->thread && end_ns <= outer->end_ns)
		a.parent = outer->id;
	return a;
}

ssize_t segments_next(struct segments *segments, struct import *import, struct activity *batch,
		      size_t cap, struct err *err)
{
	size_t given = 0;

	if (!segments->enclosing)
		segments->enclosing = xcalloc(import->builder.head->process_count + 1,
					      sizeof(*segments->enclosing));
	while (given < cap) {
		if (segments->used == segments->count) {
			int r = load_window(segments, import, err);

			if (r < 0)
				return r;
			if (!r)
				break;
		}
		batch[given++] = activity_of(segments, &segments->window[segments->used++]);
	}
	return (ssize_t)given;
}

void segments_release(struct segments *segments)
{
	free(segments->window);
	free(segments->enclosing);
	*segments = (struct segments){ 0 };
}
