/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_uring by liburing: several pending operations, completed in any order. Exits with 77 if the
 * kernel has no io_uring or forbids it. Without MPI.
 */
#include <fcntl.h>
#include <liburing.h>

#include "must.h"

#define N 512
#define PIECES 4
#define NO_URING 77
#define PATH "uring.dat"

static int out[PIECES][N], in[PIECES][N];
static struct io_uring ring;
static int fd;

static struct io_uring_sqe *next_sqe(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	MUST(sqe);
	return sqe;
}

/* Submits the prepared operations and gets the results; each must move `bytes`. */
static void complete(int count, int bytes)
{
	bool seen[PIECES] = { false };

	MUST(io_uring_submit(&ring) == count);
	for (int i = 0; i < count; i++) {
		struct io_uring_cqe *cqe;
		uintptr_t piece;

		MUST(!io_uring_wait_cqe(&ring, &cqe));
		piece = (uintptr_t)io_uring_cqe_get_data(cqe);
		MUST(cqe->res == bytes && piece < PIECES && !seen[piece]);
		seen[piece] = true;
		io_uring_cqe_seen(&ring, cqe);
	}
}

static void write_all(void)
{
	for (uintptr_t p = 0; p < PIECES; p++) {
		struct io_uring_sqe *sqe = next_sqe();

		numbers_make(out[p], N, (int)p);
		io_uring_prep_write(sqe, fd, out[p], sizeof(out[p]), p * sizeof(out[p]));
		io_uring_sqe_set_data(sqe, (void *)p);
	}
	complete(PIECES, sizeof(out[0]));
}

static void flush(void)
{
	struct io_uring_sqe *sqe = next_sqe();

	io_uring_prep_fsync(sqe, fd, 0);
	io_uring_sqe_set_data(sqe, NULL);
	complete(1, 0);
}

static void read_all(void)
{
	for (uintptr_t p = 0; p < PIECES; p++) {
		struct io_uring_sqe *sqe = next_sqe();

		io_uring_prep_read(sqe, fd, in[p], sizeof(in[p]), p * sizeof(in[p]));
		io_uring_sqe_set_data(sqe, (void *)p);
	}
	complete(PIECES, sizeof(in[0]));
	for (int p = 0; p < PIECES; p++)
		MUST(numbers_are(in[p], N, p));
}

int main(void)
{
	int ret = io_uring_queue_init(2 * PIECES, &ring, 0);

	if (ret == -ENOSYS || ret == -EPERM) {
		fprintf(stderr, "uring: %s\n", strerror(-ret));
		return NO_URING;
	}
	MUST(!ret);
	fd = open(PATH, O_RDWR | O_CREAT | O_TRUNC, 0644);
	MUST(fd >= 0);
	write_all();
	flush();
	read_all();
	io_uring_queue_exit(&ring);
	MUST(!close(fd) && !unlink(PATH));
	return 0;
}
