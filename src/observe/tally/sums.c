/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/sums.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/tally/names.h"

/* Defines a function that reads one member of a record. */
#define GET(name, type, member)                                \
	static double name(const void *record)                 \
	{                                                      \
		return (double)((const type *)record)->member; \
	}

GET(tally_calls, struct tally, calls)
GET(tally_errors, struct tally, errors)
GET(tally_read, struct tally, bytes_read)
GET(tally_written, struct tally, bytes_written)
GET(tally_time, struct tally, time_ns)
GET(tally_transfers, struct tally, transfers)
GET(tally_transfer_time, struct tally, transfer_ns)

static double tally_bytes(const struct tally *t)
{
	return (double)(t->bytes_read + t->bytes_written);
}

static double tally_transfer_size(const void *record)
{
	const struct tally *t = record;

	return t->transfers ? tally_bytes(t) / (double)t->transfers : NAN;
}

static double tally_bandwidth(const void *record)
{
	const struct tally *t = record;

	return t->transfer_ns > 0 ? tally_bytes(t) * NS_PER_S / (double)t->transfer_ns : NAN;
}

const struct measure tally_measures[TALLY_MEASURES] = {
	[TALLY_CALLS] = { "calls", ">calls", QUANTITY_COUNT, tally_calls },
	[TALLY_ERRORS] = { "errors", ">errors", QUANTITY_COUNT, tally_errors },
	[TALLY_READ] = { "bytes_read", ">read", QUANTITY_BYTES, tally_read },
	[TALLY_WRITTEN] = { "bytes_written", ">written", QUANTITY_BYTES, tally_written },
	[TALLY_TIME] = { "time_ns", ">time", QUANTITY_NS, tally_time },
	[TALLY_TRANSFERS] = { "transfers", NULL, QUANTITY_COUNT, tally_transfers },
	[TALLY_TRANSFER_TIME] = { "transfer_ns", NULL, QUANTITY_NS, tally_transfer_time },
	[TALLY_TRANSFER_SIZE] = { "bytes_per_transfer", ">avg size", QUANTITY_BYTES,
				  tally_transfer_size },
	[TALLY_BANDWIDTH] = { "bytes_per_second", ">bandwidth", QUANTITY_RATE, tally_bandwidth },
};

GET(sums_calls, struct sums, io.calls)
GET(sums_errors, struct sums, io.errors)
GET(sums_read, struct sums, io.bytes_read)
GET(sums_written, struct sums, io.bytes_written)
GET(sums_storage_read, struct sums, storage.bytes_read)
GET(sums_storage_written, struct sums, storage.bytes_written)
GET(sums_busy, struct sums, busy_ns)
GET(sums_time, struct sums, io.time_ns)
GET(sums_startup, struct sums, startup.time_ns)
GET(sums_network, struct sums, network.time_ns)
GET(sums_network_in_io, struct sums, network_in_io.time_ns)

static double sums_bytes(const void *record)
{
	return tally_bytes(&((const struct sums *)record)->io);
}

const struct measure sums_measures[SUMS_MEASURES] = {
	[SUMS_CALLS] = { "calls", ">calls", QUANTITY_COUNT, sums_calls },
	[SUMS_ERRORS] = { "errors", ">errors", QUANTITY_COUNT, sums_errors },
	[SUMS_READ] = { "bytes_read", ">read", QUANTITY_BYTES, sums_read },
	[SUMS_WRITTEN] = { "bytes_written", ">written", QUANTITY_BYTES, sums_written },
	[SUMS_STORAGE_READ] = { "storage_bytes_read", ">from storage", QUANTITY_BYTES,
				sums_storage_read },
	[SUMS_STORAGE_WRITTEN] = { "storage_bytes_written", ">to storage", QUANTITY_BYTES,
				   sums_storage_written },
	[SUMS_BUSY] = { "busy_ns", ">in I/O", QUANTITY_NS, sums_busy },
	[SUMS_TIME] = { "time_ns", ">thread time", QUANTITY_NS, sums_time },
	[SUMS_STARTUP] = { "startup_ns", ">start-up", QUANTITY_NS, sums_startup },
	[SUMS_NETWORK] = { "network_ns", ">network", QUANTITY_NS, sums_network },
	[SUMS_NETWORK_IN_IO] = { "network_in_io_ns", NULL, QUANTITY_NS, sums_network_in_io },
	[SUMS_BYTES] = { "bytes", NULL, QUANTITY_BYTES, sums_bytes },
};

static void table_free(struct map *table)
{
	for (size_t i = 0; i < table->cap; i++)
		free(table->entries[i].value);
	map_release(table);
}

void sums_release(struct sums *sums)
{
	table_free(&sums->functions);
	table_free(&sums->files);
	*sums = (struct sums){ 0 };
}

/* Call numbers have 16 bits; groups are numbered after them. */
#define GROUP_FIRST ((uint64_t)UINT16_MAX + 1)

uint64_t sums_function_key(unsigned call, unsigned layer)
{
	return 1 + (uint64_t)call * LAYER_COUNT + layer;
}

static uint64_t group_key(unsigned group, unsigned layer)
{
	return 1 + (GROUP_FIRST + group) * LAYER_COUNT + layer;
}

struct sums_function sums_function_of(uint64_t key)
{
	uint64_t number = (key - 1) / LAYER_COUNT;
	bool counted = number >= GROUP_FIRST;

	return (struct sums_function){
		.number = (unsigned)(counted ? number - GROUP_FIRST : number),
		.layer = (unsigned)((key - 1) % LAYER_COUNT),
		.counted = counted,
	};
}

uint64_t sums_file_key(file_id file)
{
	return 1 + (uint64_t)file;
}

bool sums_is_function(const struct trace_head *head, uint64_t key)
{
	struct sums_function f = sums_function_of(key);

	return f.number < (f.counted ? GROUP_COUNT : head->call_count);
}

bool sums_is_file(const struct trace_head *head, uint64_t key)
{
	return key <= head->file_count;
}

struct tally *sums_tally(struct map *table, uint64_t key)
{
	struct tally *tally = map_get(table, key);

	if (!tally) {
		tally = xcalloc(1, sizeof(*tally));
		map_put(table, key, tally);
	}
	return tally;
}

void tally_merge(struct tally *tally, const struct tally *other)
{
	tally->calls += other->calls;
	tally->errors += other->errors;
	tally->bytes_read += other->bytes_read;
	tally->bytes_written += other->bytes_written;
	tally->time_ns += other->time_ns;
	tally->transfers += other->transfers;
	tally->transfer_ns += other->transfer_ns;
}

static void tally_add(struct tally *t, const struct contribution *share, bool covered,
		      struct credits *credits)
{
	t->calls++;
	t->errors += share->error;
	if (covered)
		return;
	t->time_ns += share->time_ns;
	t->bytes_read += share->bytes_read;
	t->bytes_written += share->bytes_written;
	if (!share->transfer)
		return;
	t->transfers++;
	if (!share->pending)
		t->transfer_ns += share->time_ns;
	else if (credits && credits->count < CREDITS_MAX)
		credits->to[credits->count++] = t;
}

/*
 * Activities arrive in the order of their start, so the latest end is enough to compute the union
 * of their times.
 */
static void add_busy(struct sums *sums, const struct activity *a)
{
	int64_t end = a->start_ns + a->duration_ns;
	int64_t from = a->start_ns > sums->busy_until_ns ? a->start_ns : sums->busy_until_ns;

	if (end <= from)
		return;
	if (!sums->busy_ns)
		sums->busy_from_ns = from;
	sums->busy_ns += end - from;
	sums->busy_until_ns = end;
}

bool sums_is_busy(const struct activity *activity, const struct contribution *contribution,
		  const struct call_context *context)
{
	return names_layer_is_io(activity->layer) && !contribution->is_process &&
	       !context->in_process && !context->in_io;
}

static void add_io(struct sums *sums, const struct activity *a, const struct contribution *share,
		   const struct call_context *at, struct credits *credits)
{
	bool is_storage = a->layer == LAYER_POSIX || a->layer == LAYER_STDIO;

	if (!at->in_io) {
		tally_add(&sums->io, share, false, credits);
		add_busy(sums, a);
	}
	if (!is_storage || at->in_storage)
		return;
	tally_add(&sums->storage, share, false, credits);
	if (at->in_write)
		sums->bytes_read_to_write += share->bytes_read;
}

/* The bytes of a copy are read from its second file and written to the first. */
static void add_files(struct sums *sums, const struct activity *a, const struct contribution *share,
		      const struct call_context *at, struct credits *credits)
{
	struct contribution first = *share;

	if (share->is_copy && a->file2) {
		struct tally *source = sums_tally(&sums->files, sums_file_key(a->file2));

		first.bytes_read = 0;
		if (!at->in_file2)
			source->bytes_read += share->bytes_read;
		source->calls++;
	}
	tally_add(sums_tally(&sums->files, sums_file_key(a->file)), &first,
		  at->in_file || share->is_process, credits);
}

void sums_add(struct sums *sums, const struct activity *activity, const struct contribution *share,
	      const struct call_context *standing, struct credits *credits)
{
	const struct activity *a = activity;
	const struct call_context *at = standing;

	if (a->layer == LAYER_NETWORK) {
		if (!at->in_network)
			tally_add(at->in_io ? &sums->network_in_io : &sums->network, share, false,
				  credits);
	} else if (share->is_process) {
		tally_add(&sums->process, share, at->in_process, credits);
	} else if (at->in_process) {
		if (!at->in_io)
			tally_add(&sums->startup, share, false, credits);
		return;
	} else if (a->layer != LAYER_APPLICATION) {
		add_io(sums, a, share, at, credits);
	}
	tally_add(&sums->layers[a->layer], share, at->in_layer || share->is_process, credits);
	tally_add(sums_tally(&sums->functions, sums_function_key(a->call, a->layer)), share,
		  at->in_function, credits);
	if (a->layer != LAYER_APPLICATION)
		add_files(sums, a, share, at, credits);
}

static void tally_add_aggregate(struct tally *t, const struct aggregate *row)
{
	bool transfer = row->group == GROUP_READ || row->group == GROUP_WRITE;

	t->calls += row->calls;
	t->errors += row->errors;
	t->time_ns += row->duration_ns;
	if (row->group == GROUP_READ)
		t->bytes_read += (uint64_t)row->bytes;
	if (row->group == GROUP_WRITE)
		t->bytes_written += (uint64_t)row->bytes;
	if (transfer) {
		t->transfers += row->calls;
		t->transfer_ns += row->duration_ns;
	}
}

/*
 * If it is not known what encloses a counted call, only the lowest layers enter the sums, so
 * nothing is counted twice.
 */
void sums_add_aggregate(struct sums *sums, const struct aggregate *row)
{
	bool is_lowest = row->layer == LAYER_POSIX || row->layer == LAYER_STDIO;
	bool is_outermost = row->place ? row->place == AGGREGATE_OUTERMOST : is_lowest;
	struct tally *file = sums_tally(&sums->files, sums_file_key(row->file));

	if (row->layer == LAYER_NETWORK) {
		tally_add_aggregate(&sums->network, row);
		is_outermost = false;
	}
	if (is_outermost)
		tally_add_aggregate(&sums->io, row);
	if (is_lowest)
		tally_add_aggregate(&sums->storage, row);
	tally_add_aggregate(&sums->layers[row->layer], row);
	tally_add_aggregate(sums_tally(&sums->functions, group_key(row->group, row->layer)), row);
	if (is_outermost || row->layer == LAYER_NETWORK) {
		tally_add_aggregate(file, row);
	} else {
		file->calls += row->calls;
		file->errors += row->errors;
	}
}

uint64_t sums_renumber_function(uint64_t key, const struct renumbering *to)
{
	struct sums_function f = sums_function_of(key);

	return f.counted ? key : sums_function_key(to->calls[f.number], f.layer);
}

uint64_t sums_renumber_file(uint64_t key, const struct renumbering *to)
{
	return sums_file_key(to->files[key - 1]);
}

static void merge_table(struct map *table, const struct map *other,
			uint64_t (*renumber)(uint64_t key, const struct renumbering *to),
			const struct renumbering *to)
{
	for (size_t i = 0; i < other->cap; i++) {
		const struct map_entry *entry = &other->entries[i];

		if (entry->key)
			tally_merge(sums_tally(table, to ? renumber(entry->key, to) : entry->key),
				    entry->value);
	}
}

static void merge_busy(struct sums *sums, const struct sums *other, const struct renumbering *to,
		       bool parallel)
{
	int64_t shift_ns = to ? to->shift_ns : 0;
	int64_t from = other->busy_from_ns + shift_ns, until = other->busy_until_ns + shift_ns;

	if (!other->busy_ns)
		return;
	if (!sums->busy_ns || from < sums->busy_from_ns)
		sums->busy_from_ns = from;
	if (!sums->busy_ns || until > sums->busy_until_ns)
		sums->busy_until_ns = until;
	if (!parallel)
		sums->busy_ns += other->busy_ns;
	else if (other->busy_ns > sums->busy_ns)
		sums->busy_ns = other->busy_ns;
}

void sums_merge(struct sums *sums, const struct sums *other, const struct renumbering *to,
		bool parallel)
{
	tally_merge(&sums->io, &other->io);
	tally_merge(&sums->storage, &other->storage);
	tally_merge(&sums->startup, &other->startup);
	tally_merge(&sums->process, &other->process);
	tally_merge(&sums->network, &other->network);
	tally_merge(&sums->network_in_io, &other->network_in_io);
	sums->bytes_read_to_write += other->bytes_read_to_write;
	merge_busy(sums, other, to, parallel);
	for (int i = 0; i < LAYER_COUNT; i++)
		tally_merge(&sums->layers[i], &other->layers[i]);
	merge_table(&sums->functions, &other->functions, sums_renumber_function, to);
	merge_table(&sums->files, &other->files, sums_renumber_file, to);
}
