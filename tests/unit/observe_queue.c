/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define MESSAGES 200000
#define SMALL 4096

static bool push_text(struct queue *q, uint32_t kind, const char *text)
{
	void *at = queue_room(q, strlen(text) + 1);

	if (!at)
		return false;
	memcpy(at, text, strlen(text) + 1);
	queue_push(q, kind, strlen(text) + 1);
	return true;
}

static void messages_come_whole_and_in_order(void)
{
	struct queue *q = queue_new(SMALL);
	size_t bytes;
	uint32_t kind;
	const char *text;

	REQUIRE(q);
	CHECK(!queue_peek(q, &kind, &bytes));
	CHECK(push_text(q, 7, "one"));
	CHECK(push_text(q, 8, "number two"));
	text = queue_peek(q, &kind, &bytes);
	CHECK_TEXT(text, "one");
	CHECK_INT(kind, 7);
	CHECK_INT(bytes, 4);
	CHECK(queue_peek(q, &kind, &bytes) == text); /* until it is popped */
	queue_pop(q);
	text = queue_peek(q, &kind, &bytes);
	CHECK_TEXT(text, "number two");
	CHECK_INT(kind, 8);
	queue_pop(q);
	CHECK(!queue_peek(q, &kind, &bytes));
	queue_free(q);
}

static void a_full_queue_refuses_and_takes_again(void)
{
	struct queue *q = queue_new(SMALL);
	size_t pushed = 0, taken = 0, bytes;
	uint32_t kind;

	REQUIRE(q);
	while (queue_room(q, 100)) {
		queue_push(q, (uint32_t)pushed++, 100);
		REQUIRE(pushed <= SMALL);
	}
	CHECK_INT(pushed, SMALL / (104 + 8));
	for (int i = 0; i < 3; i++) {
		CHECK(queue_peek(q, &kind, &bytes));
		CHECK_INT(kind, taken++);
		queue_pop(q);
	}
	/* The space that was given back may be in two pieces; at least one message fits. */
	REQUIRE(queue_room(q, 100));
	queue_push(q, (uint32_t)pushed++, 100);
	while (queue_peek(q, &kind, &bytes)) {
		CHECK_INT(kind, taken++);
		queue_pop(q);
	}
	CHECK_INT(taken, pushed);
	queue_free(q);
}

static void an_idle_consumer_leaves_the_whole_ring(void)
{
	struct queue *q = queue_new(SMALL);
	size_t bytes, pushed = 0;
	uint32_t kind;

	REQUIRE(q);
	for (int i = 0; i < 3; i++) {
		REQUIRE(push_text(q, 1, "taken at once"));
		CHECK(queue_peek(q, &kind, &bytes));
		queue_pop(q);
	}
	for (; queue_room(q, 24); pushed++)
		queue_push(q, 1, 24);
	/* One message less, where the end of the ring falls into one. */
	CHECK(pushed >= SMALL / 32 - 1);
	queue_free(q);
}

static void what_can_never_fit_is_refused(void)
{
	struct queue *q = queue_new(SMALL);

	REQUIRE(q);
	CHECK(!queue_room(q, SMALL));
	CHECK(!queue_room(q, SIZE_MAX));
	CHECK(queue_room(q, SMALL - 8));
	queue_push(q, 1, SMALL - 8);
	CHECK(!queue_room(q, 0));
	queue_free(q);
}

static void it_is_over_when_finished_and_empty(void)
{
	struct queue *q = queue_new(SMALL);
	size_t bytes;
	uint32_t kind;

	REQUIRE(q);
	CHECK(push_text(q, 1, "x"));
	CHECK(!queue_is_over(q));
	queue_finish(q);
	CHECK(!queue_is_over(q));
	CHECK(queue_peek(q, &kind, &bytes));
	queue_pop(q);
	CHECK(queue_is_over(q));
	queue_free(q);
}

/* Sizes that differ, so that gaps at the end of the ring of every length arise. */
static size_t length_of(uint64_t number)
{
	return 8 + number * 7919 % 600;
}

static bool number_push(struct queue *q, uint64_t number)
{
	size_t n = length_of(number);
	unsigned char *at = queue_room(q, n);

	if (!at)
		return false;
	memcpy(at, &number, sizeof(number));
	memset(at + 8, (int)(number & 255), n - 8);
	queue_push(q, (uint32_t)(number & 1023), n);
	return true;
}

/* The next must be this number; false if there is none yet. */
static bool number_take(struct queue *q, uint64_t number)
{
	size_t bytes;
	uint32_t kind;
	const unsigned char *at = queue_peek(q, &kind, &bytes);

	if (!at)
		return false;
	if (kind != (number & 1023) || bytes != length_of(number) || memcmp(at, &number, 8) ||
	    at[bytes - 1] != (bytes > 8 ? (number & 255) : at[bytes - 1])) {
		check_failures++;
		printf("message %llu is torn\n", (unsigned long long)number);
	}
	queue_pop(q);
	return true;
}

static void *producer(void *arg)
{
	for (uint64_t i = 0; i < MESSAGES; i++)
		while (!number_push(arg, i))
			sched_yield();
	queue_finish(arg);
	return NULL;
}

static void two_threads_lose_and_tear_nothing(void)
{
	struct queue *q = queue_new(SMALL);
	uint64_t next = 0;
	pthread_t thread;

	REQUIRE(q);
	REQUIRE(pthread_create(&thread, NULL, producer, q) == 0);
	while (!queue_is_over(q)) {
		if (number_take(q, next))
			next++;
		else
			sched_yield();
	}
	pthread_join(thread, NULL);
	CHECK_INT(next, MESSAGES);
	queue_free(q);
}

static void two_processes_lose_and_tear_nothing(void)
{
	struct queue *q = queue_new(SMALL);
	uint64_t next = 0;
	int status = -1;
	pid_t pid;

	REQUIRE(q);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		producer(q);
		_exit(0);
	}
	while (!queue_is_over(q)) {
		if (number_take(q, next))
			next++;
		else
			sched_yield();
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
	CHECK_INT(next, MESSAGES);
	queue_free(q);
}

TESTS(TEST(messages_come_whole_and_in_order), TEST(a_full_queue_refuses_and_takes_again),
      TEST(an_idle_consumer_leaves_the_whole_ring), TEST(what_can_never_fit_is_refused),
      TEST(it_is_over_when_finished_and_empty), TEST(two_threads_lose_and_tear_nothing),
      TEST(two_processes_lose_and_tear_nothing))
