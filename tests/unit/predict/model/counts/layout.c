/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares the geometry of two-phase I/O with brute force: every byte of a small file has an owner,
 * the parts of the file are arrays that are filled as in ROMIO, and rounds are processed byte by
 * byte.
 */
#include "predict/model/counts/layout.h"

#include "base/mem.h"
#include "check.h"
#include "predict/model/counts/counts.h"

#define FILE_BYTES 4096
#define RANKS 12

struct naive {
	int owner[FILE_BYTES];		/* rank, or -1 */
	int part[FILE_BYTES];		/* aggregator of the byte */
	int64_t first, last;		/* bytes of data */
	int64_t from[RANKS], to[RANKS]; /* data of each aggregator, inclusive; from -1: none */
	int aggregators;
	int rounds;
};

static uint64_t draw_state;

static uint64_t draw(uint64_t below)
{
	draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
	return (draw_state >> 33) % below;
}

static void naive_own(struct naive *n, const struct access *a)
{
	for (int i = 0; i < FILE_BYTES; i++)
		n->owner[i] = -1;
	for (uint64_t rank = 0; rank < a->ranks; rank++)
		for (uint64_t i = 0; i < a->rank_bytes; i++) {
			uint64_t at = rank * a->rank_bytes + i;

			if (a->pattern == ACCESS_STRIDED)
				at = (i / a->block_bytes * a->ranks + rank) * a->stride_bytes +
				     i % a->block_bytes;
			REQUIRE(at + a->offset < FILE_BYTES && n->owner[at + a->offset] == -1);
			n->owner[at + a->offset] = (int)rank;
		}
	n->first = -1;
	for (int i = 0; i < FILE_BYTES; i++)
		if (n->owner[i] >= 0) {
			n->first = n->first < 0 ? i : n->first;
			n->last = i;
		}
}

/* Fills the parts from a list of their last bytes, which need not be ascending. */
static void naive_fill(struct naive *n, const int64_t *ends)
{
	for (int64_t i = n->first; i <= n->last; i++) {
		int k = 0;

		while (k < n->aggregators - 1 && i > ends[k])
			k++;
		n->part[i] = k;
	}
}

static void naive_even(struct naive *n, int64_t unit)
{
	int64_t ends[RANKS], size = (n->last - n->first + n->aggregators) / n->aggregators;

	for (int k = 0; k < n->aggregators; k++) {
		int64_t end = n->first + size * (k + 1);

		if (unit) {
			int64_t front = end % unit, back = unit - front;

			end += front < back ? -front : back;
		}
		ends[k] = end - 1;
	}
	naive_fill(n, ends);
}

static void naive_blocks(struct naive *n, int64_t block)
{
	int64_t ends[RANKS], sizes[RANKS], at = n->first;
	int64_t upper = (n->last + block - 1) / block * block - 1, lower = n->first / block * block;
	int64_t blocks = (upper - lower + 1) / block, larger = blocks % n->aggregators;

	for (int k = 0; k < n->aggregators; k++)
		sizes[k] = (blocks / n->aggregators + (k < larger)) * block;
	sizes[0] -= n->first - lower;
	sizes[n->aggregators - 1] -= upper - n->last;
	for (int k = 0; k < n->aggregators; k++) {
		at += sizes[k];
		ends[k] = at - 1;
	}
	naive_fill(n, ends);
}

static void naive_stripes(struct naive *n, int64_t stripe)
{
	for (int64_t i = n->first; i <= n->last; i++)
		n->part[i] = (int)(i / stripe % n->aggregators);
}

static void naive_spans(struct naive *n)
{
	for (int k = 0; k < n->aggregators; k++)
		n->from[k] = n->to[k] = -1;
	for (int64_t i = n->first; i <= n->last; i++)
		if (n->owner[i] >= 0) {
			int k = n->part[i];

			n->from[k] = n->from[k] < 0 ? i : n->from[k];
			n->to[k] = i;
		}
}

/* First and last byte that the aggregator moves in the round; from > to: none. */
static void naive_window(const struct naive *n, const struct layout *l, int k, int round,
			 int64_t *from, int64_t *to)
{
	int64_t buffer = (int64_t)l->buffer, unit = (int64_t)l->unit;

	*from = 0;
	*to = -1;
	if (n->from[k] < 0)
		return;
	if (l->domains != LAYOUT_STRIPES) {
		int64_t begin = n->from[k] + round * buffer;

		if (begin > n->to[k])
			return;
		*from = begin;
		*to = begin + buffer - 1 < n->to[k] ? begin + buffer - 1 : n->to[k];
		return;
	}
	for (int64_t i = n->first; i <= n->last; i++) {
		int64_t step = (i - n->first / unit * unit) / (unit * n->aggregators);

		if (n->owner[i] < 0 || n->part[i] != k || step != round)
			continue;
		*from = i;
		*to = (i / unit + 1) * unit - 1;
		*to = *to < n->to[k] ? *to : n->to[k];
		return;
	}
}

static int64_t naive_message(const struct naive *n, const struct layout *l, int round, int rank,
			     int k)
{
	int64_t from, to, sum = 0;

	naive_window(n, l, k, round, &from, &to);
	for (int64_t i = from; i <= to; i++)
		sum += n->owner[i] == rank && n->part[i] == k;
	return sum;
}

static void naive_rounds(struct naive *n, const struct layout *l)
{
	int64_t buffer = (int64_t)l->buffer, step = (int64_t)(l->unit * l->aggregators);

	n->rounds = 0;
	for (int k = 0; k < n->aggregators; k++) {
		int own = n->from[k] < 0 ? 0 : (int)((n->to[k] - n->from[k] + buffer) / buffer);

		n->rounds = own > n->rounds ? own : n->rounds;
	}
	if (l->domains == LAYOUT_STRIPES)
		n->rounds =
			(int)((n->last - n->first / (int64_t)l->unit * (int64_t)l->unit + step) /
			      step);
}

static void naive_of(struct naive *n, const struct layout *l)
{
	naive_own(n, &l->access);
	n->aggregators = (int)l->aggregators;
	if (l->domains == LAYOUT_STRIPES)
		naive_stripes(n, (int64_t)l->unit);
	else if (l->domains == LAYOUT_BLOCKS)
		naive_blocks(n, (int64_t)l->unit);
	else
		naive_even(n, l->domains == LAYOUT_ALIGNED ? (int64_t)l->unit : 0);
	naive_spans(n);
	naive_rounds(n, l);
}

/* Draws a random access that fits into the arrays. */
static struct access draw_access(void)
{
	struct access a = { .is_read = draw(2),
			    .nodes = 1 + draw(3),
			    .offset = draw(3) * draw(50) };

	a.ranks = a.nodes * (1 + draw(RANKS / a.nodes));
	a.rank_bytes = 1 + draw(120);
	if (draw(3) == 0)
		return a;
	a.pattern = ACCESS_STRIDED;
	a.block_bytes = 1 + draw(24);
	a.rank_bytes = a.block_bytes * (1 + draw(5));
	a.stride_bytes = a.block_bytes + draw(2) * draw(30);
	return a;
}

static struct machine draw_machine(enum romio romio)
{
	struct machine m = { .romio = romio, .cores = 4, .block_bytes = 1 + draw(90) };

	m.node_aggregators = 1 + draw(4);
	m.buffer_bytes = 1 + draw(100);
	if (romio == ROMIO_LUSTRE) {
		m.stripes = 1 + draw(9);
		m.stripe_bytes = 1 + draw(80);
	} else if (romio == ROMIO_GENERIC && draw(2))
		m.stripe_bytes = 1 + draw(80);
	return m;
}

static void check_matrix(const struct naive *n, const struct layout *l)
{
	for (int k = 0; k < n->aggregators; k++) {
		for (int rank = 0; rank < (int)l->access.ranks; rank++) {
			int64_t sum = 0;

			for (int m = 0; m < n->rounds; m++) {
				int64_t expected = naive_message(n, l, m, rank, k);

				CHECK_INT(
					layout_message(l, (uint64_t)m, (uint64_t)rank, (uint64_t)k),
					expected);
				sum += expected;
			}
			CHECK_INT(layout_messages(l, (uint64_t)rank, (uint64_t)k), sum);
		}
	}
}

static void check_windows(const struct naive *n, const struct layout *l)
{
	for (int k = 0; k < n->aggregators; k++)
		for (int m = 0; m < n->rounds; m++) {
			struct range window = layout_window(l, (uint64_t)k, (uint64_t)m);
			int64_t from, to, data = 0;

			naive_window(n, l, k, m, &from, &to);
			CHECK_INT(window.to - window.from, to - from + 1);
			for (int64_t i = from; i <= to; i++)
				data += n->owner[i] >= 0;
			CHECK_INT(layout_bytes(l, window.from, window.to), data);
			if (from <= to)
				CHECK_INT(window.from, from);
		}
}

static void try_form(enum romio romio, int times)
{
	struct naive *n = xmalloc(sizeof(*n));

	for (int i = 0; i < times && !check_failures; i++) {
		struct machine machine = draw_machine(romio);
		struct access access = draw_access();
		struct settings settings = { .aggregators = draw(2) * draw(RANKS + 2) };
		struct layout layout;

		REQUIRE(access_check(&access, NULL) == 0);
		layout_compute(&layout, &machine, &access, &settings);
		naive_of(n, &layout);
		CHECK_INT(layout.end - layout.first, n->last - n->first + 1);
		CHECK_INT(layout_rounds(&layout), n->rounds);
		check_windows(n, &layout);
		check_matrix(n, &layout);
		if (check_failures)
			printf("form %d, case %d\n", (int)romio, i);
	}
	free(n);
}

static void generic_parts_and_messages_match_brute_force(void)
{
	draw_state = 1;
	try_form(ROMIO_GENERIC, 4000);
}

static void lustre_parts_and_messages_match_brute_force(void)
{
	draw_state = 2;
	try_form(ROMIO_LUSTRE, 4000);
}

static void gpfs_parts_and_messages_match_brute_force(void)
{
	draw_state = 3;
	try_form(ROMIO_GPFS, 4000);
}

/* Checks the sums of calls over all ranks by brute force. */
static void check_calls(const struct naive *n, const struct layout *l,
			const struct machine *machine, const struct settings *settings)
{
	struct rank_calls sum = { 0 };
	int64_t data = 0, offsets = 0, written = 0, moved = 0;

	for (uint64_t rank = 0; rank < l->access.ranks; rank++) {
		struct rank_calls calls;

		REQUIRE(rank_calls_count(&calls, machine, &l->access, settings, rank, NULL) == 0);
		sum.sends += calls.sends;
		sum.receives += calls.receives;
		sum.writes += l->access.is_read ? calls.reads : calls.writes;
		sum.written_bytes += l->access.is_read ? calls.read_bytes : calls.written_bytes;
	}
	for (int k = 0; k < n->aggregators; k++) {
		for (int rank = 0; rank < (int)l->access.ranks; rank++)
			offsets += layout_messages(l, (uint64_t)rank, (uint64_t)k) > 0;
		for (int m = 0; m < n->rounds; m++) {
			int64_t from, to, before = data;

			for (int rank = 0; rank < (int)l->access.ranks; rank++)
				data += naive_message(n, l, m, rank, k) > 0;
			naive_window(n, l, k, m, &from, &to);
			written += data > before;
			moved += data > before ? to - from + 1 : 0;
		}
	}
	CHECK_INT(sum.sends, machine->romio == ROMIO_GPFS ? 0 : offsets + data);
	CHECK_INT(sum.receives, sum.sends);
	CHECK_INT(sum.writes, written);
	CHECK_INT(sum.written_bytes, moved);
}

static void calls_of_all_ranks_add_up(void)
{
	struct naive *n = xmalloc(sizeof(*n));

	draw_state = 4;
	for (int i = 0; i < 600 && !check_failures; i++) {
		struct machine machine = draw_machine(ROMIO_GENERIC + (enum romio)(i % 3));
		struct access access = draw_access();
		struct settings settings = { .aggregators = draw(RANKS),
					     .buffering = BUFFERING_ENABLED };
		struct layout layout;

		layout_compute(&layout, &machine, &access, &settings);
		naive_of(n, &layout);
		check_calls(n, &layout, &machine, &settings);
	}
	free(n);
}

static void aggregators_fill_one_node_after_the_other(void)
{
	struct machine machine = { .romio = ROMIO_GENERIC, .buffer_bytes = 1 };
	struct access access = { .nodes = 3, .ranks = 12, .rank_bytes = 100 };
	struct settings settings = { .aggregators = 5, .node_aggregators = 2 };
	static const uint64_t expected[] = { 0, 1, 4, 5, 8 };
	struct layout layout;

	layout_compute(&layout, &machine, &access, &settings);
	CHECK_INT(layout.aggregators, 5);
	for (uint64_t i = 0; i < 5; i++)
		CHECK_INT(layout_number(&layout, expected[i]), i);
	CHECK_INT(layout_number(&layout, 2), -1);
	CHECK_INT(layout_number(&layout, 9), -1);
}

TESTS(TEST(generic_parts_and_messages_match_brute_force),
      TEST(lustre_parts_and_messages_match_brute_force),
      TEST(gpfs_parts_and_messages_match_brute_force), TEST(calls_of_all_ranks_add_up),
      TEST(aggregators_fill_one_node_after_the_other))
