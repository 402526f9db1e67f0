/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_uring by liburing, in all ways that differ for capturing. Exits with 77 if the kernel has no
 * io_uring or forbids it.
 */
#include <liburing.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "prog.h"

#define NO_URING 77

static struct io_uring ring;

/* For calls that return a negative error number on failure. */
#define DO(expression)                                                                      \
	do {                                                                                \
		int ret_ = (expression);                                                    \
		if (ret_ < 0) {                                                             \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #expression, \
				strerror(-ret_));                                           \
			_exit(99);                                                          \
		}                                                                           \
	} while (0)

static void ring_make(unsigned entries, unsigned flags)
{
	int ret = io_uring_queue_init(entries, &ring, flags);

	if (ret == -ENOSYS || ret == -EPERM)
		_exit(NO_URING);
	DO(ret);
}

static struct io_uring_sqe *sqe_next(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	MUST(sqe);
	return sqe;
}

/* Waits for one result and prints it. */
static int result_take(bool print)
{
	struct io_uring_cqe *cqe;
	int res;

	DO(io_uring_wait_cqe(&ring, &cqe));
	res = cqe->res;
	if (print)
		printf("%llu: %d\n", (unsigned long long)cqe->user_data, res);
	io_uring_cqe_seen(&ring, cqe);
	return res;
}

/* Submits the one prepared operation and returns its result. */
static int do_one(void)
{
	MUST(io_uring_submit(&ring) == 1);
	return result_take(false);
}

static char text[65536];

/* Writes with different sizes and offsets: plain, as a vector, and from registered memory; then a
 * flush, and reads. */
static int data(int argc, char **argv)
{
	struct iovec iov[3] = { { text, 100 }, { text, 0 }, { text, 23 } }, all = { text, 4096 };
	struct io_uring_sqe *sqe;
	int fd = file_make("data");

	(void)argc, (void)argv;
	memset(text, 'x', sizeof(text));
	ring_make(8, 0);
	DO(io_uring_register_buffers(&ring, &all, 1));
	for (unsigned i = 0; i < 4; i++) {
		sqe = sqe_next();
		io_uring_prep_write(sqe, fd, text, 1000 + i, 10000 * i);
		io_uring_sqe_set_data64(sqe, 10 + i);
	}
	sqe = sqe_next();
	io_uring_prep_writev(sqe, fd, iov, 3, 50000);
	sqe = sqe_next();
	io_uring_prep_write_fixed(sqe, fd, text, 77, 60000, 0);
	io_uring_sqe_set_data64(sqe, 1);
	MUST(io_uring_submit_and_wait(&ring, 6) == 6);
	for (int i = 0; i < 6; i++)
		MUST(result_take(false) > 0);
	io_uring_prep_fsync(sqe_next(), fd, IORING_FSYNC_DATASYNC);
	MUST(do_one() == 0);
	io_uring_prep_read(sqe_next(), fd, text, 5000, 30000);
	MUST(do_one() == 5000);
	io_uring_prep_read(sqe_next(), fd, text, 5000, 60000);
	MUST(do_one() == 77);
	io_uring_prep_readv(sqe_next(), fd, iov, 3, 50000);
	MUST(do_one() == 123);
	io_uring_queue_exit(&ring);
	return 0;
}

#define PIPES 5

static int pipes[PIPES][2];

static atomic_int taken; /* results */

/* Does the main thread wait in the kernel? By system calls that are not recorded. */
static bool main_sleeps(void)
{
	char path[64], stat[256], *end;
	long fd, n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	n = syscall(SYS_read, fd, stat, sizeof(stat) - 1);
	syscall(SYS_close, fd);
	stat[n > 0 ? n : 0] = 0;
	end = strrchr(stat, ')');
	return end && end[2] == 'S';
}

/* Feeds a pipe when the main thread has taken the results so far and waits for the next one. */
static void *feed(void *arg)
{
	for (int i = PIPES - 1; i >= 0; i--) {
		while (taken != PIPES - 1 - i || !main_sleeps())
			pause_ms(1);
		MUST(write(pipes[i][1], text, 100 + (size_t)i) == 100 + i);
	}
	return arg;
}

/* Reads that complete in reverse order, when their pipes get data. */
static int reversed(int argc, char **argv)
{
	pthread_t thread;

	(void)argc, (void)argv;
	ring_make(8, 0);
	for (int i = 0; i < PIPES; i++) {
		struct io_uring_sqe *sqe = sqe_next();

		MUST(pipe(pipes[i]) == 0);
		io_uring_prep_read(sqe, pipes[i][0], text, 100 + (unsigned)i, (__u64)-1);
		io_uring_sqe_set_data64(sqe, (uint64_t)i);
	}
	MUST(io_uring_submit(&ring) == PIPES);
	MUST(!pthread_create(&thread, NULL, feed, NULL));
	for (int i = 0; i < PIPES; i++) {
		result_take(true);
		taken++;
	}
	MUST(!pthread_join(thread, NULL));
	io_uring_queue_exit(&ring);
	return 0;
}

#define WAVES 20
#define THREADED 16

static void *reap(void *arg)
{
	for (int i = 0; i < WAVES * THREADED; i++)
		MUST(result_take(false) > 0);
	return arg;
}

/*
 * One thread submits, another gets the results. The ring has room for all of them: the second
 * thread takes most of them without a call, so the kernel could overwrite some before they are seen.
 */
static int threads(int argc, char **argv)
{
	int fd = file_make("data");
	pthread_t thread;

	(void)argc, (void)argv;
	ring_make(WAVES * THREADED, 0);
	MUST(!pthread_create(&thread, NULL, reap, NULL));
	for (int wave = 0; wave < WAVES; wave++) {
		for (unsigned i = 0; i < THREADED; i++) {
			struct io_uring_sqe *sqe = sqe_next();
			unsigned number = (unsigned)wave * THREADED + i;

			io_uring_prep_write(sqe, fd, text, 1 + number, 1000 * number);
			io_uring_sqe_set_data64(sqe, number);
			io_uring_sqe_set_flags(sqe, i % 2 ? IOSQE_ASYNC : 0);
		}
		MUST(io_uring_submit(&ring) == THREADED);
	}
	MUST(!pthread_join(thread, NULL));
	io_uring_queue_exit(&ring);
	return 0;
}

#define ALIKE 200

/* All operations have the same user data. */
static int alike(int argc, char **argv)
{
	int fd = file_make("data");

	(void)argc, (void)argv;
	ring_make(256, 0);
	for (unsigned i = 0; i < ALIKE; i++)
		io_uring_prep_write(sqe_next(), fd, text, 10, 10 * i);
	MUST(io_uring_submit(&ring) == ALIKE);
	for (int i = 0; i < ALIKE; i++)
		MUST(result_take(false) == 10);
	io_uring_queue_exit(&ring);
	return 0;
}

/* Files opened, used and closed by the ring; then their descriptor is reused. */
static int files(int argc, char **argv)
{
	struct statx st;
	int fd, again;

	(void)argc, (void)argv;
	ring_make(8, 0);
	io_uring_prep_openat(sqe_next(), AT_FDCWD, "made", O_CREAT | O_RDWR, 0640);
	fd = do_one();
	MUST(fd >= 0);
	io_uring_prep_fallocate(sqe_next(), fd, 0, 4096, 8192);
	MUST(do_one() == 0);
	io_uring_prep_write(sqe_next(), fd, text, 11, 0);
	MUST(do_one() == 11);
	io_uring_prep_close(sqe_next(), fd);
	MUST(do_one() == 0);
	again = open("other", O_CREAT | O_RDWR, 0644);
	MUST(again == fd);
	io_uring_prep_write(sqe_next(), again, text, 12, 0);
	MUST(do_one() == 12);
	io_uring_prep_close(sqe_next(), again);
	MUST(do_one() == 0);
	io_uring_prep_openat(sqe_next(), AT_FDCWD, "made", O_RDONLY, 0);
	MUST(do_one() == fd);
	MUST(read(fd, text, 5) == 5);
	MUST(!close(fd));
	io_uring_prep_statx(sqe_next(), AT_FDCWD, "other", 0, STATX_SIZE, &st);
	MUST(do_one() == 0);
	io_uring_prep_renameat(sqe_next(), AT_FDCWD, "other", AT_FDCWD, "moved", 0);
	MUST(do_one() == 0);
	io_uring_prep_unlinkat(sqe_next(), AT_FDCWD, "moved", 0);
	MUST(do_one() == 0);
	io_uring_prep_openat(sqe_next(), AT_FDCWD, "absent", O_RDONLY, 0);
	MUST(do_one() == -ENOENT);
	io_uring_queue_exit(&ring);
	return 0;
}

/* Registered files: the index stays valid after the descriptor is closed. */
static int registered(int argc, char **argv)
{
	int fds[2] = { file_make("zero"), file_make("one") }, third = file_make("two");
	struct io_uring_sqe *sqe;

	(void)argc, (void)argv;
	ring_make(8, 0);
	DO(io_uring_register_files(&ring, fds, 2));
	MUST(!close(fds[0]) && !close(fds[1]));
	for (int i = 0; i < 2; i++) {
		sqe = sqe_next();
		io_uring_prep_write(sqe, i, text, 20 + (unsigned)i, 0);
		io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
		MUST(do_one() == 20 + i);
	}
	MUST(io_uring_register_files_update(&ring, 1, &third, 1) == 1);
	sqe = sqe_next();
	io_uring_prep_write(sqe, 1, text, 22, 0);
	io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
	MUST(do_one() == 22);
	io_uring_prep_openat_direct(sqe_next(), AT_FDCWD, "direct", O_CREAT | O_WRONLY, 0644, 0);
	MUST(do_one() == 0);
	sqe = sqe_next();
	io_uring_prep_write(sqe, 0, text, 23, 0);
	io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
	MUST(do_one() == 23);
	io_uring_prep_close_direct(sqe_next(), 0);
	MUST(do_one() == 0);
	DO(io_uring_unregister_files(&ring));
	put(third, "end");
	io_uring_queue_exit(&ring);
	return 0;
}

/* Sockets are assigned to the network layer. */
static int sockets(int argc, char **argv)
{
	int pair[2];

	(void)argc, (void)argv;
	ring_make(8, 0);
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	io_uring_prep_send(sqe_next(), pair[0], text, 300, 0);
	MUST(do_one() == 300);
	io_uring_prep_recv(sqe_next(), pair[1], text, 1000, 0);
	MUST(do_one() == 300);
	io_uring_queue_exit(&ring);
	return 0;
}

/* Parent and child use one ring, one after the other. */
static int forked(int argc, char **argv)
{
	int fd = file_make("data"), ends[2];
	struct io_uring_sqe *sqe;
	pid_t pid;

	(void)argc, (void)argv;
	ring_make(8, 0);
	MUST(!pipe(ends));
	sqe = sqe_next();
	io_uring_prep_read(sqe, ends[0], text, 33, (__u64)-1);
	io_uring_sqe_set_data64(sqe, 5);
	MUST(io_uring_submit(&ring) == 1);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		sqe = sqe_next();
		io_uring_prep_write(sqe, fd, text, 44, 0);
		io_uring_sqe_set_data64(sqe, 6);
		MUST(do_one() == 44);
		_exit(0);
	}
	MUST(child_code(pid) == 0);
	/* The memory of the ring is shared, but liburing's own state is not. */
	ring.sq.sqe_head = ring.sq.sqe_tail = *ring.sq.ktail;
	put(ends[1], "123");
	MUST(result_take(false) == 3);
	io_uring_queue_exit(&ring);
	return 0;
}

/* The ring is closed while an operation is pending, and another one gets the same address. */
static int unfinished(int argc, char **argv)
{
	int ends[2];

	(void)argc, (void)argv;
	MUST(!pipe(ends));
	for (int i = 0; i < 3; i++) {
		struct io_uring_sqe *sqe;

		ring_make(8, 0);
		sqe = sqe_next();
		io_uring_prep_read(sqe, ends[0], text, 50 + (unsigned)i, (__u64)-1);
		io_uring_sqe_set_data64(sqe, 1);
		MUST(io_uring_submit(&ring) == 1);
		io_uring_queue_exit(&ring);
	}
	ring_make(8, 0);
	io_uring_prep_nop(sqe_next());
	MUST(do_one() == 0);
	io_uring_queue_exit(&ring);
	return 0;
}

/* Unreadable arguments do no harm, and failures have their error codes. */
static int wrong(int argc, char **argv)
{
	char *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = file_make("data");

	(void)argc, (void)argv;
	MUST(hole != MAP_FAILED);
	ring_make(8, 0);
	io_uring_prep_writev(sqe_next(), fd, (struct iovec *)hole, 2, 0);
	printf("%d\n", do_one());
	io_uring_prep_sendmsg(sqe_next(), fd, (struct msghdr *)hole, 0);
	printf("%d\n", do_one());
	io_uring_prep_openat(sqe_next(), AT_FDCWD, hole, O_RDONLY, 0);
	printf("%d\n", do_one());
	io_uring_prep_write(sqe_next(), fd, hole, 10, 0);
	printf("%d\n", do_one());
	io_uring_prep_write(sqe_next(), 1000, text, 10, 0);
	printf("%d\n", do_one());
	errno = 7;
	io_uring_prep_writev(sqe_next(), fd, (struct iovec *)hole, 2, 0);
	MUST(io_uring_submit(&ring) == 1);
	printf("errno %d\n", errno);
	result_take(true);
	io_uring_queue_exit(&ring);
	return 0;
}

/* Calls that find no results are not recorded; neither are operations that are not I/O. */
static int idle(int argc, char **argv)
{
	struct __kernel_timespec soon = { .tv_nsec = 1000 };
	struct io_uring_cqe *cqe, *batch[4];

	(void)argc, (void)argv;
	ring_make(8, 0);
	for (int i = 0; i < 100; i++) {
		MUST(io_uring_peek_cqe(&ring, &cqe) == -EAGAIN);
		MUST(io_uring_peek_batch_cqe(&ring, batch, 4) == 0);
		MUST(io_uring_submit(&ring) == 0);
		MUST(io_uring_wait_cqe_timeout(&ring, &cqe, &soon) == -ETIME);
	}
	io_uring_queue_exit(&ring);
	return 0;
}

/* Results are got by peeking only; the last ones are found when the ring is closed. */
static int peeked(int argc, char **argv)
{
	int fd = file_make("data");
	struct io_uring_cqe *cqe;

	(void)argc, (void)argv;
	ring_make(8, 0);
	for (unsigned i = 0; i < 50; i++) {
		struct io_uring_sqe *sqe = sqe_next();

		io_uring_prep_write(sqe, fd, text, 1 + i, 0);
		io_uring_sqe_set_data64(sqe, i);
		io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
		MUST(io_uring_submit(&ring) == 1);
		while (!io_uring_cq_ready(&ring))
			;
		MUST(!io_uring_peek_cqe(&ring, &cqe) && cqe->res == (int)i + 1);
		io_uring_cqe_seen(&ring, cqe);
	}
	io_uring_queue_exit(&ring);
	return 0;
}

/* A copied struct of the ring, larger entries, and a kernel thread that submits by itself. */
static int setups(int argc, char **argv)
{
	static const unsigned flags[] = { 0, IORING_SETUP_SQE128 | IORING_SETUP_CQE32,
					  IORING_SETUP_SQPOLL };
	int fd = file_make("data");

	(void)argc, (void)argv;
	for (unsigned i = 0; i < 3; i++) {
		struct io_uring first;

		ring_make(4, flags[i]);
		first = ring;
		memset(&ring, 0, sizeof(ring));
		ring = first;
		for (unsigned j = 0; j < 10; j++) {
			struct io_uring_sqe *sqe = sqe_next();

			io_uring_prep_write(sqe, fd, text, 100 * (i + 1) + j, 1000 * j);
			io_uring_sqe_set_data64(sqe, j);
			MUST(io_uring_submit(&ring) == 1);
			MUST(result_take(false) == (int)(100 * (i + 1) + j));
		}
		io_uring_queue_exit(&ring);
	}
	return 0;
}

/* Submits without liburing, and waits for the result. */
static void enter_raw(void)
{
	ring.sq.sqe_head = ring.sq.sqe_tail;
	__atomic_store_n(ring.sq.ktail, ring.sq.sqe_tail, __ATOMIC_RELEASE);
	MUST(syscall(__NR_io_uring_enter, ring.ring_fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) ==
	     1);
	MUST(io_uring_cq_ready(&ring) > 0);
	io_uring_cq_advance(&ring, io_uring_cq_ready(&ring));
}

/* So many operations bypass liburing that the result of the first is overwritten; then another one
 * has its user data. */
static int unseen(int argc, char **argv)
{
	int fd = file_make("data"), ends[2];

	(void)argc, (void)argv;
	ring_make(2, 0);
	MUST(!pipe(ends));
	io_uring_prep_read(sqe_next(), ends[0], text, 33, (__u64)-1);
	MUST(io_uring_submit(&ring) == 1);
	put(ends[1], "123");
	for (int i = 0; i < 10; i++) {
		io_uring_prep_nop(sqe_next());
		enter_raw();
	}
	io_uring_prep_write(sqe_next(), fd, text, 44, 0);
	MUST(do_one() == 44);
	io_uring_queue_exit(&ring);
	return 0;
}

CASES(CASE(data), CASE(reversed), CASE(threads), CASE(alike), CASE(files), CASE(registered),
      CASE(sockets), CASE(forked), CASE(unfinished), CASE(wrong), CASE(idle), CASE(peeked),
      CASE(setups), CASE(unseen))
