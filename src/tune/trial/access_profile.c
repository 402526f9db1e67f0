/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/access_profile.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "contract/hints.h"
#include "observe/tally/traffic.h"
#include "params/set.h"

#define SCHEMA "sluice.accessed/1"
#define BATCH 1024
/* Collective calls that wait for further ranks. Ranks are rarely that far apart. */
#define OPEN_MOST 4096
#define ROWS_MOST 64 /* while the trace is read */
/* Sizes that differ by less are equal: a rank's data is contiguous. */
#define SIZE_TOLERANCE 1.0001
#define BLOCK_TOLERANCE 1e-9
/* How much differences in kind weigh against a factor of 2 in size. */
#define WEIGHT_DIRECTION 100
#define WEIGHT_PATTERN 20
#define WEIGHT_RANKS 10

void access_profile_release(struct access_profile *profile)
{
	for (size_t i = 0; i < profile->count; i++) {
		free(profile->rows[i].file);
		free(profile->rows[i].hints);
	}
	free(profile->rows);
	*profile = (struct access_profile){ 0 };
}

void access_profile_copy(struct access_profile *to, const struct access_profile *from)
{
	*to = (struct access_profile){ .count = from->count, .cap = from->count };
	to->rows = xcalloc(from->count + 1, sizeof(*to->rows));
	for (size_t i = 0; i < from->count; i++) {
		to->rows[i] = from->rows[i];
		to->rows[i].file = xstrdup(from->rows[i].file);
		to->rows[i].hints = xstrdup(from->rows[i].hints);
	}
}

static double call_bytes(const struct access *access)
{
	return (double)access->ranks * (double)access->rank_bytes;
}

static double row_bytes(const struct access_profile_row *row)
{
	return row->calls * call_bytes(&row->access);
}

double access_profile_bytes(const struct access_profile *profile)
{
	double bytes = 0;

	for (size_t i = 0; i < profile->count; i++)
		bytes += row_bytes(&profile->rows[i]);
	return bytes;
}

void access_profile_row_hints(const struct access_profile_row *row, struct param_set *set)
{
	const char *hints = row->hints;
	char key[64], value[512];

	while (hints && hints_next(&hints, key, sizeof(key), value, sizeof(value))) {
		const struct tunable *tunable = tunable_by_name(key);

		if (tunable)
			param_set_put(set, tunable, value, NULL, NULL, 0, NULL);
	}
}

/* The offset in the file does not change the cost. */
static bool is_same_access(const struct access *a, const struct access *b)
{
	return a->is_read == b->is_read && a->pattern == b->pattern && a->ranks == b->ranks &&
	       a->nodes == b->nodes && a->rank_bytes == b->rank_bytes &&
	       a->block_bytes == b->block_bytes && a->stride_bytes == b->stride_bytes;
}

/* How different two accesses are: in kind first, then in size. */
static double access_distance(const struct access *a, const struct access *b)
{
	return fabs(log2(call_bytes(a) / call_bytes(b))) +
	       WEIGHT_DIRECTION * (a->is_read != b->is_read) +
	       WEIGHT_PATTERN * (a->pattern != b->pattern) + WEIGHT_RANKS * (a->ranks != b->ranks);
}

/* Adds the calls of row `from` to the most similar of the first rows, weighted by their bytes. */
static void join_most_similar(struct access_profile *profile, size_t from, size_t count)
{
	const struct access_profile_row *row = &profile->rows[from];
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (access_distance(&row->access, &profile->rows[i].access) <
		    access_distance(&row->access, &profile->rows[best].access))
			best = i;
	profile->rows[best].calls += row_bytes(row) / call_bytes(&profile->rows[best].access);
}

static int row_compare(const void *a, const void *b)
{
	double x = row_bytes(a), y = row_bytes(b);

	return x > y ? -1 : x < y;
}

static void keep_largest_rows(struct access_profile *profile, size_t most)
{
	if (!profile->count)
		return;
	qsort(profile->rows, profile->count, sizeof(*profile->rows), row_compare);
	for (size_t i = most; i < profile->count; i++) {
		join_most_similar(profile, i, most);
		free(profile->rows[i].file);
		free(profile->rows[i].hints);
	}
	if (profile->count > most)
		profile->count = most;
}

static void count_access(struct access_profile *profile, const struct access *access,
			 const char *file, const char *hints)
{
	for (size_t i = 0; i < profile->count; i++) {
		struct access_profile_row *row = &profile->rows[i];

		if (!is_same_access(&row->access, access) || !text_equal(row->hints, hints))
			continue;
		row->calls++;
		return;
	}
	if (profile->count == ROWS_MOST)
		keep_largest_rows(profile, ROWS_MOST / 2);
	profile->rows =
		xgrow(profile->rows, &profile->cap, profile->count + 1, sizeof(*profile->rows));
	profile->rows[profile->count++] = (struct access_profile_row){
		.access = *access,
		.calls = 1,
		.file = xstrdup(file),
		.hints = xstrdup(hints),
	};
}

struct access_profiler_call {
	bool is_read;
	file_id file;
	uint64_t ranks, active; /* seen so far; those that move any data */
	uint64_t bytes;		/* of all ranks */
	uint64_t low, high;	/* lowest and highest offset of a rank's first byte */
	uint64_t span;		/* largest extent of a rank's data */
};

/*
 * The block size of a rank that moves `size` bytes in pieces over an extent of `span` bytes, while
 * neighboring ranks start `stride` bytes apart: of k = size / block pieces the last begins
 * (k - 1) * ranks * stride after the first. Returns the smaller of the two solutions; 0: none.
 */
static double block_size(double size, double span, double stride, double ranks)
{
	double turn = ranks * stride, half = (span + turn) / 2, root = half * half - size * turn;
	/* Equals half - sqrt(root), without the cancellation. */
	double block = root >= 0 ? size * turn / (half + sqrt(root)) : 0;

	return block >= 0.5 && block <= stride * (1 + BLOCK_TOLERANCE) ? block : 0;
}

/* Makes the access strided, with pieces of equal size nearest to `block`. */
static void set_pieces(struct access *access, double block, double stride)
{
	uint64_t pieces = (uint64_t)fmax(1, round((double)access->rank_bytes / block));

	if (pieces > access->rank_bytes)
		pieces = access->rank_bytes;
	access->pattern = ACCESS_STRIDED;
	access->block_bytes = access->rank_bytes / pieces;
	access->rank_bytes = access->block_bytes * pieces;
	access->stride_bytes = (uint64_t)fmax(round(stride), (double)access->block_bytes);
}

static void set_pattern(struct access *access, const struct access_profiler_call *call)
{
	double size = (double)call->bytes / (double)call->active, ranks = (double)call->active;
	double stride = call->active > 1 ? (double)(call->high - call->low) / (ranks - 1) : 0;
	double block;

	access->pattern = ACCESS_CONTIGUOUS;
	if (call->active < 2)
		return;
	if ((double)call->span <= size * SIZE_TOLERANCE) {
		/* One piece per rank, contiguous or with gaps. */
		if (stride > size * SIZE_TOLERANCE)
			set_pieces(access, (double)access->rank_bytes, stride);
		return;
	}
	block = block_size(size, (double)call->span, stride, ranks);
	if (block > 0) {
		set_pieces(access, block, stride);
		return;
	}
	/* Any other order is approximated by ranks that interleave without gaps. */
	block = (size * ranks - (double)call->span) / (ranks - 1);
	block = fmin(fmax(block, 1), (double)access->rank_bytes / 2);
	set_pieces(access, block, block);
}

/* The largest number of nodes with equally many ranks each. */
static uint64_t count_nodes(uint64_t ranks, uint64_t hosts)
{
	uint64_t nodes = hosts < ranks ? hosts : ranks;

	while (nodes > 1 && ranks % nodes)
		nodes--;
	return nodes ? nodes : 1;
}

static void finish_call(struct access_profiler *a, uint64_t number)
{
	struct access_profiler_call *call = map_remove(&a->calls, number);
	struct access access;
	file_id hints;

	if (!call)
		return;
	access = (struct access){
		.is_read = call->is_read,
		.ranks = call->ranks,
		.nodes = count_nodes(call->ranks, a->ranks.hosts),
		.rank_bytes = (call->bytes + call->ranks - 1) / call->ranks,
		.offset = call->low,
	};
	hints = a->hints[call->file];
	if (call->bytes)
		set_pattern(&access, call);
	if (call->bytes && access_check(&access, NULL) == 0)
		count_access(&a->profile, &access, call->file ? a->head->files[call->file] : NULL,
			     hints ? a->head->files[hints] : NULL);
	free(call);
}

static struct access_profiler_call *find_call(struct access_profiler *a,
					      const struct activity *activity)
{
	struct access_profiler_call *call = map_get(&a->calls, activity->collective);

	if (call)
		return call;
	if (a->open == OPEN_MOST) {
		finish_call(a, a->order[a->first]);
		a->first = (a->first + 1) % OPEN_MOST;
		a->open--;
	}
	a->order[(a->first + a->open++) % OPEN_MOST] = activity->collective;
	call = xcalloc(1, sizeof(*call));
	call->low = UINT64_MAX;
	call->is_read = (a->ways[activity->call] & 1u << READING) != 0;
	call->file = activity->file;
	map_put(&a->calls, activity->collective, call);
	return call;
}

void access_profiler_init(struct access_profiler *profiler, const struct trace_head *head)
{
	*profiler = (struct access_profiler){ .head = head };
	profiler->ways = traffic_table(head);
	profiler->hints = xcalloc(head->file_count + 1, sizeof(file_id));
	profiler->order = xcalloc(OPEN_MOST, sizeof(uint64_t));
	ranks_init(&profiler->ranks, head);
}

static bool is_access(const struct access_profiler *a, const struct activity *activity)
{
	return activity->collective && !activity->error && a->ways[activity->call] &&
	       activity->present & PRESENT(SIZE) &&
	       ranks_of_process(&a->ranks, activity->process) >= 0;
}

static void add_rank(struct access_profiler_call *call, const struct activity *activity)
{
	uint64_t size = activity->size > 0 ? (uint64_t)activity->size : 0;
	uint64_t offset = activity->present & PRESENT(OFFSET) && activity->offset > 0
				  ? (uint64_t)activity->offset
				  : 0;
	uint64_t span = activity->present & PRESENT(SPAN) && activity->span > 0
				? (uint64_t)activity->span
				: size;

	call->ranks++;
	if (!size)
		return;
	call->active++;
	call->bytes += size;
	call->low = offset < call->low ? offset : call->low;
	call->high = offset > call->high ? offset : call->high;
	call->span = span > call->span ? span : call->span;
}

void access_profiler_add(struct access_profiler *profiler, const struct activity *activity)
{
	struct access_profiler *a = profiler;
	struct access_profiler_call *call;

	if (activity->layer != LAYER_MPI || activity->call >= a->head->call_count ||
	    activity->file >= a->head->file_count)
		return;
	if (a->head->calls[activity->call].class == CLASS_OPEN &&
	    activity->hints < a->head->file_count)
		a->hints[activity->file] = activity->hints;
	if (!is_access(a, activity))
		return;
	call = find_call(a, activity);
	add_rank(call, activity);
	/* All ranks have made the call: it is complete. */
	if (a->ranks.world && call->ranks == a->ranks.world)
		finish_call(a, activity->collective);
}

void access_profiler_end(struct access_profiler *profiler, struct access_profile *profile)
{
	struct access_profiler *a = profiler;

	for (size_t i = 0; i < a->open; i++)
		finish_call(a, a->order[(a->first + i) % OPEN_MOST]);
	keep_largest_rows(&a->profile, ACCESS_PROFILE_ROWS);
	*profile = a->profile;
	map_release(&a->calls);
	ranks_release(&a->ranks);
	free(a->ways);
	free(a->hints);
	free(a->order);
	*a = (struct access_profiler){ 0 };
}

int access_profile_read_trace(struct access_profile *profile, const char *trace, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct access_profile found = { 0 };
	struct access_profiler profiler;
	struct trace reading;
	ssize_t n;
	int r = trace_open(&reading, trace, NULL, err);

	if (r < 0)
		return r;
	access_profiler_init(&profiler, &reading.head);
	while ((n = trace_next(&reading, batch, BATCH, err)) > 0)
		for (ssize_t i = 0; i < n; i++)
			access_profiler_add(&profiler, &batch[i]);
	access_profiler_end(&profiler, &found);
	trace_close(&reading);
	if (n >= 0 && !found.count)
		n = err_set(
			err, ENODATA,
			"%s: the run has no collective MPI-IO (such as MPI_File_write_at_all), so "
			"there is nothing to predict",
			trace);
	if (n < 0) {
		access_profile_release(&found);
		return (int)n;
	}
	*profile = found;
	return 0;
}

#define NUMBERS(X)      \
	X(nodes)        \
	X(ranks)        \
	X(rank_bytes)   \
	X(block_bytes)  \
	X(stride_bytes) \
	X(offset)

static json_t *text_json(const char *text)
{
	json_t *json = text ? json_string(text) : NULL;

	/* A name that is not UTF-8 is left out: nothing depends on it. */
	return json ? json : json_null();
}

char *access_profile_write(const struct access_profile *profile)
{
	json_t *all = json_object(), *rows = json_array();
	char *text, *copy;

	json_object_set_new(all, "schema", json_string(SCHEMA));
	for (size_t i = 0; i < profile->count; i++) {
		const struct access_profile_row *row = &profile->rows[i];
		json_t *json = json_pack("{s:b, s:b, s:f}", "read", (int)row->access.is_read,
					 "strided", (int)(row->access.pattern == ACCESS_STRIDED),
					 "calls", row->calls);

#define X(name) json_object_set_new(json, #name, json_integer((json_int_t)row->access.name));
		NUMBERS(X)
#undef X
		json_object_set_new(json, "file", text_json(row->file));
		json_object_set_new(json, "hints", text_json(row->hints));
		json_array_append_new(rows, json);
	}
	json_object_set_new(all, "accesses", rows);
	text = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(17));
	copy = xstrdup(text);
	free(text);
	json_decref(all);
	return copy;
}

static int parse_row(struct access_profile_row *row, const json_t *json, struct err *err)
{
	*row = (struct access_profile_row){
		.access = { .is_read = json_is_true(json_object_get(json, "read")),
			    .pattern = json_is_true(json_object_get(json, "strided"))
					       ? ACCESS_STRIDED
					       : ACCESS_CONTIGUOUS },
		.calls = json_number_value(json_object_get(json, "calls")),
	};
#define X(name) row->access.name = (uint64_t)json_integer_value(json_object_get(json, #name));
	NUMBERS(X)
#undef X
	if (!(row->calls > 0) || access_check(&row->access, NULL) < 0)
		return err_set(err, EBADMSG, "the access profile is damaged");
	row->file = xstrdup(json_string_value(json_object_get(json, "file")));
	row->hints = xstrdup(json_string_value(json_object_get(json, "hints")));
	return 0;
}

int access_profile_parse(struct access_profile *profile, const char *text, struct err *err)
{
	json_t *all = json_loads(text, 0, NULL), *rows = json_object_get(all, "accesses");
	const char *schema = json_string_value(json_object_get(all, "schema"));
	struct access_profile made = { 0 };
	int r = json_check_schema(schema, SCHEMA, err);

	if (r < 0)
		err_prefix(err, "the access profile");
	else if (!json_array_size(rows) || json_array_size(rows) > ACCESS_PROFILE_ROWS)
		r = err_set(err, EBADMSG, "the access profile has no rows, or too many");
	for (size_t i = 0; r >= 0 && i < json_array_size(rows); i++) {
		made.rows = xgrow(made.rows, &made.cap, made.count + 1, sizeof(*made.rows));
		r = parse_row(&made.rows[made.count], json_array_get(rows, i), err);
		made.count += r >= 0;
	}
	json_decref(all);
	if (r < 0)
		access_profile_release(&made);
	else
		*profile = made;
	return r;
}
