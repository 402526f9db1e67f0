/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rounds of two-phase I/O as terms, without a walk through them: all aggregators that have any work
 * move a full buffer, until those with the shorter parts are through; then the others go on; the
 * last round may be of less than a buffer. Messages are means over a round's matrix: exact values
 * would need every element of it (counts_layout.h has them).
 */
#include <math.h>

#include "predict/model/counts/counts_internal.h"

struct rounds {
	struct counts *counts;
	const struct layout *layout;
	double step;	      /* windows begin at multiples of it, counted from the first piece */
	uint64_t aggregators; /* that have any work */
	bool is_first;	      /* nothing of the file has been touched yet */
};

static double at_most(double a, double b)
{
	return a < b ? a : b;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static struct elemental everybody(const struct access *access)
{
	double nodes = (double)access->nodes;

	return (struct elemental){ .nodes = nodes, .cores = (double)access->ranks / nodes };
}

void counts_add_collective(struct counts *counts, const struct access *access,
			   enum operation operation, const char *what, double count, double bytes)
{
	struct elemental at = everybody(access);

	at.bytes = bytes;
	counts_add(counts, operation, what, count, &at);
}

/* What windows that begin at any multiple of `step` meet: pieces `spacing` apart, of `block`. */
struct meeting {
	double pieces; /* on the average */
	double data;   /* share of windows with any data */
	double holes;  /* share of windows with some, but not all of it data */
};

static double window_step(const struct layout *l)
{
	uint64_t step = common_divisor(l->spacing, l->buffer);
	bool is_even = l->domains == LAYOUT_EVEN ||
		       (l->domains == LAYOUT_ALIGNED && l->domain % l->unit == 0);

	step = common_divisor(step, is_even ? l->domain : l->unit);
	if (l->domains != LAYOUT_EVEN)
		step = common_divisor(step, l->first);
	return (double)step;
}

/* At which of the multiples they begin is as good as chance. */
static struct meeting windows_meet(const struct rounds *r, double window)
{
	const struct layout *l = r->layout;
	double spacing = (double)l->spacing, block = (double)l->block, gap = spacing - block;
	double step = r->step;
	double inside = block >= window ? (floor((block - window) / step) + 1) * step / spacing : 0;
	double empty = gap >= window ? (floor((gap - window) / step) + 1) * step / spacing : 0;
	struct meeting m = { .pieces = (window + block - at_most(step, block)) / spacing };

	m.data = 1 - at_most(empty, 1);
	m.holes = gap > 0 && m.data > inside ? m.data - inside : 0;
	return m;
}

/* So many messages that carry so many bytes together. */
static void add_messages(struct counts *counts, const struct layout *l, const char *what,
			 double count, double messages, double aggregators, double bytes)
{
	struct elemental at = everybody(&l->access);

	at.senders = messages > 1 ? messages : 1; /* a mean: need not be whole */
	at.receivers = at_most(aggregators, at.senders);
	at.bytes = bytes / at.senders;
	counts_add(counts, OPERATION_ALLTOALLV, what, count, &at);
}

static void add_exchange(const struct rounds *r, const char *what, double count, double aggregators,
			 double window)
{
	const struct layout *l = r->layout;
	const struct meeting m = windows_meet(r, window);
	double ranks = (double)l->access.ranks, share = (double)l->block / (double)l->spacing;

	add_messages(r->counts, l, what, count, aggregators * at_most(ranks, m.pieces), aggregators,
		     aggregators * window * share);
}

enum phase { PHASE_FIRST, PHASE_FULL, PHASE_PARTIAL };

static void add_storage(const struct rounds *r, enum phase phase, double count, double aggregators,
			double window)
{
	static const enum operation reads[] = { OPERATION_READ_FIRST, OPERATION_READ_FULL,
						OPERATION_READ_PARTIAL };
	static const enum operation writes[] = { OPERATION_WRITE_FIRST, OPERATION_WRITE_FULL,
						 OPERATION_WRITE_PARTIAL };
	static const char *const names[] = { "first round", "full rounds", "incomplete round" };
	const struct meeting m = windows_meet(r, window);
	struct elemental at = everybody(&r->layout->access);

	at.writers = aggregators / at.nodes;
	at.bytes = window;
	if (r->layout->access.is_read) {
		counts_add(r->counts, reads[phase], names[phase], count * m.data, &at);
		return;
	}
	counts_add(r->counts, reads[phase], "what holes keep", count * m.holes, &at);
	counts_add(r->counts, writes[phase], names[phase], count * m.data, &at);
}

static void add_phase(struct rounds *r, enum phase phase, uint64_t count, uint64_t aggregators,
		      uint64_t window)
{
	double times = (double)count;

	if (!count)
		return;
	add_exchange(r,
		     phase == PHASE_PARTIAL ? "shuffle of the incomplete round"
					    : "shuffle of a full round",
		     times, (double)aggregators, (double)window);
	if (r->is_first) {
		add_storage(r, PHASE_FIRST, 1, (double)aggregators, (double)window);
		times--;
	}
	r->is_first = false;
	/* Where all of them write, if only less, it is what a full round of smaller buffers is. */
	if (phase == PHASE_PARTIAL && aggregators == r->aggregators)
		phase = PHASE_FULL;
	if (times > 0)
		add_storage(r, phase, times, (double)aggregators, (double)window);
}

/* Every rank tells aggregators what it has in their parts: offset and length of each request. */
static void add_offsets(const struct rounds *r, const struct shares *shares)
{
	const struct layout *l = r->layout;
	double parts = (double)(shares->many + shares->few), ranks = (double)l->access.ranks;
	double extent = (double)(l->end - l->first), window = extent / parts, windows = 1;
	double cuts = l->domain % l->spacing ? parts - 1 : 0; /* requests in two parts */

	if (l->domains == LAYOUT_STRIPES) {
		cuts = l->unit % l->spacing ? extent / (double)l->unit : 0;
		windows = (double)layout_rounds(l);
		window = at_most(window, (double)l->unit);
	}
	cuts *= (double)l->block / (double)l->spacing;
	add_messages(r->counts, l, "offsets to aggregators", (double)l->lists,
		     parts * at_most(ranks, windows * windows_meet(r, window).pieces), parts,
		     16 * (ranks * (double)l->pieces + cuts) / (double)l->lists);
}

/* Of the two sorts of parts only those that are there. */
static struct shares tidy(struct shares s)
{
	if (!s.many || !s.many_bytes) {
		s.many = s.few;
		s.many_bytes = s.few_bytes;
		s.few = 0;
	}
	if (!s.few || !s.few_bytes)
		s.few = s.few_bytes = 0;
	return s;
}

void counts_add_rounds(struct counts *counts, const struct layout *l, const struct shares *given)
{
	const struct shares s = tidy(*given);
	struct rounds r = { counts, l, window_step(l), s.many + s.few, true };
	uint64_t buffer = l->buffer, own = s.many_bytes / buffer, rest = s.many_bytes % buffer;
	uint64_t all = s.few ? s.few_bytes / buffer : own;
	uint64_t alone = own - all; /* full rounds of those with longer parts */
	uint64_t last = s.many + (s.few && alone == 0 && s.few_bytes % buffer ? s.few : 0);
	uint64_t ends = rest == 0 && alone > 0; /* the last round is full, but not of all */

	counts->bytes = l->access.ranks * l->access.rank_bytes;
	counts->aggregators = l->aggregators;
	counts->round_bytes = l->aggregators * buffer;
	counts->rounds = own - ends;
	counts->incomplete = rest > 0 || ends;
	counts->incomplete_bytes = ends ? s.many * buffer : rest * last;
	add_offsets(&r, &s);
	add_phase(&r, PHASE_FULL, all, s.many + s.few, buffer);
	add_phase(&r, PHASE_FULL, alone - ends, s.many, buffer);
	add_phase(&r, PHASE_PARTIAL, ends, s.many, buffer);
	add_phase(&r, PHASE_PARTIAL, rest > 0, last, rest);
}

/* Pieces of one rank are sieved: windows are read, and written with the pieces in them. */
static void add_sieved(struct counts *counts, const struct layout *l, uint64_t most)
{
	uint64_t span = (l->pieces - 1) * l->period + l->block;
	uint64_t window = span < most ? span : most;
	uint64_t times = (span + most - 1) / most;
	struct elemental at = everybody(&l->access);
	bool is_read = l->access.is_read;

	if (l->period > most)
		times = l->pieces * ((l->block + most - 1) / most);
	at.writers = at.cores;
	at.bytes = (double)window;
	if (!is_read)
		counts_add(counts, OPERATION_READ_FULL, "windows to be sieved", (double)times, &at);
	counts_add(counts, is_read ? OPERATION_READ_FIRST : OPERATION_WRITE_FIRST, "first window",
		   1, &at);
	counts_add(counts, is_read ? OPERATION_READ_FULL : OPERATION_WRITE_FULL, "other windows",
		   (double)times - 1, &at);
}

void counts_independent(struct counts *counts, const struct machine *machine,
			const struct layout *l)
{
	bool is_lustre = machine->romio == ROMIO_LUSTRE && !l->access.is_read;
	struct elemental at = everybody(&l->access);

	counts->bytes = counts->round_bytes = l->access.ranks * l->access.rank_bytes;
	counts->rounds = 1;
	if (l->pieces > 1 && l->period > l->block) {
		add_sieved(counts, l,
			   is_lustre	       ? l->unit
			   : l->access.is_read ? SIEVE_READ_BYTES
					       : SIEVE_WRITE_BYTES);
		return;
	}
	at.writers = at.cores;
	at.bytes = (double)l->access.rank_bytes;
	counts_add(counts, l->access.is_read ? OPERATION_READ_FIRST : OPERATION_WRITE_FIRST,
		   "every rank's own", 1, &at);
}
