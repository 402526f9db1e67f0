/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/lockstep.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* What a call means here. */
enum kind {
	KIND_OTHER,
	KIND_OPEN,     /* an object of HDF5 */
	KIND_CLOSE,    /* likewise */
	KIND_METADATA, /* of HDF5, which all ranks must change together */
	KIND_END,      /* both KIND_CLOSE and KIND_METADATA */
	KIND_CREATE,   /* both KIND_OPEN and KIND_METADATA */
	KIND_TRANSFER,
	KIND_MPI_OPEN,
	KIND_MPI_CLOSE,
	KIND_MPI_TRANSFER,
	KIND_MPI, /* any other call on a file of MPI-IO, which may be collective */
};

/* The opening of a file by several ranks. */
struct lockstep_file {
	file_id name;
	bool is_own;			 /* of the program itself, not of a library */
	uint64_t number;		 /* the collective number */
	size_t opened, closed;		 /* ranks */
	struct lockstep_member *members; /* one per rank of the run; NULL: all have closed it */
};

struct lockstep_member {
	bool is_member, has_closed;
	uint32_t thread; /* of its first transfer */
	uint64_t transfers;
	uint64_t order;		     /* hash of its sequence in this file */
	uint64_t overall;	     /* likewise over all files, when it closed this one */
	struct lockstep_time *times; /* of its first transfers */
};

struct lockstep_time {
	int64_t start_ns, end_ns;
	uint16_t call;
};

/* Something that a rank has opened in a file. */
struct lockstep_object {
	struct lockstep_file *file;
	uint64_t name; /* hash */
};

/* A division of the ranks such that the first group has finished before the second begins. */
struct cut {
	uint64_t first;	      /* hash of the ranks of the first group */
	size_t before, after; /* the last rank of the first group, the first of the second */
};

/* The divisions that all rounds of a kind so far have in common. */
struct lockstep_pool {
	bool has_rounds;
	file_id name;
	struct cut *cuts;
	size_t count;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return x ^ x >> 31;
}

static uint64_t hash_text(const char *text, bool without_digits)
{
	uint64_t hash = 1;

	for (; *text; text++)
		if (!without_digits || !isdigit((unsigned char)*text))
			hash = mix(hash, (unsigned char)*text);
	return hash ? hash : 1;
}

void lockstep_release(struct lockstep *lockstep)
{
	free(lockstep->reason);
	*lockstep = (struct lockstep){ 0 };
}

void lockstep_join(struct lockstep *to, struct lockstep *from)
{
	bool is_better = to->verdict == LOCKSTEP_SERIAL && from->verdict == LOCKSTEP_YES;
	bool is_worse = from->verdict > to->verdict &&
			(to->verdict == LOCKSTEP_NONE || from->verdict == LOCKSTEP_NO);

	if (is_better || is_worse) {
		lockstep_release(to);
		*to = *from;
		*from = (struct lockstep){ 0 };
	}
	lockstep_release(from);
}

/* Keeps the first reason of the worst verdict. */
static void judge(struct lockstep *worst, enum lockstep_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void judge(struct lockstep *worst, enum lockstep_verdict verdict, const char *format, ...)
{
	va_list ap;

	if (verdict <= worst->verdict)
		return;
	free(worst->reason);
	worst->verdict = verdict;
	va_start(ap, format);
	worst->reason = format ? xvprintf(format, ap) : NULL;
	va_end(ap);
}

static enum kind hdf5_kind(const struct call_info *call)
{
	static const char *const metadata[] = {
		"H5Dset_extent", "H5Dextend", "H5Fflush", "H5Awrite", "H5Adelete", "H5Ldelete", NULL
	};
	static const char *const created[] = { "H5Dcreate", "H5Gcreate", "H5Acreate", NULL };

	if ((text_starts_with(call->name, "H5Dread") || text_starts_with(call->name, "H5Dwrite")) &&
	    !text_ends_with(call->name, "_chunk"))
		return KIND_TRANSFER;
	for (const char *const *m = metadata; *m; m++)
		if (text_starts_with(call->name, *m))
			return KIND_METADATA;
	for (const char *const *c = created; *c; c++)
		if (text_starts_with(call->name, *c))
			return KIND_CREATE;
	if (text_starts_with(call->name, "H5Fclose"))
		return KIND_END;
	if (call->class == CLASS_OPEN)
		return KIND_OPEN;
	return call->class == CLASS_CLOSE ? KIND_CLOSE : KIND_OTHER;
}

bool lockstep_is_in_library(const struct nest_call *enclosing, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (enclosing[i].layer == LAYER_HDF5 || enclosing[i].layer == LAYER_NETCDF ||
		    enclosing[i].layer == LAYER_PNETCDF)
			return true;
	return false;
}

bool lockstep_is_transfer(const struct call_info *call)
{
	static const char *const names[] = {
		"MPI_File_read",   "MPI_File_read_at",	 "MPI_File_write",   "MPI_File_write_at",
		"MPI_File_read_c", "MPI_File_read_at_c", "MPI_File_write_c", "MPI_File_write_at_c",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(call->name, names[i]) == 0)
			return true;
	return false;
}

static enum kind call_kind(const struct call_info *call)
{
	if (call->layer == LAYER_HDF5)
		return hdf5_kind(call);
	if (call->layer != LAYER_MPI)
		return KIND_OTHER;
	if (strcmp(call->name, "MPI_File_open") == 0)
		return KIND_MPI_OPEN;
	if (strcmp(call->name, "MPI_File_close") == 0)
		return KIND_MPI_CLOSE;
	return lockstep_is_transfer(call) ? KIND_MPI_TRANSFER : KIND_MPI;
}

void lockstep_reader_init(struct lockstep_reader *reader, const struct trace_head *head)
{
	*reader = (struct lockstep_reader){ .head = head };
	ranks_init(&reader->ranks, head);
	reader->kinds = xcalloc(head->call_count + 1, sizeof(*reader->kinds));
	for (size_t i = 0; i < head->call_count; i++)
		reader->kinds[i] = (uint8_t)call_kind(&head->calls[i]);
	reader->orders = xcalloc(reader->ranks.count + 1, sizeof(*reader->orders));
}

static uint64_t object_key(const struct activity *a, uint64_t id)
{
	uint64_t key = mix(id, a->process + 1);

	return key ? key : 1;
}

static struct lockstep_object *find_object(const struct lockstep_reader *reader,
					   const struct activity *a, uint64_t id)
{
	return id ? map_get(&reader->objects, object_key(a, id)) : NULL;
}

static void drop_object(struct lockstep_reader *reader, const struct activity *a, uint64_t id)
{
	free(map_remove(&reader->objects, object_key(a, id)));
}

static void put_object(struct lockstep_reader *reader, const struct activity *a, uint64_t id,
		       struct lockstep_file *file, uint64_t name)
{
	struct lockstep_object *object = xcalloc(1, sizeof(*object));

	*object = (struct lockstep_object){ file, name };
	drop_object(reader, a, id);
	map_put(&reader->objects, object_key(a, id), object);
}

static const char *file_text(const struct lockstep_reader *reader, file_id file)
{
	return file && file < reader->head->file_count ? reader->head->files[file] : "a file";
}

static int32_t rank_number(const struct lockstep_reader *reader, size_t rank)
{
	return reader->ranks.list[rank].number;
}

/* Is the sequence of all ranks that opened the file that of the first one? */
static bool check_sequence(struct lockstep_reader *reader, const struct lockstep_file *file)
{
	const char *path = file_text(reader, file->name);
	const struct lockstep_member *one = NULL;
	struct lockstep *worst = &reader->worst;

	for (size_t i = 0; i < reader->ranks.count; i++) {
		const struct lockstep_member *other = &file->members[i];
		int32_t a, b;

		if (!other->is_member)
			continue;
		if (!one)
			one = other;
		a = rank_number(reader, (size_t)(one - file->members));
		b = rank_number(reader, i);
		if (one->transfers != other->transfers)
			judge(worst, LOCKSTEP_NO,
			      "%s: rank %d makes %" PRIu64 " transfers, and rank %d makes %" PRIu64,
			      path, a, one->transfers, b, other->transfers);
		else if (one->order != other->order)
			judge(worst, LOCKSTEP_NO,
			      "%s: ranks %d and %d make different transfers, or in a different "
			      "order",
			      path, a, b);
		else if (one->overall != other->overall)
			judge(worst, LOCKSTEP_NO,
			      "%s: ranks %d and %d access it and other files in a different order",
			      path, a, b);
		else
			continue;
		return false;
	}
	return true;
}

/* A transfer of a round, for sorting by start. */
struct entry {
	struct lockstep_time time;
	size_t rank;
};

static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->time.start_ns > y->time.start_ns) - (x->time.start_ns < y->time.start_ns);
}

/* Finds the divisions of one round. Returns their number, which is less than that of the ranks. */
static size_t find_cuts(const struct lockstep_reader *reader, const struct lockstep_file *file,
			size_t round, struct entry *entries, struct cut *cuts)
{
	size_t n = 0, count = 0, last = 0;
	int64_t end_ns = INT64_MIN;
	uint64_t first = 0;

	for (size_t i = 0; i < reader->ranks.count; i++)
		if (file->members[i].is_member)
			entries[n++] = (struct entry){ file->members[i].times[round], i };
	qsort(entries, n, sizeof(*entries), entry_compare);
	for (size_t i = 0; i + 1 < n; i++) {
		first += mix(entries[i].rank + 1, 1);
		if (entries[i].time.end_ns >= end_ns) {
			end_ns = entries[i].time.end_ns;
			last = entries[i].rank;
		}
		if (end_ns <= entries[i + 1].time.start_ns)
			cuts[count++] = (struct cut){ first, last, entries[i + 1].rank };
	}
	return count;
}

static bool has_cut(const struct cut *cuts, size_t count, uint64_t first)
{
	for (size_t i = 0; i < count; i++)
		if (cuts[i].first == first)
			return true;
	return false;
}

static void pool_add_round(struct lockstep_pool *pool, const struct cut *cuts, size_t count)
{
	size_t kept = 0;

	if (!pool->has_rounds) {
		pool->has_rounds = true;
		memcpy(pool->cuts, cuts, count * sizeof(*cuts));
		pool->count = count;
		return;
	}
	for (size_t i = 0; i < pool->count; i++)
		if (has_cut(cuts, count, pool->cuts[i].first))
			pool->cuts[kept++] = pool->cuts[i];
	pool->count = kept;
}

static struct lockstep_pool *find_pool(struct lockstep_reader *reader, file_id file, uint16_t call)
{
	uint64_t key = mix(hash_text(file_text(reader, file), true), call) | 1;
	struct lockstep_pool *pool = map_get(&reader->pools, key);

	if (pool)
		return pool;
	pool = xcalloc(1, sizeof(*pool));
	pool->name = file;
	pool->cuts = xcalloc(reader->ranks.count + 1, sizeof(*pool->cuts));
	map_put(&reader->pools, key, pool);
	return pool;
}

/* All members have made the same transfers as this one. */
static void compare_times(struct lockstep_reader *reader, const struct lockstep_file *file,
			  const struct lockstep_member *any)
{
	AUTO_FREE struct entry *entries = xcalloc(reader->ranks.count + 1, sizeof(*entries));
	AUTO_FREE struct cut *cuts = xcalloc(reader->ranks.count + 1, sizeof(*cuts));

	for (size_t i = 0; i < any->transfers && i < LOCKSTEP_ROUNDS; i++) {
		struct lockstep_pool *pool = find_pool(reader, file->name, any->times[i].call);

		if (pool->count || !pool->has_rounds)
			pool_add_round(pool, cuts, find_cuts(reader, file, i, entries, cuts));
	}
}

/* Judges the transfers of a file, and releases its members: from now on it is ignored. */
static void finish_file(struct lockstep_reader *reader, struct lockstep_file *file)
{
	const struct lockstep_member *most = file->members;

	for (size_t i = 0; i < reader->ranks.count; i++)
		if (file->members[i].transfers > most->transfers)
			most = &file->members[i];
	if (most->transfers && file->opened > 1) {
		judge(&reader->worst, LOCKSTEP_YES, NULL);
		if (check_sequence(reader, file))
			compare_times(reader, file, most);
	}
	for (size_t i = 0; i < reader->ranks.count; i++)
		free(file->members[i].times);
	free(file->members);
	file->members = NULL;
	reader->open--;
}

/* The opening that the number stands for; NULL: there are too many. */
static struct lockstep_file *put_file(struct lockstep_reader *reader, const struct activity *a)
{
	struct lockstep_file *file = map_get(&reader->files, a->collective);

	if (file)
		return file;
	if (reader->open == LOCKSTEP_FILES) {
		judge(&reader->worst, LOCKSTEP_NO, "more than %d files are open at the same time",
		      LOCKSTEP_FILES);
		return NULL;
	}
	file = xcalloc(1, sizeof(*file));
	file->name = a->file;
	file->number = a->collective;
	file->members = xcalloc(reader->ranks.count + 1, sizeof(*file->members));
	map_put(&reader->files, a->collective, file);
	reader->open++;
	return file;
}

static void add_to_sequence(struct lockstep_reader *reader, struct lockstep_file *file, size_t rank,
			    uint64_t what)
{
	struct lockstep_member *member = &file->members[rank];

	member->order = mix(member->order, what);
	reader->orders[rank] = mix(mix(reader->orders[rank], file->number), what);
}

/* The call of HDF5 that opens the file is known before the call of MPI in it. */
static void open_file(struct lockstep_reader *reader, const struct activity *a, size_t rank,
		      bool is_own)
{
	struct lockstep_file *file = a->error || !a->collective ? NULL : put_file(reader, a);

	if (!file || !file->members)
		return;
	file->is_own = is_own;
	file->opened += !file->members[rank].is_member;
	file->members[rank].is_member = true;
	reader->orders[rank] = mix(reader->orders[rank], a->collective);
	put_object(reader, a, a->id, file, a->collective);
	if (a->parent)
		put_object(reader, a, a->parent, file, a->collective);
}

static void close_file(struct lockstep_reader *reader, const struct activity *a, size_t rank)
{
	struct lockstep_object *object = find_object(reader, a, a->link);
	struct lockstep_file *file = object ? object->file : NULL;

	if (!file || !file->members || file->members[rank].has_closed)
		return;
	file->members[rank].has_closed = true;
	file->members[rank].overall = reader->orders[rank];
	reader->orders[rank] = mix(reader->orders[rank], a->collective);
	drop_object(reader, a, a->link);
	/* Opening is collective: no rank closes the file before all have opened it. */
	if (++file->closed == file->opened)
		finish_file(reader, file);
}

static void add_transfer(struct lockstep_reader *reader, const struct activity *a, size_t rank,
			 const struct lockstep_object *object)
{
	struct lockstep_member *member = &object->file->members[rank];

	add_to_sequence(reader, object->file, rank, mix(object->name, a->call));
	if (!member->transfers)
		member->thread = id_thread(a->id);
	if (member->thread != id_thread(a->id))
		judge(&reader->worst, LOCKSTEP_NO, "%s: several threads of rank %d access it",
		      file_text(reader, object->file->name), rank_number(reader, rank));
	if (!member->times)
		member->times = xcalloc(LOCKSTEP_ROUNDS, sizeof(*member->times));
	if (member->transfers < LOCKSTEP_ROUNDS)
		member->times[member->transfers] =
			(struct lockstep_time){ a->start_ns, a->start_ns + a->duration_ns,
						a->call };
	member->transfers++;
}

/* A call of HDF5 on an object of a file that several ranks opened. */
static void add_hdf5(struct lockstep_reader *reader, const struct activity *a, size_t rank,
		     enum kind kind)
{
	const struct lockstep_object *object = find_object(reader, a, a->link);
	uint64_t name;

	if (!object)
		return;
	name = a->name ? hash_text(file_text(reader, a->name), false) : object->name;
	if (object->file->members) {
		if (kind == KIND_TRANSFER)
			add_transfer(reader, a, rank, object);
		if (kind == KIND_METADATA || kind == KIND_CREATE || kind == KIND_END)
			add_to_sequence(reader, object->file, rank, mix(name, a->call));
		if (kind == KIND_OPEN || kind == KIND_CREATE)
			put_object(reader, a, a->id, object->file, name);
	}
	if (kind == KIND_CLOSE || kind == KIND_END)
		drop_object(reader, a, a->link);
}

/* A transfer that the program itself makes with MPI-IO. */
static void add_mpi_transfer(struct lockstep_reader *reader, const struct activity *a, size_t rank)
{
	const struct lockstep_object *object = find_object(reader, a, a->link);

	if (object && object->file->is_own && object->file->members)
		add_transfer(reader, a, rank, object);
}

void lockstep_reader_add(struct lockstep_reader *reader, const struct activity *activity)
{
	const struct activity *a = activity;
	int32_t rank = ranks_of_process(&reader->ranks, a->process);
	const struct nest_call *enclosing;
	size_t depth;

	if (rank < 0 || a->call >= reader->head->call_count ||
	    a->file >= reader->head->file_count || a->name >= reader->head->file_count)
		return;
	depth = nest_enter(&reader->nest, a, &enclosing);
	switch ((enum kind)reader->kinds[a->call]) {
	case KIND_OTHER:
		break;
	case KIND_MPI_OPEN:
		open_file(reader, a, (size_t)rank, !lockstep_is_in_library(enclosing, depth));
		break;
	case KIND_MPI_TRANSFER:
		add_mpi_transfer(reader, a, (size_t)rank);
		break;
	case KIND_MPI_CLOSE:
		close_file(reader, a, (size_t)rank);
		break;
	case KIND_MPI:
		if (a->collective)
			reader->orders[rank] = mix(reader->orders[rank], a->collective);
		break;
	default:
		add_hdf5(reader, a, (size_t)rank, (enum kind)reader->kinds[a->call]);
	}
}

/* Files that the program did not close. */
static void finish_open_files(struct lockstep_reader *reader)
{
	for (size_t i = 0; i < reader->files.cap; i++) {
		struct lockstep_file *file = reader->files.entries[i].value;

		if (!reader->files.entries[i].key || !file->members)
			continue;
		for (size_t k = 0; k < reader->ranks.count; k++)
			if (!file->members[k].has_closed)
				file->members[k].overall = reader->orders[k];
		finish_file(reader, file);
	}
}

static void judge_pools(struct lockstep_reader *reader)
{
	for (size_t i = 0; i < reader->pools.cap; i++) {
		struct lockstep_pool *pool = reader->pools.entries[i].value;

		if (!reader->pools.entries[i].key)
			continue;
		if (pool->count)
			judge(&reader->worst, LOCKSTEP_SERIAL,
			      "%s: rank %d never begins a transfer before rank %d has finished its "
			      "own, as if it waited for it",
			      file_text(reader, pool->name),
			      rank_number(reader, pool->cuts[0].after),
			      rank_number(reader, pool->cuts[0].before));
		free(pool->cuts);
	}
}

static void release_values(struct map *map)
{
	for (size_t i = 0; i < map->cap; i++)
		if (map->entries[i].key)
			free(map->entries[i].value);
	map_release(map);
}

void lockstep_reader_end(struct lockstep_reader *reader, struct lockstep *lockstep)
{
	const struct ranks *ranks = &reader->ranks;

	finish_open_files(reader);
	if (reader->worst.verdict && ranks->world > ranks->count)
		judge(&reader->worst, LOCKSTEP_NO, "only %zu of %zu ranks were recorded",
		      ranks->count, ranks->world);
	judge_pools(reader);
	*lockstep = reader->worst;
	release_values(&reader->objects);
	release_values(&reader->files);
	release_values(&reader->pools);
	ranks_release(&reader->ranks);
	nest_release(&reader->nest);
	free(reader->kinds);
	free(reader->orders);
	*reader = (struct lockstep_reader){ 0 };
}
