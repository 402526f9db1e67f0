/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures storage: a subset of ranks writes one shared file, round by round, as the aggregators of
 * a collective access do, while the other ranks wait in MPI. Each writer advances in its own
 * region. The first round of a new file, the full rounds after it, and the partial rounds at the
 * end, in which only some ranks write, are separate operations. Reads work in the same way. The
 * time of a round is what it adds to the sequence of rounds (predict/model/operation.h).
 * Papers: HYB-36.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernels/elemental.h"

/* Limit of rows; in long sequences of full rounds each row is the mean of several rounds. */
#define ROWS_MAX 64

/* Names of operations by direction (write, read) and kind of round. */
enum round { ROUND_FIRST, ROUND_FULL, ROUND_PARTIAL };
static const char *const round_names[2][3] = { { "s_lock", "s_nl_full", "s_nl_partial" },
					       { "r_first", "r_full", "r_partial" } };

/* True if this rank is among `writers` of all writers. */
static bool takes_part(const struct elemental_session *s, uint64_t writers)
{
	for (uint64_t i = 0; s->mine >= 0 && i < writers; i++)
		if (selector_part(s->writers.count, writers, i) == (size_t)s->mine)
			return true;
	return false;
}

static uint64_t round_writers(const struct elemental_cell *cell, uint64_t round)
{
	return round < cell->rounds ? cell->writers : cell->parts[round - cell->rounds];
}

static enum round round_kind(const struct elemental_cell *cell, uint64_t round)
{
	if (round >= cell->rounds)
		return ROUND_PARTIAL;
	return round ? ROUND_FULL : ROUND_FIRST;
}

/* Returns the time of a round, which is at least that of its fastest writer: on a busy machine the
 * separation may seem to take all of the time. */
static double block_seconds(const double *clock, const double *own, uint64_t from, uint64_t end,
			    double apart_s)
{
	double count = (double)(end - from), least = 0;

	for (uint64_t i = from; i < end; i++)
		least += own[i];
	return fmax(elemental_net_seconds((clock[end] - clock[from]) / count, apart_s),
		    least / count);
}

/* clock[i] and clock[i + 1] enclose round i. */
static void print_rows(const struct elemental_session *s, bool is_read, uint64_t repetition,
		       const double *clock, const double *own)
{
	const struct elemental_cell *cell = s->cell;
	uint64_t rounds = cell->rounds + cell->part_count;
	uint64_t block = (cell->rounds + ROWS_MAX - 2) / ROWS_MAX;

	for (uint64_t round = 0, end; round < rounds; round = end) {
		enum round kind = round_kind(cell, round);

		end = round + (kind == ROUND_FULL ? block : 1);
		if (kind == ROUND_FULL && end > cell->rounds)
			end = cell->rounds;
		elemental_row(s->e, cell, round_names[is_read][kind], round_writers(cell, round),
			      round, repetition, block_seconds(clock, own, round, end, s->apart_s));
	}
}

/* Runs all rounds of one direction, full and then partial ones, with only a separation between
 * them. */
static int run_rounds(const struct elemental_session *s, bool is_read, uint64_t repetition)
{
	const struct elemental_cell *cell = s->cell;
	uint64_t rounds = cell->rounds + cell->part_count, region = rounds * cell->bytes;
	off_t at = (off_t)((uint64_t)(s->mine < 0 ? 0 : s->mine) * region);
	AUTO_FREE double *clock = xcalloc(2 * (rounds + 1), sizeof(*clock));
	double *own = clock + rounds + 1;
	struct err err = { 0 };

	elemental_apart(s->e);
	clock[0] = MPI_Wtime();
	for (uint64_t round = 0; round < rounds; round++) {
		own[round] = INFINITY;
		if (!err.code && takes_part(s, round_writers(cell, round))) {
			elemental_session_transfer(s, is_read, s->data, cell->bytes,
						   at + (off_t)(round * cell->bytes), &err);
			own[round] = MPI_Wtime() - clock[round];
		}
		elemental_apart(s->e);
		clock[round + 1] = MPI_Wtime();
	}
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	MPI_Reduce(s->e->kernel->rank ? own : MPI_IN_PLACE, own, (int)rounds, MPI_DOUBLE, MPI_MIN,
		   0, MPI_COMM_WORLD);
	print_rows(s, is_read, repetition, clock, own);
	return 0;
}

static int run_repetition(struct elemental_session *s, uint64_t repetition)
{
	int r = elemental_session_create(s);

	if (r >= 0)
		r = run_rounds(s, false, repetition);
	if (r >= 0 && s->cell->reads)
		r = elemental_session_drop_cache(s);
	if (r >= 0 && s->cell->reads)
		r = run_rounds(s, true, repetition);
	elemental_session_close_file(s);
	return r;
}

int elemental_storage(const struct elemental *e, const struct elemental_cell *cell)
{
	struct elemental_session s;
	int r = elemental_session_open(&s, e, cell, cell->bytes);

	for (uint64_t i = 0; r >= 0 && i < cell->repetitions; i++)
		r = run_repetition(&s, i);
	elemental_session_release(&s);
	return r;
}
