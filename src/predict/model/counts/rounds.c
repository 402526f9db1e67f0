/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts the rounds of two-phase I/O by formulas: all aggregators with work move full buffers until
 * those with shorter parts have finished; then the others continue; the last round may have less
 * than a buffer. Messages are means over the matrix of a round, because exact values would need
 * every element of it (layout.h computes them).
 */
#include <math.h>

#include "base/integer.h"
#include "predict/model/counts/counts_internal.h"

struct rounds {
	struct counts *counts;
	const struct layout *layout;
	double step;	      /* windows begin at multiples of it, relative to the first piece */
	uint64_t aggregators; /* aggregators that have work */
	bool is_first;	      /* the file has not been accessed yet */
	uint64_t next;	      /* number of the next round */
};

static double min_double(double a, double b)
{
	return a < b ? a : b;
}

static struct elemental all_ranks(const struct access *access)
{
	double nodes = (double)access->nodes;

	return (struct elemental){ .nodes = nodes, .cores = (double)access->ranks / nodes };
}

void counts_add_collective(struct counts *counts, const struct access *access,
			   enum operation operation, const char *what, double count, double bytes)
{
	struct elemental at = all_ranks(access);

	at.bytes = bytes;
	counts_add(counts, operation, what, count, &at);
}

/* The contents of windows that begin at multiples of `step`: pieces of `block` bytes, `spacing`
 * apart. */
struct window_contents {
	double pieces; /* mean number of pieces */
	double data;   /* fraction of windows with data */
	double holes;  /* fraction of windows with data and holes */
};

static double window_step(const struct layout *l)
{
	uint64_t step = u64_gcd(l->spacing, l->buffer);
	bool is_even = l->domains == LAYOUT_EVEN ||
		       (l->domains == LAYOUT_ALIGNED && l->domain % l->unit == 0);

	step = u64_gcd(step, is_even ? l->domain : l->unit);
	if (l->domains != LAYOUT_EVEN)
		step = u64_gcd(step, l->first);
	return (double)step;
}

/* All multiples of `step` are assumed to be equally likely starts of a window. */
static struct window_contents expect_contents(const struct rounds *r, double window)
{
	const struct layout *l = r->layout;
	double spacing = (double)l->spacing, block = (double)l->block, gap = spacing - block;
	double step = r->step;
	double inside = block >= window ? (floor((block - window) / step) + 1) * step / spacing : 0;
	double empty = gap >= window ? (floor((gap - window) / step) + 1) * step / spacing : 0;
	struct window_contents m = { .pieces =
					     (window + block - min_double(step, block)) / spacing };

	m.data = 1 - min_double(empty, 1);
	m.holes = gap > 0 && m.data > inside ? m.data - inside : 0;
	return m;
}

/* Appends an exchange of `messages` messages with `bytes` in all. */
static void add_messages(struct counts *counts, const struct layout *l, const char *what,
			 double count, double messages, double aggregators, double bytes)
{
	struct elemental at = all_ranks(&l->access);

	at.senders = messages > 1 ? messages : 1; /* a mean, not necessarily an integer */
	at.receivers = min_double(aggregators, at.senders);
	at.bytes = bytes / at.senders;
	counts_add(counts, OPERATION_ALLTOALLV, what, count, &at);
}

static void add_exchange(const struct rounds *r, const char *what, double count, double aggregators,
			 double window)
{
	const struct layout *l = r->layout;
	const struct window_contents m = expect_contents(r, window);
	double ranks = (double)l->access.ranks, share = (double)l->block / (double)l->spacing;

	add_messages(r->counts, l, what, count, aggregators * min_double(ranks, m.pieces),
		     aggregators, aggregators * window * share);
}

/* Limits of the rounds and of the windows of a round that represent all. */
#define ROUNDS_SAMPLED 4
#define WINDOWS_SAMPLED 64

static struct range rank_window(const struct layout *l, uint64_t rank, uint64_t bytes)
{
	uint64_t from = l->first + rank * l->spacing;

	return (struct range){ from, from + bytes };
}

/* The stripes that a round writes or reads. bytes: of each rank, which accesses its own window;
 * 0: the windows are those of aggregators. */
static struct stripes_spread round_spread(const struct layout *l, uint64_t round, uint64_t bytes)
{
	uint64_t all = bytes ? l->access.ranks : l->aggregators;
	uint64_t step = (all + WINDOWS_SAMPLED - 1) / WINDOWS_SAMPLED;
	struct range windows[WINDOWS_SAMPLED];
	struct stripes_spread spread;
	size_t n = 0;

	for (uint64_t i = 0; i < all; i += step)
		windows[n++] = bytes ? rank_window(l, i, bytes) : layout_window(l, i, round);
	spread = stripes_spread_find(&l->stripes, windows, n);
	spread.pieces *= (double)all / (double)n;
	return spread;
}

/* The mean over rounds. The time of a round is proportional to the reciprocal of its targets. */
static void set_stripes(struct elemental *at, const struct layout *l, uint64_t first,
			uint64_t count, uint64_t bytes)
{
	uint64_t samples = u64_min(count, ROUNDS_SAMPLED), used = 0;
	double pieces = 0, shares = 0;

	for (uint64_t i = 0; l->stripes.count && i < samples; i++) {
		struct stripes_spread spread = round_spread(l, first + i * count / samples, bytes);

		if (!(spread.targets > 0))
			continue;
		pieces += spread.pieces;
		shares += 1 / spread.targets;
		used++;
	}
	if (!used)
		return;
	at->senders = pieces / (double)used;
	at->receivers = stripes_targets((double)used / shares);
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
	const struct window_contents m = expect_contents(r, window);
	struct elemental at = all_ranks(&r->layout->access);

	at.writers = aggregators / at.nodes;
	at.bytes = window;
	set_stripes(&at, r->layout, r->next, (uint64_t)count, 0);
	if (r->layout->access.is_read) {
		counts_add(r->counts, reads[phase], names[phase], count * m.data, &at);
		return;
	}
	counts_add(r->counts, reads[phase], "read before write (holes)", count * m.holes, &at);
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
		r->next++;
		times--;
	}
	r->is_first = false;
	/* If all aggregators write, but less, the round costs as much as a full round of smaller
	 * buffers. */
	if (phase == PHASE_PARTIAL && aggregators == r->aggregators)
		phase = PHASE_FULL;
	if (times > 0)
		add_storage(r, phase, times, (double)aggregators, (double)window);
	r->next += (uint64_t)times;
}

/* Every rank sends offset and length of each of its requests to the aggregators. */
static void add_offsets(const struct rounds *r, const struct shares *shares)
{
	const struct layout *l = r->layout;
	double parts = (double)(shares->many + shares->few), ranks = (double)l->access.ranks;
	double extent = (double)(l->end - l->first), window = extent / parts, windows = 1;
	double cuts = l->domain % l->spacing ? parts - 1 : 0; /* requests that span two parts */

	if (l->domains == LAYOUT_STRIPES) {
		cuts = l->unit % l->spacing ? extent / (double)l->unit : 0;
		windows = (double)layout_rounds(l);
		window = min_double(window, (double)l->unit);
	}
	cuts *= (double)l->block / (double)l->spacing;
	add_messages(r->counts, l, "offsets to aggregators", (double)l->lists,
		     parts * min_double(ranks, windows * expect_contents(r, window).pieces), parts,
		     16 * (ranks * (double)l->pieces + cuts) / (double)l->lists);
}

/* Ranks and aggregators process lists with an entry per piece, and copy the pieces. */
static void add_exchanged_pieces(const struct rounds *r)
{
	const struct layout *l = r->layout;
	struct elemental at = all_ranks(&l->access);
	double pieces = (double)l->pieces, aggregators = (double)r->aggregators;

	if (!access_has_pieces(&l->access))
		return;
	at.bytes = (double)l->block;
	at.writers = at.cores;
	counts_add(r->counts, OPERATION_PIECE_EXCHANGE, "pieces of each rank", pieces, &at);
	at.writers = aggregators / at.nodes;
	counts_add(r->counts, OPERATION_PIECE_EXCHANGE, "pieces of each aggregator",
		   pieces * (double)l->access.ranks / aggregators, &at);
}

/* Makes `many` the nonempty size if there is only one. */
static struct shares normalize_shares(struct shares s)
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
	const struct shares s = normalize_shares(*given);
	struct rounds r = { counts, l, window_step(l), s.many + s.few, true, 0 };
	uint64_t buffer = l->buffer, own = s.many_bytes / buffer, rest = s.many_bytes % buffer;
	uint64_t all = s.few ? s.few_bytes / buffer : own;
	uint64_t alone = own - all; /* full rounds of the longer parts only */
	uint64_t last = s.many + (s.few && alone == 0 && s.few_bytes % buffer ? s.few : 0);
	uint64_t ends =
		rest == 0 && alone > 0; /* the last round has full buffers, but not of all */

	counts->bytes = l->access.ranks * l->access.rank_bytes;
	counts->aggregators = l->aggregators;
	counts->round_bytes = l->aggregators * buffer;
	counts->rounds = own - ends;
	counts->incomplete = rest > 0 || ends;
	counts->incomplete_bytes = ends ? s.many * buffer : rest * last;
	add_offsets(&r, &s);
	add_exchanged_pieces(&r);
	add_phase(&r, PHASE_FULL, all, s.many + s.few, buffer);
	add_phase(&r, PHASE_FULL, alone - ends, s.many, buffer);
	add_phase(&r, PHASE_PARTIAL, ends, s.many, buffer);
	add_phase(&r, PHASE_PARTIAL, rest > 0, last, rest);
}

/* The terms of an independent access, in which all ranks take part at once. */
static struct elemental every_rank(const struct layout *l, uint64_t bytes)
{
	struct elemental at = all_ranks(&l->access);

	at.writers = at.cores;
	at.bytes = (double)bytes;
	return at;
}

/* A window is locked while it is read, modified and written. If windows of ranks overlap, a rank
 * follows the rank before it at a distance of one window. */
static void add_sieved_write(struct counts *counts, const struct layout *l, double times,
			     uint64_t window)
{
	struct elemental at = every_rank(l, window), piece = every_rank(l, l->block);
	double waits = l->period <= window ? (double)l->access.ranks - 1 : 0;

	counts_add(counts, OPERATION_SIEVE, "windows of data sieving", times, &at);
	counts_add(counts, OPERATION_SIEVE, "wait for locked windows", waits, &at);
	counts_add(counts, OPERATION_PIECE_COPY, "pieces in windows",
		   (double)l->pieces * (times + waits) / times, &piece);
}

static void add_sieved_read(struct counts *counts, const struct layout *l, double times,
			    uint64_t window)
{
	struct elemental at = every_rank(l, window), piece = every_rank(l, l->block);

	set_stripes(&at, l, 0, 1, window);
	counts_add(counts, OPERATION_READ_FIRST, "first window", 1, &at);
	counts_add(counts, OPERATION_READ_FULL, "other windows", times - 1, &at);
	counts_add(counts, OPERATION_PIECE_COPY, "pieces in windows", (double)l->pieces, &piece);
}

static void add_sieved(struct counts *counts, const struct layout *l)
{
	uint64_t span = (l->pieces - 1) * l->period + l->block;
	uint64_t times = (span + l->sieve - 1) / l->sieve;

	if (l->period > l->sieve)
		times = l->pieces * ((l->block + l->sieve - 1) / l->sieve);
	counts->transfer = TRANSFER_SIEVED;
	if (l->access.is_read)
		add_sieved_read(counts, l, (double)times, u64_min(span, l->sieve));
	else
		add_sieved_write(counts, l, (double)times, u64_min(span, l->sieve));
}

static void add_pieces(struct counts *counts, const struct layout *l)
{
	struct elemental at = every_rank(l, l->block);

	counts->transfer = TRANSFER_PIECES;
	counts_add(counts, l->access.is_read ? OPERATION_PIECE_READ : OPERATION_PIECE_WRITE,
		   "pieces of each rank", (double)l->pieces, &at);
}

void counts_independent(struct counts *counts, const struct layout *l)
{
	struct elemental at = every_rank(l, l->access.rank_bytes);

	counts->bytes = counts->round_bytes = l->access.ranks * l->access.rank_bytes;
	counts->rounds = 1;
	if (access_has_pieces(&l->access)) {
		if (l->sieve)
			add_sieved(counts, l);
		else
			add_pieces(counts, l);
		return;
	}
	counts->transfer = TRANSFER_CONTIGUOUS;
	set_stripes(&at, l, 0, 1, l->access.rank_bytes);
	counts_add(counts, l->access.is_read ? OPERATION_READ_FIRST : OPERATION_WRITE_FIRST,
		   "data of each rank", 1, &at);
}
