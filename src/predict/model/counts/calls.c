/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls of one rank: steps through the geometry of layout.h round by round. It follows the code
 * of MPICH 4.0.2, so the numbers can be compared with a trace.
 */
#include <errno.h>

#include "base/err.h"
#include "base/integer.h"
#include "predict/model/counts/counts_internal.h"

static void add_storage(struct rank_calls *calls, bool is_read, uint64_t bytes)
{
	if (is_read) {
		calls->reads++;
		calls->read_bytes += bytes;
	} else {
		calls->writes++;
		calls->written_bytes += bytes;
	}
}

/* Data sieving. A piece that extends beyond the window starts the next window at the end of the
 * current one. */
struct sieve {
	struct rank_calls *calls;
	const struct layout *layout;
	uint64_t end; /* after the rank's last byte */
	uint64_t window_end, stripe;
};

static uint64_t sieve_window_bytes(const struct sieve *s, uint64_t from)
{
	uint64_t most = s->layout->sieve;

	if (s->stripe)
		most = (from / s->stripe + 1) * s->stripe - from;
	return u64_min(most, s->end - from);
}

/* A write reads the window first. */
static void sieve_fill(struct sieve *s, uint64_t from, uint64_t bytes)
{
	add_storage(s->calls, true, bytes);
	if (!s->layout->access.is_read)
		add_storage(s->calls, false, bytes);
	s->window_end = from + bytes;
}

static void sieve_piece(struct sieve *s, uint64_t from, uint64_t to)
{
	if (from >= s->window_end)
		sieve_fill(s, from, sieve_window_bytes(s, from));
	/* ROMIO computes the size of the next window of a read from the start of the piece, so the
	 * window may extend beyond the end. */
	while (to > s->window_end)
		sieve_fill(s, s->window_end,
			   sieve_window_bytes(s, s->layout->access.is_read ? from : s->window_end));
}

/* Counts the storage calls of an independent access. */
static void count_independent(struct rank_calls *calls, const struct layout *l,
			      const struct machine *machine, uint64_t rank)
{
	uint64_t at = l->first + rank * l->spacing;
	struct sieve sieve = { .calls = calls, .layout = l };

	if (!access_has_pieces(&l->access)) {
		add_storage(calls, l->access.is_read, l->access.rank_bytes);
		return;
	}
	for (uint64_t k = 0; !l->sieve && k < l->pieces; k++)
		add_storage(calls, l->access.is_read, l->block);
	if (!l->sieve)
		return;
	if (machine->romio == ROMIO_LUSTRE && !l->access.is_read)
		sieve.stripe = l->unit;
	sieve.end = at + (l->pieces - 1) * l->period + l->block;
	for (uint64_t k = 0; k < l->pieces; k++, at += l->period)
		sieve_piece(&sieve, at, at + l->block);
}

/* Counts the messages with offsets and with data between the rank and all aggregators. */
static void count_rank_messages(const struct layout *l, uint64_t rank, uint64_t *offsets,
				uint64_t *data)
{
	for (uint64_t i = 0; i < l->aggregators; i++) {
		uint64_t rounds = layout_own_rounds(l, i);

		*offsets += layout_messages(l, rank, i) ? l->lists : 0;
		for (uint64_t m = 0; m < rounds; m++)
			*data += layout_message(l, m, rank, i) > 0;
	}
}

/* Counts the messages between aggregator i and all ranks. */
static void count_aggregator_messages(const struct layout *l, uint64_t i, uint64_t *offsets,
				      uint64_t *data)
{
	uint64_t rounds = layout_own_rounds(l, i);

	for (uint64_t rank = 0; rank < l->access.ranks; rank++) {
		*offsets += layout_messages(l, rank, i) ? l->lists : 0;
		for (uint64_t m = 0; m < rounds; m++)
			*data += layout_message(l, m, rank, i) > 0;
	}
}

/* Skips windows without data; reads windows with holes before writing them. */
static void count_aggregator_storage(struct rank_calls *calls, const struct layout *l, uint64_t i)
{
	uint64_t rounds = layout_own_rounds(l, i);

	for (uint64_t m = 0; m < rounds; m++) {
		struct range window = layout_window(l, i, m);
		uint64_t bytes = window.to - window.from;
		uint64_t data = layout_bytes(l, window.from, window.to);

		if (!data)
			continue;
		if (l->access.is_read || data < bytes)
			add_storage(calls, true, bytes);
		if (!l->access.is_read)
			add_storage(calls, false, bytes);
	}
}

static void count_two_phase_messages(struct rank_calls *calls, const struct layout *l,
				     uint64_t rank, int64_t number)
{
	uint64_t offsets = 0, data = 0, offsets_in = 0, data_in = 0;

	count_rank_messages(l, rank, &offsets, &data);
	if (number >= 0)
		count_aggregator_messages(l, (uint64_t)number, &offsets_in, &data_in);
	calls->sends = offsets + (l->access.is_read ? data_in : data);
	calls->receives = offsets_in + (l->access.is_read ? data : data_in);
}

/* Counts the collectives that exchange sizes before the rounds and errors after them. */
static void count_collectives(struct rank_calls *calls, const struct layout *l,
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

/* Counts the exchange of offsets of all ranks, unless collective buffering is disabled. */
static void count_offset_exchange(struct rank_calls *calls, const struct layout *l,
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

int rank_calls_count(struct rank_calls *out, const struct machine *machine,
		     const struct access *access, const struct settings *settings, uint64_t rank,
		     struct err *err)
{
	struct rank_calls calls = { 0 };
	const struct counts_form *form;
	struct layout layout;
	int r = access_check(access, err);

	if (r < 0)
		return r;
	form = counts_form_find(machine, err);
	if (!form)
		return -ENOTSUP;
	if (!form->has_layout)
		return err_set(err, ENOTSUP, "calls of single ranks are not known for romio = %s",
			       form->name);
	if (rank >= access->ranks)
		return err_set(err, EINVAL,
			       "rank %lu is out of range: the access has ranks 0 to %lu", rank,
			       access->ranks - 1);
	layout_compute(&layout, machine, access, settings);
	if (settings->buffering != BUFFERING_DISABLED)
		count_offset_exchange(&calls, &layout, machine);
	if (counts_is_independent(machine, access, settings))
		count_independent(&calls, &layout, machine, rank);
	else {
		int64_t number = layout_number(&layout, rank);

		count_collectives(&calls, &layout, machine);
		if (machine->romio != ROMIO_GPFS)
			count_two_phase_messages(&calls, &layout, rank, number);
		if (number >= 0)
			count_aggregator_storage(&calls, &layout, (uint64_t)number);
	}
	*out = calls;
	return 0;
}
