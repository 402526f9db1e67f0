/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-29, HYB-30.
 */
#include "predict/model/counts/counts.h"

#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/integer.h"
#include "predict/model/counts/counts_internal.h"

static const struct counts_form *const forms[] = {
	[ROMIO_BLUEGENE] = NULL, /* lab/model/bluegene.c */
	[ROMIO_GENERIC] = &counts_form_generic,
	[ROMIO_LUSTRE] = &counts_form_lustre,
	[ROMIO_GPFS] = &counts_form_gpfs,
};

const struct counts_form *counts_form_find(const struct machine *machine, struct err *err)
{
	const struct counts_form *form = machine->form ? machine->form : forms[machine->romio];

	if (!form)
		err_set(err, ENOTSUP,
			"machine %s has romio = bluegene, which only 'sluice lab' can model",
			machine->name);
	return form;
}

void counts_add(struct counts *counts, enum operation operation, const char *what, double count,
		const struct elemental *at)
{
	assert(counts->count < COUNTS_TERMS);
	if (count > 0)
		counts->terms[counts->count++] = (struct term){ operation, what, count, *at };
}

uint64_t counts_node_aggregators(const struct machine *machine, const struct access *access,
				 const struct settings *settings)
{
	uint64_t cores = access->ranks / access->nodes, each = settings->node_aggregators;

	if (!each && settings->aggregators)
		each = (settings->aggregators + access->nodes - 1) / access->nodes;
	else if (!each)
		each = machine->node_aggregators ? machine->node_aggregators : cores;
	return u64_min(each, cores);
}

uint64_t counts_aggregators(const struct machine *machine, const struct access *access,
			    const struct settings *settings)
{
	uint64_t hint = settings->aggregators ? settings->aggregators : machine->aggregators;
	uint64_t n = hint ? hint : access->ranks;

	if (machine->bridges)
		n = (hint + 1) * machine->bridges * access->nodes / machine->bridge_nodes;
	else
		n = u64_min(n, counts_node_aggregators(machine, access, settings) * access->nodes);
	n = u64_min(n, access->ranks);
	return n ? n : 1;
}

/* The Lustre driver decides by the mean size of requests; its default limit accepts every size. */
bool counts_is_independent(const struct machine *machine, const struct access *access,
			   const struct settings *settings)
{
	if (settings->buffering != BUFFERING_AUTOMATIC)
		return settings->buffering == BUFFERING_DISABLED;
	if (machine->romio == ROMIO_LUSTRE && !access->is_read)
		return false;
	return !access_interleaves(access);
}

bool counts_begin(struct counts *counts, struct layout *layout, const struct machine *machine,
		  const struct access *access, const struct settings *settings)
{
	layout_compute(layout, machine, access, settings);
	if (!counts_is_independent(machine, access, settings))
		return false;
	/* With automatic buffering, ranks exchange their offsets before they decide. */
	if (settings->buffering == BUFFERING_AUTOMATIC && machine->romio == ROMIO_GPFS)
		counts_add_collective(counts, access, OPERATION_ALLREDUCE, "offsets of all ranks",
				      1, 16 * (double)access->ranks);
	else if (settings->buffering == BUFFERING_AUTOMATIC)
		counts_add_collective(counts, access, OPERATION_ALLGATHER, "first and last offsets",
				      2, 8);
	counts_independent(counts, layout);
	return true;
}

int counts_compute(struct counts *counts, const struct machine *machine,
		   const struct access *access, const struct settings *settings, struct err *err)
{
	const struct counts_form *form;
	struct counts out = { 0 };
	int r = access_check(access, err);

	if (r < 0)
		return r;
	form = counts_form_find(machine, err);
	r = form ? form->count(&out, machine, access, settings, err) : -ENOTSUP;
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
