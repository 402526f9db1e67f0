/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures what the pieces of an access cost that is not contiguous (predict/model/operation.h):
 * calls for single pieces, windows of data sieving, and copies of pieces. The pieces of the writers
 * interleave in the file, so that writers compete for the same pages and locks, as the ranks of a
 * strided access do. A row is the time of a sequence, divided by its steps.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "kernels/elemental.h"

/* Copies are repeated until the time is much longer than that of a separation. */
#define COPY_LOOPS 32
/* The windows of the writers begin at different bytes. */
#define WINDOW_SHIFT 64

typedef int sequence_run(const struct elemental_session *s, struct err *err);

struct sequence {
	const char *operation, *read_operation; /* read_operation: what was written is read back */
	sequence_run *run, *read;
	bool has_file;
	bool is_locked; /* a writer follows the writer before it at a distance of one step */
	unsigned loops;
};

static off_t piece_place(const struct elemental_session *s, uint64_t k)
{
	return (off_t)((k * s->writers.count + (uint64_t)s->mine) * s->cell->bytes);
}

static int transfer_pieces(const struct elemental_session *s, bool is_read, struct err *err)
{
	int r = 0;

	for (uint64_t k = 0; r >= 0 && k < s->cell->rounds; k++)
		r = elemental_session_transfer(s, is_read, s->data + k * s->cell->bytes,
					       s->cell->bytes, piece_place(s, k), err);
	return r;
}

/* A cell that does not stay within the page cache includes the device. */
static int flush_file(const struct elemental_session *s, struct err *err)
{
	if (s->cell->cache != ELEMENTAL_WITHIN && fdatasync(s->fd) != 0)
		return err_set(err, errno, "%s: %s", s->e->file, strerror(errno));
	return 0;
}

static int write_pieces(const struct elemental_session *s, struct err *err)
{
	int r = transfer_pieces(s, false, err);

	return r < 0 ? r : flush_file(s, err);
}

static int read_pieces(const struct elemental_session *s, struct err *err)
{
	return transfer_pieces(s, true, err);
}

static int lock_window(const struct elemental_session *s, short type, off_t at, struct err *err)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = (off_t)s->cell->bytes
	};

	while (fcntl(s->fd, F_SETLKW, &lock) != 0)
		if (errno != EINTR)
			return err_set(err, errno, "%s: cannot lock: %s", s->e->file,
				       strerror(errno));
	return 0;
}

/* The file may end before or inside the window. */
static int sieve_window(const struct elemental_session *s, off_t at, struct err *err)
{
	int r = lock_window(s, F_WRLCK, at, err);

	if (r >= 0 && pread(s->fd, s->data, s->cell->bytes, at) < 0)
		r = err_set(err, errno, "%s: %s", s->e->file, strerror(errno));
	if (r >= 0)
		r = elemental_session_transfer(s, false, s->data, s->cell->bytes, at, err);
	if (r >= 0)
		r = lock_window(s, F_UNLCK, at, err);
	return r;
}

static int sieve_windows(const struct elemental_session *s, struct err *err)
{
	int r = 0;

	for (uint64_t k = 0; r >= 0 && k < s->cell->rounds; k++)
		r = sieve_window(s, (off_t)(k * s->cell->bytes + (uint64_t)s->mine * WINDOW_SHIFT),
				 err);
	return r < 0 ? r : flush_file(s, err);
}

/* The second half of the data is the window; pieces are as far apart in it as it allows. */
static int copy_pieces(const struct elemental_session *s, struct err *err)
{
	uint64_t bytes = s->cell->bytes, count = s->cell->rounds, half = bytes * count;
	uint64_t step = s->writers.count * bytes;

	(void)err;
	for (uint64_t k = 0; k < count; k++)
		memcpy(s->data + half + k * step % half, s->data + k * bytes, bytes);
	/* Otherwise the compiler could omit copies that nothing reads. */
	__asm__ volatile("" : : "r"(s->data) : "memory");
	return 0;
}

/* Lists of offsets and lengths are made and scanned, and a datatype of them receives the data, as
 * in the exchange of ROMIO's rounds. */
static int exchange_pieces(const struct elemental_session *s, struct err *err)
{
	uint64_t bytes = s->cell->bytes, count = s->cell->rounds;
	AUTO_FREE MPI_Aint *places = xcalloc(count, sizeof(*places));
	AUTO_FREE int *lengths = xcalloc(count, sizeof(*lengths));
	MPI_Datatype type;
	int at = 0, code;

	for (uint64_t k = 0; k < count; k++) {
		places[k] = (MPI_Aint)(k * bytes);
		lengths[k] = (int)bytes;
	}
	for (uint64_t k = 0; k + 1 < count; k += 2)
		places[k] += (places[k + 1] - places[k]) % (MPI_Aint)bytes;
	MPI_Type_create_hindexed((int)count, lengths, places, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	code = MPI_Unpack(s->data, (int)(bytes * count), &at, s->data + bytes * count, 1, type,
			  MPI_COMM_WORLD);
	MPI_Type_free(&type);
	return kernel_note(err, code, "MPI_Unpack");
}

static const struct sequence sequences[] = {
	{ "p_write", "p_read", write_pieces, read_pieces, true, false, 1 },
	{ "s_sieve", NULL, sieve_windows, NULL, true, true, 1 },
	{ "c_piece", NULL, copy_pieces, NULL, false, false, COPY_LOOPS },
	{ "x_piece", NULL, exchange_pieces, NULL, false, false, COPY_LOOPS },
};

static const struct sequence *find_sequence(const char *operation)
{
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (strcmp(sequences[i].operation, operation) == 0)
			return &sequences[i];
	return NULL;
}

/* Like a round of storage (elemental_storage.c), a sequence takes at least as long as its fastest
 * writer. */
static int time_sequence(const struct elemental_session *s, const struct sequence *sequence,
			 bool is_read, uint64_t repetition)
{
	sequence_run *run = is_read ? sequence->read : sequence->run;
	double steps = (double)s->cell->rounds, begin, own = INFINITY, passed;
	struct err err = { 0 };

	elemental_apart(s->e);
	begin = MPI_Wtime();
	for (unsigned i = 0; s->mine >= 0 && i < sequence->loops && !err.code; i++)
		run(s, &err);
	if (s->mine >= 0)
		own = MPI_Wtime() - begin;
	elemental_apart(s->e);
	passed = elemental_net_seconds(MPI_Wtime() - begin, s->apart_s);
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	MPI_Reduce(s->e->kernel->rank ? &own : MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_MIN, 0,
		   MPI_COMM_WORLD);
	if (sequence->is_locked)
		steps += (double)s->writers.count - 1;
	elemental_row(s->e, s->cell, is_read ? sequence->read_operation : sequence->operation,
		      s->cell->writers, 0, repetition, fmax(passed, own) / steps / sequence->loops);
	return 0;
}

static int run_repetition(struct elemental_session *s, const struct sequence *sequence,
			  uint64_t repetition)
{
	bool reads = s->cell->reads && sequence->read;
	int r = sequence->has_file ? elemental_session_create(s) : 0;

	if (r >= 0)
		r = time_sequence(s, sequence, false, repetition);
	if (r >= 0 && reads)
		r = elemental_session_drop_cache(s);
	if (r >= 0 && reads)
		r = time_sequence(s, sequence, true, repetition);
	elemental_session_close_file(s);
	return r;
}

int elemental_pieces(const struct elemental *e, const struct elemental_cell *cell)
{
	const struct sequence *sequence = find_sequence(cell->operation);
	struct elemental_session s;
	struct err err = { 0 };
	int r;

	if (!sequence)
		err_set(&err, EINVAL, "unknown operation \"%s\"", cell->operation);
	if (kernel_agree(e->kernel, &err) < 0)
		return -EIO;
	r = elemental_session_open(
		&s, e, cell, sequence->is_locked ? cell->bytes : 2 * cell->bytes * cell->rounds);
	for (uint64_t i = 0; r >= 0 && i < cell->repetitions; i++)
		r = run_repetition(&s, sequence, i);
	elemental_session_release(&s);
	return r;
}
