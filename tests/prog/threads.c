/* SPDX-License-Identifier: BSD-3-Clause
 *
 * I/O at the start of threads, during their work, and at their end.
 */
#include "own_spool.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>

int __cxa_thread_atexit_impl(void (*function)(void *), void *arg, void *handle);
extern void *__dso_handle;

static pthread_key_t keys[3];
static int shared = -1;

/* Sets the key again, so that the destructor runs in every round of libc. */
static void key_ends(void *arg)
{
	put(shared, "k");
	pthread_setspecific(keys[0], arg);
}

static void key_ends_once(void *arg)
{
	(void)arg;
	put(shared, "o");
}

static void tls_ends(void *arg)
{
	(void)arg;
	put(shared, "t");
}

static void *dying(void *arg)
{
	put(shared, "w");
	pthread_setspecific(keys[0], arg);
	pthread_setspecific(keys[1], arg);
	__cxa_thread_atexit_impl(tls_ends, NULL, &__dso_handle);
	return NULL;
}

/* I/O in destructors of keys (four rounds) and of thread-local objects. */
static int destructors(int argc, char **argv)
{
	pthread_t thread;
	int x;

	(void)argc, (void)argv;
	shared = file_make("shared");
	MUST(!pthread_key_create(&keys[0], key_ends) &&
	     !pthread_key_create(&keys[1], key_ends_once));
	for (int i = 0; i < 10; i++) {
		MUST(!pthread_create(&thread, NULL, dying, &x));
		pthread_join(thread, NULL);
	}
	printf("%d bytes\n", (int)lseek(shared, 0, SEEK_END));
	return 0;
}

static int pipe_fds[2];
static atomic_bool reading;

static void cleanup(void *arg)
{
	(void)arg;
	put(shared, "cleanup\n");
}

static void *reader(void *arg)
{
	char c;

	(void)arg;
	pthread_cleanup_push(cleanup, NULL);
	put(shared, "reader\n");
	reading = true;
	MUST(read(pipe_fds[0], &c, 1) < 0);
	pthread_cleanup_pop(0);
	return NULL;
}

/* A thread is canceled during a read that would wait forever. */
static int cancelled(int argc, char **argv)
{
	(void)argc, (void)argv;
	shared = file_make("shared");
	MUST(!pipe(pipe_fds));
	for (int i = 0; i < 10; i++) {
		pthread_t thread;
		void *result;

		reading = false;
		MUST(!pthread_create(&thread, NULL, reader, NULL));
		while (!reading)
			pause_ms(1);
		pause_ms(i % 3 ? 5 : 0);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "returned");
		put(shared, "main\n");
	}
	return 0;
}

static atomic_int done;

static void *own_file(void *arg)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "own%ld", (long)arg);
	fd = file_make(name);
	put(fd, name);
	close(fd);
	done++;
	return NULL;
}

static int detached(int argc, char **argv)
{
	pthread_attr_t attr;

	(void)argc, (void)argv;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (long i = 0; i < 50; i++) {
		pthread_t thread;

		MUST(!pthread_create(&thread, &attr, own_file, (void *)i));
	}
	while (done < 50)
		pause_ms(1);
	puts("done");
	return 0;
}

static void *one_write(void *arg)
{
	long n = (long)arg;

	MUST(pwrite(shared, "x", 1, n) == 1);
	return NULL;
}

/* Threads that may end before the collector has emptied the chunks of others. */
#define AHEAD 256

/* many N: N threads in total, eight at a time, but not faster than the collector can follow. */
static int many(int argc, char **argv)
{
	long n = argc > 0 ? atol(argv[0]) : 10000;
	struct own_spool own = { 0 };

	shared = file_make("shared");
	own_spool_find(&own);
	for (long i = 0; i < n; i += 8) {
		pthread_t threads[8];

		while (i % AHEAD == 0 && own.base && own_spool_used(&own) > 8)
			pause_ms(1);

		for (long j = 0; j < 8; j++)
			MUST(!pthread_create(&threads[j], NULL, one_write, (void *)(i + j)));
		for (int j = 0; j < 8; j++)
			pthread_join(threads[j], NULL);
	}
	printf("%d bytes\n", (int)lseek(shared, 0, SEEK_END));
	return 0;
}

static long per_thread;

/* The size of a write depends on the thread and the iteration, its data on its offset. */
static void *pattern(void *arg)
{
	long t = (long)arg;
	char data[64];

	memset(data, 'a' + (int)t, sizeof(data));
	for (long i = 0; i < per_thread; i++)
		MUST(pwrite(shared, data, (size_t)(1 + (i + t) % 61), t * 64) == 1 + (i + t) % 61);
	return NULL;
}

/* sixteen N: 16 threads with N writes each. */
static int sixteen(int argc, char **argv)
{
	pthread_t threads[16];

	per_thread = argc > 0 ? atol(argv[0]) : 5000;
	shared = file_make("shared");
	for (long t = 0; t < 16; t++)
		MUST(!pthread_create(&threads[t], NULL, pattern, (void *)t));
	for (int t = 0; t < 16; t++)
		pthread_join(threads[t], NULL);
	return 0;
}

static void *goes_on(void *arg)
{
	(void)arg;
	for (int i = 0; i < 60; i++) {
		put(shared, "x");
		pause_ms(10);
	}
	put(shared, "end");
	exit(12);
}

/* The first thread exits; the kernel shows the process as a zombie while the others continue. */
static int main_leaves(int argc, char **argv)
{
	pthread_t thread;

	(void)argc, (void)argv;
	shared = file_make("shared");
	put(shared, "main");
	MUST(!pthread_create(&thread, NULL, goes_on, NULL));
	pthread_exit(NULL);
}

static void *exits(void *arg)
{
	(void)arg;
	printf("from a thread\n");
	put(shared, "exits");
	exit(13);
}

static int exit_in_thread(int argc, char **argv)
{
	pthread_t thread;

	(void)argc, (void)argv;
	shared = file_make("shared");
	MUST(!pthread_create(&thread, NULL, exits, NULL));
	pthread_join(thread, NULL);
	return 0;
}

static void *cramped(void *arg)
{
	FILE *f;
	pid_t pid;

	(void)arg;
	put(shared, "cramped\n");
	f = fopen("stream", "w");
	MUST(f && fprintf(f, "%s %d\n", "text", 1) > 0 && !fclose(f));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		put(shared, "child\n");
		_exit(3);
	}
	printf("child %d\n", child_code(pid));
	fflush(stdout);
	return NULL;
}

/* A thread with the smallest possible stack forks, and the child attaches on that stack. */
static int tiny_stack(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;

	(void)argc, (void)argv;
	shared = file_make("shared");
	pthread_attr_init(&attr);
	MUST(!pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)));
	MUST(!pthread_create(&thread, &attr, cramped, NULL));
	pthread_join(thread, NULL);
	return 0;
}

static pthread_barrier_t start;

static void *rush(void *arg)
{
	char name[32];

	snprintf(name, sizeof(name), "crowd.%ld", (long)arg);
	pthread_barrier_wait(&start);
	for (int i = 0; i < 5; i++) {
		int fd = file_make(name);

		put(fd, "x");
		close(fd);
	}
	unlink(name);
	return NULL;
}

/* crowd N: many more threads than processors start at once. */
static int crowd(int argc, char **argv)
{
	long count = argc > 0 ? atol(argv[0]) : 0;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t attr;

	MUST(threads && !pthread_barrier_init(&start, NULL, (unsigned)count));
	pthread_attr_init(&attr);
	MUST(!pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN > 65536 ? PTHREAD_STACK_MIN : 65536));
	for (long i = 0; i < count; i++)
		MUST(!pthread_create(&threads[i], &attr, rush, (void *)i));
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}

CASES(CASE(destructors), CASE(cancelled), CASE(detached), CASE(many), CASE(sixteen),
      CASE(main_leaves), CASE(exit_in_thread), CASE(tiny_stack), CASE(crowd))
