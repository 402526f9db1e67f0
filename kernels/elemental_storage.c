/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures storage: a subset of ranks writes one shared file, round by round, as the aggregators of
 * a collective access do, while the other ranks wait in MPI. Each writer advances in its own
 * region. The first round of a new file, the full rounds after it, and the partial rounds at the
 * end, in which only some ranks write, are separate operations. Reads work in the same way. The
 * time of a round is what it adds to the sequence of rounds (predict/model/operation.h).
 *
 * The file does not outlive the program: on one node its name is removed once all ranks have opened
 * it. On several nodes, where that could make it stale, it is removed at the end and by signal
 * handlers.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "kernels/elemental.h"

#define ALIGNMENT 4096
/* Limit of rows; in long sequences of full rounds each row is the mean of several rounds. */
#define ROWS_MAX 64

struct session {
	const struct elemental *e;
	const struct elemental_cell *cell;
	struct chosen writers;
	int64_t mine; /* index among the writers; -1: not a writer */
	int fd;
	char *data;
	double apart_s; /* time of one separation */
};

/* Names of operations by direction (write, read) and kind of round. */
enum round { ROUND_FIRST, ROUND_FULL, ROUND_PARTIAL };
static const char *const round_names[2][3] = { { "s_lock", "s_nl_full", "s_nl_partial" },
					       { "r_first", "r_full", "r_partial" } };

/* For the signal handler of rank 0. */
static const char *volatile file_to_remove;

static void on_signal(int signal)
{
	if (file_to_remove)
		unlink(file_to_remove);
	_exit(128 + signal);
}

/* Removes the name of the file. Collective. */
static void remove_file(const struct elemental *e)
{
	if (e->kernel->rank == 0)
		unlink(e->file);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void guard_file(const struct elemental *e)
{
	if (e->kernel->rank)
		return;
	file_to_remove = e->file;
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	signal(SIGHUP, on_signal);
}

static void open_file(struct session *s, int flags, struct err *err)
{
	if (s->cell->cache == ELEMENTAL_BYPASSED)
		flags |= O_DIRECT;
	s->fd = open(s->e->file, O_RDWR | O_CLOEXEC | flags, 0600);
	if (s->fd >= 0)
		return;
	if (errno == EINVAL && s->cell->cache == ELEMENTAL_BYPASSED)
		err_set(err, EINVAL,
			"%s: the file system does not support bypassing the page cache (O_DIRECT)",
			s->e->file);
	else
		err_set(err, errno, "%s: %s", s->e->file, strerror(errno));
}

/* Rank 0 creates the file, and the writers open it. */
static int session_create_file(struct session *s)
{
	struct err err = { 0 };

	remove_file(s->e);
	if (s->e->kernel->rank == 0)
		open_file(s, O_CREAT | O_EXCL, &err);
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	if (s->e->kernel->rank && s->mine >= 0)
		open_file(s, 0, &err);
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	if (s->e->place.node_count == 1)
		remove_file(s->e);
	return 0;
}

static void session_close_file(struct session *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int transfer_block(const struct session *s, bool is_read, off_t at, struct err *err)
{
	size_t done = 0, bytes = s->cell->bytes;

	while (done < bytes) {
		off_t place = at + (off_t)done;
		ssize_t n = is_read ? pread(s->fd, s->data + done, bytes - done, place)
				    : pwrite(s->fd, s->data + done, bytes - done, place);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, errno, "%s: %s", s->e->file, strerror(errno));
		if (!n)
			return err_set(err, EIO, "%s: unexpected end of file", s->e->file);
		done += (size_t)n;
	}
	return 0;
}

/* True if this rank is among `writers` of all writers. */
static bool takes_part(const struct session *s, uint64_t writers)
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
static void print_rows(const struct session *s, bool is_read, uint64_t repetition,
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
static int run_rounds(const struct session *s, bool is_read, uint64_t repetition)
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
			transfer_block(s, is_read, at + (off_t)(round * cell->bytes), &err);
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

/* Flushes the file to the device and drops it from the page cache, as far as possible. */
static int drop_cache(const struct session *s)
{
	struct err err = { 0 };

	if (s->cell->cache != ELEMENTAL_WITHIN && s->mine >= 0) {
		if (fdatasync(s->fd) != 0)
			err_set(&err, errno, "%s: %s", s->e->file, strerror(errno));
		posix_fadvise(s->fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	return kernel_agree(s->e->kernel, &err);
}

static int run_repetition(struct session *s, uint64_t repetition)
{
	int r = session_create_file(s);

	if (r >= 0)
		r = run_rounds(s, false, repetition);
	if (r >= 0 && s->cell->reads)
		r = drop_cache(s);
	if (r >= 0 && s->cell->reads)
		r = run_rounds(s, true, repetition);
	session_close_file(s);
	return r;
}

static int choose_writers(struct session *s, struct err *err)
{
	const struct elemental_place *place = &s->e->place;
	uint64_t ranks = (uint64_t)s->e->kernel->ranks;

	if (s->cell->is_uniform)
		return selector_uniform(&s->writers, ranks, s->cell->writers, err);
	return selector_spread(&s->writers, place->nodes, place->sockets, ranks, s->cell->writers,
			       err);
}

static int session_open(struct session *s, struct err *err)
{
	int r;

	if (!s->e->file)
		return err_set(err, EINVAL, "missing --file; storage benchmarks need a file");
	if (s->cell->cache == ELEMENTAL_BYPASSED && s->cell->bytes % ALIGNMENT)
		return err_set(err, EINVAL,
			       "%llu bytes: bypassing the page cache requires a multiple of %d",
			       (unsigned long long)s->cell->bytes, ALIGNMENT);
	r = choose_writers(s, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->writers.count; i++)
		if (s->writers.ranks[i] == (uint64_t)s->e->kernel->rank)
			s->mine = (int64_t)i;
	if (s->mine < 0)
		return 0;
	if (posix_memalign((void **)&s->data, ALIGNMENT, s->cell->bytes) != 0) {
		s->data = NULL;
		return err_set(err, ENOMEM, "out of memory for %llu bytes",
			       (unsigned long long)s->cell->bytes);
	}
	/* Random data, so that compression and deduplication have no effect. */
	kernel_fill(s->data, s->cell->bytes, (uint64_t)s->mine * s->cell->bytes, s->cell->id + 1);
	return 0;
}

int elemental_storage(const struct elemental *e, const struct elemental_cell *cell)
{
	struct session s = { .e = e, .cell = cell, .mine = -1, .fd = -1 };
	struct err err = { 0 };
	int r;

	session_open(&s, &err);
	r = kernel_agree(e->kernel, &err);
	if (r >= 0) {
		guard_file(e);
		s.apart_s = elemental_apart_seconds(e);
		for (uint64_t i = 0; r >= 0 && i < cell->repetitions; i++)
			r = run_repetition(&s, i);
		remove_file(e);
	}
	free(s.data);
	chosen_release(&s.writers);
	return r;
}
