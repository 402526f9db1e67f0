/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asynchronous I/O by libaio, in all ways that differ for capturing. Exits with 77 if the kernel
 * has none or forbids it.
 */
#include <libaio.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "prog.h"

#define NO_AIO 77

static io_context_t context;
static char text[65536];

static void context_make(int requests)
{
	int ret = io_setup(requests, &context);

	if (ret == -ENOSYS || ret == -EPERM)
		_exit(NO_AIO);
	MUST(ret == 0);
}

/* Waits for one event and returns its result. */
static long take_one(void)
{
	struct io_event event;

	MUST(io_getevents(context, 1, 1, &event, NULL) == 1);
	return (long)event.res;
}

/* Submits the request and returns its result. */
static long do_one(struct iocb *request)
{
	MUST(io_submit(context, 1, &request) == 1);
	return take_one();
}

/* Writes with different sizes and offsets: plain, and as a vector; then flushes, and reads. */
static int data(int argc, char **argv)
{
	struct iovec iov[3] = { { text, 100 }, { text, 0 }, { text, 23 } };
	struct iocb requests[5], *list[5];
	struct io_event events[5];
	int fd = file_make("data");

	(void)argc, (void)argv;
	memset(text, 'x', sizeof(text));
	context_make(8);
	for (int i = 0; i < 4; i++) {
		list[i] = &requests[i];
		io_prep_pwrite(list[i], fd, text, 1000 + (size_t)i, 10000 * i);
	}
	list[4] = &requests[4];
	io_prep_pwritev(list[4], fd, iov, 3, 50000);
	MUST(io_submit(context, 5, list) == 5);
	MUST(io_getevents(context, 5, 5, events, NULL) == 5);
	io_prep_fsync(list[0], fd);
	MUST(do_one(list[0]) == 0);
	io_prep_fdsync(list[0], fd);
	MUST(do_one(list[0]) == 0);
	io_prep_pread(list[0], fd, text, 5000, 30000);
	MUST(do_one(list[0]) == 5000);
	io_prep_pread(list[0], fd, text, 5000, 50100);
	MUST(do_one(list[0]) == 23);
	io_prep_preadv(list[0], fd, iov, 3, 50000);
	MUST(do_one(list[0]) == 123);
	MUST(io_destroy(context) == 0);
	return 0;
}

#define EACH 400

static void *take_all(void *arg)
{
	struct io_event events[16];
	int taken = 0;

	(void)arg;
	while (taken < EACH) {
		struct timespec limit = { 0, 1000000 };
		int n = io_getevents(context, 1, 16, events, &limit);

		MUST(n >= 0);
		taken += n;
	}
	return NULL;
}

/* One thread submits, another one takes the events. */
static int threads(int argc, char **argv)
{
	static struct iocb requests[EACH];
	int fd = file_make("data");
	pthread_t thread;

	(void)argc, (void)argv;
	context_make(EACH);
	MUST(!pthread_create(&thread, NULL, take_all, NULL));
	for (int i = 0; i < EACH; i++) {
		struct iocb *request = &requests[i];

		io_prep_pwrite(request, fd, text, (size_t)i + 1, 1000 * i);
		MUST(io_submit(context, 1, &request) == 1);
	}
	MUST(!pthread_join(thread, NULL));
	MUST(io_destroy(context) == 0);
	return 0;
}

#define MANY 3000

/* More requests than the context has room for: the kernel takes a part of them. */
static int full(int argc, char **argv)
{
	static struct iocb requests[MANY], *list[MANY];
	static struct io_event events[MANY];
	int fd = file_make("data"), begun = 0, ended = 0;

	(void)argc, (void)argv;
	context_make(1);
	for (int i = 0; i < MANY; i++) {
		list[i] = &requests[i];
		io_prep_pwrite(list[i], fd, text, 1, i);
	}
	while (ended < MANY) {
		int n = begun < MANY ? io_submit(context, MANY - begun, list + begun) : 0;

		MUST(n >= 0 || n == -EAGAIN);
		begun += n > 0 ? n : 0;
		n = io_getevents(context, 1, MANY, events, NULL);
		MUST(n > 0);
		ended += n;
	}
	MUST(io_destroy(context) == 0);
	return 0;
}

/* Requests that fail, and addresses that the kernel cannot read. */
static int wrong(int argc, char **argv)
{
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = file_make("data"), reading = open("data", O_RDONLY);
	struct iocb request, *list[3] = { &request, (struct iocb *)(void *)page, &request };
	struct io_event event;

	(void)argc, (void)argv;
	MUST(page != MAP_FAILED && reading >= 0);
	context_make(8);
	io_prep_pwrite(&request, 1000, text, 10, 0);
	printf("descriptor %d\n", io_submit(context, 1, list));
	io_prep_pwrite(&request, reading, text, 11, 0);
	printf("mode %d\n", io_submit(context, 1, list));
	io_prep_pwrite(&request, fd, page, 12, 0);
	printf("data %ld\n", do_one(&request));
	io_prep_pwritev(&request, fd, (struct iovec *)(void *)page, 3, 0);
	printf("vector %d\n", io_submit(context, 1, list));
	io_prep_pwrite(&request, fd, text, 13, 0);
	printf("request %d\n", io_submit(context, 3, list));
	printf("its result %ld\n", take_one());
	printf("list %d\n", io_submit(context, 2, (struct iocb **)(void *)page));
	printf("none %d\n", io_submit(context, 0, list));
	printf("less %d\n", io_submit(context, -1, list));
	printf("events %d\n", io_getevents(context, 0, 1, (struct io_event *)(void *)page, NULL));
	printf("cancel %d\n", io_cancel(context, &request, &event));
	MUST(io_destroy(context) == 0);
	printf("ended %d\n", io_submit(context, 1, list));
	return 0;
}

/* Polls without a request, and with one that is not I/O. */
static int idle(int argc, char **argv)
{
	struct timespec now = { 0, 0 };
	struct iocb request, *list = &request;
	struct io_event event;
	int ends[2];

	(void)argc, (void)argv;
	context_make(8);
	MUST(!pipe(ends));
	for (int i = 0; i < 100; i++)
		MUST(io_getevents(context, 0, 1, &event, &now) == 0);
	io_prep_poll(&request, ends[0], 1 /* POLLIN */);
	MUST(io_submit(context, 1, &list) == 1);
	put(ends[1], "x");
	printf("poll %ld\n", take_one());
	MUST(io_destroy(context) == 0);
	return 0;
}

static int called;

static void call_back(io_context_t of, struct iocb *request, long res, long res2)
{
	(void)of, (void)request, (void)res2;
	called += (int)res;
}

/* io_queue_run() calls a function of the program for each event. */
static int callbacks(int argc, char **argv)
{
	struct iocb requests[3], *list[3];
	int fd = file_make("data");

	(void)argc, (void)argv;
	MUST(io_queue_init(8, &context) == 0);
	for (int i = 0; i < 3; i++) {
		list[i] = &requests[i];
		io_prep_pwrite(list[i], fd, text, 20 + (size_t)i, 100 * i);
		io_set_callback(list[i], call_back);
	}
	MUST(io_submit(context, 3, list) == 3);
	while (called < 20 + 21 + 22)
		MUST(io_queue_run(context) == 0);
	MUST(io_queue_release(context) == 0);
	return 0;
}

CASES(CASE(data), CASE(threads), CASE(full), CASE(wrong), CASE(idle), CASE(callbacks))
