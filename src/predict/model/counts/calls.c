/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls of one rank: steps through the geometry of layout.h round by round. It follows the code
 * of MPICH 4.0.2, so the numbers can be compared with a trace.
 */
#include <errno.h>

#include "base/err.h"
#include "base/integer.h"
#include "predict/model/counts/counts_internal.h"

/* Counts the calls of a rank, or those of its storage calls that access one object of the file. */
#define ALL_OBJECTS UINT64_MAX

struct tally {
	struct rank_calls *calls;
	const struct layout *layout;
	uint64_t object; /* or ALL_OBJECTS */
};

static void add_storage(const struct tally *t, bool is_read, uint64_t from, uint64_t bytes)
{
	struct rank_calls *calls = t->calls;

	if (t->object != ALL_OBJECTS)
		bytes = stripes_bytes(&t->layout->stripes, t->object,
				      (struct range){ from, from + bytes });
	if (t->object != ALL_OBJECTS && !bytes)
		return;
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
	const struct tally *tally;
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
	add_storage(s->tally, true, from, bytes);
	if (!s->layout->access.is_read)
		add_storage(s->tally, false, from, bytes);
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
static void count_independent(const struct tally *tally, const struct machine *machine,
			      uint64_t rank)
{
	const struct layout *l = tally->layout;
	uint64_t at = l->first + rank * l->spacing;
	struct sieve sieve = { .tally = tally, .layout = l };

	if (!access_has_pieces(&l->access)) {
		add_storage(tally, l->access.is_read, at, l->access.rank_bytes);
		return;
	}
	for (uint64_t k = 0; !l->sieve && k < l->pieces; k++)
		add_storage(tally, l->access.is_read, at + k * l->period, l->block);
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
static void count_aggregator_storage(const struct tally *tally, uint64_t i)
{
	const struct layout *l = tally->layout;
	uint64_t rounds = layout_own_rounds(l, i);

	for (uint64_t m = 0; m < rounds; m++) {
		struct range window = layout_window(l, i, m);
		uint64_t bytes = window.to - window.from;
		uint64_t data = layout_bytes(l, window.from, window.to);

		if (!data)
			continue;
		if (l->access.is_read || data < bytes)
			add_storage(tally, true, window.from, bytes);
		if (!l->access.is_read)
			add_storage(tally, false, window.from, bytes);
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

static void count_storage(const struct tally *tally, const struct machine *machine,
			  const struct settings *settings, uint64_t rank)
{
	const struct layout *l = tally->layout;
	int64_t number = layout_number(l, rank);

	if (counts_is_independent(machine, &l->access, settings))
		count_independent(tally, machine, rank);
	else if (number >= 0)
		count_aggregator_storage(tally, (uint64_t)number);
}

/* Fails unless the form of the machine divides files as layout.h does. */
static int check_layout(const struct machine *machine, const struct access *access, struct err *err)
{
	const struct counts_form *form;
	int r = access_check(access, err);

	if (r < 0)
		return r;
	form = counts_form_find(machine, err);
	if (!form)
		return -ENOTSUP;
	if (!form->has_layout)
		return err_set(err, ENOTSUP, "calls of single ranks are not known for romio = %s",
			       form->name);
	return 0;
}

int object_calls_count(struct rank_calls *out, const struct machine *machine,
		       const struct access *access, const struct settings *settings,
		       uint64_t object, struct err *err)
{
	struct rank_calls calls = { 0 };
	struct layout layout;
	struct tally tally = { &calls, &layout, object };
	int r = check_layout(machine, access, err);

	if (r < 0)
		return r;
	layout_compute(&layout, machine, access, settings);
	if (object >= layout.stripes.count)
		return err_set(err, EINVAL, "the file has %lu stripes, but no stripe %lu",
			       layout.stripes.count, object);
	for (uint64_t rank = 0; rank < access->ranks; rank++)
		count_storage(&tally, machine, settings, rank);
	*out = calls;
	return 0;
}

int rank_calls_count(struct rank_calls *out, const struct machine *machine,
		     const struct access *access, const struct settings *settings, uint64_t rank,
		     struct err *err)
{
	struct rank_calls calls = { 0 };
	struct layout layout;
	struct tally tally = { &calls, &layout, ALL_OBJECTS };
	int r = check_layout(machine, access, err);

	if (r < 0)
		return r;
	if (rank >= access->ranks)
		return err_set(err, EINVAL,
			       "rank %lu is out of range: the access has ranks 0 to %lu", rank,
			       access->ranks - 1);
	layout_compute(&layout, machine, access, settings);
	if (settings->buffering != BUFFERING_DISABLED)
		count_offset_exchange(&calls, &layout, machine);
	count_storage(&tally, machine, settings, rank);
	if (!counts_is_independent(machine, access, settings)) {
		count_collectives(&calls, &layout, machine);
		if (machine->romio != ROMIO_GPFS)
			count_two_phase_messages(&calls, &layout, rank,
						 layout_number(&layout, rank));
	}
	*out = calls;
	return 0;
}
