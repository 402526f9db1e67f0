/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/counts/counts.h"

#include <assert.h>

#include "predict/model/counts/counts_internal.h"

void counts_add(struct counts *counts, enum operation operation, const char *what, double count,
		const struct elemental *at)
{
	assert(counts->count < COUNTS_TERMS);
	if (count > 0)
		counts->terms[counts->count++] = (struct term){ operation, what, count, *at };
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t counts_node_aggregators(const struct machine *machine, const struct access *access,
				 const struct settings *settings)
{
	uint64_t cores = access->ranks / access->nodes, each = settings->node_aggregators;

	if (!each && settings->aggregators)
		each = (settings->aggregators + access->nodes - 1) / access->nodes;
	else if (!each)
		each = machine->node_aggregators ? machine->node_aggregators : cores;
	return at_most(each, cores);
}

uint64_t counts_aggregators(const struct machine *machine, const struct access *access,
			    const struct settings *settings)
{
	uint64_t hint = settings->aggregators ? settings->aggregators : machine->aggregators;
	uint64_t n = hint ? hint : access->ranks;

	if (machine->bridges)
		n = (hint + 1) * machine->bridges * access->nodes / machine->bridge_nodes;
	else
		n = at_most(n, counts_node_aggregators(machine, access, settings) * access->nodes);
	n = at_most(n, access->ranks);
	return n ? n : 1;
}

/* Lustre's driver goes by the mean size of requests, and by default none is too large for it. */
bool counts_is_independent(const struct machine *machine, const struct access *access,
			   const struct settings *settings)
{
	if (settings->buffering != BUFFERING_AUTOMATIC)
		return settings->buffering == BUFFERING_DISABLED;
	if (machine->romio == ROMIO_LUSTRE && !access->is_read)
		return false;
	return !access_interleaves(access);
}

/* Ranks find out that they had better go alone by telling one another their offsets. */
static void count_alone(struct counts *counts, const struct machine *machine,
			const struct layout *layout, const struct settings *settings)
{
	const struct access *access = &layout->access;

	if (settings->buffering == BUFFERING_AUTOMATIC && machine->romio == ROMIO_GPFS)
		counts_add_collective(counts, access, OPERATION_ALLREDUCE, "offsets of all ranks",
				      1, 16 * (double)access->ranks);
	else if (settings->buffering == BUFFERING_AUTOMATIC)
		counts_add_collective(counts, access, OPERATION_ALLGATHER, "first and last offsets",
				      2, 8);
	counts_independent(counts, machine, layout);
}

static void count_access(struct counts *counts, const struct machine *machine,
			 const struct access *access, const struct settings *settings)
{
	struct layout layout;

	layout_of(&layout, machine, access, settings);
	if (counts_is_independent(machine, access, settings))
		count_alone(counts, machine, &layout, settings);
	else if (machine->romio == ROMIO_GPFS)
		counts_gpfs(counts, &layout);
	else if (machine->romio == ROMIO_LUSTRE && !access->is_read)
		counts_lustre(counts, &layout);
	else
		counts_generic(counts, &layout);
}

int counts_of(struct counts *counts, const struct machine *machine, const struct access *access,
	      const struct settings *settings, const struct rules *rules, struct err *err)
{
	static const struct rules published;
	struct counts out = { 0 };
	int r = access_check(access, err);

	if (r == 0 && machine->romio == ROMIO_BLUEGENE)
		r = counts_bluegene(&out, machine, access, settings, rules ? rules : &published,
				    err);
	else if (r == 0)
		count_access(&out, machine, access, settings);
	if (r >= 0)
		*counts = out;
	return r;
}

double counts_price(const struct counts *counts, counts_cost cost, void *arg, double *terms)
{
	double sum = 0;

	for (size_t i = 0; i < counts->count; i++) {
		const struct term *term = &counts->terms[i];
		double seconds = term->count * cost(arg, term->operation, &term->at);

		if (terms)
			terms[i] = seconds;
		sum += seconds;
	}
	return sum;
}
