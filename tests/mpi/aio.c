/* SPDX-License-Identifier: BSD-3-Clause
 *
 * POSIX asynchronous I/O, completed by another thread than the one that started it. Without MPI.
 */
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>

#include "must.h"

#define N 512
#define PIECES 4
#define PATH "aio.dat"

static int out[PIECES][N], in[PIECES][N];
static struct aiocb blocks[PIECES];
static int fd;

static void block_make(int piece, void *data, int opcode)
{
	blocks[piece] = (struct aiocb){
		.aio_fildes = fd,
		.aio_buf = data,
		.aio_nbytes = sizeof(out[0]),
		.aio_offset = (off_t)piece * (off_t)sizeof(out[0]),
		.aio_lio_opcode = opcode,
		.aio_sigevent.sigev_notify = SIGEV_NONE,
	};
}

/* Waits for one operation and gets its result. */
static void block_end(struct aiocb *block)
{
	const struct aiocb *list[] = { block };

	while (aio_error(block) == EINPROGRESS)
		MUST(!aio_suspend(list, 1, NULL) || errno == EINTR);
	MUST(aio_return(block) == (ssize_t)block->aio_nbytes);
}

static void *end_all(void *arg)
{
	(void)arg;
	for (int p = PIECES - 1; p >= 0; p--)
		block_end(&blocks[p]);
	return NULL;
}

static void end_elsewhere(void)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, end_all, NULL));
	pthread_join(thread, NULL);
}

static void data_check(void)
{
	for (int p = 0; p < PIECES; p++)
		MUST(numbers_are(in[p], N, p));
	memset(in, 0, sizeof(in));
}

static void single_calls(void)
{
	for (int p = 0; p < PIECES; p++) {
		numbers_make(out[p], N, p);
		block_make(p, out[p], 0);
		MUST(!aio_write(&blocks[p]));
	}
	end_elsewhere();
	for (int p = 0; p < PIECES; p++) {
		block_make(p, in[p], 0);
		MUST(!aio_read(&blocks[p]));
	}
	end_elsewhere();
	data_check();
}

static void flush(void)
{
	struct aiocb block = { .aio_fildes = fd, .aio_sigevent.sigev_notify = SIGEV_NONE };

	MUST(!aio_fsync(O_SYNC, &block));
	block_end(&block);
}

/* Several operations started by one call, non-blocking and blocking. */
static void lists(void)
{
	struct aiocb *list[PIECES];

	for (int p = 0; p < PIECES; p++) {
		block_make(p, out[p], LIO_WRITE);
		list[p] = &blocks[p];
	}
	MUST(!lio_listio(LIO_NOWAIT, list, PIECES, NULL));
	end_elsewhere();
	for (int p = 0; p < PIECES; p++)
		block_make(p, in[p], LIO_READ);
	MUST(!lio_listio(LIO_WAIT, list, PIECES, NULL));
	end_elsewhere();
	data_check();
}

int main(void)
{
	fd = open(PATH, O_RDWR | O_CREAT | O_TRUNC, 0644);
	MUST(fd >= 0);
	single_calls();
	flush();
	lists();
	MUST(aio_cancel(fd, NULL) == AIO_ALLDONE);
	MUST(!close(fd) && !unlink(PATH));
	return 0;
}
