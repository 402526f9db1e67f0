/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Storage: a subset of ranks writes one shared file, round by round, as the aggregators of a
 * collective access do; the others wait in MPI meanwhile, as theirs do. Each writer has a region of
 * its own in which it goes forward. The first round of a fresh file is told apart from the full
 * rounds that follow, and from the last ones, in which only some write. Reading goes the same way.
 * Rounds follow one another as those of an access do, and the time of one is what it adds to them
 * (predict/model/operation.h).
 *
 * The file is gone as soon as the program is: on one node its name is removed once all have opened
 * it; on several, where that may make it stale, at the end and by signals.
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
/* Of a long run of full rounds each row is the mean of several. */
#define ROWS_MOST 64

struct session {
	const struct elemental *e;
	const struct elemental_cell *cell;
	struct chosen writers;
	int64_t mine; /* index among the writers, -1: none */
	int fd;
	char *data;
	double apart_s; /* what keeps rounds apart takes by itself */
};

/* Operations by whether it is read, and by the kind of round. */
enum round { ROUND_FIRST, ROUND_FULL, ROUND_PARTIAL };
static const char *const round_names[2][3] = { { "s_lock", "s_nl_full", "s_nl_partial" },
					       { "r_first", "r_full", "r_partial" } };

/* Of rank 0 for its handler. */
static const char *volatile file_to_remove;

static void on_signal(int signal)
{
	if (file_to_remove)
		unlink(file_to_remove);
	_exit(128 + signal);
}

/* The name goes: for good, or because a fresh file is wanted. */
static void file_remove(const struct elemental *e)
{
	if (e->kernel->rank == 0)
		unlink(e->file);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void file_guard(const struct elemental *e)
{
	if (e->kernel->rank)
		return;
	file_to_remove = e->file;
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	signal(SIGHUP, on_signal);
}

static void file_open(struct session *s, int flags, struct err *err)
{
	if (s->cell->cache == ELEMENTAL_BYPASSED)
		flags |= O_DIRECT;
	s->fd = open(s->e->file, O_RDWR | O_CLOEXEC | flags, 0600);
	if (s->fd >= 0)
		return;
	if (errno == EINVAL && s->cell->cache == ELEMENTAL_BYPASSED)
		err_set(err, EINVAL, "%s: this file system's cache cannot be bypassed (O_DIRECT)",
			s->e->file);
	else
		err_set(err, errno, "%s: %s", s->e->file, strerror(errno));
}

/* Rank 0 makes the file, the writers open it. */
static int session_fresh(struct session *s)
{
	struct err err = { 0 };

	file_remove(s->e);
	if (s->e->kernel->rank == 0)
		file_open(s, O_CREAT | O_EXCL, &err);
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	if (s->e->kernel->rank && s->mine >= 0)
		file_open(s, 0, &err);
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	if (s->e->place.node_count == 1)
		file_remove(s->e);
	return 0;
}

static void session_drop(struct session *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int move(const struct session *s, bool is_read, off_t at, struct err *err)
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
			return err_set(err, EIO, "%s: ends before what was written", s->e->file);
		done += (size_t)n;
	}
	return 0;
}

/* Do I take part when only so many of the writers do? */
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

/* No round is shorter than what the quickest of its writers took, whatever is taken off for what
 * keeps rounds apart: on a busy machine that may seem to have taken all of it. */
static double block_seconds(const double *clock, const double *own, uint64_t from, uint64_t end,
			    double apart_s)
{
	double count = (double)(end - from), least = 0;

	for (uint64_t i = from; i < end; i++)
		least += own[i];
	return fmax(elemental_less((clock[end] - clock[from]) / count, apart_s), least / count);
}

/* clock[i] and clock[i + 1] enclose round i. */
static void rows_tell(const struct session *s, bool is_read, uint64_t repetition,
		      const double *clock, const double *own)
{
	const struct elemental_cell *cell = s->cell;
	uint64_t rounds = cell->rounds + cell->part_count;
	uint64_t block = (cell->rounds + ROWS_MOST - 2) / ROWS_MOST;

	for (uint64_t round = 0, end; round < rounds; round = end) {
		enum round kind = round_kind(cell, round);

		end = round + (kind == ROUND_FULL ? block : 1);
		if (kind == ROUND_FULL && end > cell->rounds)
			end = cell->rounds;
		elemental_row(s->e, cell, round_names[is_read][kind], round_writers(cell, round),
			      round, repetition, block_seconds(clock, own, round, end, s->apart_s));
	}
}

/* All rounds of one direction: full ones, then partial ones; nothing but what keeps them apart is
 * done between them. */
static int rounds_run(const struct session *s, bool is_read, uint64_t repetition)
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
			move(s, is_read, at + (off_t)(round * cell->bytes), &err);
			own[round] = MPI_Wtime() - clock[round];
		}
		elemental_apart(s->e);
		clock[round + 1] = MPI_Wtime();
	}
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	MPI_Reduce(s->e->kernel->rank ? own : MPI_IN_PLACE, own, (int)rounds, MPI_DOUBLE, MPI_MIN,
		   0, MPI_COMM_WORLD);
	rows_tell(s, is_read, repetition, clock, own);
	return 0;
}

/* What was written goes to the device and out of the cache, as far as the system lets it. */
static int cache_drop(const struct session *s)
{
	struct err err = { 0 };

	if (s->cell->cache != ELEMENTAL_WITHIN && s->mine >= 0) {
		if (fdatasync(s->fd) != 0)
			err_set(&err, errno, "%s: %s", s->e->file, strerror(errno));
		posix_fadvise(s->fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	return kernel_agree(s->e->kernel, &err);
}

static int repetition_run(struct session *s, uint64_t repetition)
{
	int r = session_fresh(s);

	if (r >= 0)
		r = rounds_run(s, false, repetition);
	if (r >= 0 && s->cell->reads)
		r = cache_drop(s);
	if (r >= 0 && s->cell->reads)
		r = rounds_run(s, true, repetition);
	session_drop(s);
	return r;
}

static int writers_choose(struct session *s, struct err *err)
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
		return err_set(err, EINVAL, "--file is missing: there is no place to write to");
	if (s->cell->cache == ELEMENTAL_BYPASSED && s->cell->bytes % ALIGNMENT)
		return err_set(err, EINVAL,
			       "%llu bytes: past the cache they must be a multiple of %d",
			       (unsigned long long)s->cell->bytes, ALIGNMENT);
	r = writers_choose(s, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->writers.count; i++)
		if (s->writers.ranks[i] == (uint64_t)s->e->kernel->rank)
			s->mine = (int64_t)i;
	if (s->mine < 0)
		return 0;
	if (posix_memalign((void **)&s->data, ALIGNMENT, s->cell->bytes) != 0) {
		s->data = NULL;
		return err_set(err, ENOMEM, "no memory for %llu bytes",
			       (unsigned long long)s->cell->bytes);
	}
	/* Devices that compress or share equal blocks shall find nothing to do so. */
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
		file_guard(e);
		s.apart_s = elemental_apart_seconds(e);
		for (uint64_t i = 0; r >= 0 && i < cell->repetitions; i++)
			r = repetition_run(&s, i);
		file_remove(e);
	}
	free(s.data);
	chosen_release(&s.writers);
	return r;
}
