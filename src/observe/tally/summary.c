/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"

/*
 * Limit of operations in progress. Beyond it, the oldest operations keep the requested size as
 * their size.
 */
#define STARTED_MAX 65536

/* The ranks are known if at most one part in this many is of all ranks together. */
#define KNOWN_PART 20

/* An asynchronous operation whose completion has not been seen yet. */
struct started {
	struct credits credits;
	int64_t start_ns;
	uint64_t asked;
	unsigned ways;
};

static bool is_group(const struct summary *s, uint32_t process)
{
	return process < s->head->process_count && process_is_group(&s->head->processes[process]);
}

/*
 * Returns the sums of the rank that the process belongs to; NULL in a run without ranks, and for
 * all ranks together.
 */
static struct sums *sums_of_process(struct summary *s, uint32_t process)
{
	int32_t rank = ranks_of_process(&s->ranks, process);

	if (!s->ranks.count || is_group(s, process))
		return NULL;
	return rank < 0 ? &s->outside : &s->of_rank[rank];
}

static void add_difference(struct tally *to, const struct tally *now, const struct tally *before)
{
	to->calls += now->calls - before->calls;
	to->bytes_read += now->bytes_read - before->bytes_read;
	to->bytes_written += now->bytes_written - before->bytes_written;
	to->time_ns += now->time_ns - before->time_ns;
}

static void add_aggregate(struct summary *s, const struct aggregate *row)
{
	struct sums *own = sums_of_process(s, row->process);
	struct tally before;

	if (row->layer >= LAYER_COUNT || row->group >= GROUP_COUNT ||
	    row->file >= s->head->file_count)
		return;
	s->has_aggregates = true;
	if (own)
		sums_add_aggregate(own, row);
	if (own == &s->outside)
		return;
	s->file_layers[row->file] |= (uint8_t)(1u << row->layer);
	before = s->all.io;
	sums_add_aggregate(&s->all, row);
	if (is_group(s, row->process))
		add_difference(&s->group, &s->all.io, &before);
}

void summary_init_share(struct summary *summary, const struct trace_head *head)
{
	*summary = (struct summary){ .head = head };
	ranks_init(&summary->ranks, head);
	summary->of_rank = xcalloc(summary->ranks.count + 1, sizeof(*summary->of_rank));
	summary->file_layers = xcalloc(head->file_count + 1, sizeof(*summary->file_layers));
	summary->file_count = head->file_count;
	summary->call_count = head->call_count;
	summary->ways = traffic_table(head);
	parameters_init(&summary->parameters, head);
	recent_init(&summary->started, STARTED_MAX, sizeof(struct started));
}

void summary_init(struct summary *summary, const struct trace_head *head)
{
	summary_init_share(summary, head);
	for (size_t i = 0; i < head->aggregate_count; i++)
		add_aggregate(summary, &head->aggregates[i]);
}

void summary_postpone_all(struct summary *summary)
{
	summary->all_is_postponed = summary->ranks.count && !summary->has_aggregates;
}

void summary_release(struct summary *summary)
{
	for (size_t i = 0; i < summary->ranks.count && summary->of_rank; i++)
		sums_release(&summary->of_rank[i]);
	if (summary->spreads)
		spreads_release(summary->spreads);
	free(summary->spreads);
	sums_release(&summary->all);
	sums_release(&summary->outside);
	ranks_release(&summary->ranks);
	recent_release(&summary->started);
	nest_release(&summary->nest);
	parameters_release(&summary->parameters);
	free(summary->of_rank);
	free(summary->file_layers);
	free(summary->ways);
	*summary = (struct summary){ 0 };
}

struct contribution summary_contribution(const struct trace_head *head, const uint8_t *all_ways,
					 const struct activity *activity)
{
	const struct activity *a = activity;
	const struct call_info *call = &head->calls[a->call];
	uint64_t bytes = traffic_bytes(a, call);
	unsigned ways = all_ways[a->call];
	bool starts = call->class == CLASS_START;

	return (struct contribution){
		.time_ns = a->duration_ns,
		.error = a->error != 0,
		.is_process = call->class == CLASS_PROCESS,
		.is_copy = call->class == CLASS_COPY,
		.transfer = ways && (starts ? !a->error : a->result >= 0),
		.pending = ways && starts,
		.bytes_read = ways & 1u << READING ? bytes : 0,
		.bytes_written = ways & 1u << WRITING ? bytes : 0,
	};
}

/*
 * A call that submits several operations (io_uring_submit) accounts for the time, and the
 * operations inside it account for the bytes, so they must not be treated as enclosed by it.
 */
static bool submits_operation(const struct trace_head *head, const uint8_t *ways,
			      const struct nest_call *outer, const struct activity *a)
{
	const struct call_info *call = &head->calls[outer->call];
	const struct call_info *operation = &head->calls[a->call];

	return operation->class == CLASS_START && operation->layer == call->layer &&
	       (call->class == CLASS_START || call->class == CLASS_WAIT) && !ways[outer->call];
}

struct call_context summary_context(const struct trace_head *head, const uint8_t *ways,
				    const struct activity *activity,
				    const struct nest_call *enclosing, size_t depth)
{
	const struct activity *a = activity;
	struct call_context at = { 0 };

	for (size_t i = 0; i < depth; i++) {
		const struct nest_call *outer = &enclosing[i];
		bool is_process = head->calls[outer->call].class == CLASS_PROCESS;
		bool is_network = outer->layer == LAYER_NETWORK;

		if (submits_operation(head, ways, outer, a))
			continue;
		at.in_process |= is_process;
		at.in_network |= is_network;
		at.in_layer |= outer->layer == a->layer && !is_process;
		at.in_function |= outer->call == a->call;
		if (outer->layer == LAYER_APPLICATION)
			continue;
		at.in_file |= outer->file == a->file && !is_process;
		at.in_file2 |= outer->file == a->file2 && !is_process;
		if (is_process || is_network)
			continue;
		at.in_io = true;
		at.in_storage |= outer->layer == LAYER_POSIX || outer->layer == LAYER_STDIO;
		at.in_write |= ways[outer->call] == 1u << WRITING;
	}
	return at;
}

/*
 * The start added the requested bytes. Corrects them to the bytes that were transferred and adds
 * the duration of the transfer, which is known now.
 */
static void correct_transfer(const struct started *op, const struct activity *completion)
{
	uint64_t more = traffic_completed(completion, op->asked) - op->asked;

	for (unsigned i = 0; i < op->credits.count; i++) {
		struct tally *t = op->credits.to[i];

		*(op->ways & 1u << READING ? &t->bytes_read : &t->bytes_written) += more;
		t->transfer_ns += completion->start_ns + completion->duration_ns - op->start_ns;
	}
}

static void complete_operation(struct summary *s, const struct activity *a)
{
	struct call_ref start = traffic_start(&s->started, s->head, a);

	if (!start.id)
		return;
	correct_transfer(recent_find(&s->started, start), a);
	recent_drop(&s->started, start);
}

static void remember_start(struct summary *s, const struct activity *a,
			   const struct contribution *share, const struct credits *credits)
{
	struct started *op = recent_put(&s->started, (struct call_ref){ a->process, a->id });

	*op = (struct started){
		.credits = *credits,
		.start_ns = a->start_ns,
		.asked = share->bytes_read + share->bytes_written,
		.ways = s->ways[a->call],
	};
}

bool summary_in_range(const struct summary *summary, const struct activity *activity)
{
	const struct trace_head *head = summary->head;

	return activity->call < head->call_count && activity->file < head->file_count &&
	       activity->file2 < head->file_count && activity->layer < LAYER_COUNT;
}

static void add_call(struct summary *s, struct summary_call *call)
{
	const struct activity *a = call->activity;
	struct sums *own = sums_of_process(s, a->process);
	struct credits credits = { 0 };

	parameters_add(&s->parameters, a, call->enclosing, call->depth);
	if (own)
		sums_add(own, a, &call->share, &call->context, &credits);
	call->is_busy = own != &s->outside && sums_is_busy(a, &call->share, &call->context);
	if (own != &s->outside) {
		if (!own || !s->all_is_postponed)
			sums_add(&s->all, a, &call->share, &call->context, &credits);
		if (a->layer != LAYER_APPLICATION &&
		    (!call->context.in_process || a->layer == LAYER_NETWORK))
			s->file_layers[a->file] |= (uint8_t)(1u << a->layer);
	}
	if (call->share.pending && call->share.transfer)
		remember_start(s, a, &call->share, &credits);
}

bool summary_add_nested(struct summary *summary, struct summary_call *call)
{
	const struct activity *a = call->activity;
	const struct call_info *info = &summary->head->calls[a->call];

	if (info->class == CLASS_WAIT) {
		complete_operation(summary, a);
		if (traffic_is_notice(info))
			return false;
	}
	call->context =
		summary_context(summary->head, summary->ways, a, call->enclosing, call->depth);
	call->share = summary_contribution(summary->head, summary->ways, a);
	add_call(summary, call);
	return true;
}

void summary_add(struct summary *summary, const struct activity *activity)
{
	struct summary_call call = { .activity = activity };

	if (!summary_in_range(summary, activity))
		return;
	call.depth = nest_enter(&summary->nest, activity, &call.enclosing);
	summary_add_nested(summary, &call);
}

bool summary_knows_ranks(const struct summary *summary)
{
	const struct tally *group = &summary->group, *io = &summary->all.io;
	uint64_t bytes = io->bytes_read + io->bytes_written;

	return group->time_ns <= io->time_ns / KNOWN_PART &&
	       group->bytes_read + group->bytes_written <= bytes / KNOWN_PART;
}

double summary_io_time_ns(const struct summary *summary)
{
	const struct summary *s = summary;
	const struct measure *time = &sums_measures[s->has_aggregates ? SUMS_TIME : SUMS_BUSY];
	struct spread ranks = summary_rank_spread(s, time);

	if (s->group.calls && s->ranks.world)
		return time->get(&s->all) / (double)s->ranks.world;
	return s->ranks.count ? spread_average(&ranks) : time->get(&s->all);
}

double summary_io_share(const struct summary *summary)
{
	double duration = (double)summary->head->end.duration_ns;

	return duration > 0 ? fmin(summary_io_time_ns(summary) / duration, 1) : NAN;
}

double summary_share(const struct summary *summary, double time_ns)
{
	double whole = (double)summary->all.io.time_ns;

	return whole > 0 ? time_ns / whole * summary_io_share(summary) : NAN;
}

bool summary_has_libraries(const struct summary *summary)
{
	for (unsigned layer = LAYER_NETWORK + 1; layer < LAYER_APPLICATION; layer++) {
		if (summary->all.layers[layer].calls)
			return true;
	}
	return false;
}

static int compare_rows(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	if (x->is_process != y->is_process)
		return x->is_process ? 1 : -1;
	if (x->tally->time_ns != y->tally->time_ns)
		return x->tally->time_ns < y->tally->time_ns ? 1 : -1;
	if (x->tally->calls != y->tally->calls)
		return x->tally->calls < y->tally->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

static struct summary_row *layer_rows(const struct summary *s, size_t *count)
{
	struct summary_row *rows = xcalloc(LAYER_COUNT, sizeof(*rows));

	*count = 0;
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++) {
		if (s->all.layers[layer].calls)
			rows[(*count)++] = (struct summary_row){ .table = SUMMARY_LAYERS,
								 .key = layer,
								 .name = names_layer(layer),
								 .layer = (uint8_t)layer,
								 .tally = &s->all.layers[layer] };
	}
	return rows;
}

static struct summary_row function_row(const struct summary *s, const struct map_entry *entry)
{
	struct sums_function f = sums_function_of(entry->key);

	return (struct summary_row){
		.table = SUMMARY_FUNCTIONS,
		.key = entry->key,
		.name = f.counted ? names_group(f.number) : s->head->calls[f.number].name,
		.layer = (uint8_t)f.layer,
		.counted = f.counted,
		.is_network = !names_layer_is_io(f.layer),
		.is_process = !f.counted && s->head->calls[f.number].class == CLASS_PROCESS,
		.tally = entry->value,
	};
}

static bool is_network_file(const struct summary *s, uint64_t key)
{
	return s->file_layers[key - 1] == 1u << LAYER_NETWORK;
}

static enum file_class class_of_file(const struct summary *s, uint64_t key,
				     const struct tally *tally)
{
	return is_network_file(s, key)
		       ? FILE_CHANNEL
		       : file_class_of(s->head->files[key - 1], tally->bytes_written > 0);
}

enum file_class summary_file_class(const struct summary *summary, file_id file)
{
	static const struct tally none;
	const struct tally *tally = map_get(&summary->all.files, sums_file_key(file));

	return class_of_file(summary, sums_file_key(file), tally ? tally : &none);
}

static struct summary_row file_row(const struct summary *s, const struct map_entry *entry)
{
	return (struct summary_row){
		.table = SUMMARY_FILES,
		.key = entry->key,
		.name = s->head->files[entry->key - 1],
		.layers = s->file_layers[entry->key - 1],
		.class = (uint8_t)class_of_file(s, entry->key, entry->value),
		.is_network = is_network_file(s, entry->key),
		.tally = entry->value,
	};
}

struct summary_row *summary_rows(const struct summary *summary, enum summary_table table,
				 size_t *count)
{
	const struct sums *all = &summary->all;
	const struct map *map = table == SUMMARY_FILES ? &all->files : &all->functions;
	struct summary_row *rows;
	size_t n = 0;

	if (table == SUMMARY_LAYERS)
		return layer_rows(summary, count);
	rows = xcalloc(map->count + 1, sizeof(*rows));
	for (size_t i = 0; i < map->cap; i++) {
		const struct map_entry *entry = &map->entries[i];

		if (!entry->key || (table == SUMMARY_FILES && entry->key == sums_file_key(0)))
			continue;
		rows[n++] = table == SUMMARY_FILES ? file_row(summary, entry)
						   : function_row(summary, entry);
	}
	qsort(rows, n, sizeof(*rows), compare_rows);
	*count = n;
	return rows;
}

static struct summary_row folded_row(enum file_class class, const struct tally *total)
{
	return (struct summary_row){
		.table = SUMMARY_FILES,
		.name = class == FILE_SYSTEM ? "system files" : "sockets and pipes",
		.class = (uint8_t) class,
		.is_network = class == FILE_CHANNEL,
		.tally = total,
	};
}

size_t summary_fold_files(struct summary_row *rows, size_t count, size_t *users,
			  struct tally totals[FILE_CLASSES])
{
	struct summary_row folded[FILE_CLASSES];
	size_t n = 0;

	for (unsigned class = FILE_USER; class < FILE_CLASSES; class ++) {
		totals[class] = (struct tally){ 0 };
		folded[class] = folded_row((enum file_class) class, &totals[class]);
	}
	for (size_t i = 0; i < count; i++) {
		unsigned class = rows[i].class;

		if (class == FILE_USER) {
			rows[n++] = rows[i];
			continue;
		}
		tally_merge(&totals[class], rows[i].tally);
		folded[class].layers |= rows[i].layers;
		folded[class].folded++;
	}
	*users = n;
	for (unsigned class = FILE_USER + 1; class < FILE_CLASSES; class ++) {
		if (folded[class].folded)
			rows[n++] = folded[class];
	}
	return n;
}

/* Adds up the files of a class. */
static struct tally add_class(const struct summary *s, const struct sums *sums, unsigned class)
{
	struct tally total = { 0 };

	for (size_t i = 0; i < sums->files.cap; i++) {
		uint64_t key = sums->files.entries[i].key;
		const struct tally *of_run = key > 1 ? map_get(&s->all.files, key) : NULL;

		if (of_run && class_of_file(s, key, of_run) == class)
			tally_merge(&total, sums->files.entries[i].value);
	}
	return total;
}

/* The row's tally for a rank (an index in ranks.list). It has no calls if the rank made none. */
static struct tally tally_of_rank(const struct summary *summary, const struct summary_row *row,
				  size_t rank)
{
	const struct sums *sums = &summary->of_rank[rank];
	const struct tally *found;

	if (row->table == SUMMARY_LAYERS)
		return sums->layers[row->key];
	if (row->folded)
		return add_class(summary, sums, row->class);
	found = map_get(row->table == SUMMARY_FUNCTIONS ? &sums->functions : &sums->files,
			row->key);
	return found ? *found : (struct tally){ 0 };
}

/* One of the tally_measures of a run whose ranks are not known one by one. */
static struct spread find_spread(const struct spreads *spreads, const struct summary_row *row,
				 const struct measure *measure)
{
	const struct row_spreads *found;

	if (row->table == SUMMARY_LAYERS)
		found = &spreads->layers[row->key];
	else if (row->folded)
		found = &spreads->classes[row->class];
	else
		found = map_get(row->table == SUMMARY_FUNCTIONS ? &spreads->functions
								: &spreads->files,
				row->key);
	return found ? found->of[measure - tally_measures] : (struct spread){ 0 };
}

struct spread summary_spread(const struct summary *summary, const struct summary_row *row,
			     const struct measure *measure)
{
	struct spread spread = { 0 };

	if (summary->spreads)
		return find_spread(summary->spreads, row, measure);
	for (size_t i = 0; i < summary->ranks.count; i++) {
		struct tally tally = tally_of_rank(summary, row, i);

		if (tally.calls)
			spread_add(&spread, summary->ranks.list[i].number, measure->get(&tally));
	}
	return spread;
}

struct spread summary_rank_spread(const struct summary *summary, const struct measure *measure)
{
	struct spread spread = { 0 };

	if (summary->spreads)
		return summary->spreads->ranks[measure - sums_measures];
	for (size_t i = 0; i < summary->ranks.count; i++)
		spread_add(&spread, summary->ranks.list[i].number,
			   measure->get(&summary->of_rank[i]));
	return spread;
}
