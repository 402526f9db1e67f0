/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/case.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "observe/diagnose/cost.h"
#include "observe/tally/names.h"

static bool is_storage(unsigned layer)
{
	return layer == LAYER_POSIX || layer == LAYER_STDIO;
}

static bool is_library(unsigned layer)
{
	return !is_storage(layer) && names_layer_is_io(layer);
}

static bool has_transfers(const struct file_total *t)
{
	return t->total.survey.accesses[READING] + t->total.survey.accesses[WRITING] > 0;
}

/* The files of `totals` are sorted by layer, then file; the list of cases by file. */
static struct case_file *find_case(const struct diagnosis *d, file_id file)
{
	size_t low = 0, high = d->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->files[middle].file == file)
			return &d->files[middle];
		if (d->files[middle].file < file)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int compare_files(const void *a, const void *b)
{
	const struct case_file *x = a, *y = b;

	return x->file < y->file ? -1 : x->file > y->file;
}

static bool is_users(const struct profile *profile, file_id file)
{
	return file && profile_file_class(profile, file) == FILE_USER;
}

static void list_files(struct diagnosis *d)
{
	size_t n = 0;

	d->files = xcalloc(d->total_count + 1, sizeof(*d->files));
	for (size_t i = 0; i < d->total_count; i++) {
		if (is_users(d->profile, d->totals[i].file))
			d->files[n++].file = d->totals[i].file;
	}
	qsort(d->files, n, sizeof(*d->files), compare_files);
	for (size_t i = 0; i < n; i++) {
		if (!d->count || d->files[d->count - 1].file != d->files[i].file)
			d->files[d->count++].file = d->files[i].file;
	}
}

static void assign_layers(struct diagnosis *d)
{
	for (size_t i = 0; i < d->total_count; i++) {
		const struct file_total *t = &d->totals[i];
		struct case_file *file = find_case(d, t->file);

		if (!file)
			continue;
		file->layers[t->layer] = t;
		if (has_transfers(t) && (!file->top || t->layer > file->top->layer))
			file->top = t;
	}
	for (size_t i = 0; i < d->count; i++)
		d->files[i].facts = facts_get(&d->profile->facts, d->files[i].file);
}

static int way_of(const struct diagnosis *d, unsigned call)
{
	unsigned ways = traffic_ways(&d->profile->head->calls[call]);

	return ways == 1u << READING ? READING : ways & 1u << WRITING ? WRITING : CASE_OTHER;
}

/* Adds the time of an outermost library call; its children are subtracted by add_child_time(). */
static void add_library_time(const struct diagnosis *d, const struct call_node *node)
{
	struct case_file *file = find_case(d, node->file);
	int way = way_of(d, node->call);

	if (!file)
		return;
	file->library_ns[way] += node->time_ns;
	file->own_ns[way] += node->time_ns;
}

static void add_storage_calls(const struct diagnosis *d, struct case_inner inner[CASE_WAYS],
			      const struct call_node *node, const struct call_node *outer)
{
	int way = way_of(d, node->call);

	if (way == CASE_OTHER)
		return;
	inner += way_of(d, outer->call);
	inner->calls[way] += node->calls;
	inner->bytes[READING] += node->bytes[READING];
	inner->bytes[WRITING] += node->bytes[WRITING];
	inner->time_ns[way] += node->time_ns;
}

/* Libraries move data of the program while they transfer, copy, flush or close, and only then. */
static bool may_move_data(const struct diagnosis *d, unsigned call)
{
	uint8_t class = d->profile->head->calls[call].class;

	return class == CLASS_READ || class == CLASS_WRITE || class == CLASS_COPY ||
	       class == CLASS_SYNC || class == CLASS_CLOSE;
}

/* For each node, the calls that enclose it: the outermost of a library, and the nearest of MPI. */
struct enclosing {
	uint32_t outer, mpi;
};

static void add_inner_node(struct diagnosis *d, uint32_t number, const struct enclosing *in)
{
	const struct call_node *nodes = d->profile->tree.nodes, *node = &nodes[number];
	struct case_file *file = find_case(d, node->file);
	struct case_file *outer_file = find_case(d, nodes[in->outer].file);

	if (outer_file && in->outer == node->parent)
		outer_file->own_ns[way_of(d, nodes[in->outer].call)] -= node->time_ns;
	if (!file || !is_storage(node->layer) || is_storage(nodes[node->parent].layer))
		return;
	add_storage_calls(d, file->inner, node, &nodes[in->outer]);
	for (int way = READING; way <= WRITING && !may_move_data(d, nodes[in->outer].call); way++)
		file->unrequested[way] += node->bytes[way];
	if (in->mpi)
		add_storage_calls(d, file->mpi, node, &nodes[in->mpi]);
}

/* A parent's index is lower than its child's, so one pass finds the enclosing calls. */
static void walk_tree(struct diagnosis *d)
{
	const struct call_tree *tree = &d->profile->tree;
	AUTO_FREE struct enclosing *in = xcalloc(tree->count + 1, sizeof(*in));

	for (uint32_t i = 1; i < tree->count; i++) {
		const struct call_node *node = &tree->nodes[i];

		in[i] = in[node->parent];
		if (in[i].outer) {
			add_inner_node(d, i, &in[i]);
		} else if (is_library(node->layer)) {
			in[i].outer = i;
			add_library_time(d, node);
		}
		if (node->layer == LAYER_MPI)
			in[i].mpi = i;
	}
}

void diagnosis_init(struct diagnosis *d, const struct profile *profile,
		    const struct diagnose_options *options)
{
	*d = (struct diagnosis){ .profile = profile, .options = options };
	d->totals = profile_files(profile, &d->total_count);
	d->members = profile->summary.ranks.count ? profile->summary.ranks.count
						  : profile->head->process_count;
	d->costs = costs_new();
	injected_init(&d->injected, profile);
	list_files(d);
	assign_layers(d);
	walk_tree(d);
}

void diagnosis_release(struct diagnosis *d)
{
	profile_files_release(d->totals, d->total_count);
	costs_free(d->costs);
	injected_release(&d->injected);
	free(d->files);
	*d = (struct diagnosis){ 0 };
}

double case_share(const struct diagnosis *d, double time_ns)
{
	return summary_share(&d->profile->summary, time_ns);
}

double case_summed(const struct diagnosis *d, double time_ns)
{
	return time_ns / (double)d->profile->head->end.duration_ns / case_share(d, 1);
}

const struct case_file *case_find(const struct diagnosis *d, file_id file)
{
	return find_case(d, file);
}

bool case_is_most(const struct diagnosis *d, uint64_t part, uint64_t whole)
{
	return part && (double)part * 100 >= (double)whole * (double)LIMIT(d, SHARE_PERCENT);
}

uint64_t case_calls(const struct case_file *file, enum call_class class, int64_t *time_ns)
{
	uint64_t calls = 0;

	for (unsigned layer = 0; layer < LAYER_COUNT; layer++) {
		const struct file_total *t = file->layers[layer];

		if (!t || !is_storage(layer))
			continue;
		calls += t->total.calls[class];
		*time_ns += t->total.time_ns[class];
	}
	return calls;
}

uint64_t case_syncs(const struct case_file *file, int64_t *time_ns)
{
	for (unsigned layer = LAYER_COUNT; layer-- > 0;) {
		const struct file_total *t = file->layers[layer];

		if (!t || layer == LAYER_STDIO || !t->total.calls[CLASS_SYNC])
			continue;
		*time_ns += t->total.time_ns[CLASS_SYNC];
		return t->total.calls[CLASS_SYNC];
	}
	return 0;
}

uint64_t case_repeated(const struct file_total *total, int way)
{
	uint64_t repeated = 0;

	for (size_t i = 0; i < total->members; i++)
		repeated += survey_repeated_bytes(&total->cells[i]->survey, way);
	return repeated;
}

/* The first bin of sizes that are not small. */
static unsigned small_bins(const struct diagnosis *d)
{
	unsigned bin = 1;

	while (bin + 1 < CELL_SIZE_BINS && cell_bin_bytes(bin + 1) <= LIMIT(d, SMALL_BYTES))
		bin++;
	return bin;
}

uint64_t case_small(const struct diagnosis *d, const struct file_total *total, int way)
{
	uint64_t small = 0;

	for (unsigned bin = small_bins(d); bin-- > 1;)
		small += total->total.sizes[way][bin];
	return small;
}

double case_bin_size(const struct cell *cell, int way, unsigned bin)
{
	for (int i = 0; i < CELL_SIZES; i++) {
		const struct cell_size *size = &cell->common[way][i];

		if (size->count && cell_bin(size->bytes) == bin)
			return (double)size->bytes;
	}
	return (double)cell_bin_bytes(bin) * M_SQRT2;
}

uint64_t case_small_bytes(const struct diagnosis *d, const struct file_total *total, int way)
{
	double bytes = 0;

	for (unsigned bin = small_bins(d); bin-- > 1;)
		bytes += (double)total->total.sizes[way][bin] *
			 case_bin_size(&total->total, way, bin);
	return bytes < (double)total->total.survey.bytes[way] ? (uint64_t)bytes
							      : total->total.survey.bytes[way];
}

double case_small_time(const struct diagnosis *d, const struct file_total *total, int way,
		       double otherwise)
{
	double time_ns = 0;

	for (unsigned bin = small_bins(d); bin-- > 1;)
		time_ns += (double)total->total.size_ns[way][bin];
	return time_ns > 0 ? time_ns : otherwise;
}

uint64_t case_placed(const struct file_total *total, int way)
{
	const struct survey *s = &total->total.survey;

	return s->sequential[way] + s->short_seeks[way] + s->long_seeks[way];
}

void case_set_transfers(struct match *m, const struct file_total *total, int way)
{
	const struct survey *s = &total->total.survey;

	m->way = way;
	m->layer = (int)total->layer;
	m->calls = m->of_calls = s->accesses[way];
	m->bytes = m->of_bytes = s->bytes[way];
	m->time_ns = (double)s->transfer_ns[way];
}

double case_average(const struct file_total *total, int way)
{
	const struct survey *s = &total->total.survey;

	return s->accesses[way] ? (double)s->bytes[way] / (double)s->accesses[way] : 0;
}

bool case_is_collective(const struct file_total *total, int way)
{
	return 2 * total->total.collective[way] > total->total.survey.accesses[way];
}

uint64_t case_stored(const struct case_file *file, int way)
{
	uint64_t bytes = 0;

	for (int outer = 0; outer < CASE_WAYS; outer++)
		bytes += file->inner[outer].bytes[way];
	return bytes;
}

/* Metadata adds a little to the bytes of a conversion. */
#define CONVERSION_LEAST 0.99
#define CONVERSION_MOST 1.03
#define CONVERSION_FACTOR 8 /* from 1 byte to 8 */

bool case_may_convert(const struct case_file *file, uint64_t requested, uint64_t stored,
		      bool *exactly)
{
	double ratio = requested ? (double)stored / (double)requested : INFINITY;
	int layer = case_requesting(file);

	*exactly = false;
	if (layer != LAYER_HDF5 && layer != LAYER_NETCDF && layer != LAYER_PNETCDF)
		return false;
	for (int factor = 2; factor <= CONVERSION_FACTOR; factor *= 2)
		*exactly |= ratio >= factor * CONVERSION_LEAST && ratio <= factor * CONVERSION_MOST;
	return ratio <= CONVERSION_FACTOR * CONVERSION_MOST;
}

void case_set_unproven(struct match *m)
{
	m->unproven = 1;
	m->saved_ns = NAN;
	m->unknown = "the trace does not tell whether the library converts between types of "
		     "different size";
}

void case_describe_unproven(struct buf *out, const struct match *m)
{
	if (m->unproven && m->unproven == m->files)
		buf_puts(out,
			 "; a conversion between types of different size would explain it, too");
}

/* Metadata is written several times. */
#define WRITTEN_TWICE_MOST 0.1

bool case_is_written_once(const struct case_file *file)
{
	const struct file_total *posix = file->layers[LAYER_POSIX];

	return posix && case_placed(posix, WRITING) &&
	       (double)case_repeated(posix, WRITING) <
		       WRITTEN_TWICE_MOST * (double)case_stored(file, WRITING);
}

int case_requesting(const struct case_file *file)
{
	int layer = LAYER_COUNT - 1;

	if (file->top)
		return file->top->layer;
	while (layer >= 0 && !file->layers[layer])
		layer--;
	return layer;
}

bool case_uses(const struct case_file *file, unsigned layer)
{
	return file->layers[layer] && has_transfers(file->layers[layer]);
}
