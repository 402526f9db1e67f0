/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one rank is seen to do: the same geometry as the counts, walked through round by round. It
 * is after the code of MPICH 4.0.2 as a trace shows it, so it can be compared with one.
 */
#include <errno.h>

#include "base/err.h"
#include "predict/model/counts/counts_internal.h"

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void storage_add(struct rank_calls *calls, bool is_read, uint64_t bytes)
{
	if (is_read) {
		calls->reads++;
		calls->read_bytes += bytes;
	} else {
		calls->writes++;
		calls->written_bytes += bytes;
	}
}

/* A piece that reaches over the end of what is in the buffer makes the next window begin there. */
struct sieve {
	struct rank_calls *calls;
	const struct layout *layout;
	uint64_t end; /* behind the rank's last byte */
	uint64_t window_end, stripe;
};

static uint64_t sieve_window(const struct sieve *s, uint64_t from)
{
	uint64_t most = s->layout->access.is_read ? SIEVE_READ_BYTES : SIEVE_WRITE_BYTES;

	if (s->stripe)
		most = (from / s->stripe + 1) * s->stripe - from;
	return at_most(most, s->end - from);
}

/* Writes are of windows that were read before. */
static void sieve_fill(struct sieve *s, uint64_t from, uint64_t bytes)
{
	storage_add(s->calls, true, bytes);
	if (!s->layout->access.is_read)
		storage_add(s->calls, false, bytes);
	s->window_end = from + bytes;
}

static void sieve_piece(struct sieve *s, uint64_t from, uint64_t to)
{
	if (from >= s->window_end)
		sieve_fill(s, from, sieve_window(s, from));
	/* A read keeps the part of the piece that it has, and takes as much as if it had not: it
	 * may go beyond the end. */
	while (to > s->window_end)
		sieve_fill(s, s->window_end,
			   sieve_window(s, s->layout->access.is_read ? from : s->window_end));
}

/* A rank on its own. */
static void independent_calls(struct rank_calls *calls, const struct layout *l,
			      const struct machine *machine, uint64_t rank)
{
	uint64_t at = l->first + rank * l->spacing;
	struct sieve sieve = { .calls = calls, .layout = l };

	if (l->pieces == 1 || l->period == l->block) {
		storage_add(calls, l->access.is_read, l->access.rank_bytes);
		return;
	}
	if (machine->romio == ROMIO_LUSTRE && !l->access.is_read)
		sieve.stripe = l->unit;
	sieve.end = at + (l->pieces - 1) * l->period + l->block;
	for (uint64_t k = 0; k < l->pieces; k++, at += l->period)
		sieve_piece(&sieve, at, at + l->block);
}

/* Messages with offsets, then those of all rounds; seen from the rank, to aggregators. */
static void rank_messages(const struct layout *l, uint64_t rank, uint64_t *offsets, uint64_t *data)
{
	for (uint64_t i = 0; i < l->aggregators; i++) {
		uint64_t rounds = layout_own_rounds(l, i);

		*offsets += layout_messages(l, rank, i) ? l->lists : 0;
		for (uint64_t m = 0; m < rounds; m++)
			*data += layout_message(l, m, rank, i) > 0;
	}
}

/* The same as aggregator i sees them. */
static void aggregator_messages(const struct layout *l, uint64_t i, uint64_t *offsets,
				uint64_t *data)
{
	uint64_t rounds = layout_own_rounds(l, i);

	for (uint64_t rank = 0; rank < l->access.ranks; rank++) {
		*offsets += layout_messages(l, rank, i) ? l->lists : 0;
		for (uint64_t m = 0; m < rounds; m++)
			*data += layout_message(l, m, rank, i) > 0;
	}
}

/* A window without data is left out; one with holes is read before it is written. */
static void aggregator_storage(struct rank_calls *calls, const struct layout *l, uint64_t i)
{
	uint64_t rounds = layout_own_rounds(l, i);

	for (uint64_t m = 0; m < rounds; m++) {
		struct range window = layout_window(l, i, m);
		uint64_t bytes = window.to - window.from;
		uint64_t data = layout_bytes(l, window.from, window.to);

		if (!data)
			continue;
		if (l->access.is_read || data < bytes)
			storage_add(calls, true, bytes);
		if (!l->access.is_read)
			storage_add(calls, false, bytes);
	}
}

static void two_phase_messages(struct rank_calls *calls, const struct layout *l, uint64_t rank,
			       int64_t number)
{
	uint64_t offsets = 0, data = 0, offsets_in = 0, data_in = 0;

	rank_messages(l, rank, &offsets, &data);
	if (number >= 0)
		aggregator_messages(l, (uint64_t)number, &offsets_in, &data_in);
	calls->sends = offsets + (l->access.is_read ? data_in : data);
	calls->receives = offsets_in + (l->access.is_read ? data : data_in);
}

/* Who is asked first how much there is, and told last that all went well. */
static void collective_calls(struct rank_calls *calls, const struct layout *l,
			     const struct machine *machine)
{
	uint64_t rounds = layout_rounds(l);
	bool is_lustre = l->domains == LAYOUT_STRIPES;

	calls->alltoalls = is_lustre ? 1 : 1 + rounds;
	calls->allreduces += is_lustre ? 2 : 1;
	if (machine->romio == ROMIO_GPFS) {
		calls->alltoallvs = 1 + rounds;
		return;
	}
	if (l->access.is_read)
		return;
	if (l->hinted == 1)
		calls->broadcasts++;
	else
		calls->allreduces++;
}

/* Offsets of all ranks, wherever it is not certain beforehand that everybody goes alone. */
static void opening_calls(struct rank_calls *calls, const struct layout *l,
			  const struct machine *machine)
{
	bool is_lustre = l->domains == LAYOUT_STRIPES;

	if (machine->romio == ROMIO_GPFS || is_lustre)
		calls->allreduces = 1;
	else
		calls->allgathers = 2;
	if (is_lustre && !access_interleaves(&l->access))
		calls->allreduces += 2;
}

int rank_calls_of(struct rank_calls *out, const struct machine *machine,
		  const struct access *access, const struct settings *settings, uint64_t rank,
		  struct err *err)
{
	struct rank_calls calls = { 0 };
	const struct counts_form *form;
	struct layout layout;
	int r = access_check(access, err);

	if (r < 0)
		return r;
	form = counts_form_of(machine, err);
	if (!form)
		return -ENOTSUP;
	if (!form->has_layout)
		return err_set(err, ENOTSUP, "calls of single ranks are not known for romio = %s",
			       form->name);
	if (rank >= access->ranks)
		return err_set(err, EINVAL,
			       "rank %lu is out of range: the access has ranks 0 to %lu", rank,
			       access->ranks - 1);
	layout_of(&layout, machine, access, settings);
	if (settings->buffering != BUFFERING_DISABLED)
		opening_calls(&calls, &layout, machine);
	if (counts_is_independent(machine, access, settings))
		independent_calls(&calls, &layout, machine, rank);
	else {
		int64_t number = layout_number(&layout, rank);

		collective_calls(&calls, &layout, machine);
		if (machine->romio != ROMIO_GPFS)
			two_phase_messages(&calls, &layout, rank, number);
		if (number >= 0)
			aggregator_storage(&calls, &layout, (uint64_t)number);
	}
	*out = calls;
	return 0;
}
